import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// A command that receives a socket, and when a service accepts connections from it.
struct CommandSocketTests {
  private func words(_ line: String, shell: String = "/bin/sh") throws -> [String] {
    var command = Command(shell: line, with: shell)
    command.socket = try PassedSocket(at: "127.0.0.1", port: try freePort())
    let request = command.spawnRequest(
      for: RunTrigger(.start), in: Command.LaunchContext(currentDirectory: "/p"))
    #expect(request.socket === command.socket)
    #expect(request.environment.contains(Array("LISTEN_FDS=1".utf8)))
    return request.arguments.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: ["node server.js", "./a 'b; c' >log", "../venv/bin/gunicorn \"$APP\""])
  func `the program of a line takes the place of the shell`(line: String) throws {
    let words = try words(line)
    // Within quotes, separators are not distinguished from others.
    #expect(words == ["/bin/sh", "-c", line.contains(";") ? line : "exec \(line)"])
  }

  @Test(
    arguments: [
      "make && ./a", "a; b", "a | b", "a &", "A=1 a", "exec a", "eval a", "$A b", "{ a", "! a",
      "(a)", "a $(b)", "a `b`", "a\nb", ". a", "\"a b\"",
    ])
  func `other lines are left as they are`(line: String) throws {
    #expect(try words(line) == ["/bin/sh", "-c", line])
  }

  @Test func `other shells do that by themselves, or know no exec`() throws {
    #expect(try words("import a", shell: "python3") == ["python3", "-c", "import a"])
    #expect(try words("a b", shell: "/bin/bash") == ["/bin/bash", "-c", "a b"])
  }

  @Test func `a service is ready when it has accepted a connection made after its start`()
    async throws
  {
    let socket = try PassedSocket(at: "127.0.0.1", port: try freePort())
    // A client has come before.
    try socket.connect()
    let probe = SocketProbe(
      socket, on: .init(label: "test"), otherwise: FixedProbe(answer: true))
    func ask(_ condition: TaskDefinition.Readiness.Condition) async -> Bool {
      await withCheckedContinuation { continuation in
        probe.ask(condition) { continuation.resume(returning: $0) }
      }
    }
    let port = TaskDefinition.Readiness.Condition.port(socket.port)
    await #expect(!ask(port))
    await #expect(!ask(port))
    try accept(from: socket)
    await #expect(!ask(port))
    try accept(from: socket)
    await #expect(ask(port))
    // Other conditions are not about the socket.
    await #expect(ask(.line("up")))
    await #expect(ask(.url("http://localhost:\(socket.port)/")))
  }

  private func accept(from socket: PassedSocket) throws {
    let accepted = try #require(try Socket.accept(from: socket.number))
    _ = Descriptor(owning: accepted.socket)
  }
}

private struct FixedProbe: ReadinessProbe {
  let answer: Bool

  func ask(
    _ condition: TaskDefinition.Readiness.Condition, _ answer: @escaping @Sendable (Bool) -> Void
  ) {
    answer(self.answer)
  }
}
