/// A strict parser of the frames of a WebSocket client, in parts of any size.
///
/// Memory is bounded by the limit of a message. After a close or a failure, input is ignored.
struct WebSocketParser {
  /// An event of the connection.
  enum Event: Hashable, Sendable {
    /// A complete message. Text is valid UTF-8.
    case text([UInt8]), binary([UInt8])
    case ping([UInt8]), pong([UInt8])
    /// The client closes the connection. The response is a close frame with the same code.
    case close(code: UInt16?)
    /// The client has violated the protocol. The connection must be closed with this code.
    case failure(code: UInt16)
  }

  private let limit: Int
  private var isDone = false
  /// The header of the next frame, possibly incomplete.
  private var header: [UInt8] = []
  private var frame: Frame?
  /// The fragments of the current message, and its kind.
  private var message: [UInt8] = []
  private var messageOpcode: WebSocketFrame.Opcode?

  private struct Frame {
    var opcode: WebSocketFrame.Opcode
    var isFinal: Bool
    var mask: [UInt8]
    var length: Int
    var payload: [UInt8] = []
  }

  private struct Failure: Error {
    var code: UInt16
  }

  /// Creates a parser that refuses messages of more than `limit` bytes.
  init(limit: Int = 64 * 1024) {
    self.limit = limit
  }

  /// Parses the next bytes, and returns the events that they complete, in order.
  mutating func process(_ part: some Collection<UInt8>) -> [Event] {
    var events: [Event] = []
    var rest = Array(part)[...]
    do {
      while !isDone {
        if frame == nil {
          guard let byte = rest.popFirst() else { break }
          header.append(byte)
          try readHeader()
        }
        // A frame without a payload is complete after its header.
        guard var current = frame else { continue }
        frame = nil
        for byte in rest.prefix(current.length - current.payload.count) {
          current.payload.append(byte ^ current.mask[current.payload.count & 3])
          rest = rest.dropFirst()
        }
        if current.payload.count < current.length {
          frame = current
          break
        }
        if let event = try complete(current) { events.append(event) }
      }
    } catch {
      isDone = true
      events.append(.failure(code: error.code))
    }
    return events
  }

  private mutating func readHeader() throws(Failure) {
    guard header.count >= 2 else { return }
    guard header[0] & 0x70 == 0, header[1] & 0x80 != 0,
      let opcode = WebSocketFrame.Opcode(rawValue: header[0] & 0x0F)
    else { throw Failure(code: WebSocketFrame.CloseCode.protocolError) }
    let isFinal = header[0] & 0x80 != 0
    let short = Int(header[1] & 0x7F)
    let isControl = opcode.rawValue >= 8
    // Also a continuation without a message, or a message within another.
    guard !isControl || isFinal && short <= 125,
      isControl || (opcode == .continuation) == (messageOpcode != nil)
    else { throw Failure(code: WebSocketFrame.CloseCode.protocolError) }
    let extra = short == 126 ? 2 : short == 127 ? 8 : 0
    guard header.count == 2 + extra + 4 else { return }
    let number = header[2..<2 + extra].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let isMinimal = extra == 0 || extra == 2 && number >= 126 || extra == 8 && number >= 65_536
    guard isMinimal, number >> 63 == 0 else {
      throw Failure(code: WebSocketFrame.CloseCode.protocolError)
    }
    let length = extra == 0 ? short : Int(number)
    guard isControl || length <= limit - message.count else {
      throw Failure(code: WebSocketFrame.CloseCode.messageTooLarge)
    }
    frame = Frame(
      opcode: opcode, isFinal: isFinal, mask: Array(header.suffix(4)), length: length)
    header.removeAll(keepingCapacity: true)
  }

  private mutating func complete(_ frame: Frame) throws(Failure) -> Event? {
    switch frame.opcode {
    case .ping: return .ping(frame.payload)
    case .pong: return .pong(frame.payload)
    case .close:
      isDone = true
      return .close(code: try Self.closeCode(frame.payload))
    case .text, .binary, .continuation:
      if frame.opcode != .continuation { messageOpcode = frame.opcode }
      message += frame.payload
      guard frame.isFinal else { return nil }
      let whole = message
      let isText = messageOpcode == .text
      message = []
      messageOpcode = nil
      if !isText { return .binary(whole) }
      guard String(validating: whole, as: UTF8.self) != nil else {
        throw Failure(code: WebSocketFrame.CloseCode.invalidText)
      }
      return .text(whole)
    }
  }

  private static func closeCode(_ payload: [UInt8]) throws(Failure) -> UInt16? {
    if payload.isEmpty { return nil }
    let code = payload.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
    // 1004 to 1006 and 1015 must not be sent.
    let isSound =
      (1000...1003).contains(code) || (1007...1014).contains(code)
      || (3000...4999).contains(code)
    guard payload.count >= 2, isSound else {
      throw Failure(code: WebSocketFrame.CloseCode.protocolError)
    }
    guard String(validating: payload.dropFirst(2), as: UTF8.self) != nil else {
      throw Failure(code: WebSocketFrame.CloseCode.invalidText)
    }
    return code
  }
}
