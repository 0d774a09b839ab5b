import Support
import SystemCalls

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
    var refusal: String?
    while !open.isEmpty {
      for number in LocalSocket.readable(among: Array(open.keys)) {
        guard case .bytes(let bytes) = readAvailable(number, atMost: 64 * 1024) else {
          open[number] = nil
          _ = Descriptor(owning: number)
          continue
        }
        open[number]? += bytes
        while let line = open[number]?.takeLine() {
          guard let value = try? JSONValue(parsing: line) else { continue }
          if let reason = value["error"]?.text { refusal = reason }
          if let message = Self.message(value), !handle(line, message) { return }
        }
      }
    }
    if let refusal { throw .refused(refusal) }
  }

  private static func message(_ value: JSONValue) -> Message? {
    SessionAnswer(value).map { .answer($0) } ?? SessionEvent(value).map { .event($0) }
  }
}

extension [UInt8] {
  /// Removes the first line, without its line feed; `nil` if there is no whole one.
  fileprivate mutating func takeLine() -> [UInt8]? {
    guard let end = firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { removeFirst(end + 1) }
    return Array(self[..<end])
  }
}
