import ActionRunning
import Dispatch
import SystemCalls

/// Opens pages in the user's browser: `$BROWSER`, otherwise the default browser of the system. Failures are
/// reported and change nothing else.
struct BrowserLauncher: Sendable {
  private let console: Console
  private let commands: [String]

  init(_ console: Console, variable: String? = environmentVariable("BROWSER")) {
    self.console = console
    commands = Self.commands(variable)
  }

  /// The commands to try in turn. `$BROWSER` is a list separated by colons.
  static func commands(_ variable: String?) -> [String] {
    let named = (variable ?? "").split(separator: ":").map(String.init)
    return named.isEmpty ? [openerOfURLs] : named
  }

  /// The words of a command. `%s` is replaced by the URL, which is appended otherwise.
  static func arguments(_ command: String, _ url: String) -> [[UInt8]] {
    let words = command.split(separator: " ").map(String.init)
    let hasPlace = words.contains { $0 == "%s" }
    let filled = words.map { $0 == "%s" ? url : $0 } + (hasPlace ? [] : [url])
    return filled.map { Array($0.utf8) }
  }

  func open(_ url: String) {
    var reason = "no browser found"
    for command in commands {
      do throws(SystemError) {
        try DetachedProgram(arguments: Self.arguments(command, url)).start { reason in
          report("\(command.printable): \(reason)", url)
        }
        return
      } catch {
        reason = "\(command.printable): \(error.reason)"
      }
    }
    report(reason, url)
  }

  private func report(_ reason: String, _ url: String) {
    console.warn(
      "cannot open a browser: \(reason); open \(url.printable) yourself, or set BROWSER")
  }
}

/// Opens source lines in the user's editor, which runs outside the terminal.
struct EditorLauncher: Sendable {
  /// The variables that may name the editor, in order, unless `--editor` does.
  private static let variables = ["WATCHRUN_EDITOR", "VISUAL", "EDITOR"]
  private static let advice = "set WATCHRUN_EDITOR or pass --editor, for example --editor code"

  private let editor: String?
  private let console: Console

  init(_ named: String?, console: Console) {
    editor = Self.editor(named, environmentVariable)
    self.console = console
  }

  /// The editor to use: the named one, or that of the first variable which needs no terminal, as a page
  /// has none.
  static func editor(_ named: String?, _ variable: (String) -> String?) -> String? {
    if let named { return named }
    let editors = variables.compactMap(variable).filter { !$0.isEmpty }
    return editors.first { !needsTerminal($0) } ?? editors.first
  }

  /// The editor for a user at the terminal: the named one, or that of the first variable.
  static func settingForTerminal(_ named: String?) -> String? {
    named ?? variables.compactMap(environmentVariable).first { !$0.isEmpty }
  }

  private static func needsTerminal(_ editor: String) -> Bool {
    Editor(setting: editor, path: "/", line: 1, column: nil)?.needsTerminal == true
  }

  /// Returns why the editor cannot be opened, and what to do about it; `nil` if it can.
  func open(_ file: Path, line: Int, column: Int?) -> String? {
    let problem = start(file, line, column)
    if let problem { report(problem) }
    return problem
  }

  private func start(_ file: Path, _ line: Int, _ column: Int?) -> String? {
    guard let editor else { return "no editor is set; \(Self.advice)" }
    let name = Path(editor)
    guard let command = Editor(setting: editor, path: file, line: line, column: column) else {
      return "\(name) is not a command; \(Self.advice)"
    }
    if command.needsTerminal {
      return "\(name) needs a terminal of its own; \(Self.advice) or --editor 'xterm -e vim'"
    }
    do throws(SystemError) {
      try DetachedProgram(arguments: command.arguments).start { report("\(name): \($0)") }
      return nil
    } catch {
      return "\(name): \(error.reason); \(Self.advice)"
    }
  }

  private func report(_ reason: String) {
    console.warn("cannot open the editor: \(reason)")
  }
}

/// A program that runs independently of watchrun, such as a browser or an editor: without a terminal, and
/// beyond the end of watchrun.
struct DetachedProgram: Sendable {
  private static let queue = DispatchQueue(label: "watchrun.programs")

  let arguments: [[UInt8]]

  /// Starts the program. If it exits with a failure, `failed` is called on a queue with the reason.
  func start(failed: @escaping @Sendable (_ reason: String) -> Void) throws(SystemError) {
    var request = SpawnRequest(
      arguments: arguments, environment: processEnvironment(), standardInput: .null)
    request.output = try PipeInput.discarding()
    request.errors = request.output
    let launcher = SystemLauncher(queue: Self.queue)
    let group = try launcher.launch(request) { status in
      if status.isSuccess { return }
      failed("failed with status \(status.code)")
    }
    SystemLauncher.exclude(group.leader)
  }
}
