import FileObservation
import LiveReload
import SystemCalls

/// Opens source lines in the user's editor, which runs outside of watchrun's terminal.
struct EditorLauncher: Sendable {
  /// Where the name of the editor comes from, in this order, unless `--editor` names it.
  static let variables = ["WATCHRUN_EDITOR", "VISUAL", "EDITOR"]

  private let editor: String?
  private let console: Console

  init(_ named: String?, console: Console) {
    editor = named ?? Self.variables.lazy.compactMap(environmentVariable).first { !$0.isEmpty }
    self.console = console
  }

  func open(_ file: Path, line: Int, column: Int?) {
    guard let editor else {
      return report("no editor is known; name one, as in --editor code")
    }
    guard let command = Editor(setting: editor, path: file, line: line, column: column) else {
      return report("\(Path(editor)) is not a command; name another one, as in --editor code")
    }
    if command.needsTerminal {
      return report(
        "\(Path(editor)) needs a terminal of its own; name another one, as in --editor code or "
          + "--editor 'xterm -e vim'")
    }
    do throws(SystemError) {
      try DetachedProgram(arguments: command.arguments).start { reason in
        report("\(Path(editor)): \(reason)")
      }
    } catch {
      report("\(Path(editor)): \(error.reason); name another one, as in --editor code")
    }
  }

  private func report(_ reason: String) {
    console.say(.problem, "cannot open the editor: \(reason)", style: .warning)
  }
}
