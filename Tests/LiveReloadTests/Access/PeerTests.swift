import Testing

@testable import LiveReload

/// What those may do who see a page from another machine. Sockets are in memory.
struct PeerTests {
  private let pages = MemoryPages()

  /// Opens the page, and connects from an address.
  private func connect(from peer: String) throws -> MemorySocket {
    let source = Page.Source.upstream(ServerAddress(host: "127.0.0.1", port: 3000))
    var page = Page(name: "page", source: source, port: 80)
    page.reportsConsole = true
    try pages.core.open(page)
    pages.core.note(.tasks([.init(name: "test", command: "make test")]))
    try #require(pages.network.listener(at: 80)).peer = peer
    return try pages.connect()
  }

  private func token(of client: MemorySocket, _ fields: String) throws -> String {
    client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
    let greeting = client.receiveAll()
    return String(try #require(greeting.firstMatch(of: /"token":"([a-z0-9]+)"/)).1)
  }

  @Test func `a proxy that speaks HTTP 1.0 is elsewhere`() throws {
    let client = try connect(from: "127.0.0.1")
    client.send("GET /__watchrun/events HTTP/1.0\r\nHost: localhost\r\n\r\n")
    #expect(client.receiveAll().contains(pages.core.guestToken))
  }

  @Test(arguments: [
    ("127.0.0.1", "", 204), ("127.0.0.7", "", 204), ("::1", "", 204), ("::ffff:127.0.0.1", "", 204),
    ("192.168.1.9", "", 403), ("2001:db8::1", "", 403),
    // From elsewhere, by way of a tunnel.
    ("127.0.0.1", "X-Forwarded-For: 192.0.2.1\r\n", 403),
    ("::1", "Forwarded: for=192.0.2.1\r\n", 403), ("127.0.0.1", "Via: 1.1 a\r\n", 403),
    ("127.0.0.1", "X-Real-IP: 192.0.2.1\r\n", 403),
    ("127.0.0.1", "X-Forwarded-Host: a.test\r\n", 403),
    ("127.0.0.1", "X-Forwarded-Proto: https\r\n", 403),
    ("127.0.0.1", "CF-Connecting-IP: 192.0.2.1\r\n", 403),
  ])
  func `tasks run for this machine only, and errors of pages come from all`(
    peer: String, fields: String, status: Int
  ) throws {
    let token = try token(of: try connect(from: peer), fields)
    let client = try pages.connect()
    client.send(
      "POST /__watchrun/run?task=test&token=\(token) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
    let refusal = "Only browsers on the machine that runs watchrun may do this"
    let answer = client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    #expect(answer.contains(refusal) == (status == 403))
    let body = #"{"entries":[],"omitted":0}"#
    client.send(
      "POST /__watchrun/console?token=\(token) HTTP/1.1\r\nHost: localhost\r\n\(fields)"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 204 "))
    let link = try pages.connect()
    link.send(
      "POST /__watchrun/open?link=0&token=\(token) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
    let linkAnswer = link.receiveAll()
    #expect(linkAnswer.hasPrefix("HTTP/1.1 403 "))
    #expect(linkAnswer.contains(refusal) == (status == 403), "otherwise it is the link")
  }
}
