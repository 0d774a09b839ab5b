import Support

/// The server's response to a WebSocket handshake.
enum WebSocketHandshake {
  /// The value of `Sec-WebSocket-Accept` for a GET request with these fields; `nil` if they are malformed, or for
  /// another protocol or version.
  static func answer(to fields: HTTPFields) -> String? {
    guard fields.list("upgrade", has: "websocket"), fields.list("connection", has: "upgrade"),
      fields.list("sec-websocket-version", has: "13"),
      let key = fields.first("sec-websocket-key")?.trimmedBlanks,
      // 16 bytes in Base64.
      key.count == 24, key.suffix(2).elementsEqual("==".utf8),
      key.dropLast(2).allSatisfy({ $0.isLetterASCII || $0.isDigitASCII || "+/".utf8.contains($0) })
    else { return nil }
    return Base64.encode(SHA1.digest(Array(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
  }
}
