import Testing

@testable import LiveReload

/// What is open to a server that is asked to stop: one that stops gracefully waits for it. Sockets are in memory, and
/// time is manual.
struct StoppingServerTests {
  private let pages: MemoryPages
  private let listener: MemoryListener
  private let client: MemorySocket

  init() throws {
    (pages, listener, client) = try MemoryPages.proxy(dependencies: ["server"])
    pages.core.note(
      .tasks([Activity.TaskDescription(name: "server", command: "", isService: true)]))
    pages.core.note(.started(task: "server"))
  }

  private func request(_ method: String = "GET", _ fields: String = "") throws -> MemorySocket {
    client.send("\(method) /1 HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
    let server = try #require(listener.next())
    #expect(server.receiveAll().hasPrefix("\(method) /1"))
    return server
  }

  /// Answers a request, after which the process that serves is known.
  @discardableResult
  private func serve(isDescendant: Bool = true) throws -> MemorySocket {
    (pages.network.processes, pages.network.launched) = ([7], isDescendant ? 6 : nil)
    pages.core.note(.launched(task: "server", process: 6))
    let server = try request()
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold")
    #expect(client.receiveAll().hasSuffix("old"))
    return server
  }

  private func stop() {
    pages.core.note(.stopping(task: "server"))
    pages.network.run()
  }

  @Test func `an event stream is ended`() throws {
    let server = try request()
    server.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
    #expect(client.receiveAll().contains("data: 1"))
    stop()
    #expect(server.isEnded)
    // A browser takes the end for a reason to connect again.
    #expect(client.receiveAll().hasSuffix("0\r\n\r\n") && !client.isEnded)
  }

  @Test func `a tunnel is ended`() throws {
    let server = try request("GET", "Connection: Upgrade\r\nUpgrade: websocket\r\n")
    server.send("HTTP/1.1 101 Switching Protocols\r\n\r\n")
    _ = client.receiveAll()
    stop()
    #expect(server.isEnded)
    #expect(client.receiveAll().isEmpty && client.isEnded)
  }

  @Test func `an idle connection is closed`() throws {
    let server = try request()
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    _ = client.receiveAll()
    stop()
    #expect(server.isEnded)
  }

  @Test(arguments: [false, true])
  func `an idle connection is closed with its page`(isReplaced: Bool) throws {
    let server = try serve()
    if isReplaced {
      try pages.core.open(Page(name: "page", source: .directory("/"), port: 80))
    } else {
      pages.core.close("page")
    }
    pages.network.run()
    #expect(server.isEnded)
  }

  @Test func `a request without an answer for a while is asked of the next server`() throws {
    let server = try request()
    pages.network.advance(seconds: 20)
    stop()
    #expect(!server.isEnded)
    pages.network.advance(seconds: 1)
    #expect(server.isEnded)
    pages.network.advance(seconds: 5)
    #expect(client.receiveAll().isEmpty && !client.isEnded)
    pages.core.note(.started(task: "server"))
    pages.network.run()
    let next = try #require(listener.next())
    #expect(next.receiveAll().hasPrefix("GET /1"))
    next.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew")
    #expect(client.receiveAll().hasSuffix("new"))
  }

  /// A server that ends at once would close its side of the connection first, and keep its port in use.
  @Test
  func `a request without an answer to a server that is known is asked of the next one at once`()
    throws
  {
    let server = try serve()
    client.send("GET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(server.receiveAll().hasPrefix("GET /2"))
    stop()
    #expect(server.isEnded)
    pages.core.note(.started(task: "server"))
    pages.network.run()
    try #require(listener.next()).send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew")
    #expect(client.receiveAll().hasSuffix("new"))
  }

  @Test func `a request that can be sent only once stays with the server that stops`() throws {
    try serve()
    let server = try request("POST", "Content-Length: 0\r\n")
    stop()
    #expect(!server.isEnded)
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold")
    #expect(client.receiveAll().hasSuffix("old"))
  }

  @Test(arguments: ["GET", "POST"])
  func `a request that comes meanwhile waits for the next server`(method: String) throws {
    try serve()
    stop()
    client.send("\(method) /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
    pages.network.advance(seconds: 5)
    #expect(listener.next() == nil, "the server that stops still listens")
    pages.core.note(.started(task: "server"))
    try #require(listener.next()).send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew")
    #expect(client.receiveAll().hasSuffix("new"))
  }

  @Test func `a request waits although another service has started`() throws {
    let (pages, listener, client) = try MemoryPages.proxy(dependencies: ["server", "api"])
    pages.core.note(
      .tasks(["server", "api"].map { .init(name: $0, command: "", isService: true) }))
    pages.core.note(.started(task: "server"))
    (pages.network.processes, pages.network.launched) = ([7], 6)
    pages.core.note(.launched(task: "server", process: 6))
    func request() { client.send("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n") }
    request()
    try #require(listener.next()).send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold")
    #expect(client.receiveAll().hasSuffix("old"))
    pages.core.note(.stopping(task: "server"))
    pages.network.run()
    request()
    pages.core.note(.ended(task: "api", .stopped, status: nil, duration: .seconds(1)))
    pages.core.note(.started(task: "api"))
    pages.network.advance(seconds: 1)
    #expect(listener.next() == nil, "the server that stops still listens")
    pages.core.note(.started(task: "server"))
    pages.network.run()
    try #require(listener.next()).send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew")
    #expect(client.receiveAll().hasSuffix("new"))
  }

  @Test func `a request reaches a server that is started by hand after a stop`() throws {
    try serve()
    stop()
    client.send("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.advance(seconds: 1)
    #expect(listener.next() == nil, "the server that stops still listens")
    pages.core.note(.ended(task: "server", .stopped, status: nil, duration: .seconds(1)))
    for path in ["/1", "/2"] {
      let server = try #require(listener.next())
      #expect(server.receiveAll().hasPrefix("GET \(path)"))
      server.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nnew")
      #expect(client.receiveAll().hasSuffix("new"))
      client.send("GET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
      pages.network.advance(seconds: 1)
    }
  }

  @Test func `a service that is not the server delays a request by a retry only`() throws {
    try serve(isDescendant: false)
    stop()
    client.send("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.advance(seconds: 1)
    try #require(listener.next()).send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew")
    #expect(client.receiveAll().hasSuffix("new"))
  }

  @Test func `a server that has not started is not waited for as if it became ready`() throws {
    listener.close()
    pages.core.note(.ended(task: "server", .stopped, status: nil, duration: .seconds(1)))
    pages.core.note(.unsettled(["build", "server"]))
    client.send("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.advance(seconds: 11)
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 502 "))
    pages.core.note(.started(task: "server"))
    client.send("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.advance(seconds: 55)
    #expect(client.receiveAll().isEmpty && !client.isEnded)
  }

  @Test(arguments: [true, false])
  func `a request waits for a server as long as it may become ready`(becomesReady: Bool) throws {
    listener.close()
    pages.core.note(.unsettled(["server"]))
    client.send("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.advance(seconds: 55)
    #expect(client.receiveAll().isEmpty && !client.isEnded)
    if becomesReady {
      let next = pages.network.listen(3000)
      pages.core.note(.ended(task: "server", .ready, status: nil, duration: .seconds(55)))
      pages.core.note(.unsettled([]))
      try #require(next.next()).send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew")
      #expect(client.receiveAll().hasSuffix("new"))
    } else {
      pages.core.note(.ended(task: "server", .notReady, status: nil, duration: .seconds(55)))
      #expect(client.receiveAll().hasPrefix("HTTP/1.1 502 "))
    }
  }

  @Test(arguments: ["GET", "POST"])
  func `what the server is answering is not ended`(method: String) throws {
    let server = try request(method, method == "POST" ? "Content-Length: 0\r\n" : "")
    if method == "GET" { server.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nol") }
    stop()
    pages.network.advance(seconds: 1)
    #expect(!server.isEnded)
    server.send(method == "GET" ? "d" : "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold")
    #expect(client.receiveAll().hasSuffix("old"))
  }

  @Test func `a connection whose request is answered meanwhile is closed`() throws {
    let server = try request()
    stop()
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold")
    #expect(client.receiveAll().hasSuffix("old"))
    #expect(server.isEnded, "a server that stops gracefully waits for it")
  }

  @Test(arguments: [3, 1_000_000])
  func `an answer that does not go on is cut off`(length: Int) throws {
    let server = try request()
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n")
    for _ in 0..<length / 1000 { server.send(String(repeating: "x", count: 1000)) }
    stop()
    pages.network.advance(seconds: 1)
    #expect(!server.isEnded)
    pages.network.advance(seconds: 9)
    #expect(server.isEnded)
    // A client does not take it for a complete one.
    #expect(client.receiveAll().utf8.count < 9_000_000 && client.isEnded)
  }

  @Test func `an answer that goes on is not cut off`() throws {
    let server = try request()
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
    stop()
    for _ in 0..<9 {
      server.send("x")
      pages.network.advance(seconds: 1)
    }
    #expect(client.receiveAll().hasSuffix("xxxxxxxxx") && !client.isEnded)
  }

  @Test func `a page that has only begun is asked of the next server`() throws {
    let server = try request()
    server.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\n")
    stop()
    pages.network.advance(seconds: 10)
    #expect(server.isEnded)
    pages.core.note(.started(task: "server"))
    #expect(try #require(listener.next()).receiveAll().hasPrefix("GET /1"))
  }
}
