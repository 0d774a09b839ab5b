import Testing

@testable import LiveReload

extension ProxyExchange.Action {
  fileprivate var text: String {
    switch self {
    case .connect(let isFresh): isFresh ? "connect fresh" : "connect"
    case .waitForServer: "wait"
    case .sendUpstream(let bytes): "send " + String(decoding: bytes, as: UTF8.self)
    case .respond(let head): "respond \(head.status)"
    case .sendBody(let bytes): "body " + String(decoding: bytes, as: UTF8.self)
    case .finishResponse: "finish"
    case .openTunnel: "tunnel"
    case .answerFailure(let failure): "fail \(failure)"
    case .abort: "abort"
    case .release(let isReusable): isReusable ? "release" : "drop"
    case .setClientReading(let isReading): isReading ? "read" : "pause"
    }
  }
}

struct ProxyExchangeTests {
  private func head(_ status: Int, closes: Bool = false) -> HTTPResponseHead {
    var fields = HTTPFields()
    if closes { fields.append("Connection", "close") }
    return HTTPResponseHead(
      status: status, reason: [], minorVersion: 1, fields: fields, framing: .chunked)
  }

  /// - Parameter fields: Lines of fields, each with its line ending.
  private func exchange(_ method: String = "GET", _ fields: String = "") throws -> ProxyExchange {
    var parser = HTTPParser(.requests)
    parser.append("\(method) / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n".utf8)
    guard case .request(let request) = try parser.next() else {
      throw HTTPError(status: 0, reason: "")
    }
    return ProxyExchange(request, head: Array("H".utf8))
  }

  private static let chunked = "Transfer-Encoding: chunked\r\n"
  private static let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"

  @Test func `a request is forwarded to the server, and its response to the client`() throws {
    var exchange = try exchange()
    #expect(exchange.begin(isHeld: false).map(\.text) == ["connect"])
    #expect(exchange.receiveEnd().isEmpty)
    #expect(exchange.connected(isReused: false).map(\.text) == ["send H"])
    #expect(exchange.receive(head(200)).map(\.text) == ["respond 200"])
    #expect(exchange.receiveResponseBody([97]).map(\.text) == ["body a"])
    #expect(exchange.receiveResponseEnd().map(\.text) == ["release", "finish"])
    #expect(exchange.isDone)
  }

  @Test func `a body that arrives before the connection is sent with the head`() throws {
    var exchange = try exchange("POST", Self.chunked)
    #expect(exchange.begin(isHeld: false).map(\.text) == ["connect fresh"])
    #expect(exchange.receiveBody([97, 98]).isEmpty)
    #expect(exchange.connected(isReused: false).map(\.text) == ["send H2\r\nab\r\n"])
    #expect(exchange.receiveEnd().map(\.text) == ["send 0\r\n\r\n"])
  }

  @Test func `the client is not read until there is a connection for a long body`() throws {
    var exchange = try exchange("POST", "Content-Length: 3\r\n")
    _ = exchange.begin(isHeld: false)
    let long = [UInt8](repeating: 97, count: 300_000)
    #expect(exchange.receiveBody(long).map(\.text) == ["pause"])
    #expect(exchange.connected(isReused: false).last?.text == "read")
  }

  @Test func `a request is held while the server restarts`() throws {
    var exchange = try exchange()
    #expect(exchange.begin(isHeld: true).map(\.text) == ["wait"])
    #expect(exchange.retry().map(\.text) == ["connect fresh"])
    #expect(exchange.connectionLost(.unreachable).map(\.text) == ["wait"])
    #expect(exchange.retry().map(\.text) == ["connect fresh"])
    #expect(exchange.connected(isReused: false).map(\.text) == ["send H"])
    // The server is stopped during the request, which is sent to the next one, also repeatedly.
    for _ in 0..<3 {
      #expect(exchange.connectionLost(isRestarting: true).map(\.text) == ["drop", "wait"])
      #expect(exchange.retry().map(\.text) == ["connect fresh"])
      _ = exchange.connected(isReused: false)
    }
  }

  @Test(arguments: [false, true])
  func `a request that ends without a response is sent once more`(isReused: Bool) throws {
    var exchange = try exchange()
    _ = exchange.begin(isHeld: false)
    _ = exchange.connected(isReused: isReused)
    let actions = exchange.connectionLost().map(\.text)
    #expect(actions == ["drop", isReused ? "connect fresh" : "wait"])
    if !isReused { #expect(exchange.retry().map(\.text) == ["connect fresh"]) }
    _ = exchange.connected(isReused: false)
    #expect(exchange.connectionLost().map(\.text) == ["drop", "fail closedEarly"])
  }

  @Test func `a failure has the last cause`() throws {
    var exchange = try exchange()
    _ = exchange.begin(isHeld: false)
    _ = exchange.connected(isReused: false)
    _ = exchange.connectionLost()
    #expect(exchange.timeIsUp().map(\.text) == ["fail closedEarly"])
    var refused = try self.exchange()
    _ = refused.begin(isHeld: false)
    _ = refused.connected(isReused: false)
    _ = refused.connectionLost()
    _ = refused.retry()
    #expect(refused.connectionLost(.unreachable).map(\.text) == ["wait"])
    #expect(refused.timeIsUp().map(\.text) == ["fail unreachable"])
  }

  @Test func `a request is held for a limited time`() throws {
    var waiting = try exchange()
    _ = waiting.begin(isHeld: true)
    #expect(waiting.timeIsUp().map(\.text) == ["fail unreachable"])
    var connecting = try exchange()
    _ = connecting.begin(isHeld: false)
    #expect(connecting.timeIsUp().isEmpty)
    #expect(connecting.connectionLost(.unreachable).map(\.text) == ["fail unreachable"])
  }

  @Test func `a request that the server may have read is repeated only if it is safe`() throws {
    var unsafe = try exchange("POST", "Content-Length: 3\r\n")
    _ = unsafe.begin(isHeld: false)
    _ = unsafe.connected(isReused: false)
    #expect(unsafe.connectionLost().map(\.text) == ["drop", "fail closedEarly"])
    var stale = try exchange()
    _ = stale.begin(isHeld: false)
    _ = stale.connected(isReused: true)
    #expect(stale.connectionLost().map(\.text) == ["drop", "connect fresh"])
  }

  @Test func `a truncated response is not presented as a complete one`() throws {
    var exchange = try exchange()
    _ = exchange.begin(isHeld: false)
    _ = exchange.connected(isReused: false)
    _ = exchange.receive(head(200))
    #expect(exchange.connectionLost().map(\.text) == ["drop", "abort"])
    #expect(exchange.connectionLost().isEmpty)
  }

  @Test func `the head of a page is held until its body begins or ends`() throws {
    var exchange = try exchange()
    _ = exchange.begin(isHeld: false)
    _ = exchange.receiveEnd()
    _ = exchange.connected(isReused: false)
    #expect(exchange.receive(head(200), isPage: true).isEmpty)
    var empty = exchange
    #expect(exchange.receiveResponseBody([97]).map(\.text) == ["respond 200", "body a"])
    #expect(exchange.receiveResponseBody([98]).map(\.text) == ["body b"])
    #expect(exchange.receiveResponseEnd().map(\.text) == ["release", "finish"])
    #expect(empty.receiveResponseEnd().map(\.text) == ["respond 200", "release", "finish"])
  }

  @Test func `a page that breaks before its body is asked for once more`() throws {
    var exchange = try exchange()
    _ = exchange.begin(isHeld: false)
    _ = exchange.connected(isReused: false)
    _ = exchange.receive(head(200), isPage: true)
    var stopped = exchange
    #expect(exchange.connectionLost().map(\.text) == ["drop", "wait"])
    #expect(exchange.retry().map(\.text) == ["connect fresh"])
    _ = exchange.connected(isReused: false)
    _ = exchange.receive(head(200), isPage: true)
    #expect(exchange.connectionLost().map(\.text) == ["drop", "fail closedEarly"])
    // A restart ends requests as often as it happens.
    for _ in 0..<3 {
      #expect(stopped.connectionLost(isRestarting: true).map(\.text) == ["drop", "wait"])
      _ = stopped.retry()
      _ = stopped.connected(isReused: false)
      _ = stopped.receive(head(200), isPage: true)
    }
    #expect(stopped.clientClosed().map(\.text) == ["drop"])
  }

  @Test func `the head of a page that cannot be asked for again is not held`() throws {
    var exchange = try exchange("GET", "Content-Length: 3\r\n")
    _ = exchange.begin(isHeld: false)
    _ = exchange.connected(isReused: false)
    #expect(exchange.receive(head(200), isPage: true).map(\.text) == ["respond 200"])
  }

  @Test func `a request with an invalid response is repeated on a fresh connection only`() throws {
    var exchange = try exchange()
    _ = exchange.begin(isHeld: false)
    _ = exchange.connected(isReused: true)
    #expect(exchange.connectionLost(.malformed("x")).map(\.text) == ["drop", "connect fresh"])
    _ = exchange.connected(isReused: false)
    let actions = exchange.connectionLost(.malformed("x")).map(\.text)
    #expect(actions == ["drop", #"fail malformed("x")"#])
  }

  @Test func `after a change of protocol, bytes are forwarded unchanged`() throws {
    var exchange = try exchange("GET", Self.upgrade)
    _ = exchange.begin(isHeld: false)
    _ = exchange.connected(isReused: false)
    #expect(exchange.receive(head(101)).map(\.text) == ["tunnel"])
    #expect(exchange.receiveBody([97]).map(\.text) == ["send a"])
    #expect(exchange.receiveResponseBody([98]).map(\.text) == ["body b"])
    #expect(exchange.connectionLost().map(\.text) == ["drop", "finish"])
  }

  @Test func `a connection is reused only if both sides have finished`() throws {
    var closing = try exchange()
    _ = closing.begin(isHeld: false)
    _ = closing.receiveEnd()
    _ = closing.connected(isReused: false)
    _ = closing.receive(head(200, closes: true))
    #expect(closing.receiveResponseEnd().map(\.text) == ["drop", "finish"])
    var early = try exchange("POST", "Content-Length: 3\r\n")
    _ = early.begin(isHeld: false)
    _ = early.connected(isReused: false)
    _ = early.receive(head(413))
    #expect(early.receiveResponseEnd().map(\.text) == ["drop", "finish"])
  }

  @Test func `the connection is closed with its client`() throws {
    var exchange = try exchange()
    _ = exchange.begin(isHeld: false)
    #expect(exchange.clientClosed().isEmpty)
    #expect(exchange.connected(isReused: false).map(\.text) == ["release"])
  }
}
