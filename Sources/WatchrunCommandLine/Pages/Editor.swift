import Support
import SystemCalls

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
    let position = Position(path: path.bytes, line: max(1, line), column: column.map { max(1, $0) })
    if words.contains(where: Self.namesPosition) {
      arguments = words.map(position.filled)
    } else {
      let syntax = Self.syntaxes[name]
      arguments = words.map { Array($0.utf8) } + position.arguments(syntax ?? .pathOnly)
    }
  }

  /// Whether a word has a place for the path or the line.
  private static func namesPosition(_ word: String) -> Bool {
    word.utf8.indices.contains { index in
      ["{file}", "{line}"].contains { word.utf8[index...].starts(with: $0.utf8) }
    }
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
  /// The syntax of an editor for the line and the column.
  fileprivate enum Syntax {
    /// `path:line:column`, after an option if there is one.
    case joined(option: String?)
    /// `+line path`.
    case plusLine
    /// `+line<separator>column path`.
    case plus(separator: String)
    /// `+call cursor(line,column) path`.
    case vim
    /// `--line N --column M path`.
    case options
    case pathOnly
  }

  fileprivate static let syntaxes: [String: Syntax] = {
    let groups: [(String, Syntax)] = [
      (
        "code code-insiders code-oss codium codium-insiders vscodium cursor windsurf",
        .joined(option: "-g")
      ),
      ("zed zeditor subl sublime_text hx helix", .joined(option: nil)),
      ("vim nvim gvim mvim neovide", .vim),
      ("vi view", .plusLine),
      ("emacs emacsclient kak micro gedit gnome-text-editor pluma", .plus(separator: ":")),
      ("nano", .plus(separator: ",")),
      (
        "idea webstorm pycharm clion goland rubymine phpstorm rider rustrover studio kate kwrite geany",
        .options
      ),
    ]
    var table: [String: Syntax] = [:]
    for (names, syntax) in groups {
      for name in names.split(separator: " ") { table[String(name)] = syntax }
    }
    return table
  }()
}

/// The position at which the editor opens a file.
private struct Position {
  var path: [UInt8]
  var line: Int
  var column: Int?

  /// The line, followed by `separator` and the column if it is known.
  private func position(_ separator: String) -> String {
    "\(line)" + (column.map { "\(separator)\($0)" } ?? "")
  }

  func arguments(_ syntax: Editor.Syntax) -> [[UInt8]] {
    let options: [String]
    switch syntax {
    case .joined(let option):
      return [option].compactMap { $0.map { Array($0.utf8) } } + [path + ":\(position(":"))".utf8]
    case .plusLine: options = ["+\(line)"]
    case .plus(let separator): options = ["+" + position(separator)]
    case .vim: options = [column.map { "+call cursor(\(line),\($0))" } ?? "+\(line)"]
    case .options: options = ["--line", "\(line)"] + (column.map { ["--column", "\($0)"] } ?? [])
    case .pathOnly: options = []
    }
    return options.map { Array($0.utf8) } + [path]
  }

  /// Replaces the placeholders of a word.
  func filled(_ word: String) -> [UInt8] {
    Array(word.utf8).filling([
      ("{file}", path), ("{line}", Array("\(line)".utf8)),
      ("{column}", Array("\(column ?? 1)".utf8)),
    ])
  }
}

extension [UInt8] {
  /// Replaces placeholders. Replacements are not searched for placeholders.
  func filling(_ values: [(name: String, value: [UInt8])]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = self[...]
    while let byte = rest.first {
      let found = values.first { rest.starts(with: $0.name.utf8) }
      result += found?.value ?? [byte]
      rest = rest.dropFirst(found?.name.utf8.count ?? 1)
    }
    return result
  }
}
