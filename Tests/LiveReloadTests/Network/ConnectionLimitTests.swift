import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// Connections never take the descriptors that watching and commands need.
struct ConnectionLimitTests {
  private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

  @Test(arguments: [(1_024, 384), (256, 96), (64, 8), (0, 8), (1 << 20, 4_096), (-1, 8)])
  func `a part of the descriptors is for connections`(files: Int, connections: Int) {
    #expect(PageServer.connections(forOpenFiles: files) == connections)
  }

  @Test func `the connection that has been idle for the longest time makes room`() throws {
    let (pages, server, first) = try MemoryPages.proxy(mostConnections: 3)
    pages.network.advance(seconds: 1)
    let second = try pages.connect()
    pages.network.advance(seconds: 1)
    let third = try pages.connect()
    // The first is busy, so the second is the oldest idle one.
    first.send(Self.get)
    let fourth = try pages.connect()
    pages.network.run()
    #expect(second.isEnded && !first.isEnded && !third.isEnded && !fourth.isEnded)
    try #require(server.next()).send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    #expect(first.receiveAll().hasPrefix("HTTP/1.1 200"))
  }

  @Test func `without an idle connection, another one is refused with a reason`() throws {
    let (pages, _, first) = try MemoryPages.proxy(mostConnections: 1)
    first.send(Self.get)
    let second = try pages.connect()
    let answer = second.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
    #expect(answer.contains("Too many connections are open"))
    #expect(second.isEnded && !first.isEnded)
  }

  @Test func `a connection that was given up does not end accepting`() throws {
    let (pages, server, _) = try MemoryPages.proxy()
    let listener = try #require(pages.network.listener(at: 80))
    listener.failures = [SystemError(call: "accept", code: ECONNABORTED)]
    let client = try pages.connect()
    client.send(Self.get)
    #expect(server.next() != nil)
  }

  @Test func `if the process has no descriptor left, an idle connection is closed`() throws {
    let (pages, server, idle) = try MemoryPages.proxy()
    pages.network.run()
    let listener = try #require(pages.network.listener(at: 80))
    listener.failures = [SystemError(call: "accept", code: EMFILE)]
    let client = try pages.connect()
    client.send(Self.get)
    #expect(idle.isEnded)
    #expect(server.next() != nil)
    // Without one, accepting goes on later.
    listener.failures = [SystemError(call: "accept", code: EMFILE)]
    let late = try pages.connect()
    late.send(Self.get)
    #expect(server.next() == nil)
    pages.network.advance(seconds: 2)
    #expect(server.next() != nil)
  }

  @Test func `a file that cannot be read is not said to be missing`() throws {
    let directory = try TemporaryDirectory()
    try directory.write("x", to: "secret.txt")
    try directory.setMode(0, of: "secret.txt")
    let request = HTTPRequestHead(
      method: "GET", target: Array("/secret.txt".utf8), host: [], minorVersion: 1,
      fields: HTTPFields(), framing: .none)
    let script = ScriptTag(session: "s", revision: 1)
    let response = FileResponder(
      directory.path, of: Page(name: "page", source: .directory(directory.path))
    )
    .respond(to: request, script: script)
    #expect(response.status == (geteuid() == 0 ? 200 : 403))
  }
}
