import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// The fields that a page adds to its answers. Sockets are in memory, and time is manual.
struct PageHeaderTests {
  private let pages = MemoryPages()
  private let directory: TemporaryDirectory
  private let server: MemoryListener

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("<html><body>file</body></html>", to: "index.html")
    try directory.write("body{}", to: "a.css")
    server = pages.network.listen(3000)
  }

  private func open(_ headers: KeyValuePairs<String, String>) throws {
    var page = Page(name: "page", source: .directory(directory.path), port: 80)
    for (path, port) in [("/api", 3000), ("/gone", 4000)] as [(String, UInt16)] {
      let address = ServerAddress(host: "127.0.0.1", port: port)
      page.proxies.append(try #require(ProxyRule(path: path, server: address)))
    }
    page.headers = try headers.map { try HeaderField(name: $0.key, value: $0.value) }
    try pages.core.open(page)
  }

  /// The answer to a request. The server answers with these fields and a document.
  private func get(_ target: String, _ fields: String = "", server answer: String? = nil) throws
    -> String
  {
    let client = try pages.connect()
    client.send(
      "GET \(target) HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Dest: document\r\n\(fields)\r\n")
    pages.network.run()
    if let answer {
      try #require(server.next()).send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\(answer)\r\n<p>page</p>"
      )
    } else {
      pages.network.advance(seconds: 10)
    }
    return client.receiveAll()
  }

  /// The number of fields with a name and a value, and of those with the name.
  private func counts(_ name: String, _ value: String, in answer: String) -> [Int] {
    let lines = answer.split(separator: "\r\n")
    return ["\(name): \(value)", "\(name):"].map { text in
      lines.count { $0.lowercased().hasPrefix(text.lowercased()) }
    }
  }

  @Test func `files and answers of servers have the fields, in place of their own`() throws {
    try open(["Cross-Origin-Opener-Policy": "same-origin", "cache-control": "no-store"])
    let answers = [
      try get("/"), try get("/a.css"), try get("/none"), try get("/none.js"),
      try get("/gone"),
      try get("/api", server: "Cache-Control: max-age=9\r\ncross-origin-opener-policy: x\r\n"),
      try get("/a.css", "Range: bytes=0-1\r\n"),
    ]
    let statuses = answers.map { $0.split(separator: " ")[1] }
    #expect(statuses == ["200", "200", "404", "404", "502", "200", "206"])
    for answer in answers {
      #expect(counts("Cross-Origin-Opener-Policy", "same-origin", in: answer) == [1, 1])
      #expect(counts("Cache-Control", "no-store", in: answer) == [1, 1])
    }
    let tag = try #require(answers[1].firstMatch(of: /ETag: (\S+)/)).1
    let unchanged = try get("/a.css", "If-None-Match: \(tag)\r\n")
    #expect(unchanged.hasPrefix("HTTP/1.1 304 "))
    #expect(counts("Cache-Control", "no-store", in: unchanged) == [1, 1])
  }

  @Test func `what watchrun itself answers has its own fields`() throws {
    try open(["Content-Security-Policy": "default-src 'none'", "X-A": "1"])
    for path in ["/__watchrun/", "/__watchrun/client.js", "/__watchrun/status.json"] {
      #expect(try counts("X-A", "1", in: get(path)) == [0, 0])
    }
  }

  @Test func `a policy among them admits the script in files and in answers of servers`() throws {
    try open(["Content-Security-Policy": "script-src 'strict-dynamic'; connect-src 'none'"])
    var nonces: Set<String> = []
    let own = "Content-Security-Policy: default-src 'none'\r\n"
    for answer in [
      try get("/"), try get("/none"), try get("/gone"), try get("/api", server: own),
    ] {
      let nonce = try #require(answer.firstMatch(of: /<script[^>]* nonce="([a-z0-9]+)"/)).1
      nonces.insert(String(nonce))
      let policy = "script-src 'strict-dynamic' 'nonce-\(nonce)'; connect-src 'self'"
      #expect(counts("Content-Security-Policy", policy, in: answer) == [1, 1])
    }
    #expect(nonces.count == 1, "a document that a browser keeps fits the fields of a later answer")
  }

  @Test func `a policy that forbids scripts is reported once`() throws {
    try open(["Content-Security-Policy": "script-src 'none'"])
    _ = try (get("/"), get("/api", server: ""))
    let warnings = pages.reports.entries.compactMap { report in
      if case .warning(let warning) = report { warning.message } else { nil }
    }
    #expect(
      warnings == ["page is not reloaded at /: its Content-Security-Policy forbids scripts"])
    #expect(try counts("Content-Security-Policy", "script-src 'none'", in: get("/")) == [1, 1])
  }
}
