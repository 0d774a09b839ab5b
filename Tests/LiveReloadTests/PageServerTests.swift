import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// Real sockets on the loopback.
struct PageServerTests {
  private let pages: ServedPages

  init() throws {
    pages = try ServedPages()
    try pages.directory.makeDirectories("site/css")
    try pages.directory.makeDirectories("site/sub")
    try pages.directory.write("<html><body>hi</body></html>", to: "site/index.html")
    try pages.directory.write("body{}", to: "site/css/a.css")
    try pages.directory.write("about", to: "site/about.html")
    try pages.directory.write("secret", to: "secret")
    try pages.directory.write("secret", to: "site/.env")
    try pages.directory.link("site/out", to: "\(pages.directory["secret"])")
    try pages.directory.link("site/in", to: "\(pages.directory["site/css/a.css"])")
  }

  @Test func `the script is added to pages, and to nothing else`() async throws {
    let port = try pages.openSite()
    let page = try await RawClient.request(port, "/")
    #expect(page.status == 200)
    #expect(page.body.hasPrefix("<html><script src=\"/__watchrun/client.js?"))
    #expect(page.body.hasSuffix("</script><body>hi</body></html>"))
    let source = try #require(page.body.split(separator: "\"").first { $0.hasPrefix("/__") })
    let script = try await RawClient.request(port, String(source))
    #expect(script.field("cache-control") == "max-age=86400, immutable")
    let unversioned = try await RawClient.request(port, "/__watchrun/client.js?")
    #expect(unversioned.field("cache-control") == "no-cache")
    let sheet = try await RawClient.request(port, "/css/a.css?x=y")
    #expect(sheet.body == "body{}")
    #expect(sheet.field("content-type") == "text/css; charset=utf-8")
    let tag = try #require(sheet.field("etag"))
    let again = try await RawClient.request(port, "/css/a.css", ["If-None-Match: \(tag)"])
    #expect(again.status == 304)
    let part = try await RawClient.request(port, "/css/a.css", ["Range: bytes=1-3"])
    #expect(part.status == 206 && part.body == "ody")
    #expect(part.field("content-range") == "bytes 1-3/6")
    let head = try await RawClient.request(port, "/css/a.css", method: "HEAD")
    #expect(head.body.isEmpty && head.field("content-length") == "6")
    #expect(try await RawClient.request(port, "/css/a.css", method: "POST").status == 405)
    #expect(try await RawClient.request(port, "/about").body.hasSuffix("</script>about"))
    #expect(try await RawClient.request(port, "/sub").field("location") == "/sub/")
    #expect(try await RawClient.request(port, "//evil.test").status == 404)
    #expect(try await RawClient.request(port, "/in").body == "body{}")
  }

  @Test(arguments: [
    ("a.js.gz", "gzip", "text/javascript; charset=utf-8"), ("a.wasm.br", "br", "application/wasm"),
    ("a.data.br", "br", "application/octet-stream"),
    ("a.data.gz", "gzip", "application/octet-stream"),
    ("a.html.gz", "gzip", "text/html; charset=utf-8"),
    ("a.svgz", "gzip", "image/svg+xml; charset=utf-8"),
    ("a.tar.gz", nil, "application/gzip"), ("a.gz", nil, "application/gzip"),
    ("a.zip.gz", nil, "application/gzip"), ("a.csv.gz", nil, "application/gzip"),
    ("a.log.gz", nil, "application/gzip"),
  ])
  func `a compressed file is sent with its encoding, and an archive as it is`(
    name: String, encoding: String?, type: String
  ) async throws {
    try pages.directory.write("<html>", to: "site/\(name)")
    let answer = try await RawClient.request(try pages.openSite(), "/\(name)")
    #expect(answer.field("content-encoding") == encoding)
    #expect(answer.field("content-type") == type)
    #expect(answer.body == "<html>")
  }

  @Test func `a file whose time of modification was set back has another tag`() async throws {
    let port = try pages.openSite()
    let file = pages.directory["site/x.js"]
    func write(_ text: String) throws -> FileTime {
      try File.write(text, to: file)
      try File.touch(file, isOld: true)
      return try FileStatus(of: file).changed
    }
    let time = try write("1111")
    let tag = try #require(try await RawClient.request(port, "/x.js").field("etag"))
    #expect(try await eventually { try write("2222") != time }, "the clock goes on")
    #expect(try await RawClient.request(port, "/x.js", ["If-None-Match: \(tag)"]).body == "2222")
  }

  @Test(arguments: [
    "/../secret", "/%2e%2e/secret", "/css/../../secret", "/css/..%2f..%2fsecret", "/out",
    "/..\\secret", "/.env", "/%2eenv", "/css/a.css%00", "/out/", "/%zz", "/css/a.css/", "/sub/",
  ])
  func `neither outside files nor hidden ones are served`(target: String) async throws {
    let port = try pages.openSite()
    let response = try await RawClient.request(port, target)
    #expect(response.status == 404)
    #expect(!response.body.contains("secret") || target.contains("secret"))
  }

  @Test(arguments: ["/git/config", "/git/", "/config"])
  func `hidden files are not served by way of links`(target: String) async throws {
    try pages.directory.makeDirectories("site/.git")
    try pages.directory.write("secret", to: "site/.git/config")
    try pages.directory.link("site/git", to: ".git")
    try pages.directory.link("site/config", to: ".git/config")
    let port = try pages.openSite { $0.listsDirectories = true }
    let response = try await RawClient.request(port, target)
    #expect(response.status == 404 && !response.body.contains("secret"))
    let other = try pages.openSite { $0.servesDotFiles = true }
    #expect(try await RawClient.request(other, "/git/config").body == "secret")
  }

  @Test func `what git ignores is served, by its name and by a link inside`() async throws {
    for directory in ["site/build", "build"] {
      try pages.directory.makeDirectories(directory)
      try pages.directory.write("b{}", to: directory + "/b.css")
    }
    try pages.directory.write("build/", to: ".gitignore")
    try pages.directory.link("site/inside", to: "build")
    try pages.directory.link("site/outside", to: "../build")
    let port = try pages.openSite { $0.listsDirectories = true }
    for target in ["/build/b.css", "/inside/b.css"] {
      #expect(try await RawClient.request(port, target).body == "b{}")
    }
    #expect(try await RawClient.request(port, "/inside/").body.contains("href=\"./b.css\""))
    for target in ["/outside/b.css", "/outside/"] {
      #expect(try await RawClient.request(port, target).status == 404)
    }
    let other = try pages.openSite { $0.followsLinks = true }
    #expect(try await RawClient.request(other, "/outside/b.css").body == "b{}")
  }

  @Test func `outside and hidden files are served if enabled`() async throws {
    let port = try pages.openSite {
      $0.followsLinks = true
      $0.servesDotFiles = true
      $0.listsDirectories = true
      $0.fallback = "index.html"
    }
    #expect(try await RawClient.request(port, "/out").body == "secret")
    #expect(try await RawClient.request(port, "/.env").body == "secret")
    #expect(try await RawClient.request(port, "/css/").body.contains("href=\"./a.css\""))
    #expect(
      try await RawClient.request(port, "/no/such/page").body.hasSuffix("<body>hi</body></html>"))
    #expect(try await RawClient.request(port, "/x.js", ["Sec-Fetch-Dest: script"]).status == 404)
  }

  @Test func `a directory is served once it is made, and again`() async throws {
    var page = Page(name: "later", source: .directory(pages.directory["later"]))
    page.watched = [pages.directory["later"]]
    let port = try pages.open(page)
    for _ in 1...2 {
      let missing = try await RawClient.request(port, "/")
      #expect(missing.status == 404 && missing.field("cache-control") == "no-store")
      #expect(missing.body.contains("The directory <code>later</code> does not exist."))
      #expect(missing.body.contains("<script src=\"/__watchrun/client.js?"))
      try pages.directory.makeDirectories("later")
      let empty = try await RawClient.request(port, "/")
      #expect(empty.status == 404 && empty.body.contains("There is no file for"))
      try pages.directory.write("made", to: "later/index.html")
      #expect(try await RawClient.request(port, "/").body.hasSuffix("</script>made"))
      try pages.directory.remove("later")
    }
  }

  @Test(arguments: ["evil.test", "localhost.evil.test", "1.2.3.4", "", "localhost:80:80"])
  func `another host is refused`(host: String) async throws {
    let port = try pages.openSite()
    let status = try await RawClient.request(port, "/", host: host).status
    #expect(status == 403)
  }

  @Test(arguments: [
    "Origin: http://evil.test", "Origin: null", "Origin: http://localhost:1",
    "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
  ])
  func `other sites can neither receive events nor read the status`(field: String) async throws {
    let port = try pages.openSite()
    for target in ["/__watchrun/events", "/__watchrun/status.json", "/__watchrun/"] {
      #expect(try await RawClient.request(port, target, [field]).status == 403)
    }
    let target = "/__watchrun/open?link=1&token=x"
    #expect(try await RawClient.request(port, target, method: "POST", [field]).status == 403)
  }

  @Test(arguments: [
    ("http://evil.test", false), ("http://1.2.3.4", false), ("null", false),
    ("http://localhost:3000", true), ("chrome-extension://abc", true),
  ])
  func `a WebSocket is opened for pages of this machine only`(
    origin: String, isAllowed: Bool
  ) async throws {
    let port = try pages.openSite()
    let client = try RawClient(port: port)
    _ = await client.send(
      """
      GET /livereload HTTP/1.1\r
      Host: localhost\r
      Connection: Upgrade\r
      Upgrade: websocket\r
      Origin: \(origin)\r
      Sec-WebSocket-Version: 13\r
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
      \r

      """)
    let text = await client.receive { $0.contains("\r\n\r\n") }.text
    #expect(text.hasPrefix(isAllowed ? "HTTP/1.1 101" : "HTTP/1.1 403"))
    if isAllowed { #expect(text.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")) }
  }

  @Test func `requests on one connection are answered in order`() async throws {
    let port = try pages.openSite()
    let client = try RawClient(port: port)
    let request = "HTTP/1.1\r\nHost: localhost\r\n"
    _ = await client.send(
      "GET /css/a.css \(request)\r\nHEAD / \(request)\r\nGET /none.js \(request)\r\n"
        + "GET /css/a.css \(request)Connection: close\r\n\r\n")
    let (text, isClosed) = await client.receive()
    #expect(isClosed)
    let statuses = text.split(separator: "HTTP/1.1 ").map { $0.prefix(3) }
    #expect(statuses == ["200", "200", "404", "200"])
  }

  @Test func `event streams receive reloads and failures`() async throws {
    let port = try pages.openSite { $0.dependencies = ["build"] }
    let client = try RawClient(port: port)
    _ = await client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(await client.receive { $0.contains("hello") }.text.contains(#""revision":1"#))
    let server = pages.server
    server.note(.changed([pages.directory["site/css/a.css"]]))
    let update = await client.receive { $0.contains("update") }.text
    #expect(update.contains(#""revision":2,"exact":true,"paths":["/css/a.css"]"#))
    server.note(.tasks([.init(name: "build", command: "make")]))
    server.note(.unsettled(["build"]))
    server.note(.started(task: "build"))
    server.note(.output(task: "build", line: Array("site/index.html:3: bad".utf8)))
    server.note(.ended(task: "build", .failed, status: 1, duration: .seconds(1)))
    server.note(.unsettled([]))
    let failure = await client.receive { $0.contains("failure") }.text
    #expect(failure.contains(#"{"t":"site/index.html:3","l":1}"#))
    server.note(.unsettled(["build"]))
    server.note(.started(task: "build"))
    server.note(.ended(task: "build", .succeeded, status: 0, duration: .seconds(1)))
    server.note(.unsettled([]))
    let end = await client.receive { $0.contains("\"reload\"") }.text
    #expect(end.contains("cleared"))
    let page = try await RawClient.request(port, "/").body
    #expect(page.contains("data-revision=\"3\""))
  }

  @Test func `a closed event stream is removed at once`() async throws {
    let port = try pages.openSite()
    let client = try RawClient(port: port)
    _ = await client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    _ = await client.receive { $0.contains("hello") }
    client.endSending()
    #expect(await client.receive().isClosed)
  }

  @Test func `a link of the overlay opens the editor, but only with the token`() async throws {
    let port = try pages.openSite { $0.dependencies = ["build"] }
    let server = pages.server
    server.note(.tasks([.init(name: "build", command: "make")]))
    server.note(.started(task: "build"))
    server.note(.output(task: "build", line: Array("site/index.html:3:7: bad".utf8)))
    server.note(.ended(task: "build", .failed, status: 1, duration: .seconds(1)))
    let client = try RawClient(port: port)
    _ = await client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let text = await client.receive { $0.contains("failure") }.text
    let token = try #require(text.firstMatch(of: /"token":"([a-z0-9]+)"/)).1
    let open = "/__watchrun/open?link=1&token="
    #expect(try await RawClient.request(port, open + "x", method: "POST").status == 403)
    #expect(try await RawClient.request(port, open + token).status == 404)
    #expect(try await RawClient.request(port, open + token, method: "POST").status == 204)
    #expect(pages.opened.entries == ["\(pages.directory["site/index.html"]):3:7"])
    try pages.directory.write("", to: "site/a.md")
    server.note(.output(task: "build", line: Array("site/a.md:5: bad".utf8)))
    server.note(.ended(task: "build", .failed, status: 1, duration: .seconds(1)))
    _ = await client.receive { $0.contains("a.md") }
    let refusal = try await RawClient.request(
      port, "/__watchrun/open?link=2&token=\(token)", method: "POST")
    #expect(refusal.status == 409)
    #expect(refusal.body == "cannot open the editor: no editor is set; set one\n")
  }

  @Test func `the status links source locations, with the same numbers each time`() async throws {
    let port = try pages.openSite()
    let server = pages.server
    server.note(.tasks(["build", "lint"].map { .init(name: $0, command: "make") }))
    server.note(.started(task: "build"))
    server.note(.output(task: "build", line: Array("site/index.html:3:7: odd".utf8)))
    // Output alone waits for more of it.
    server.note(.started(task: "lint"))
    let path = "/__watchrun/status.json"
    let first = try await RawClient.request(port, path).body
    #expect(first.contains(#"{"t":"site/index.html:3:7","l":1},{"t":": odd"}"#))
    #expect(try await RawClient.request(port, path).body == first)
    server.note(.output(task: "build", line: Array("site/about.html:1: odd".utf8)))
    server.note(.ended(task: "build", .succeeded, status: 0, duration: .seconds(1)))
    let second = try await RawClient.request(port, path).body
    #expect(second.contains(#""l":1}"#))
    #expect(second.contains(#"{"t":"site/about.html:1","l":2}"#))
    let client = try RawClient(port: port)
    _ = await client.send("GET /__watchrun/events?status HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let hello = await client.receive { $0.contains("hello") }.text
    let token = try #require(hello.firstMatch(of: /"token":"([a-z0-9]+)"/)).1
    let open = "/__watchrun/open?link=2&token=\(token)"
    #expect(try await RawClient.request(port, open, method: "POST").status == 204)
    #expect(pages.opened.entries == ["\(pages.directory["site/about.html"]):1:0"])
  }

  @Test func `the client script is at most 8,000 bytes long, and the overlay a file of its own`()
    async throws
  {
    let port = try pages.openSite()
    for name in ["client", "overlay"] {
      let script = try await RawClient.request(port, "/__watchrun/\(name).js?1")
      #expect(script.status == 200)
      #expect(script.field("content-type") == "text/javascript; charset=utf-8")
      #expect(script.body.utf8.count <= 8_000)
      #expect(script.body.contains("watchrun-overlay") == (name == "overlay"))
    }
  }

  @Test func `a request is held while the server behind the page restarts`() async throws {
    let upstream = try ServedPages()
    try upstream.directory.makeDirectories("site")
    try upstream.directory.write("body{}", to: "site/a.css")
    // A port that no search for a free one returns.
    let port = UInt16.random(in: 20_000..<30_000)
    _ = try upstream.openSite { $0.port = port }
    var page = Page(
      name: "proxy", source: .upstream(ServerAddress(port: port)))
    page.dependencies = ["server"]
    let proxy = try pages.open(page)
    #expect(try await RawClient.request(proxy, "/a.css").body == "body{}")
    upstream.server.close(page: "site")
    async let response = RawClient.request(proxy, "/a.css")
    try await Task.sleep(for: .milliseconds(100))
    _ = try upstream.openSite { $0.port = port }
    #expect(try await response.body == "body{}")
    // After a failed task, requests are not held.
    upstream.server.close(page: "site")
    pages.server.note(.tasks([.init(name: "server", command: "x")]))
    pages.server.note(.ended(task: "server", .failed, status: 1, duration: .zero))
    let failure = try await RawClient.request(proxy, "/")
    #expect(failure.status == 502)
    #expect(failure.body.contains("The server does not respond"))
  }

  @Test func `a document that is requested when its server has started needs no other load`()
    async throws
  {
    let upstream = try ServedPages()
    try upstream.directory.makeDirectories("site")
    try upstream.directory.write("<html><body></body></html>", to: "site/index.html")
    var page = Page(
      name: "proxy", source: .upstream(ServerAddress(port: try upstream.openSite())))
    page.dependencies = ["server"]
    let proxy = try pages.open(page)
    let server = pages.server
    server.note(.tasks([.init(name: "server", command: "x", isService: true)]))
    server.note(.unsettled(["server"]))
    server.note(.started(task: "server"))
    let document = try await RawClient.request(proxy, "/").body
    #expect(document.contains("data-revision=\"2\""))
    server.note(.ended(task: "server", .ready, status: nil, duration: .zero))
    server.note(.unsettled([]))
    let client = try RawClient(port: proxy)
    _ = await client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(await client.receive { $0.contains("hello") }.text.contains(#""revision":2"#))
  }

  @Test(
    arguments: [
      ([], ["127.0.0.1", "::1"]), (["localhost", "A.Localhost", "::1"], ["127.0.0.1", "::1"]),
      (["127.0.0.2", "0:0::1"], ["127.0.0.1", "::1", "127.0.0.2"]),
      (["10.0.0.1", "fe80::1%eth0"], ["127.0.0.1", "::1", "10.0.0.1", "fe80::1%eth0"]),
      (["0.0.0.0"], ["0.0.0.0", "::"]), (["10.0.0.1", "::"], ["0.0.0.0", "::"]),
      (["here.local"], ["0.0.0.0", "::"]), (["999.1.1.1"], ["127.0.0.1", "::1", "999.1.1.1"]),
    ] as [([String], [String])])
  func `a page listens at loopback addresses, and at those of its hosts`(
    hosts: [String], addresses: [String]
  ) {
    #expect(Listener.addresses(for: hosts) == addresses)
  }

  @Test func `a used port is an error, and is skipped if no port was given`()
    async throws
  {
    let port = try pages.openSite()
    var other = Page(name: "other", source: .directory(pages.directory["site"]))
    #expect(try pages.open(other) != port)
    other.name = "third"
    other.port = port
    let error = #expect(throws: PageError.self) { try pages.server.open(other) }
    #expect(error?.code == .portInUse)
    #expect(error?.description.hasPrefix("cannot serve third: port \(port) is in use") == true)
    #expect(error?.description.hasSuffix("(pid \(processIDs().own))") == true)
  }

  @Test func `idle connections to a server are closed before it is asked to stop`() async throws {
    let listener = try Socket.listen(at: "127.0.0.1", port: 0)
    let address = ServerAddress(host: "127.0.0.1", port: Socket.port(of: listener))
    let port = try pages.open(
      Page(name: "page", source: .upstream(address), dependencies: ["server"]))
    let task = Activity.TaskDescription(name: "server", command: "", isService: true)
    pages.server.note(.tasks([task]))
    pages.server.note(.started(task: "server"))
    let client = try RawClient(port: port)
    _ = await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let server = RawClient(try await listener.accept())
    _ = await server.receive { $0.hasSuffix("\r\n\r\n") }
    _ = await server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    _ = await client.receive { $0.hasSuffix("ok") }
    pages.server.note(.stopping(task: "server"))
    // The kernel may deliver it a little later.
    _ = await server.receive { _ in false }
    let isEnded = server.isEnded
    #expect(isEnded, "the side that ends a connection first keeps the port in use")
  }
}
