/// A client of the LiveReload protocol 7 on a WebSocket.
final class LiveReloadSocket: Exchange {
  private static let mostPending = 1024 * 1024

  private let connection: ServerConnection
  private let onClose: (LiveReloadSocket) -> Void
  private var parser = WebSocketParser()
  private var session = LiveReloadProtocol()

  /// Accepts the handshake; `nil` if it is invalid.
  init?(
    _ request: HTTPRequestHead, on connection: ServerConnection,
    onClose: @escaping (LiveReloadSocket) -> Void
  ) {
    guard request.method == "GET",
      let answer = WebSocketHandshake.answer(to: request.fields)
    else { return nil }
    self.connection = connection
    self.onClose = onClose
    let head = """
      HTTP/1.1 101 Switching Protocols\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Accept: \(answer)\r
      \r

      """
    connection.upgrade(Array(head.utf8))
    let early = connection.takeEarlyBytes()
    if !early.isEmpty { receiveBody(early) }
  }

  /// Makes the client reload a file.
  func reload(_ path: String) {
    guard session.isReady else { return }
    send(WebSocketFrame.text(LiveReloadProtocol.reload(path: path)))
  }

  private func send(_ frame: [UInt8]) {
    connection.write(frame)
    if connection.stream.pendingCount > Self.mostPending { connection.stream.close() }
  }

  func receiveBody(_ bytes: [UInt8]) {
    for event in parser.process(bytes) {
      switch event {
      case .text(let text): react(to: text)
      case .ping(let payload): send(WebSocketFrame.pong(payload))
      case .binary, .pong: break
      case .close: close(WebSocketFrame.CloseCode.normal)
      case .failure(let code): close(code)
      }
    }
  }

  private func react(to text: [UInt8]) {
    switch session.receive(text) {
    case .ignore: break
    case .send(let answer): send(WebSocketFrame.text(answer))
    case .close: close(WebSocketFrame.CloseCode.policyViolation)
    }
  }

  /// Ends the connection, since the page is not served any more.
  func goAway() { close(WebSocketFrame.CloseCode.goingAway) }

  private func close(_ code: UInt16) {
    send(WebSocketFrame.close(code))
    connection.stream.closeWhenSent()
  }

  func clientEnded() {
    connection.stream.close()
  }

  func clientClosed() {
    onClose(self)
  }
}
