import TestSupport
import Testing

@testable import LiveReload

/// How long a connection may take for what. Sockets are in memory, and time is manual.
struct DeadlineTests {
  private let pages: MemoryPages
  private let server: MemoryListener
  private let client: MemorySocket

  init() throws {
    (pages, server, client) = try MemoryPages.proxy()
  }

  private static let get = "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n"

  /// Sends a request with a body.
  private func post(_ length: Int, _ body: String) throws -> MemorySocket {
    client.send("POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n\r\n" + body)
    return try #require(server.next())
  }

  @Test func `a request with a body may be answered late`() throws {
    let connection = try post(3, "abc")
    pages.network.advance(seconds: 600)
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate")
    #expect(client.receiveAll().hasSuffix("late"))
  }

  @Test func `the answer to a request with a body may be streamed for long`() throws {
    let connection = try post(3, "abc")
    connection.send("HTTP/1.1 200 OK\r\n\r\n")
    for second in 0..<75 {
      pages.network.advance(seconds: 2)
      connection.send("\(second) ")
    }
    #expect(client.receiveAll().contains("74 "))
    #expect(!client.isEnded)
  }

  @Test func `a body may be sent slowly, and must make progress`() throws {
    let connection = try post(100, "a")
    for _ in 0..<50 {
      pages.network.advance(seconds: 30)
      client.send("b")
    }
    #expect(connection.receiveAll().hasSuffix("bbb"))
    pages.network.advance(seconds: 61)
    #expect(client.isEnded && connection.isEnded)
  }

  @Test func `a client is not blamed for a server that takes no more of its body`() throws {
    let connection = try post(1_000_000, "")
    let part = String(repeating: "x", count: 60_000)
    for _ in 0..<8 { client.send(part) }
    pages.network.advance(seconds: 600)
    #expect(!client.isEnded)
    #expect(connection.receiveAll().count > 60_000)
    pages.network.advance(seconds: 1)
    client.send(part)
    #expect(connection.receiveAll().count > 0)
  }

  @Test func `a head must be complete in time`() {
    client.send("GET / HTTP/1.1\r\n")
    for _ in 0..<10 {
      pages.network.advance(seconds: 1)
      client.send("A: b\r\n")
    }
    pages.network.advance(seconds: 1)
    #expect(client.isEnded)
  }

  @Test func `an idle connection is closed, and its server's connection before`() throws {
    client.send(Self.get)
    let connection = try #require(server.next())
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    pages.network.advance(seconds: 19)
    #expect(!connection.isEnded)
    pages.network.advance(seconds: 2)
    #expect(connection.isEnded && !client.isEnded)
    pages.network.advance(seconds: 52)
    #expect(!client.isEnded)
    pages.network.advance(seconds: 3)
    #expect(client.isEnded)
    #expect(pages.network.scheduler.pendingCount == 0)
  }

  @Test(arguments: [false, true])
  func `a stream that is quiet after a backlog stays open`(isTunnel: Bool) throws {
    let connection = try openStream(isTunnel: isTunnel)
    _ = client.receiveAll()
    // More than the client takes at once, and less than makes the server wait.
    connection.send(String(repeating: "x", count: 60_000))
    connection.send(String(repeating: "y", count: 30_000))
    pages.network.advance(seconds: 1)
    #expect(client.receiveAll().count >= 90_000)
    pages.network.advance(seconds: 3_600)
    #expect(!client.isEnded)
    connection.send("still here")
    #expect(client.receiveAll().contains("still here"))
  }

  @Test func `a client must take what it is sent, at any pace`() throws {
    let connection = try openStream(isTunnel: true)
    for _ in 0..<4 { connection.send(String(repeating: "x", count: 60_000)) }
    for _ in 0..<20 {
      pages.network.advance(seconds: 50)
      #expect(!client.isEnded)
      #expect(client.receive(atMost: 2_000).utf8.count == 2_000)
    }
    pages.network.advance(seconds: 61)
    #expect(client.isEnded)
  }

  @Test(arguments: [1, 2])
  func `a file may be taken at any pace, also if another request follows`(count: Int) throws {
    let directory = try TemporaryDirectory()
    try directory.write(String(repeating: "x", count: 600_000), to: "file")
    let pages = MemoryPages()
    try pages.core.open(Page(name: "page", source: .directory(directory.path), port: 80))
    let client = try pages.connect()
    let request = "GET /file HTTP/1.1\r\nHost: localhost\r\n\r\n"
    client.send(String(repeating: request, count: count))
    for _ in 0..<20 {
      pages.network.advance(seconds: 50)
      #expect(client.receive(atMost: 20_000).utf8.count == 20_000)
    }
    #expect(client.receiveAll().utf8.count > 600_000 * count - 400_000)
    pages.network.advance(seconds: 74)
    #expect(!client.isEnded)
    pages.network.advance(seconds: 2)
    #expect(client.isEnded)
  }

  private func openStream(isTunnel: Bool) throws -> MemorySocket {
    let fields = isTunnel ? "Connection: Upgrade\r\nUpgrade: websocket\r\n" : ""
    client.send("GET /1 HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
    let connection = try #require(server.next())
    connection.send(
      isTunnel
        ? "HTTP/1.1 101 Switching Protocols\r\n\r\n"
        : "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    return connection
  }

  @Test func `memory is returned after a large answer, once`() throws {
    let connection = try openStream(isTunnel: true)
    for _ in 0..<500 {
      connection.send(String(repeating: "x", count: 40_000))
      _ = client.receiveAll()
    }
    #expect(pages.network.memoryReturns == 0)
    pages.network.advance(seconds: 3)
    #expect(pages.network.memoryReturns == 1)
    connection.send("small")
    pages.network.advance(seconds: 60)
    #expect(pages.network.memoryReturns == 1)
  }

  @Test func `requests are not read while their responses cannot be sent`() throws {
    let request = "GET /__watchrun/client.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
    var sent = 0
    while client.send(Array(request.utf8)) {
      sent += 1
      pages.network.run()
      if sent > 5_000 { break }
    }
    #expect(sent < 5_000, "the client has to wait")
    #expect(client.receiveAll().split(separator: "HTTP/1.1 200").count == sent)
  }

  @Test func `a request that is answered leaves no timer`() throws {
    client.send(Self.get)
    let connection = try #require(server.next())
    connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    client.close()
    pages.network.run()
    #expect(pages.network.scheduler.pendingCount == 0)
  }
}
