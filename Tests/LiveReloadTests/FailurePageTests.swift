import Testing

@testable import LiveReload

/// What a page shows of tasks that have failed: in the overlay, and while the server does not respond.
struct FailurePageTests {
  private let pages = MemoryPages()

  /// Opens a page of a server that does not listen, in front of tasks.
  private func open(
    _ tasks: [Activity.TaskDescription], _ change: (inout Page) -> Void = { _ in }
  ) throws {
    var page = Page(
      name: "page", source: .upstream(ServerAddress(host: "127.0.0.1", port: 3000)), port: 80,
      dependencies: Set(tasks.map(\.name)))
    change(&page)
    try pages.core.open(page)
    pages.core.note(.tasks(tasks))
  }

  private func run(_ task: String, prints line: String, fails: Bool) {
    pages.core.note(.started(task: task))
    pages.core.note(.output(task: task, line: Array(line.utf8)))
    if fails {
      pages.core.note(.ended(task: task, .failed, status: 1, duration: .seconds(1)))
    }
  }

  private func get(
    _ path: String, _ method: String = "GET", _ fields: String = ""
  ) throws -> String {
    let client = try pages.connect()
    client.send("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
    pages.network.advance(seconds: 10)
    return client.receiveAll()
  }

  @Test(arguments: [true, false])
  func `output that the overlay shows is in the page only without scripts`(hasOverlay: Bool) throws
  {
    try open([.init(name: "build", command: "make"), .init(name: "server", command: "./s")]) {
      $0.showsOverlay = hasOverlay
    }
    run("build", prints: "error: <bad>", fails: true)
    run("server", prints: "starting", fails: false)
    let page = try get("/")
    #expect(page.contains("502"))
    let failure = "<h2>build</h2><pre>error: &lt;bad&gt;</pre>"
    #expect(page.contains(failure))
    #expect(page.contains("<noscript>\(failure)</noscript>") == hasOverlay)
    #expect(page.contains("</noscript><h2>server</h2><pre>starting</pre>") == hasOverlay)
  }

  @Test func `names neither change the direction of text nor run as markup`() throws {
    try open([.init(name: "a", command: "x", title: "a\u{202E}b")]) {
      $0.source = .upstream(ServerAddress(host: "x\u{2066}<b>", port: 3000))
    }
    run("a", prints: "\u{202E}error", fails: true)
    for path in ["/", "/__watchrun/events", "/__watchrun/status.json"] {
      let text = try get(path)
      #expect(!text.contains("\u{202E}") && !text.contains("\u{2066}") && !text.contains("x<b>"))
    }
    #expect(try get("/").contains(#"<h2>a\u{202E}b</h2>"#))
  }

  @Test func `the status page runs a task again, with the token`() throws {
    try open([.init(name: "täsk 1", command: "make")])
    let hello = try get("/__watchrun/events")
    let token = try #require(hello.firstMatch(of: /"token":"([a-z0-9]+)"/)).1
    let path = "/__watchrun/run?task=t%C3%A4sk%201&token="
    #expect(try get(path + token).contains("404"))
    #expect(try get(path + "x", "POST").contains("403"))
    #expect(try get("/__watchrun/run?task=other&token=\(token)", "POST").contains("404"))
    #expect(try get("/__watchrun/run?task=%x&token=\(token)", "POST").contains("404"))
    #expect(requestedRuns.isEmpty)
    #expect(try get(path + token, "POST", "Origin: http://evil.test\r\n").contains("403"))
    #expect(try get(path + token, "POST").contains("204"))
    #expect(requestedRuns == ["täsk 1"])
  }

  private var requestedRuns: [String] {
    pages.reports.entries.compactMap { if case .runRequested(let task) = $0 { task } else { nil } }
  }

  @Test func `a failure names the task by its title`() throws {
    try open([.init(name: "sh", command: "x", title: "cd <lib> && make")])
    run("sh", prints: "error", fails: true)
    #expect(try get("/").contains("<h2>cd &lt;lib&gt; &amp;&amp; make</h2>"))
    #expect(
      try get("/__watchrun/events").contains(
        #""title":"cd <lib> && make failed with status 1 after 1.0 s""#))
  }

  @Test(arguments: [5, 50])
  func `a failure says how many errors there are, and a long one begins with them`(
    count: Int
  ) throws {
    try open([.init(name: "sh", command: "x")])
    pages.core.note(.started(task: "sh"))
    for number in 0..<count {
      pages.core.note(.output(task: "sh", line: Array("line \(number)".utf8)))
    }
    pages.core.note(.diagnosed(task: "sh", counts: "1 error", lines: ["a.c:3:1: error: no"]))
    pages.core.note(.ended(task: "sh", .failed, status: 1, duration: .seconds(1)))
    let text = try get("/__watchrun/events")
    #expect(text.contains(#""title":"sh failed with status 1 after 1.0 s: 1 error""#))
    let first = count == 50 ? "a.c:3:1: error: no" : "line 0"
    #expect(text.contains(##""lines":[[{"t":"\##(first)"}]"##))
    pages.core.note(.started(task: "sh"))
    pages.core.note(.ended(task: "sh", .failed, status: 1, duration: .seconds(1)))
    #expect(try get("/__watchrun/events").contains(#"after 1.0 s","lines""#))
  }
}
