import Support

/// The server's response to a WebSocket handshake.
enum WebSocketHandshake: Hashable, Sendable {
  /// Status 101, with this value of `Sec-WebSocket-Accept`.
  case accepted(String)
  /// Status 426, with `Sec-WebSocket-Version: 13`.
  case unsupportedVersion
  /// Status 400: the request is malformed, or for another protocol.
  case malformed

  /// Decides by the values of the headers `Upgrade`, `Connection`, `Sec-WebSocket-Version` and
  /// `Sec-WebSocket-Key` of a GET request. Several headers of a name are joined with commas.
  init(upgrade: [UInt8]?, connection: [UInt8]?, version: [UInt8]?, key: [UInt8]?) {
    guard let upgrade, Self.list(upgrade, has: "websocket"), let connection,
      Self.list(connection, has: "upgrade")
    else {
      self = .malformed
      return
    }
    guard let version, version.trimmedBlanks.elementsEqual("13".utf8) else {
      self = .unsupportedVersion
      return
    }
    guard let key, let answer = Self.answer(to: Array(key.trimmedBlanks)) else {
      self = .malformed
      return
    }
    self = .accepted(answer)
  }

  private static func list(_ value: [UInt8], has word: String) -> Bool {
    value.split(separator: UInt8(ascii: ",")).contains {
      $0.trimmedBlanks.equalsIgnoringCase(word)
    }
  }

  /// The accept value for a key, which must be 16 bytes in Base64; `nil` for an invalid key.
  private static func answer(to key: [UInt8]) -> String? {
    guard key.count == 24, key.suffix(2).elementsEqual("==".utf8),
      key.dropLast(2).allSatisfy({
        $0.isLetterASCII || $0.isDigitASCII || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/")
      })
    else { return nil }
    return Base64.encode(SHA1.digest(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
  }
}
