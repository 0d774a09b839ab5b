/// The text of `--help`, generated from the table of settings.
package enum HelpText {
  package static let version = "watchrun 0.1.0"

  private static let usage = """
    Runs a command, or the tasks of a project, again when files change.

    Usage: watchrun [options] [--] command [argument...]
           watchrun [options] [task...]    run the tasks of watchrun.json, or build
                                           and test the project that is detected
           watchrun [options] --serve DIR [[--] command...]
           watchrun [options] --print json
           watchrun [options] --explain PATH...
           watchrun [options] --doctor
           watchrun [-C DIR] --wait | --status | --logs | --send ACTION [task...]

    Examples:
      watchrun -e c,h make test         Run the tests again when C files change
      watchrun 'make && ./app'          Run a shell line again on each change
      watchrun -r ./server              Restart a server on each change
      watchrun -p -e py ruff check {}   Check only the files that changed

    """

  private static let placeholders = """

    Arguments of the command:
      {}                        One argument for each changed path
      {first}, /_               The first changed path

    Environment of the command:
      WATCHRUN_REASON           start, change, key, restart or overflow
      WATCHRUN_COUNT            Number of changed paths
      WATCHRUN_FIRST            The first changed path
      WATCHRUN_PATHS            Changed paths, one a line (at most 64 KiB)
      WATCHRUN_PATHS_FILE       A file that holds all of them, separated by NUL

    The manual: watchrun --man, and watchrun --man=5 for watchrun.json

    """

  package static var full: String {
    var text = usage
    for group in Option.Group.allCases {
      text += "\n\(group.rawValue):\n"
      for option in Setting.options where option.group == group { text += lines(for: option) }
    }
    return text + placeholders
  }

  static let width = 80
  private static let column = 28

  private static func lines(for option: Option) -> String {
    let short = option.short.map { "-\($0), " } ?? "    "
    let names = "  \(short)\(option.usage)"
    let padding = String(repeating: " ", count: max(1, column - names.count))
    let indentation = String(repeating: " ", count: column)
    let lines = wrapped(description(of: option), to: width - column)
    return names + padding + lines.joined(separator: "\n" + indentation) + "\n"
  }

  static func description(of option: Option) -> String {
    option.help + (option.defaultValue.map { " (default: \($0))" } ?? "")
  }

  /// - Parameter bySentence: Whether each sentence begins a line.
  static func wrapped(_ text: String, to width: Int, bySentence: Bool = false) -> [String] {
    var lines: [String] = []
    for word in text.split(whereSeparator: \.isWhitespace) {
      let last = lines.last ?? ""
      if last.isEmpty || last.count + 1 + word.count > width || bySentence && last.last == "." {
        lines.append(String(word))
      } else {
        lines[lines.count - 1] += " " + word
      }
    }
    return lines
  }
}

extension [String] {
  /// "A, B and C"
  package var listed: String {
    guard let last, count > 1 else { return joined() }
    return dropLast().joined(separator: ", ") + " and " + last
  }
}
