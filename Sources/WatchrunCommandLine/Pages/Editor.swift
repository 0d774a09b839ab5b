import Support
import SystemCalls
import WatchrunSettings

/// The command that opens a file at a line in the user's editor.
struct Editor: Hashable, Sendable {
  /// The program and its arguments in bytes. They are not for a shell.
  var arguments: [[UInt8]]
  /// Whether the editor runs in a terminal, and cannot be started without one.
  var needsTerminal: Bool

  /// Creates the command for a setting such as `code --wait`, `/usr/bin/vim` or
  /// `my-editor --at {line} {file}`. `nil` if the setting is blank, or a quotation is not closed.
  ///
  /// `path` must be absolute. Known editors are passed the line and the column in their own syntax.
  /// For others, `{file}`, `{line}` and `{column}` are replaced; without any of them, the path is
  /// appended.
  init?(setting: String, path: Path, line: Int, column: Int?) {
    guard let words = ShellWords.split(setting), let program = words.first, !program.isEmpty else {
      return nil
    }
    let name = Self.name(of: program)
    needsTerminal = Self.isInTerminal(name, words.dropFirst())
    let values = [
      ("{file}", path.bytes), ("{line}", "\(max(1, line))".word),
      ("{column}", "\(max(1, column ?? 1))".word),
    ]
    func filled(_ words: [String]) -> [[UInt8]] { words.map { $0.word.filling(values) } }
    if words.contains(where: Self.namesPosition) {
      arguments = filled(words)
    } else {
      let known = Self.syntaxes.first { $0.names.split(separator: " ").contains { $0 == name } }
      let own = column == nil ? known?.withoutColumn : known?.arguments
      arguments = words.map(\.word) + filled(own ?? ["{file}"])
    }
  }

  /// Whether a word has a place for the path or the line.
  private static func namesPosition(_ word: String) -> Bool {
    word.word.filling([("{file}", []), ("{line}", [])]).count < word.utf8.count
  }

  /// The name of a program without directory and extension, in lowercase.
  private static func name(of program: String) -> String {
    var name = program.split(separator: "/").last.map { $0.lowercased() } ?? program
    // JetBrains' programs are scripts in an archive.
    if name.hasSuffix(".sh") { name.removeLast(3) }
    return name
  }

  private static func isInTerminal(_ name: String, _ options: ArraySlice<String>) -> Bool {
    switch name {
    case "emacs", "emacsclient":
      options.contains { ["-nw", "-t", "--tty", "--no-window-system"].contains($0) }
    case "vi", "vim", "nvim":
      !options.contains("-g")
    default:
      terminalEditors.contains(name)
    }
  }

  private static let terminalEditors: Set<String> = [
    "helix", "hx", "kak", "micro", "nano", "view",
  ]
}

// MARK: - Syntax

extension Editor {
  fileprivate typealias Syntax = (names: String, arguments: [String], withoutColumn: [String])

  /// The arguments of known editors.
  fileprivate static let syntaxes: [Syntax] = [
    (
      "code code-insiders code-oss codium codium-insiders vscodium cursor windsurf",
      ["-g", "{file}:{line}:{column}"], ["-g", "{file}:{line}"]
    ),
    ("zed zeditor subl sublime_text hx helix", ["{file}:{line}:{column}"], ["{file}:{line}"]),
    (
      "vim nvim gvim mvim neovide", ["+call cursor({line},{column})", "{file}"],
      ["+{line}", "{file}"]
    ),
    ("vi view", ["+{line}", "{file}"], ["+{line}", "{file}"]),
    (
      "emacs emacsclient kak micro gedit gnome-text-editor pluma", ["+{line}:{column}", "{file}"],
      ["+{line}", "{file}"]
    ),
    ("nano", ["+{line},{column}", "{file}"], ["+{line}", "{file}"]),
    (
      "idea webstorm pycharm clion goland rubymine phpstorm rider rustrover studio kate kwrite geany",
      ["--line", "{line}", "--column", "{column}", "{file}"], ["--line", "{line}", "{file}"]
    ),
  ]
}
