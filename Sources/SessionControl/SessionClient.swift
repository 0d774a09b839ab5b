import Support
import SystemCalls

/// Asks the sessions of a directory.
public struct SessionClient: Sendable {
  /// How long a session may take to answer what it answers at once, and pause within an answer.
  var patience = Duration.seconds(5)
  /// Longer answers are no answers. Of each task, a session may keep more than 1 MiB of output, of which each byte
  /// may be six in JSON.
  private static let longest = 1024 * 1024 * 1024

  /// The directory whose sessions are asked: the given one, or its nearest ancestor with a session.
  public let directory: Path
  let sockets: [Path]

  /// Finds the sessions of a directory, or of its nearest ancestor that has any.
  ///
  /// - Parameters:
  ///   - directory: An absolute path without symbolic links.
  ///   - time: For how long a session is awaited that does not exist yet: who has just started one in the background
  ///     does not know when it can be asked.
  public init(in directory: Path, waiting time: Duration? = nil) throws(SessionError) {
    try self.init(in: directory, SessionDirectory.candidates(), waiting: time)
  }

  init(
    in directory: Path, _ candidates: [SessionDirectory], waiting time: Duration? = nil
  ) throws(SessionError) {
    let deadline = Instant.now + (time ?? .zero)
    while true {
      do throws(SessionError) {
        (self.directory, sockets) = try Self.find(directory, candidates)
        return
      } catch {
        let rest = deadline - .now
        if rest <= .zero { throw error }
        _ = try? LocalSocket.wait(for: -1, atMost: min(rest, .milliseconds(20)))
      }
    }
  }

  /// The directory that has sessions, and their sockets.
  private static func find(
    _ directory: Path, _ candidates: [SessionDirectory]
  ) throws(SessionError) -> (Path, [Path]) {
    var (problem, isUsable) = (SessionError.noSession(directory), false)
    for place in directory.lineage {
      var found: [Path] = []
      for candidate in candidates {
        do throws(PrivateDirectory.Flaw) {
          found += try candidate.sockets(of: place)
          isUsable = true
        } catch {
          if error != .missing { problem = .noDirectory(candidate.path, error.reason) }
        }
      }
      found.removeAll { !isServed($0) }
      if !found.isEmpty { return (place, found) }
    }
    throw isUsable ? .noSession(directory) : problem
  }

  /// Whether a session listens at the socket. The one of a session that was killed is removed.
  static func isServed(_ socket: Path) -> Bool {
    do throws(SystemError) {
      _ = try LocalSocket.connect(to: socket)
      return true
    } catch {
      if error.code == ECONNREFUSED { removeFile(socket) }
      return error.code == EAGAIN
    }
  }

  /// Sends a request to all sessions, then returns the answer of each, as a line of JSON and parsed.
  public func ask(
    _ request: SessionRequest
  ) throws(SessionError) -> [(json: [UInt8], answer: SessionAnswer)] {
    var limit: Duration? = patience
    if request.verb == .wait { limit = request.time.map { $0 + patience } }
    let deadline = limit.map { Instant.now + $0 }
    var open: [Int32] = []
    defer { for number in open { _ = Descriptor(owning: number) } }
    for socket in sockets { open.append(try send(request, to: socket)) }
    var answers: [(json: [UInt8], answer: SessionAnswer)] = []
    var refusal: String?
    for number in open {
      let line = try readLine(from: number, until: deadline)
      guard let value = try? JSONValue(parsing: line) else {
        throw .lost("the session has sent something else than an answer")
      }
      if let reason = value["error"]?.text {
        refusal = reason
        continue
      }
      guard let answer = SessionAnswer(value) else {
        throw .lost("the session has sent an answer of another version of watchrun")
      }
      answers.append((line, answer))
    }
    // Of several sessions, only some may have the tasks.
    if let refusal, answers.isEmpty { throw .refused(refusal) }
    return answers
  }

  func send(_ request: SessionRequest, to socket: Path) throws(SessionError) -> Int32 {
    let deadline = Instant.now + patience
    let line = request.json
    if line.count > SessionRequest.longest {
      throw .refused("the request has too many task names; name fewer, or none for all tasks")
    }
    while true {
      do throws(SystemError) {
        let connection = try LocalSocket.connect(to: socket)
        try LocalSocket.send(line, to: connection.number, until: deadline)
        return connection.release()
      } catch {
        // Too many clients are about to be accepted.
        guard error.code == EAGAIN, Instant.now < deadline else {
          throw .lost("cannot ask the session: \(error.reason)")
        }
        _ = try? LocalSocket.wait(for: -1, atMost: .milliseconds(10))
      }
    }
  }

  private func readLine(
    from socket: Int32, until deadline: Instant?
  ) throws(SessionError) -> [UInt8] {
    var line: [UInt8] = []
    var deadline = deadline
    do throws(SystemError) {
      while line.last != UInt8(ascii: "\n"), line.count < Self.longest {
        let rest = deadline.map { max(.zero, $0 - .now) }
        guard try LocalSocket.wait(for: socket, atMost: rest) else {
          throw SystemError(call: "poll", code: ETIMEDOUT)
        }
        switch readAvailable(socket, atMost: 64 * 1024) {
        case .bytes(let bytes):
          line += bytes
          deadline = max(deadline ?? .now, .now + patience)
        case .nothing: continue
        case .end: throw SystemError(call: "read", code: ECONNRESET)
        }
      }
    } catch {
      if error.code == ETIMEDOUT { throw .noAnswer }
      throw .lost("the session ended before it answered, or has too many clients")
    }
    _ = line.popLast()
    return line
  }
}

extension SessionClient {
  /// A line that a session sends while it is followed.
  public enum Message: Sendable {
    /// The first line.
    case answer(SessionAnswer)
    case event(SessionEvent)
  }

  /// Follows the sessions until they have ended, or `handle` returns false.
  ///
  /// - Parameters:
  ///   - request: A request for `status` or `logs`.
  ///   - handle: Called with each line of JSON, also parsed.
  public func follow(
    _ request: SessionRequest, _ handle: (_ json: [UInt8], Message) -> Bool
  ) throws(SessionError) {
    var request = request
    request.follows = true
    var open: [Int32: [UInt8]] = [:]
    defer { for number in open.keys { _ = Descriptor(owning: number) } }
    for socket in sockets { open[try send(request, to: socket)] = [] }
    var (refusal, isAnswered) = (String?.none, false)
    while !open.isEmpty {
      for number in LocalSocket.readable(among: Array(open.keys)) {
        guard case .bytes(let bytes) = readAvailable(number, atMost: 64 * 1024) else {
          open[number] = nil
          _ = Descriptor(owning: number)
          continue
        }
        open[number]? += bytes
        if !bytes.contains(UInt8(ascii: "\n")) { continue }
        for line in open[number]?.takeLines() ?? [] {
          guard let value = try? JSONValue(parsing: line) else { continue }
          if let reason = value["error"]?.text { refusal = reason }
          guard let message = Self.message(value) else { continue }
          isAnswered = true
          if !handle(line, message) { return }
        }
      }
    }
    if let refusal, !isAnswered { throw .refused(refusal) }
  }

  private static func message(_ value: JSONValue) -> Message? {
    SessionAnswer(value).map { .answer($0) } ?? SessionEvent(value).map { .event($0) }
  }
}

extension [UInt8] {
  /// Removes the whole lines, and returns them without their line feeds.
  fileprivate mutating func takeLines() -> [[UInt8]] {
    guard let end = lastIndex(of: UInt8(ascii: "\n")) else { return [] }
    defer { removeFirst(end + 1) }
    return self[..<end].split(separator: UInt8(ascii: "\n")).map(Array.init)
  }
}
