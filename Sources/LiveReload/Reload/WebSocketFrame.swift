/// The frames that a WebSocket server sends: whole messages, unmasked.
enum WebSocketFrame {
  /// The kinds of frame.
  enum Opcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10
  }

  /// The status codes of a close frame.
  enum CloseCode {
    static let normal: UInt16 = 1000
    static let goingAway: UInt16 = 1001
    static let protocolError: UInt16 = 1002
    static let invalidText: UInt16 = 1007
    static let policyViolation: UInt16 = 1008
    static let messageTooLarge: UInt16 = 1009
  }

  /// A text message; `text` must be UTF-8.
  static func text(_ text: [UInt8]) -> [UInt8] { encode(.text, text) }

  /// The response to a ping with this payload.
  static func pong(_ payload: [UInt8]) -> [UInt8] { encode(.pong, Array(payload.prefix(125))) }

  /// The last frame of a connection.
  static func close(_ code: UInt16) -> [UInt8] {
    encode(.close, [UInt8(code >> 8), UInt8(code & 0xFF)])
  }

  private static func encode(_ opcode: Opcode, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = [0x80 | opcode.rawValue]
    switch payload.count {
    case ..<126: frame.append(UInt8(payload.count))
    case ..<65_536: frame += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default:
      frame.append(127)
      frame += (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> (8 * $0)) }
    }
    return frame + payload
  }
}
