import SystemCalls
import Testing

@testable import LiveReload

/// Pages in front of servers that are not seen to start again after a save, such as those in containers.
struct AnswerReloadTests {
  private let pages = MemoryPages()
  private let server: MemoryListener
  private let events: MemorySocket

  init() throws {
    server = pages.network.listen(3000)
    let source = Page.Source.upstream(ServerAddress(host: "192.0.2.1", port: 3000))
    try pages.core.open(Page(name: "page", source: source, port: 80, watched: ["/p"]))
    events = try pages.connect()
    events.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
  }

  /// Answers all requests of the server. Returns them.
  @discardableResult
  private func answer(_ text: String?, status: Int = 200) -> [String] {
    var requests: [String] = []
    while let request = server.next() {
      requests.append(request.receiveAll())
      if let text {
        request.send(
          "HTTP/1.1 \(status) Status\r\nContent-Type: text/html\r\nConnection: close\r\n"
            + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
      } else {
        request.close()
      }
      pages.network.run()
    }
    return requests
  }

  /// Loads the page as a browser does.
  private func load(_ path: String = "/", _ text: String) throws -> String {
    let client = try pages.connect()
    client.send(
      "GET \(path) HTTP/1.1\r\nHost: localhost\r\nCookie: a=b\r\nIf-None-Match: \"x\"\r\n\r\n")
    answer(text)
    return client.receiveAll()
  }

  private func save(_ name: String) {
    pages.core.note(.changed([Path("/p/" + name)]))
    pages.network.run()
  }

  /// Lets time pass in which all requests of the page itself are answered with a text.
  private func pass(seconds: Double, _ text: String?, status: Int = 200) -> [String] {
    var requests: [String] = []
    for _ in 0..<Int(seconds * 10) {
      pages.network.scheduler.advance(by: .milliseconds(100))
      requests += answer(text, status: status)
    }
    return requests
  }

  /// The number of reloads since the last call.
  private func reloads() -> Int {
    events.receiveAll().split(separator: "\n").count { $0.contains(#""type":"reload""#) }
  }

  @Test func `a page that showed old code reloads when the server has started again`() throws {
    _ = try load("/", "old")
    save("a.py")
    #expect(reloads() == 1)
    #expect(try load("/page?x=1", "old").contains("old"))
    let requests = pass(seconds: 1.4, "old")
    #expect(requests.count == 2)
    let request = try #require(requests.first)
    #expect(request.hasPrefix("GET /page?x=1 HTTP/1.1\r\n"))
    #expect(request.contains("Cookie: a=b\r\n"))
    #expect(!request.contains("If-None-Match"))
    #expect(reloads() == 0)
    _ = pass(seconds: 3, "new")
    #expect(reloads() == 1)
    _ = try load("/page?x=1", "new")
    #expect(pass(seconds: 60, "newer").isEmpty, "there was no save")
    #expect(reloads() == 0)
    pages.network.advance(seconds: 100)
    #expect(pages.network.scheduler.pendingCount == 0)
  }

  @Test func `only the first document after a reload is asked for again, and four times`() throws {
    #expect(try load("/", "one").contains("one"))
    #expect(pass(seconds: 10, "one").isEmpty)
    save("a.py")
    _ = try load("/", "two")
    _ = try load("/other", "three")
    let requests = pass(seconds: 30, "two")
    #expect(requests.count == 4)
    #expect(requests.allSatisfy { $0.hasPrefix("GET / ") })
    #expect(reloads() == 1)
  }

  @Test func `the page of a gateway that does not reach the server is no answer`() throws {
    save("a.py")
    _ = try load("/", "old")
    _ = pass(seconds: 2, "bad gateway", status: 502)
    #expect(reloads() == 1)
    _ = pass(seconds: 2, "new")
    #expect(reloads() == 1)
  }

  @Test func `a save begins anew`() throws {
    save("a.py")
    _ = try load("/", "old")
    _ = pass(seconds: 0.7, "new")
    save("b.py")
    #expect(reloads() == 2)
    _ = try load("/", "new")
    #expect(pass(seconds: 10, "new").count == 4)
    #expect(reloads() == 0)
  }

  @Test func `a page that differs each time reloads once for a save`() throws {
    save("a.py")
    _ = try load("/", "a")
    for number in UInt8(ascii: "b")..<UInt8(ascii: "z") {
      _ = pass(seconds: 0.3, String(UnicodeScalar(number)))
    }
    #expect(reloads() == 1, "it differs from the beginning")
    save("b.py")
    _ = try load("/", "a")
    _ = pass(seconds: 0.7, "a")
    for number in UInt8(ascii: "b")..<UInt8(ascii: "z") {
      _ = pass(seconds: 0.3, String(UnicodeScalar(number)))
    }
    #expect(reloads() == 2, "once for the save, and once because it differs")
  }

  @Test func `a server that does not answer is not waited for longer than ten seconds`() throws {
    save("a.py")
    _ = try load("/", "old")
    pages.network.scheduler.advance(by: .milliseconds(500))
    let silent = try #require(server.next())
    pages.network.advance(seconds: 10)
    #expect(silent.isEnded)
    _ = pass(seconds: 2, "new")
    #expect(reloads() == 2)
  }

  @Test func `a page that is closed asks no more`() throws {
    save("a.py")
    _ = try load("/", "old")
    pages.core.close("page")
    pages.network.advance(seconds: 60)
    #expect(server.next() == nil)
  }

  /// Opens the page in front of a server of this machine, whose process can be seen.
  private func openLocalPage() throws {
    let local = Page.Source.upstream(ServerAddress(host: "127.0.0.1", port: 3000))
    pages.core.close("page")
    try pages.core.open(Page(name: "page", source: local, port: 80, watched: ["/p"]))
    pages.network.processes = [10]
  }

  @Test func `a server that is seen to start again after a save is not asked`() throws {
    try openLocalPage()
    _ = try load("/", "old")
    save("a.py")
    pages.network.replaceProcesses(by: [11])
    _ = try load("/", "new")
    #expect(pass(seconds: 10, "newer").isEmpty)
  }

  @Test func `a server whose process cannot be seen any more is asked`() throws {
    try openLocalPage()
    _ = try load("/", "old")
    pages.network.replaceProcesses(by: [])
    _ = try load("/", "old")
    save("a.py")
    _ = try load("/", "old")
    #expect(!pass(seconds: 10, "new").isEmpty, "a container publishes the port")
  }

  @Test func `a server that keeps running is asked, as it may read its files later`() throws {
    try openLocalPage()
    let events = try pages.connect()
    events.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    _ = try load("/", "old")
    save("a.php")
    _ = try load("/", "old")
    #expect(!pass(seconds: 10, "new").isEmpty)
    let received = events.receiveAll().split(separator: "\n")
    #expect(received.count { $0.contains(#""type":"reload""#) } == 2, "the save, and its answer")
  }
}
