import SystemCalls
import Testing

@testable import LiveReload

/// Pages in front of servers that start again by themselves. Sockets and processes are in memory, and
/// time is manual.
struct ServerReloadTests {
  private let pages = MemoryPages()
  private let server: MemoryListener
  private let events: MemorySocket

  init() throws {
    server = pages.network.listen(3000)
    let source = Page.Source.upstream(ServerAddress(host: "127.0.0.1", port: 3000))
    try pages.core.open(
      Page(name: "page", source: source, port: 80, dependencies: ["flask"], watched: ["/p"]))
    pages.core.note(.tasks([.init(name: "flask", command: "flask run --debug")]))
    pages.network.processes = [10, 11]
    events = try pages.connect()
    events.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
  }

  /// Loads the page, by which its server becomes known.
  private func load() throws {
    let client = try pages.connect()
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try #require(server.next()).send(
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    pages.network.run()
    _ = client.receiveAll()
  }

  /// The command starts, which is the server.
  ///
  /// - Parameter isDaemon: Whether its process is no descendant of the command's any more.
  private func startServer(isDaemon: Bool = false) {
    pages.network.launched = isDaemon ? processIDs().own : 5
    pages.core.note(.started(task: "flask"))
    pages.core.note(.launched(task: "flask", process: 5))
    pages.core.note(.unsettled(["flask"]))
  }

  /// Saves a file that was not saved before.
  private func save(_ name: String) {
    pages.core.note(.changed([Path("/p/" + name)]))
    pages.network.run()
  }

  /// The number of reloads since the last call.
  private func reloads() -> Int {
    events.receiveAll().split(separator: "\n").count { $0.contains(#""type":"reload""#) }
  }

  @Test func `a page reloads when the server has started again after a save`() throws {
    try load()
    save("a.py")
    #expect(reloads() == 1, "it is not known yet that the server starts again")
    pages.network.advance(seconds: 20)
    pages.network.replaceProcesses(by: [10, 12])
    #expect(reloads() == 1, "the build of a server may take long")
  }

  @Test func `a reload waits for a server that started again after the last such save`() throws {
    try load()
    save("a.py")
    pages.network.scheduler.advance(by: .milliseconds(400))
    pages.network.replaceProcesses(by: [10, 12])
    #expect(reloads() == 2)
    try load()
    save("b.py")
    #expect(reloads() == 0)
    pages.network.scheduler.advance(by: .milliseconds(600))
    pages.network.replaceProcesses(by: [10, 13])
    #expect(reloads() == 1)
    pages.network.advance(seconds: 60)
    #expect(reloads() == 0)
    // A template is read for each request.
    save("a.html")
    #expect(reloads() == 1)
  }

  @Test func `a reload that has waited in vain is sent, and the next one does not wait`() throws {
    try load()
    save("a.py")
    pages.network.scheduler.advance(by: .milliseconds(400))
    pages.network.replaceProcesses(by: [10, 12])
    try load()
    #expect(reloads() == 2)
    save("test.py")
    #expect(reloads() == 0)
    pages.network.advance(seconds: 2)
    #expect(reloads() == 1)
    save("test2.py")
    #expect(reloads() == 1)
  }

  @Test func `a server that runs another program in its process is noticed after a save`() throws {
    try load()
    save("a.py")
    #expect(reloads() == 1)
    // Nothing ends.
    pages.network.processes = [20]
    pages.network.advance(seconds: 1)
    #expect(reloads() == 1)
    pages.network.advance(seconds: 100)
    #expect(pages.network.scheduler.pendingCount == 0)
  }

  @Test(arguments: [false, true])
  func `a command that is the server reloads the page although it never ends`(
    isDaemon: Bool
  ) throws {
    startServer(isDaemon: isDaemon)
    try load()
    #expect(reloads() == 0)
    save("a.py")
    #expect(reloads() == 1)
    pages.network.replaceProcesses(by: [10, 12])
    #expect(reloads() == 1)
    try load()
    // A person starts the command again.
    pages.core.note(.stopping(task: "flask"))
    pages.network.replaceProcesses(by: [])
    pages.core.note(.ended(task: "flask", .stopped, status: nil, duration: .zero))
    #expect(reloads() == 0)
    pages.core.note(.started(task: "flask"))
    #expect(reloads() == 1)
    pages.core.note(.unsettled([]))
    #expect(reloads() == 0)
  }

  @Test func `a command whose first run has failed is shown when it serves`() throws {
    func received() -> String {
      pages.network.run()
      return events.receiveAll()
    }
    server.close()
    startServer()
    pages.core.note(.ended(task: "flask", .failed, status: 1, duration: .zero))
    pages.core.note(.unsettled([]))
    #expect(received().contains("flask failed with status 1"))
    save("a.py")
    pages.core.note(.unsettled(["flask"]))
    pages.core.note(.started(task: "flask"))
    #expect(received().contains(#"{"type":"retry"}"#), "pages that waited for a success")
    let client = try pages.connect()
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.advance(seconds: 1)
    #expect(client.receiveAll().isEmpty)
    let server = pages.network.listen(3000)
    pages.network.advance(seconds: 1)
    try #require(server.next()).send(
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
    #expect(client.receiveAll().hasSuffix("ok"))
    let text = received()
    #expect(text.contains(#"{"type":"cleared","task":"flask"}"#))
    #expect(text.contains(#""type":"reload""#), "it was asked before the process was known")
    save("b.py")
    #expect(reloads() == 1)
  }

  @Test func `a command that is not the server is waited for`() throws {
    pages.core.note(.started(task: "flask"))
    pages.core.note(.unsettled(["flask"]))
    try load()
    save("a.py")
    pages.network.replaceProcesses(by: [10, 12])
    #expect(reloads() == 0)
    pages.core.note(.ended(task: "flask", .succeeded, status: 0, duration: .zero))
    pages.core.note(.unsettled([]))
    #expect(reloads() == 1)
  }

  /// A page that depends on a service, its server, and on a build.
  private func openPage() throws -> MemorySocket {
    let source = Page.Source.upstream(ServerAddress(host: "127.0.0.1", port: 3000))
    let dependencies: Set = ["build", "web"]
    try pages.core.open(Page(name: "page", source: source, port: 80, dependencies: dependencies))
    pages.core.note(
      .tasks([
        .init(name: "build", command: ""), .init(name: "web", command: "", isService: true),
      ]))
    let events = try pages.connect()
    events.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return events
  }

  @Test func `a build that runs while the server becomes known is no server`() throws {
    let events = try openPage()
    func reloads() -> Int {
      events.receiveAll().split(separator: "\n").count { $0.contains(#""type":"reload""#) }
    }
    pages.network.launched = 6
    for (task, process) in [("web", 6), ("build", 7)] as [(String, Int32)] {
      pages.core.note(.started(task: task))
      pages.core.note(.launched(task: task, process: process))
    }
    pages.core.note(.ended(task: "web", .ready, status: nil, duration: .zero))
    pages.core.note(.unsettled(["build"]))
    try load()
    for _ in 0..<2 {
      #expect(reloads() == 0)
      pages.core.note(.ended(task: "build", .succeeded, status: 0, duration: .zero))
      pages.core.note(.unsettled([]))
      #expect(reloads() == 1)
      pages.core.note(.unsettled(["build"]))
      pages.core.note(.started(task: "build"))
      pages.core.note(.launched(task: "build", process: 8))
    }
  }

  @Test func `a request outlives restarts, also if the server is back at once`() throws {
    startServer()
    try load()
    let client = try pages.connect()
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for _ in 0..<4 {
      let connection = try #require(server.next())
      pages.core.note(.stopping(task: "flask"))
      pages.core.note(.started(task: "flask"))
      // Noticed only now.
      connection.close()
      pages.network.advance(seconds: 1)
    }
    try #require(server.next()).send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
    pages.network.run()
    #expect(client.receiveAll().hasSuffix("good"))
  }

  @Test func `processes that end without a save do not reload the page`() throws {
    for number in 0..<5 {
      try load()
      pages.network.replaceProcesses(by: [10, pid_t(20 + number)])
      pages.network.advance(seconds: 5)
    }
    #expect(reloads() == 0)
    save("a.py")
    var count = 0
    for number in 0..<10 {
      try load()
      pages.network.replaceProcesses(by: [10, pid_t(30 + number)])
      pages.network.advance(seconds: 5)
      count += reloads()
    }
    #expect(count == 3, "once for the save, and twice for the server")
  }

  @Test(arguments: [false, true])
  func `a save before the process of the server is known reloads the page afterwards`(
    isCommand: Bool
  ) throws {
    if isCommand { startServer() }
    pages.network.answersSearches = false
    try load()
    save("a.py")
    pages.network.processes = [10, 12]
    #expect(reloads() == (isCommand ? 0 : 1))
    pages.network.answersSearches = true
    #expect(reloads() == (isCommand ? 1 : 0))
    let client = try pages.connect()
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for text in ["old", "new", "new"] {
      try #require(server.next()).send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
          + "Content-Length: 3\r\n\r\n\(text)")
      pages.network.advance(seconds: 1)
    }
    #expect(reloads() == 1, "the document has changed")
  }

  @Test func `the last of several processes that start again reloads the page too`() throws {
    try load()
    save("a.py")
    pages.network.replaceProcesses(by: [10, 12])
    #expect(reloads() == 2)
    try load()
    pages.network.replaceProcesses(by: [12, 13])
    #expect(reloads() == 0)
    pages.network.advance(seconds: 1)
    #expect(reloads() == 1)
  }
}
