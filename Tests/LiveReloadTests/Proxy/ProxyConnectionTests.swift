import Testing

@testable import LiveReload

/// Which answer belongs to which request. Sockets are in memory.
struct ProxyConnectionTests {
  private let pages: MemoryPages
  private let server: MemoryListener
  private let client: MemorySocket

  init() throws {
    (pages, server, client) = try MemoryPages.proxy()
  }

  private static func get(_ path: String, method: String = "GET", _ fields: String = "") -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
  }

  private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"

  /// A first request, and an answer to it that is longer than it may be.
  private static let strays: [(request: String, answer: String, stray: String)] = [
    (get("/1", method: "HEAD"), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello"),
    (get("/1"), "HTTP/1.1 204 No Content\r\n\r\n", "hello"),
    (get("/1"), "HTTP/1.1 304 Not Modified\r\n\r\n", "<p>\r\n\r\n"),
    (get("/1"), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "cd"),
    (
      get("/1"), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"
    ),
    (get("/1"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "\r\n"),
  ]

  /// Sends a second request, and answers it on the first connection whose request it is.
  private func expectGoodAnswer(first connection: MemorySocket) throws {
    _ = client.receiveAll()
    client.send(Self.get("/2"))
    let other = server.next()
    let used = try #require(
      [other, connection].compactMap(\.self).first {
        $0.receiveAll().hasPrefix("GET /2 ")
      })
    used.send(Self.ok)
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 200 OK\r\n"))
  }

  @Test(arguments: strays.indices, [0, 1, 2])
  func `a connection with bytes that belong to no answer is not used again`(row: Int, moment: Int)
    throws
  {
    let (request, answer, stray) = Self.strays[row]
    client.send(request)
    let first = try #require(server.next())
    switch moment {
    case 0:
      first.send(answer + stray)
    case 1:
      first.send(answer)
      first.send(stray)
    default:
      // The bytes have arrived, but their event is still to come.
      first.send(answer)
      _ = client.receiveAll()
      _ = Array(stray.utf8).withUnsafeBytes { first.send($0) }
      _ = Array(Self.get("/2").utf8).withUnsafeBytes { client.send($0) }
      pages.network.run()
      let second = try #require(server.next())
      #expect(second.receiveAll().hasPrefix("GET /2 "))
      second.send(Self.ok)
      #expect(client.receiveAll().hasSuffix("good"))
      return
    }
    try expectGoodAnswer(first: first)
    #expect(first.isEnded)
  }

  @Test func `an answer that begins with stray bytes is asked for again, on a new connection`()
    throws
  {
    client.send(Self.get("/1"))
    let first = try #require(server.next())
    first.send(Self.ok)
    _ = client.receiveAll()
    client.send(Self.get("/2"))
    #expect(first.receiveAll().contains("GET /2 "))
    first.send("stray" + Self.ok)
    let second = try #require(server.next())
    #expect(second.receiveAll().hasPrefix("GET /2 "))
    second.send(Self.ok)
    #expect(client.receiveAll().hasSuffix("good"))
    // Once: this server always answers so.
    client.send(Self.get("/3"))
    second.send("stray")
    second.send(Self.ok)
    let third = try #require(server.next())
    third.send("nonsense\r\n\r\n")
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 502"))
    #expect(server.next() == nil)
  }

  @Test(arguments: ["POST", "GET"])
  func `a connection on which a body was sent is not used again`(method: String) throws {
    // A server that does not read the body takes it for the head of a request.
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
    client.send(
      Self.get("/1", method: method, "Content-Length: \(smuggled.utf8.count)\r\n") + smuggled)
    let first = try #require(server.next())
    first.send(Self.ok)
    _ = client.receiveAll()
    client.send(Self.get("/2"))
    let second = try #require(server.next())
    #expect(second.receiveAll().hasPrefix("GET /2 "))
    first.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad")
    second.send(Self.ok)
    #expect(client.receiveAll().hasSuffix("good"))
  }

  @Test func `a connection on which a change of protocol was asked for is not used again`() throws {
    client.send(Self.get("/1", "Connection: Upgrade\r\nUpgrade: websocket\r\n"))
    let first = try #require(server.next())
    first.send(Self.ok)
    _ = client.receiveAll()
    client.send(Self.get("/2"))
    #expect(server.next() != nil)
    #expect(first.isEnded)
  }

  @Test func `a change of protocol that nobody asked for is an error`() throws {
    client.send(Self.get("/1"))
    let first = try #require(server.next())
    first.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 502"))
    // What the client sends next is a request, and not passed on unread.
    _ = first.receiveAll()
    client.send(Self.get("/2"))
    #expect(first.receiveAll().isEmpty)
    #expect(try #require(server.next()).receiveAll().contains("X-Forwarded-For: 127.0.0.1"))
  }

  @Test func `a server that closes without an answer gets the request twice`() throws {
    client.send(Self.get("/1"))
    for _ in 0..<2 {
      try #require(server.next()).close()
      pages.network.advance(seconds: 1)
    }
    #expect(server.next() == nil)
    #expect(client.receiveAll().contains("closed the connection without an answer"))
  }

  @Test func `a server that expects TLS is named as such`() throws {
    client.send(Self.get("/1"))
    let first = try #require(server.next())
    _ = first.send([21, 3, 3, 0, 2, 2, 70] as [UInt8])
    first.close()
    #expect(client.receiveAll().contains("expects TLS"))
    #expect(server.next() == nil)
  }

  @Test func `codings that only the client can undo are passed on`() throws {
    client.send(Self.get("/1"))
    let first = try #require(server.next())
    first.send(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "4\r\ngood\r\n0\r\n\r\n")
    let answer = client.receiveAll()
    #expect(answer.contains("\r\nTransfer-Encoding: gzip, chunked\r\n"))
    #expect(answer.hasSuffix("\r\n\r\n4\r\ngood\r\n0\r\n\r\n"))
  }

  @Test func `a connection that was answered completely is used again`() throws {
    client.send(Self.get("/1"))
    let first = try #require(server.next())
    for path in ["/2", "/3"] {
      first.send(Self.ok)
      #expect(client.receiveAll().hasSuffix("good"))
      client.send(Self.get(path))
      #expect(first.receiveAll().contains("GET \(path) "))
    }
    #expect(server.next() == nil)
  }

  private static let navigation = get("/1", "Sec-Fetch-Dest: document\r\n")
  private static let pageHead = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

  @Test func `a page of which only the head has arrived is asked for again`() throws {
    client.send(Self.navigation)
    let first = try #require(server.next())
    first.send(Self.pageHead + "Content-Length: 4\r\n\r\n")
    #expect(client.receiveAll().isEmpty)
    first.close()
    pages.network.advance(seconds: 1)
    let second = try #require(server.next())
    #expect(second.receiveAll().hasPrefix("GET /1 "))
    second.send(Self.pageHead + "X-Number: 2\r\nContent-Length: 4\r\n\r\n")
    second.send("good")
    let answer = client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("X-Number: 2\r\n"))
    #expect(answer.contains("client.js") && answer.contains("good"))
    #expect(answer.hasSuffix("0\r\n\r\n"))
    #expect(!answer.dropFirst().contains("HTTP/1.1"))
  }

  @Test func `a page that never has a body is explained`() throws {
    client.send(Self.navigation)
    for _ in 0..<2 {
      let connection = try #require(server.next())
      connection.send(Self.pageHead + "Transfer-Encoding: chunked\r\n\r\n")
      connection.close()
      pages.network.advance(seconds: 1)
    }
    #expect(server.next() == nil)
    let answer = client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 502"))
    #expect(answer.contains("closed the connection without an answer"))
  }

  @Test(arguments: ["Content-Length: 0", "Connection: close"])
  func `a page without a body is an answer`(framing: String) throws {
    client.send(Self.navigation)
    let first = try #require(server.next())
    first.send(Self.pageHead + framing + "\r\n\r\n")
    if framing.hasSuffix("close") { first.close() }
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(server.next() == nil)
  }

  @Test func `the body of a page may begin late`() throws {
    client.send(Self.navigation)
    let first = try #require(server.next())
    first.send(Self.pageHead + "Content-Length: 4\r\n\r\n")
    pages.network.advance(seconds: 300)
    first.send("good")
    let answer = client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("good"))
  }

  @Test(arguments: [
    ("Sec-Fetch-Dest: empty\r\nSec-Fetch-Mode: cors\r\n", "text/html"),
    ("Sec-Fetch-Dest: empty\r\n", "text/event-stream"),
    ("Sec-Fetch-Dest: document\r\n", "text/event-stream"),
    ("Sec-Fetch-Dest: document\r\n", "application/json"),
    ("Accept: */*\r\n", "text/plain"),
  ])
  func `the head of anything but a page is passed on at once`(fields: String, type: String) throws {
    client.send(Self.get("/1", fields))
    let first = try #require(server.next())
    first.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: 4\r\n\r\n")
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 200 OK\r\n"))
    first.close()
    pages.network.run()
    #expect(client.isEnded)
    pages.network.advance(seconds: 1)
    #expect(server.next() == nil)
  }
}
