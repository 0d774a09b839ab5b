/// A parser of the frames of a WebSocket client, in parts of any size.
///
/// Memory is bounded by the limit of a message. After a close or a failure, input is ignored.
struct WebSocketParser {
  /// An event of the connection.
  enum Event: Hashable, Sendable {
    /// A complete message, in UTF-8.
    case text([UInt8])
    case ping([UInt8])
    /// The client closes the connection. The response is a close frame.
    case close
    /// The client has violated the protocol. The connection must be closed with this code.
    case failure(code: UInt16)
  }

  private let limit: Int
  private var isDone = false
  /// The bytes of an incomplete frame.
  private var buffer: [UInt8] = []
  /// The fragments of the current message, and its kind.
  private var message: [UInt8] = []
  private var messageOpcode: WebSocketFrame.Opcode?

  private typealias Frame = (
    opcode: WebSocketFrame.Opcode, isFinal: Bool, payload: [UInt8], end: Int
  )

  private struct Failure: Error {
    var code = WebSocketFrame.CloseCode.protocolError
  }

  /// Creates a parser that refuses messages of more than `limit` bytes.
  init(limit: Int = 64 * 1024) {
    self.limit = limit
  }

  /// Parses the next bytes, and returns the events that they complete, in order.
  mutating func process(_ part: some Collection<UInt8>) -> [Event] {
    var events: [Event] = []
    buffer += part
    var rest = buffer[...]
    do {
      while !isDone, let frame = try frame(in: rest) {
        rest = rest[frame.end...]
        if let event = try event(of: frame) { events.append(event) }
      }
    } catch {
      isDone = true
      events.append(.failure(code: error.code))
    }
    buffer = isDone ? [] : Array(rest)
    return events
  }

  /// The first frame; `nil` if it is incomplete.
  private func frame(in bytes: ArraySlice<UInt8>) throws(Failure) -> Frame? {
    let start = bytes.startIndex
    guard bytes.count >= 2 else { return nil }
    guard bytes[start] & 0x70 == 0, bytes[start + 1] & 0x80 != 0,
      let opcode = WebSocketFrame.Opcode(rawValue: bytes[start] & 0x0F)
    else { throw Failure() }
    let isFinal = bytes[start] & 0x80 != 0
    let short = Int(bytes[start + 1] & 0x7F)
    let isControl = opcode.isControl
    // Also a continuation without a message, or a message within another.
    guard !isControl || isFinal && short <= 125,
      isControl || (opcode == .continuation) == (messageOpcode != nil)
    else { throw Failure() }
    let extra = short == 126 ? 2 : short == 127 ? 8 : 0
    let header = bytes.prefix(2 + extra + 4)
    guard header.count == 2 + extra + 4 else { return nil }
    let number = header.dropFirst(2).prefix(extra).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let length = extra == 0 ? short : Int(clamping: number)
    guard isControl || length <= limit - message.count else {
      throw Failure(code: WebSocketFrame.CloseCode.messageTooLarge)
    }
    let payload = bytes[header.endIndex...].prefix(length)
    guard payload.count == length else { return nil }
    let mask = Array(header.suffix(4))
    let unmasked = payload.enumerated().map { $1 ^ mask[$0 & 3] }
    return (opcode, isFinal, unmasked, payload.endIndex)
  }

  private mutating func event(of frame: Frame) throws(Failure) -> Event? {
    switch frame.opcode {
    case .ping: return .ping(frame.payload)
    case .pong: return nil
    case .close:
      isDone = true
      return .close
    case .text, .binary, .continuation:
      if frame.opcode != .continuation { messageOpcode = frame.opcode }
      message += frame.payload
      guard frame.isFinal else { return nil }
      defer { (message, messageOpcode) = ([], nil) }
      if messageOpcode == .binary { return nil }
      guard String(validating: message, as: UTF8.self) != nil else {
        throw Failure(code: WebSocketFrame.CloseCode.invalidText)
      }
      return .text(message)
    }
  }
}
