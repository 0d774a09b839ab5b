import Foundation
import SystemCalls
import Testing

/// watchrun at a terminal, started by a script that does not change the terminal's modes, so that
/// tests can compare them after the exit.
final class TerminalSession: Sendable {
  let terminal: PseudoTerminal
  let shell: Watchrun
  /// watchrun's process.
  let pid: pid_t
  /// The modes before it was started.
  let modes: TerminalModes
  private let project: Project

  init(
    _ project: Project, _ arguments: [String], environment: [String: String] = [:]
  ) async throws {
    self.project = project
    terminal = try PseudoTerminal()
    modes = try terminal.modes
    let files = (pid: project.outside + "/pid", status: project.outside + "/status")
    for file in [files.pid, files.status] { try? project.remove(file) }
    // The traps apply to the script alone; its children have the default actions.
    shell = try await project.start(
      arguments,
      prefix: [
        "/bin/sh", "-c",
        #"""
        trap : INT QUIT HUP TERM
        sh -c 'echo $$ > "$OUTSIDE/pid"; exec "$@"' sh "$@"
        echo $? > "$OUTSIDE/status"
        exec sleep 1000
        """#, "sh",
      ], environment: environment, output: .session(terminal))
    pid = try await value("watchrun is started") {
      project.read(files.pid).split(separator: "\n").first.flatMap { pid_t($0) }
    }
  }

  /// watchrun's process group.
  var group: pid_t { shell.process.pid }

  func type(_ text: String) throws {
    try terminal.type(text)
  }

  /// Waits for a line that contains this text.
  @discardableResult
  func shows(
    _ text: String, times: Int = 1, within limit: Duration = patience
  ) async throws -> String {
    try await terminal.output.value("the terminal shows '\(text)'", within: limit) {
      let lines = terminal.output.bytes.split { (byte: UInt8) in byte == 10 || byte == 13 }
        .map { String(decoding: $0, as: UTF8.self) }.filter { $0.contains(text) }
      return lines.count >= times ? lines.last : nil
    }
  }

  /// Waits until watchrun reads keys.
  func readsKeys() async throws {
    try await eventually("watchrun reads keys") { try terminal.modes == modes.forKeys }
  }

  /// Waits until watchrun has exited, and all its output is read. Returns the status as in `$?`.
  @discardableResult
  func ended() async throws -> Int32 {
    let status = try await value("watchrun ends") {
      Int32(project.read(project.outside + "/status").trimmingCharacters(in: .newlines))
    }
    try await terminal.drain()
    return status
  }

  func send(_ signal: Int32) {
    kill(pid, signal)
  }
}

extension Project {
  /// Waits until watchrun has noticed a change that is made now.
  func settle(_ session: TerminalSession) async throws {
    try place("settled")
    try await session.shows("settled changed")
  }

  /// Starts watchrun at a terminal of its own.
  func startOnTerminal(_ arguments: String...) async throws -> TerminalSession {
    try await TerminalSession(self, arguments)
  }
}
