import SystemCalls

/// A strict parser of HTTP/1.1 messages: bytes in, events out, independent of connections.
///
/// Ambiguous messages are refused: two lengths, a length with chunks, folded lines, a bare CR,
/// spaces before a colon. Responses are those of the user's own server: a line may end with a bare LF,
/// be folded, or have spaces before its colon, as browsers accept it.
///
/// Append bytes, then call `next` until it returns `nil`. After an error, every call throws it again.
struct HTTPParser: Sendable {
  enum Role: Sendable {
    case requests
    case responses
  }

  enum Event: Sendable {
    case request(HTTPRequestHead)
    case response(HTTPResponseHead)
    /// An answer before that, which has no body.
    case interim(HTTPResponseHead)
    /// The next part of the body, never empty.
    case body([UInt8])
    /// The end of the message, with the fields after its chunks.
    case end(HTTPFields)
  }

  private enum State {
    case head
    case length(Int)
    case untilClose
    case chunkSize
    case chunk(Int)
    case chunkEnd
    case trailers(HTTPFields, count: Int)
    case ended(HTTPFields)
    case failed(HTTPError)
  }

  let role: Role
  let limits: HTTPLimits
  /// The method of the request whose response follows; the response to HEAD has no body.
  var requestMethod = "GET"

  private var buffer: [UInt8] = []
  /// The offset of the unread bytes in the buffer.
  private var start = 0
  /// The offset up to which the buffer has been searched for the end of the head.
  private var searched = 0
  private var state = State.head

  init(_ role: Role) {
    self.role = role
    limits = role == .requests ? HTTPLimits() : .ofResponses
  }

  /// The number of unread bytes.
  var bufferedCount: Int { buffer.count - start }

  /// Whether a message has begun and not ended.
  var isInMessage: Bool {
    if case .head = state { return bufferedCount > 0 }
    return true
  }

  /// Whether the unread bytes are an alert of TLS (RFC 8446, 5.1) instead of a message.
  var isAtAlertOfTLS: Bool {
    guard case .head = state else { return false }
    return buffer[start...].starts(with: [21, 3])
  }

  mutating func append(_ bytes: some Collection<UInt8>) {
    compact()
    buffer.append(contentsOf: bytes)
  }

  private mutating func compact() {
    guard start > 0, start == buffer.count || start >= 32 * 1024 else { return }
    if start == buffer.count {
      // Keeps no memory for what has been read.
      (buffer, start, searched) = ([], 0, 0)
      return
    }
    buffer.removeSubrange(..<start)
    searched = max(0, searched - start)
    start = 0
  }

  /// Removes and returns the unread bytes after a change of protocol.
  mutating func takeRest() -> [UInt8] {
    defer { (start, searched) = (buffer.count, buffer.count) }
    return Array(buffer[start...])
  }

  /// Returns the next event; `nil` if more bytes are needed.
  mutating func next() throws(HTTPError) -> Event? {
    do throws(HTTPError) {
      while true {
        switch try step() {
        case .event(let event): return event
        case .again: continue
        case .incomplete: return nil
        }
      }
    } catch {
      state = .failed(error)
      throw error
    }
  }

  /// Returns the last event of a response that ends with the connection. Throws if a message is incomplete.
  mutating func finish() throws(HTTPError) -> Event? {
    switch state {
    case .untilClose:
      state = .head
      return .end(HTTPFields())
    case .head where bufferedCount == 0: return nil
    default: throw HTTPError(status: 400, reason: "the connection ended within a message")
    }
  }

  private enum Step {
    case event(Event)
    case again
    case incomplete
  }

  private mutating func step() throws(HTTPError) -> Step {
    switch state {
    case .head:
      return try readHead()
    case .length(let rest):
      guard let part = takeBody(atMost: rest) else { return .incomplete }
      state = part.count == rest ? .ended(HTTPFields()) : .length(rest - part.count)
      return .event(.body(part))
    case .untilClose:
      return takeBody(atMost: .max).map { .event(.body($0)) } ?? .incomplete
    case .chunkSize:
      guard let line = try takeLine(atMost: limits.chunkLine) else { return .incomplete }
      let size = try chunkSize(buffer[line])
      state = size == 0 ? .trailers(HTTPFields(), count: 0) : .chunk(size)
      return .again
    case .chunk(let rest):
      guard let part = takeBody(atMost: rest) else { return .incomplete }
      state = part.count == rest ? .chunkEnd : .chunk(rest - part.count)
      return .event(.body(part))
    case .chunkEnd:
      guard let line = try takeLine(atMost: 2) else { return .incomplete }
      if !line.isEmpty { throw HTTPError(status: 400, reason: "a chunk is longer than its size") }
      state = .chunkSize
      return .again
    case .trailers(var trailers, let count):
      guard let line = try takeLine(atMost: limits.trailers) else { return .incomplete }
      if line.isEmpty {
        state = .ended(trailers)
        return .again
      }
      let total = count + line.count + 2
      if total > limits.trailers { throw HTTPError(status: 431, reason: "too many trailers") }
      try HTTPHeadReader.readField(buffer[line], into: &trailers, isLenient: role == .responses)
      state = .trailers(trailers, count: total)
      return .again
    case .ended(let trailers):
      state = .head
      searched = start
      return .event(.end(trailers))
    case .failed(let error):
      throw error
    }
  }

  private mutating func takeBody(atMost limit: Int) -> [UInt8]? {
    let count = min(limit, bufferedCount)
    if count == 0 { return nil }
    defer { start += count }
    return Array(buffer[start..<start + count])
  }

  /// Removes a line, and returns its range without the line ending.
  private mutating func takeLine(atMost limit: Int) throws(HTTPError) -> Range<Int>? {
    let end = buffer.firstIndex(of: 10, from: start)
    guard let end else {
      if bufferedCount > limit { throw HTTPError(status: 400, reason: "a line is too long") }
      return nil
    }
    let line = try contents(of: start..<end)
    if line.count > limit { throw HTTPError(status: 400, reason: "a line is too long") }
    start = end + 1
    return line
  }

  /// The range of a line without its line ending.
  private func contents(of line: Range<Int>) throws(HTTPError) -> Range<Int> {
    if let last = line.last, buffer[last] == 13 { return line.lowerBound..<last }
    if role == .requests { throw HTTPError(status: 400, reason: "a line ends without CR") }
    return line
  }

  private func chunkSize(_ line: ArraySlice<UInt8>) throws(HTTPError) -> Int {
    let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 32 && $0 != 9 }
    let rest = line[digits.endIndex...]
    let isOdd =
      digits.isEmpty || digits.count > 15
      || !digits.allSatisfy { $0.hexadecimalValue != nil }
      || !(rest.trimmedBlanks.isEmpty || rest.trimmedBlanks.first == UInt8(ascii: ";"))
      || rest.contains { $0 < 32 && $0 != 9 || $0 == 127 }
    if isOdd { throw HTTPError(status: 400, reason: "the size of a chunk is malformed") }
    return digits.reduce(0) { $0 << 4 | Int($1.hexadecimalValue ?? 0) }
  }
}

// MARK: - Heads

extension HTTPParser {
  private mutating func readHead() throws(HTTPError) -> Step {
    // RFC 9112, 2.2, requires tolerating an empty line before a request.
    while role == .requests, bufferedCount >= 2, buffer[start] == 13, buffer[start + 1] == 10 {
      start += 2
      searched = max(searched, start)
    }
    if role == .requests, bufferedCount > 0, !buffer[start].isToken, buffer[start] != 13 {
      // What follows need not have the end of a line, for which a browser would wait.
      let isTLS = buffer[start] == 22
      throw HTTPError(
        status: 400,
        reason: isTLS ? "TLS (https) is not spoken here: use http" : "no method is there")
    }
    guard let lines = try findHead() else { return .incomplete }
    var fields = HTTPFields()
    if lines.count - 1 > limits.fieldCount {
      throw HTTPError(status: 431, reason: "too many header fields")
    }
    for line in lines.dropFirst() {
      try HTTPHeadReader.readField(buffer[line], into: &fields, isLenient: role == .responses)
    }
    let first = buffer[lines[0]]
    switch role {
    case .requests:
      let head = try HTTPHeadReader.request(first, fields)
      enter(head.framing)
      return .event(.request(head))
    case .responses:
      let head = try HTTPHeadReader.response(first, fields, to: requestMethod)
      if head.status < 200 && head.status != 101 { return .event(.interim(head)) }
      enter(head.framing)
      return .event(.response(head))
    }
  }

  private mutating func enter(_ framing: HTTPFraming) {
    state =
      switch framing {
      case .none, .length(0): .ended(HTTPFields())
      case .length(let count): .length(count)
      case .chunked: .chunkSize
      case .untilClose: .untilClose
      }
  }

  /// Removes a complete head and returns its lines; `nil` if it is incomplete.
  private mutating func findHead() throws(HTTPError) -> [Range<Int>]? {
    var from = max(searched, start)
    while let end = buffer.firstIndex(of: 10, from: from) {
      from = end + 1
      let isLast =
        buffer.count > end + 1 && buffer[end + 1] == 10
        || buffer.count > end + 2 && buffer[end + 1] == 13 && buffer[end + 2] == 10
      if !isLast { continue }
      let headEnd = buffer[end + 1] == 10 ? end + 2 : end + 3
      if end - start > limits.head { throw tooLarge() }
      // Includes the empty line, so that its line ending is checked too.
      let lines = try split(start..<headEnd)
      (start, searched) = (headEnd, headEnd)
      return Array(lines.dropLast())
    }
    // The last two bytes may begin the end of the head.
    searched = max(start, buffer.count - 3)
    if bufferedCount > limits.head { throw tooLarge() }
    let lineEnd = buffer.firstIndex(of: 10, from: start) ?? buffer.count
    if lineEnd - start > limits.startLine {
      throw HTTPError(status: 414, reason: "the request line is too long")
    }
    return nil
  }

  private func tooLarge() -> HTTPError {
    HTTPError(status: 431, reason: "the header is too large")
  }

  private func split(_ head: Range<Int>) throws(HTTPError) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    var position = head.lowerBound
    while position < head.upperBound, let end = buffer.firstIndex(of: 10, from: position) {
      lines.append(try contents(of: position..<end))
      position = end + 1
    }
    return lines
  }
}

extension [UInt8] {
  /// The first index of a byte from a position on.
  fileprivate func firstIndex(of byte: UInt8, from position: Int) -> Int? {
    withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, position < bytes.count else { return nil }
      return memchr(base + position, Int32(byte), bytes.count - position).map {
        UnsafeRawPointer($0) - base
      }
    }
  }
}
