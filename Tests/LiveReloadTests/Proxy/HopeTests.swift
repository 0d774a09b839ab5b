import Testing

@testable import LiveReload

/// Whether a page waits for its server, which does not answer, while tasks have failed. Sockets are in memory, and time
/// is manual.
struct HopeTests {
  private let pages: MemoryPages

  /// The page depends on a build, a check, a service that is its server, and another one.
  init() throws {
    pages = try MemoryPages.proxy(dependencies: ["build", "lint", "web", "db"]).pages
    pages.network.listener(at: 3000)?.close()
    pages.core.note(
      .tasks([
        .init(name: "build", command: ""), .init(name: "lint", command: ""),
        .init(name: "web", command: "", dependencies: ["build"], isService: true),
        .init(name: "db", command: "", isService: true),
      ]))
  }

  /// An activity: `+web` is a start, `~web` a request to stop, and others are outcomes. `=web` stands for an answer of
  /// this task, and `=` for one of a process of no task.
  private func note(_ word: Substring) throws {
    let task = String(word.drop { "+~=".contains($0) }.prefix { $0 != ":" })
    switch word.first {
    case "+": pages.core.note(.started(task: task))
    case "~": pages.core.note(.stopping(task: task))
    case "=":
      pages.network.processes = [10]
      pages.network.launched = task.isEmpty ? nil : 5
      if !task.isEmpty { pages.core.note(.launched(task: task, process: 5)) }
      let server = pages.network.listen(3000)
      let client = try pages.connect()
      client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
      try #require(server.next()).send(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
      pages.network.run()
      server.close()
    default:
      let name = String(word.drop { $0 != ":" }.dropFirst())
      let outcome = try #require(Activity.Outcome(rawValue: name))
      pages.core.note(
        .ended(task: task, outcome, status: outcome == .failed ? 1 : nil, duration: .zero))
    }
  }

  /// - Parameter hasHope: Whether a request is held, and the page that answers it at last reloads itself.
  @Test(
    arguments: [
      ("", true), ("+web", true), ("+web web:ready", true),
      ("+web web:failed", false), ("+web web:notReady", false),
      ("+web web:failed +web", true), ("+web web:failed +web web:ready", true),
      ("+db db:ready +web web:failed", false),
      ("+build build:failed web:skipped", false),
      ("+build build:failed web:skipped +build", true),
      ("+web web:ready lint:failed", true), ("+web web:ready lint:failed ~web", true),
      ("+web web:ready lint:failed ~web web:stopped", true),
      ("+web web:ready lint:failed ~web web:stopped +web", true),
      ("+web web:ready lint:failed ~web web:stopped +web web:failed", false),
      ("lint:failed", false), ("lint:failed +web", true),
      ("+web web:ready +build build:failed web:kept", true),
      ("+web =web web:ready +db db:ready db:failed", true),
      ("+web =web web:ready ~web +web db:failed", true),
      ("+web =web web:ready web:failed", false), ("+db =db web:failed", true),
      ("= lint:failed", false),
    ] as [(String, Bool)])
  func `a request waits unless its server needs the success of a task`(
    story: String, hasHope: Bool
  ) throws {
    for word in story.split(separator: " ") { try note(word) }
    let client = try pages.connect()
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.advance(seconds: 1)
    #expect(client.receiveAll().isEmpty == hasHope)
    pages.network.advance(seconds: 10)
    let page = client.receiveAll()
    if hasHope { #expect(page.contains("502") && page.contains(#"http-equiv="refresh""#)) }
  }

  @Test(arguments: [("lint:failed", false), ("= lint:failed", true), ("lint:failed =", true)])
  func `a server that no task runs needs the success of none`(story: String, hasHope: Bool) throws {
    let source = Page.Source.upstream(ServerAddress(host: "127.0.0.1", port: 3000))
    try pages.core.open(Page(name: "page", source: source, port: 80, dependencies: ["lint"]))
    for word in story.split(separator: " ") { try note(word) }
    let client = try pages.connect()
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.advance(seconds: 1)
    #expect(client.receiveAll().isEmpty == hasHope)
  }

  @Test func `a page without hope is told to try again when there is some`() throws {
    let events = try pages.connect()
    events.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for (word, isTold) in [
      ("+web", false), ("web:failed", false), ("lint:failed", false), ("+web", true),
      ("+lint", false), ("web:failed", false), ("lint:succeeded", false), ("+web", true),
    ] {
      _ = events.receiveAll()
      try note(word[...])
      #expect(events.receiveAll().contains(#"{"type":"retry"}"#) == isTold, "\(word)")
    }
    try note("web:failed")
    let client = try pages.connect()
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.network.run()
    let page = client.receiveAll()
    #expect(page.contains(#"<meta name="watchrun" content="wait">"#))
    #expect(!page.contains("refresh"))
  }

  @Test func `a page that connects after the next start is told to try again`() throws {
    func greeting() throws -> String {
      let events = try pages.connect()
      events.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return events.receiveAll()
    }
    try note("web:failed")
    #expect(try !greeting().contains(#"{"type":"retry"}"#))
    try note("+web")
    #expect(try greeting().contains(#"{"type":"retry"}"#))
  }
}
