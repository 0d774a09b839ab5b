import Testing

@testable import LiveReload

/// Clients that receive messages more slowly than there are some. Sockets are in memory.
struct EventStreamTests {
  private let pages: MemoryPages
  private let client: MemorySocket

  init() throws {
    (pages, _, client) = try MemoryPages.proxy()
  }

  private func show(_ title: String) throws {
    // Four bytes each.
    let line = Array(String(repeating: "\u{1F600}", count: 760).utf8)
    try #require(pages.core.site("page")).show(
      PageFailure(title: title, lines: Array(repeating: line, count: 450)))
    pages.network.run()
  }

  @Test func `a client receives a failure with a long output, also one that connects later`() throws
  {
    client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try show("a")
    #expect(client.receiveAll().utf8.count > 1_300_000)
    let other = try pages.connect()
    other.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(other.receiveAll().utf8.count > 1_300_000)
    #expect(!client.isEnded && !other.isEnded)
  }

  @Test func `one that takes nothing is disconnected`() throws {
    client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for text in ["a", "b"] { try show(text) }
    #expect(client.isEnded)
  }
}
