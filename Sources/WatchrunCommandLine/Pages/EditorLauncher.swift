import FileObservation
import LiveReload
import SystemCalls

/// Opens source lines in the user's editor, which runs outside the terminal.
struct EditorLauncher: Sendable {
  /// The variables that may name the editor, in order, unless `--editor` does.
  static let variables = ["WATCHRUN_EDITOR", "VISUAL", "EDITOR"]

  private let editor: String?
  private let console: Console

  init(_ named: String?, console: Console) {
    editor = named ?? Self.variables.lazy.compactMap(environmentVariable).first { !$0.isEmpty }
    self.console = console
  }

  func open(_ file: Path, line: Int, column: Int?) {
    guard let editor else {
      return report("no editor is set; pass one, for example --editor code")
    }
    guard let command = Editor(setting: editor, path: file, line: line, column: column) else {
      return report("\(Path(editor)) is not a command; pass another one, for example --editor code")
    }
    if command.needsTerminal {
      return report(
        "\(Path(editor)) needs a terminal of its own; pass another one, for example --editor code "
          + "or --editor 'xterm -e vim'")
    }
    do throws(SystemError) {
      try DetachedProgram(arguments: command.arguments).start { reason in
        report("\(Path(editor)): \(reason)")
      }
    } catch {
      report("\(Path(editor)): \(error.reason); pass another one, for example --editor code")
    }
  }

  private func report(_ reason: String) {
    console.say(.problem, "cannot open the editor: \(reason)", style: .warning)
  }
}
