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

  /// The most bytes of a start line, of a line with the size of a chunk, and of all fields after the chunks.
  private static let (longestStart, longestChunkLine, mostTrailers) = (16 * 1024, 1024, 16 * 1024)
  /// The most bytes of a head, and the most fields. Those of responses are limits of browsers, which the answers of
  /// no server in use exceed.
  private var limits: (head: Int, fieldCount: Int) {
    role == .requests ? (64 * 1024, 128) : (256 * 1024, 10_000)
  }

  private enum State {
    case startLine
    /// After the start line, or after the last chunk.
    case fields
    case length(Int)
    case untilClose
    case chunkSize
    case chunk(Int)
    case chunkEnd
    case ended
    case failed(HTTPError)
  }

  let role: Role
  /// The method of the request whose response follows; the response to HEAD has no body.
  var requestMethod = "GET"

  /// The unread bytes.
  private var buffer: ArraySlice<UInt8> = []
  private var state = State.startLine
  /// The start line, while the fields after it are read.
  private var startLine: [UInt8]?
  private var fields = HTTPFields()
  /// The number of bytes of the start line and the fields.
  private var headCount = 0

  init(_ role: Role) {
    self.role = role
  }

  /// The number of unread bytes.
  var bufferedCount: Int { buffer.count }

  /// Whether a message has begun and not ended.
  var isInMessage: Bool {
    if case .startLine = state { return bufferedCount > 0 }
    return true
  }

  /// Whether the unread bytes are an alert of TLS (RFC 8446, 5.1) instead of a message.
  var isAtAlertOfTLS: Bool {
    guard case .startLine = state else { return false }
    return buffer.starts(with: [21, 3])
  }

  mutating func append(_ bytes: some Collection<UInt8>) {
    // Keeps no memory for what has been read.
    if buffer.isEmpty { buffer = [] }
    buffer.append(contentsOf: bytes)
  }

  /// Removes and returns the unread bytes after a change of protocol.
  mutating func takeRest() -> [UInt8] {
    defer { buffer = [] }
    return Array(buffer)
  }

  /// Returns the next event; `nil` if more bytes are needed.
  mutating func next() throws(HTTPError) -> Event? {
    do throws(HTTPError) {
      return try read()
    } catch {
      state = .failed(error)
      throw error
    }
  }

  /// Returns the last event of a response that ends with the connection. Throws if a message is incomplete.
  mutating func finish() throws(HTTPError) -> Event? {
    switch state {
    case .untilClose:
      state = .startLine
      return .end(HTTPFields())
    case .startLine where bufferedCount == 0: return nil
    default: throw HTTPError(status: 400, reason: "the connection ended within a message")
    }
  }

  private mutating func read() throws(HTTPError) -> Event? {
    while true {
      switch state {
      case .startLine:
        try checkFirstByte()
        guard let line = try takeLine(atMost: Self.longestStart, or: 414) else { return nil }
        // RFC 9112, 2.2, requires tolerating an empty line before a request.
        if role == .requests && line.isEmpty { continue }
        startLine = Array(line)
        readFields(after: line.count)
      case .fields:
        let limit = startLine == nil ? Self.mostTrailers : limits.head
        guard let line = try takeLine(atMost: limit - headCount, or: 431) else { return nil }
        if line.isEmpty {
          if let head = try endFields() { return head }
          continue
        }
        if fields.pairs.count == limits.fieldCount {
          throw HTTPError(status: 431, reason: "too many header fields")
        }
        try HTTPHeadReader.readField(line, into: &fields, isLenient: role == .responses)
        headCount += line.count + 2
      case .length(let rest):
        guard let part = takeBody(atMost: rest) else { return nil }
        state = part.count == rest ? .ended : .length(rest - part.count)
        return .body(part)
      case .untilClose:
        return takeBody(atMost: .max).map { .body($0) }
      case .chunkSize:
        guard let line = try takeLine(atMost: Self.longestChunkLine) else { return nil }
        let size = try chunkSize(line)
        if size == 0 { readFields(after: 0) } else { state = .chunk(size) }
      case .chunk(let rest):
        guard let part = takeBody(atMost: rest) else { return nil }
        state = part.count == rest ? .chunkEnd : .chunk(rest - part.count)
        return .body(part)
      case .chunkEnd:
        guard let line = try takeLine(atMost: 2) else { return nil }
        if !line.isEmpty { throw HTTPError(status: 400, reason: "a chunk is longer than its size") }
        state = .chunkSize
      case .ended:
        state = .startLine
        return .end(fields)
      case .failed(let error):
        throw error
      }
    }
  }

  private mutating func takeBody(atMost limit: Int) -> [UInt8]? {
    if buffer.isEmpty { return nil }
    let part = buffer.prefix(limit)
    buffer = buffer[part.endIndex...]
    return Array(part)
  }

  /// Removes a line, and returns it without the line ending.
  ///
  /// - Parameter status: That of the error if it is longer.
  private mutating func takeLine(
    atMost limit: Int, or status: Int = 400
  ) throws(HTTPError) -> ArraySlice<UInt8>? {
    let end = buffer.firstLineFeed
    var line = buffer[..<(end ?? buffer.endIndex)]
    if line.last == 13 {
      line = line.dropLast()
    } else if end != nil && role == .requests {
      throw HTTPError(status: 400, reason: "a line ends without CR")
    }
    if line.count > limit { throw HTTPError(status: status, reason: "a line is too long") }
    guard let end else { return nil }
    buffer = buffer[(end + 1)...]
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
  /// What begins no request need not have the end of a line, for which a browser would wait.
  private func checkFirstByte() throws(HTTPError) {
    guard role == .requests, let first = buffer.first, !first.isToken, first != 13 else { return }
    throw HTTPError(
      status: 400,
      reason: first == 22 ? "TLS (https) is not spoken here: use http" : "no method is there")
  }

  private mutating func readFields(after count: Int) {
    (state, fields, headCount) = (.fields, HTTPFields(), count)
  }

  /// Ends the fields of a head, which is returned, or those after the chunks.
  private mutating func endFields() throws(HTTPError) -> Event? {
    guard let line = startLine else {
      state = .ended
      return nil
    }
    let fields = fields
    (startLine, self.fields) = (nil, HTTPFields())
    switch role {
    case .requests:
      let head = try HTTPHeadReader.request(line[...], fields)
      enter(head.framing)
      return .request(head)
    case .responses:
      let head = try HTTPHeadReader.response(line[...], fields, to: requestMethod)
      let isInterim = head.status < 200 && head.status != 101
      if isInterim { state = .startLine } else { enter(head.framing) }
      return isInterim ? .interim(head) : .response(head)
    }
  }

  private mutating func enter(_ framing: HTTPFraming) {
    state =
      switch framing {
      case .none, .length(0): .ended
      case .length(let count): .length(count)
      case .chunked: .chunkSize
      case .untilClose: .untilClose
      }
  }
}

extension ArraySlice<UInt8> {
  /// The first index of a line feed.
  fileprivate var firstLineFeed: Int? {
    withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return nil }
      return memchr(base, 10, bytes.count).map { UnsafeRawPointer($0) - base + startIndex }
    }
  }
}
