import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// What an embedding program asks of a page. Sockets are in memory, and time is manual.
struct PageControlTests {
  private let pages = MemoryPages()
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("<html><body>file</body></html>", to: "index.html")
    let page = Page(
      name: "page", source: .directory(directory.path), port: 80, dependencies: ["build"])
    try pages.core.open(page)
    pages.core.note(.tasks([.init(name: "build", command: "make")]))
  }

  private var site: PageSite {
    get throws { try #require(pages.core.site("page")) }
  }

  /// A browser that receives events, and has received the first one.
  private func listener() throws -> MemorySocket {
    let client = try pages.connect()
    client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.run()
    #expect(client.receiveAll().contains(#""type":"hello""#))
    return client
  }

  private func events(of client: MemorySocket) -> String {
    pages.network.run()
    return client.receiveAll()
  }

  @Test func `a page of a directory reloads for the files in it`() throws {
    let client = try listener()
    pages.core.note(.changed([directory["index.html"]]))
    #expect(events(of: client).contains(#"{"type":"reload","revision":2}"#))
    pages.core.note(.changed(["/other", Path(bytes: directory.path.bytes + [0x32])]))
    #expect(events(of: client).isEmpty)
  }

  @Test(arguments: [false, true])
  func `a style sheet that a worker has fetched reloads the page`(servesRoot: Bool) throws {
    let pages = MemoryPages()
    try directory.write("p{}", to: "a b.css")
    let root: Path = servesRoot ? "/" : directory.path
    try pages.core.open(Page(name: "page", source: .directory(root), port: 80))
    let client = try pages.connect()
    let folder = servesRoot ? "\(directory.path)" : ""
    client.send(
      "GET \(folder)/a%20b.css HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Dest: empty\r\n\r\n")
    pages.network.run()
    #expect(client.receiveAll().hasSuffix("p{}"))
    let listener = try pages.connect()
    listener.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.run()
    _ = listener.receiveAll()
    pages.core.note(.changed([directory["a b.css"]]))
    pages.network.run()
    #expect(listener.receiveAll().contains(#""type":"reload""#))
  }

  @Test func `a reload that is asked for waits for nothing, and ends no wait`() throws {
    let client = try listener()
    pages.core.note(.unsettled(["build"]))
    pages.core.note(.changed([directory["index.html"]]))
    #expect(events(of: client).isEmpty)
    try site.reload()
    #expect(events(of: client).contains(#"{"type":"reload","revision":2}"#))
    pages.core.note(.unsettled([]))
    #expect(events(of: client).contains(#"{"type":"reload","revision":3}"#))
    pages.core.note(.unsettled([]))
    #expect(events(of: client).isEmpty)
  }

  @Test func `a page that replaces one reloads its tabs, and knows what has failed`() throws {
    func greeting() throws -> (session: String, all: String) {
      let client = try pages.connect()
      client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      pages.network.run()
      let all = client.receiveAll()
      return (String(all.split(separator: "\"session\":\"")[1].prefix { $0 != "\"" }), all)
    }
    pages.core.note(.ended(task: "build", .failed, status: 1, duration: .zero))
    let before = try greeting()
    let page = Page(
      name: "page", source: .directory(directory.path), port: 80, dependencies: ["build", "other"])
    try pages.core.open(page)
    let after = try greeting()
    #expect(before.session != after.session)
    #expect(before.all.contains("build failed") && after.all.contains("build failed"))
    pages.core.note(.changed([directory["index.html"]]))
    #expect(try site.revision == 1)
    pages.core.note(.ended(task: "build", .succeeded, status: 0, duration: .zero))
    pages.core.note(.unsettled([]))
    #expect(try site.revision == 2)
  }

  @Test(arguments: [false, true])
  func `a page that is opened later knows what its tasks do and have done`(isReplaced: Bool) throws
  {
    let name = isReplaced ? "page" : "other"
    let tasks = ["build", "lint", "web"]
    pages.core.note(
      .tasks(tasks.map { .init(name: $0, command: $0, isService: $0 == "web") }))
    for task in ["lint", "web"] {
      pages.core.note(.started(task: task))
      pages.core.note(.output(task: task, line: Array("no \(task)".utf8)))
    }
    pages.core.note(.ended(task: "lint", .failed, status: 3, duration: .seconds(1)))
    pages.core.note(.ended(task: "web", .notReady, status: nil, duration: .seconds(2)))
    pages.core.note(.started(task: "build"))
    pages.core.note(.unsettled(["build"]))
    if !isReplaced { pages.core.close("page") }
    try pages.core.open(
      Page(name: name, source: .directory(directory.path), port: 80, dependencies: Set(tasks)))
    let client = try pages.connect()
    client.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let greeting = events(of: client)
    #expect(greeting.contains("lint failed with status 3 after 1.0 s"))
    #expect(greeting.contains("web is not ready after 2.0 s"))
    #expect(greeting.contains("no lint") && greeting.contains("no web"))
    pages.core.note(.ended(task: "lint", .succeeded, status: 0, duration: .zero))
    pages.core.note(.ended(task: "web", .ready, status: nil, duration: .zero))
    pages.core.note(.changed([directory["index.html"]]))
    #expect(!events(of: client).contains(#""type":"reload""#), "a dependency runs")
    pages.core.note(.ended(task: "build", .succeeded, status: 0, duration: .zero))
    pages.core.note(.unsettled([]))
    #expect(events(of: client).contains(#""type":"reload""#))
  }

  @Test func `a page that is replaced during a run reloads after it`() throws {
    pages.core.note(.unsettled(["build"]))
    try pages.core.open(
      Page(
        name: "page", source: .directory(directory.path), port: 80, dependencies: ["build"],
        fallback: "index.html"))
    let client = try listener()
    pages.core.note(.unsettled([]))
    #expect(events(of: client).contains(#""type":"reload""#))
  }

  @Test func `a page without a port stays at its port when it is replaced`() throws {
    var page = Page(name: "other", source: .directory(directory.path))
    for (busy, port) in [([8080], 8081), ([], 8081), ([8080, 8081], 8082)] as [([UInt16], UInt16)] {
      pages.network.busy = Set(busy)
      page.listsDirectories.toggle()
      try pages.core.open(page)
      #expect(pages.core.site("other")?.url == "http://localhost:\(port)/")
    }
  }

  @Test func `a failure is shown, with links, until the next reload`() throws {
    try directory.write("one\n", to: "a.md")
    let client = try listener()
    let line = "\(directory["a.md"]):1: no title"
    try site.show(PageFailure(title: "cannot render", text: line + "\nsecond"))
    let failure = events(of: client)
    #expect(failure.contains(#""task":"","title":"cannot render""#))
    #expect(failure.contains(#"a.md:1","l":1}"#) && failure.contains("second"))
    // Who opens the page later sees it, too.
    let second = try pages.connect()
    second.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(events(of: second).contains("cannot render"))
    try site.reload()
    for client in [client, second] {
      let text = events(of: client)
      #expect(text.contains(#""type":"cleared","task":"""#) && text.contains(#""type":"reload""#))
    }
    #expect(!events(of: try listener()).contains("cannot render"))
  }

  @Test func `how to allow a refused host is said as the embedding program says it`() throws {
    let client = try pages.connect()
    client.send("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n")
    pages.network.run()
    #expect(client.receiveAll().hasSuffix("The host 'evil.test' is not allowed\n"))
  }
}
