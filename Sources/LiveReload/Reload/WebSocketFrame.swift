import Support

/// The frames that a WebSocket server sends: whole messages, unmasked.
enum WebSocketFrame {
  enum Opcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    /// Whether frames of this kind may be between those of a message.
    var isControl: Bool { rawValue >= 8 }
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
  static func close(_ code: UInt16) -> [UInt8] { encode(.close, bytes(Int(code), 2)) }

  private static func encode(_ opcode: Opcode, _ payload: [UInt8]) -> [UInt8] {
    let count = payload.count
    let length =
      switch count {
      case ..<126: [UInt8(count)]
      case ..<65_536: [126] + bytes(count, 2)
      default: [127] + bytes(count, 8)
      }
    return [0x80 | opcode.rawValue] + length + payload
  }

  private static func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}

extension HTTPFields {
  /// The value of `Sec-WebSocket-Accept` for a GET request with these fields; `nil` if they are malformed, or for
  /// another protocol or version.
  var webSocketAnswer: String? {
    guard list("upgrade", has: "websocket"), list("connection", has: "upgrade"),
      list("sec-websocket-version", has: "13"),
      let key = first("sec-websocket-key")?.trimmedBlanks,
      // 16 bytes in Base64.
      key.count == 24, key.suffix(2).elementsEqual("==".utf8),
      key.dropLast(2).allSatisfy({ $0.isLetterASCII || $0.isDigitASCII || "+/".utf8.contains($0) })
    else { return nil }
    return Base64.encode(SHA1.digest(Array(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
  }
}
