import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// A directory with paths that other servers answer. Sockets are in memory, and time is manual.
struct PageRulesTests {
  private let pages = MemoryPages()
  private let directory: TemporaryDirectory
  private let api: MemoryListener
  private let other: MemoryListener

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("<html><body>file</body></html>", to: "index.html")
    try directory.makeDirectories("api")
    try directory.write("never", to: "api/x")
    api = pages.network.listen(3000)
    other = pages.network.listen(4000)
  }

  private func rule(_ path: String, _ port: UInt16, host: String = "localhost") throws -> ProxyRule
  {
    try #require(ProxyRule(path: path, server: ServerAddress(host: host, port: port)))
  }

  private func open(_ rules: ProxyRule..., change: (inout Page) -> Void = { _ in }) throws {
    var page = Page(name: "page", source: .directory(directory.path), port: 80)
    page.proxies = rules
    change(&page)
    try pages.core.open(page)
  }

  private func request(_ target: String, _ fields: String = "") throws -> MemorySocket {
    let client = try pages.connect()
    let host = fields.contains("Host:") ? "" : "Host: localhost\r\n"
    client.send("GET \(target) HTTP/1.1\r\n\(host)\(fields)\r\n")
    pages.network.run()
    return client
  }

  private static let document =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\n<p>page</p>"

  @Test func `the rule with the longest path applies, and the path is passed on unchanged`() throws
  {
    try open(rule("/api", 3000), rule("/api/v2", 4000))
    for target in ["/api", "/api?x=%20", "/api/x", "/%61pi/v20"] {
      let client = try request(target)
      let server = try #require(api.next(), "\(target)")
      #expect(server.receiveAll().hasPrefix("GET \(target) HTTP/1.1\r\n"))
      client.close()
    }
    let client = try request("/api/v2/y")
    #expect(try #require(other.next()).receiveAll().hasPrefix("GET /api/v2/y HTTP/1.1\r\n"))
    client.close()
    #expect(try request("/").receiveAll().contains("</script><body>file"))
    #expect(try request("/apix").receiveAll().hasPrefix("HTTP/1.1 404 "))
    #expect(api.next() == nil && other.next() == nil)
  }

  @Test func `a rule takes requests from a server that answers all others`() throws {
    try open(rule("/api", 3000)) {
      $0.source = .upstream(ServerAddress(port: 4000))
    }
    _ = try request("/api/x")
    #expect(try #require(api.next()).receiveAll().hasPrefix("GET /api/x "))
    _ = try request("/x")
    #expect(try #require(other.next()).receiveAll().hasPrefix("GET /x "))
  }

  @Test func `a document of a path that is proxied gets the script`() throws {
    try open(rule("/api", 3000))
    let client = try request("/api/docs", "Sec-Fetch-Dest: document\r\n")
    try #require(api.next()).send(Self.document)
    let answer = client.receiveAll()
    #expect(answer.contains("src=\"/__watchrun/client.js?") && answer.contains("<p>page</p>"))
  }

  @Test func `hosts and origins are checked for all paths`() throws {
    try open(rule("/api", 3000))
    #expect(try request("/api", "Host: evil.test\r\n").receiveAll().hasPrefix("HTTP/1.1 403 "))
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    let foreign = try request("/api/ws", upgrade + "Origin: http://evil.test\r\n")
    #expect(foreign.receiveAll().hasPrefix("HTTP/1.1 403 "))
    #expect(api.next() == nil)
    let client = try request("/api/ws", upgrade + "Origin: http://localhost\r\n")
    let server = try #require(api.next())
    #expect(server.receiveAll().contains("Upgrade: websocket\r\n"))
    server.send("HTTP/1.1 101 Switching Protocols\r\n\r\nhello")
    #expect(client.receiveAll().hasSuffix("\r\n\r\nhello"))
    #expect(try request("/ws", upgrade).receiveAll().hasPrefix("HTTP/1.1 404 "))
  }

  @Test func `a request to a path waits while its server restarts, and files do not`() throws {
    try open(rule("/api", 3000)) { $0.dependencies = ["server"] }
    pages.core.note(.tasks([.init(name: "server", command: "./s", isService: true)]))
    api.close()
    pages.core.note(.stopping(task: "server"))
    let client = try request("/api/x")
    #expect(try request("/").receiveAll().contains("file"))
    pages.network.advance(seconds: 5)
    #expect(client.receiveAll() == "")
    let restarted = pages.network.listen(3000)
    pages.core.note(.started(task: "server"))
    try #require(restarted.next()).send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew")
    #expect(client.receiveAll().hasSuffix("\r\n\r\nnew"))
  }

  @Test func `a server that does not answer is named`() throws {
    try open(rule("/api", 3000), rule("/ws", 5000))
    let client = try request("/ws", "Accept: text/html\r\n")
    pages.network.advance(seconds: 10)
    let answer = client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 502 ") && answer.contains("<code>localhost:5000</code>"))
  }

  @Test func `a server of several paths that starts itself again reloads the page once`() throws {
    try open(rule("/api", 3000), rule("/ws", 3000, host: "127.0.0.1")) { $0.watched = ["/p"] }
    pages.network.processes = [10]
    for path in ["/api", "/ws"] {
      let client = try request(path)
      try #require(api.next()).send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
      #expect(client.receiveAll().hasPrefix("HTTP/1.1 204 "))
    }
    let events = try request("/__watchrun/events")
    func reloads() -> Int {
      events.receiveAll().split(separator: "\n").count { $0.contains(#""type":"reload""#) }
    }
    pages.core.note(.changed(["/p/a.py"]))
    pages.network.advance(seconds: 1)
    #expect(reloads() == 1, "it is not known yet that the server starts again")
    pages.network.replaceProcesses(by: [11])
    pages.network.advance(seconds: 5)
    #expect(reloads() == 1)
  }

  @Test func `the status names the rules`() throws {
    try open(rule("/api", 3000))
    let status = try request("/__watchrun/status.json").receiveAll()
    #expect(status.contains(#""source":"\#(directory.path), /api: http://localhost:3000""#))
  }
}
