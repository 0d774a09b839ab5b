/// A client of the LiveReload protocol 7 on a WebSocket.
final class LiveReloadSocket: Exchange {
  private static let mostPending = 1024 * 1024

  private let connection: ServerConnection
  private var parser = WebSocketParser()
  private var session = LiveReloadProtocol()

  /// Accepts the handshake; `nil` if it is invalid.
  init?(_ request: HTTPRequestHead, on connection: ServerConnection) {
    guard request.method == "GET", let answer = request.fields.webSocketAnswer else { return nil }
    self.connection = connection
    let fields = HTTPFields([
      "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": answer,
    ])
    connection.upgrade(fields.written(status: 101, Array("Switching Protocols".utf8)))
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
      case .close: close(WebSocketFrame.CloseCode.normal)
      case .failure(let code): close(code)
      }
    }
  }

  private func react(to text: [UInt8]) {
    do throws(LiveReloadProtocol.Violation) {
      if let answer = try session.receive(text) { send(WebSocketFrame.text(answer)) }
    } catch {
      close(WebSocketFrame.CloseCode.policyViolation)
    }
  }

  /// Ends the connection.
  func close(_ code: UInt16) {
    send(WebSocketFrame.close(code))
    connection.stream.closeWhenSent()
  }

  func clientEnded() {
    connection.stream.close()
  }
}
