import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// What the server accepts from the script of a page. A client poses as the script.
struct ConsoleRequestTests {
  private let pages: ServedPages

  init() throws {
    pages = try ServedPages()
    try pages.directory.makeDirectories("site/js")
    try pages.directory.write("<html></html>", to: "site/index.html")
    try pages.directory.write("x", to: "site/js/app.js")
    try pages.directory.write("x", to: "secret.js")
  }

  private func open() throws -> UInt16 {
    try pages.openSite { $0.reportsConsole = true }
  }

  private func token(_ port: UInt16) async throws -> String {
    let client = try RawClient(port: port)
    _ = await client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let text = await client.receive { $0.contains("hello") }.text
    return String(try #require(text.firstMatch(of: /"token":"([a-z0-9]+)"/)).1)
  }

  /// Sends a report, and returns the status of the response.
  private func post(
    _ port: UInt16, token: String, _ fields: [String] = [], _ body: String = Self.body("bad")
  ) async throws -> Int {
    let client = try RawClient(port: port)
    let lines =
      [
        "POST /__watchrun/console?token=\(token) HTTP/1.1", "Host: localhost:\(port)",
        "Connection: close", "Content-Length: \(body.utf8.count)",
      ] + fields
    _ = await client.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    return Response(await client.receive().text).status
  }

  private static func body(_ text: String) -> String {
    #"{"entries":[{"level":"error","text":"\#(text)"}],"omitted":0}"#
  }

  /// The lines of all messages that were reported.
  private var reported: [String] {
    pages.log.entries.flatMap { report -> [String] in
      if case .consoleMessage("site", let message) = report { message.lines } else { [] }
    }
  }

  @Test func `the script reports the console, and runs before others, if the page says so`()
    async throws
  {
    let silent = try pages.openSite()
    let script = try await RawClient.request(silent, "/__watchrun/client.js?1").body
    #expect(!script.contains("unhandledrejection"))
    #expect(try await RawClient.request(silent, "/").body.contains("async"))
    let port = try open()
    let page = try await RawClient.request(port, "/").body
    #expect(!page.contains("async"))
    let source = try #require(page.split(separator: "\"").first { $0.hasPrefix("/__") })
    let client = try await RawClient.request(port, String(source))
    #expect(client.field("cache-control") == "max-age=86400, immutable")
    #expect(client.body.contains("unhandledrejection") && client.body.hasSuffix(script))
    #expect(client.body.utf8.count <= 11_000)
    let livereload = try await RawClient.request(port, "/livereload.js").body
    #expect(livereload == script)
  }

  @Test func `messages with the token are reported`() async throws {
    let port = try open()
    let token = try await token(port)
    let origin = "Origin: http://localhost:\(port)"
    #expect(try await post(port, token: token, [origin]) == 204)
    // The answer is sent first.
    #expect(await eventually { reported == ["bad"] })
    let status = try await RawClient.request(port, "/__watchrun/status.json").body
    #expect(status.contains(#""console":["error: bad"]"#))
  }

  @Test func `without the token, or for a page that does not report, nothing is`() async throws {
    let port = try open()
    let token = try await token(port)
    for wrong in ["", "x", token + "0"] { #expect(try await post(port, token: wrong) == 403) }
    let query = "/__watchrun/console?token=\(token)"
    #expect(try await RawClient.request(port, query).status == 404)
    #expect(try await RawClient.request(port, query, method: "PUT").status == 404)
    let silent = try pages.openSite()
    #expect(try await post(silent, token: token) == 404)
    #expect(reported.isEmpty)
  }

  @Test(arguments: [
    "Origin: http://evil.test", "Origin: null", "Origin: http://localhost:1",
    "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
  ])
  func `other sites cannot write to the terminal`(field: String) async throws {
    let port = try open()
    let token = try await token(port)
    #expect(try await post(port, token: token, [field]) == 403)
    #expect(reported.isEmpty)
  }

  @Test func `an invalid report, or one that is too long, is refused`() async throws {
    let port = try open()
    let token = try await token(port)
    #expect(try await post(port, token: token, [], "bad") == 400)
    let long = Self.body(String(repeating: "a", count: 70_000))
    #expect(try await post(port, token: token, [], long) == 413)
    #expect(reported.isEmpty)
  }

  @Test(
    arguments: [
      ("at f (/js/app.js:3:7)", "at f (site/js/app.js:3:7)"),
      ("/js/app.js?1:3:7 and /index.html:2", "site/js/app.js:3:7 and site/index.html:2"),
      ("/js/none.js:3:7", "/js/none.js:3:7"), ("/../secret.js:1", "/../secret.js:1"),
      ("https://cdn.test/js/app.js:3:7", "https://cdn.test/js/app.js:3:7"),
      ("js/app.js:1", "js/app.js:1"), ("at /:3:7", "at site/index.html:3:7"),
      ("/js/:3:7", "/js/:3:7"),
    ])
  func `places in served files are shown by their paths`(text: String, shown: String)
    async throws
  {
    let port = try open()
    #expect(try await post(port, token: try await token(port), [], Self.body(text)) == 204)
    #expect(await eventually { !reported.isEmpty })
    #expect(reported == [shown])
  }
}

/// A page that fails in a loop. Sockets are in memory, and time is manual.
struct ConsoleFloodTests {
  @Test func `a flood is cut, and the number of its other messages reported`() throws {
    let pages = MemoryPages()
    var page = Page(name: "site", source: .directory("/p"), port: 80)
    page.reportsConsole = true
    try pages.core.open(page)
    let client = try pages.connect()
    let entry = #"{"level":"error","text":"bad"}"#
    let entries = Array(repeating: entry, count: 20).joined(separator: ",")
    let body = #"{"entries":[\#(entries)],"omitted":3}"#
    for _ in 0..<30 {
      client.send(
        "POST /__watchrun/console?token=\(pages.core.token) HTTP/1.1\r\nHost: localhost\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n" + body)
      #expect(client.receiveAll().hasPrefix("HTTP/1.1 204"))
    }
    var lines: [String] {
      pages.reports.entries.flatMap { report -> [String] in
        if case .consoleMessage(_, let message) = report { message.lines } else { [] }
      }
    }
    #expect(lines == Array(repeating: "bad", count: 100))
    pages.network.advance(seconds: 6)
    #expect(lines.last == "590 more messages, too many to show" && lines.count == 101)
  }
}
