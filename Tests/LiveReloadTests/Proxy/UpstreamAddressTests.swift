import SystemCalls
import Testing

@testable import LiveReload

/// Servers whose name has several addresses. Sockets are in memory, and time is manual.
struct UpstreamAddressTests {
  private let pages = MemoryPages()
  private let client: MemorySocket

  init() throws {
    let source = Page.Source.upstream(ServerAddress(host: "app.test", port: 3000))
    try pages.core.open(Page(name: "page", source: source, port: 80))
    client = try pages.connect()
  }

  private func request() {
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
  }

  private func answer(_ listener: MemoryListener) throws {
    try #require(listener.next()).send(
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\ngood")
    #expect(client.receiveAll().hasSuffix("good"))
  }

  @Test func `the next address is tried when one refuses`() throws {
    pages.network.names["app.test"] = ["::1", "2001:db8::2", "127.0.0.1"]
    let listener = pages.network.listen(3000)
    request()
    try answer(listener)
  }

  @Test func `one that does not answer is not waited for`() throws {
    pages.network.names["app.test"] = ["2001:db8::1", "127.0.0.1"]
    pages.network.silent = ["2001:db8::1"]
    let listener = pages.network.listen(3000)
    request()
    pages.network.scheduler.advance(by: .milliseconds(300))
    try answer(listener)
    // The one that was reached is the first now.
    request()
    try answer(listener)
    pages.network.advance(seconds: 60)
  }

  @Test func `without an address, or an answer of any, the server is not there`() throws {
    pages.network.silent = ["2001:db8::1"]
    for addresses in [[], ["::1"], ["2001:db8::1"]] {
      pages.network.names["app.test"] = addresses
      let client = try pages.connect()
      client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
      pages.network.advance(seconds: 30)
      #expect(client.receiveAll().hasPrefix("HTTP/1.1 502 "))
    }
  }
}
