import FileObservation
import SystemCalls

/// Opens source lines in the user's editor, which runs outside of watchrun's terminal.
struct EditorLauncher: Sendable {
  /// Makes the words that open a file at a line; `nil` if the editor's command is unusable.
  typealias MakeCommand =
    @Sendable (
      _ editor: String, _ file: Path, _ line: Int, _ column: Int?
    ) -> [[UInt8]]?

  /// Where the name of the editor comes from, in this order, unless `--editor` names it.
  static let variables = ["WATCHRUN_EDITOR", "VISUAL", "EDITOR"]

  private let editor: String?
  private let console: Console
  private let makeCommand: MakeCommand

  init(
    _ named: String?, console: Console, makeCommand: @escaping MakeCommand = Self.plainCommand
  ) {
    editor = named ?? Self.variables.lazy.compactMap(environmentVariable).first { !$0.isEmpty }
    self.console = console
    self.makeCommand = makeCommand
  }

  func open(_ file: Path, line: Int, column: Int?) {
    guard let editor else {
      return report("no editor is known; name one, as in --editor code")
    }
    if Self.needsTerminal(editor) {
      return report(
        "\(Path(editor)) needs a terminal of its own; name another one, as in --editor code or "
          + "--editor 'xterm -e vim'")
    }
    guard let arguments = makeCommand(editor, file, line, column), !arguments.isEmpty else {
      return report("\(Path(editor)) is not a command; name another one, as in --editor code")
    }
    do throws(SystemError) {
      try DetachedProgram(arguments: arguments).start { reason in
        report("\(Path(editor)): \(reason)")
      }
    } catch {
      report("\(Path(editor)): \(error.reason); name another one, as in --editor code")
    }
  }

  private func report(_ reason: String) {
    console.say(.problem, "cannot open the editor: \(reason)", style: .warning)
  }

  /// Opens the file, at no particular line.
  static let plainCommand: MakeCommand = { editor, file, _, _ in
    editor.split(separator: " ").map { Array($0.utf8) } + [file.bytes]
  }

  /// Whether an editor draws in a terminal.
  static func needsTerminal(_ editor: String) -> Bool {
    let words = editor.split(separator: " ").map(String.init)
    guard let first = words.first else { return false }
    let program = String(decoding: Path(first).lastComponent, as: UTF8.self)
    if ["emacs", "emacsclient"].contains(program) {
      return words.contains { ["-nw", "-t", "--no-window-system", "--tty", "-tty"].contains($0) }
    }
    if ["vim", "vi", "view"].contains(program) && words.contains("-g") { return false }
    return terminalEditors.contains(program)
  }

  private static let terminalEditors: Set = [
    "ed", "ex", "helix", "hx", "jed", "jmacs", "joe", "jove", "jpico", "kak", "mcedit", "mg",
    "micro", "nano", "ne", "nvi", "nvim", "pico", "rnano", "rvim", "vi", "view", "vim", "vim.basic",
    "vim.tiny", "vimdiff", "vis", "zile",
  ]
}
