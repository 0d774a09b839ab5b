import SystemCalls

/// An interactive shell with job control, at a terminal of its own.
final class Shell: Sendable {
  let terminal: PseudoTerminal
  private let bash: Watchrun

  init(_ project: Project) async throws {
    terminal = try PseudoTerminal()
    bash = try await project.startShell(terminal)
    try await shows("ready>")
  }

  /// Types a line.
  func command(_ line: String) throws {
    try terminal.type(line + Keystroke.enter)
  }

  /// Starts watchrun, in the background if `isInBackground`.
  func start(_ arguments: String..., isInBackground: Bool = false) throws {
    let words = arguments.map { "'" + $0.split(separator: "'").joined(separator: #"'\''"#) + "'" }
    try command("watchrun " + words.joined(separator: " ") + (isInBackground ? " &" : ""))
  }

  /// watchrun's process.
  func watchrun() async throws -> pid_t {
    try await value("watchrun is started") {
      ProcessTable.children(of: bash.process.pid).first {
        ProcessTable.name(of: $0) == "watchrun"
      }
    }
  }

  /// Waits for this text.
  func shows(_ text: String, times: Int = 1) async throws {
    try await terminal.output.value("the terminal shows '\(text)'") {
      terminal.output.text.occurrences(of: text) >= times ? () : nil
    }
  }

  /// How often it has asked for a line until now.
  func prompts() async throws -> Int {
    try await terminal.drain()
    return terminal.output.text.occurrences(of: "ready>")
  }

  /// True if the shell has the terminal.
  var isAtPrompt: Bool { terminal.foregroundGroup == bash.process.pid }

  /// Waits until the shell has the terminal.
  func hasPrompt() async throws {
    try await eventually("the shell has the terminal") { isAtPrompt }
  }
}

extension String {
  /// The number of occurrences of the text.
  func occurrences(of text: String) -> Int {
    ranges(of: text).count
  }
}
