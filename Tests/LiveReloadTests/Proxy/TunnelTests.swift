import Testing

@testable import LiveReload

/// How the sides of a tunnel end. Sockets are in memory, and time is manual.
struct TunnelTests {
  private let pages: MemoryPages
  private let client: MemorySocket
  private let server: MemorySocket

  init() throws {
    let (pages, listener, client) = try MemoryPages.proxy()
    (self.pages, self.client) = (pages, client)
    client.send(
      "GET /1 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    server = try #require(listener.next())
    server.send("HTTP/1.1 101 Switching Protocols\r\n\r\n")
    _ = (server.receiveAll(), client.receiveAll())
  }

  /// One end of the tunnel, and the other one.
  private func ends(_ isClient: Bool) -> (one: MemorySocket, other: MemorySocket) {
    isClient ? (client, server) : (server, client)
  }

  @Test(arguments: [false, true])
  func `a side that is closed is closed for the other one, after the last bytes`(isClient: Bool) {
    let (one, other) = ends(isClient)
    one.send("bye")
    one.close()
    #expect(other.receiveAll() == "bye")
    #expect(other.isEnded)
    other.close()
    pages.network.run()
    #expect(pages.network.scheduler.pendingCount == 0)
  }

  @Test(arguments: [false, true])
  func `a side that sends nothing more still receives`(isClient: Bool) {
    let (one, other) = ends(isClient)
    one.send("question")
    one.shutDownWriting()
    #expect(other.receiveAll() == "question" && other.isEnded)
    for _ in 0..<3 {
      pages.network.advance(seconds: 50)
      other.send("answer")
      #expect(one.receiveAll() == "answer")
    }
    #expect(!one.isEnded)
    other.close()
    #expect(one.receiveAll().isEmpty && one.isEnded)
    #expect(!one.send(Array("x".utf8)))
    #expect(pages.network.scheduler.pendingCount == 0)
  }

  @Test(arguments: [false, true])
  func `bytes on the way arrive when both sides have ended`(isClient: Bool) {
    let (one, other) = ends(isClient)
    for _ in 0..<3 { one.send(String(repeating: "x", count: 60_000)) }
    one.shutDownWriting()
    pages.network.run()
    other.shutDownWriting()
    #expect(other.receiveAll().utf8.count >= 120_000)
    #expect(other.isEnded && one.isEnded)
    pages.network.advance(seconds: 3)
    #expect(pages.network.scheduler.pendingCount == 0)
  }

  @Test(arguments: [false, true])
  func `a tunnel with one side is closed once nothing has been sent for a minute`(isClient: Bool) {
    let (one, other) = ends(isClient)
    one.shutDownWriting()
    pages.network.advance(seconds: 59)
    #expect(!one.isEnded)
    pages.network.advance(seconds: 2)
    #expect(one.isEnded && other.isEnded)
    pages.network.advance(seconds: 3)
    #expect(pages.network.scheduler.pendingCount == 0)
  }
}
