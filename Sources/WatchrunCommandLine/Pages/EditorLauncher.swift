import SystemCalls

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
