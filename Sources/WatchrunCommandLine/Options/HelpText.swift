/// The help, made from the option table.
enum HelpText {
  static let version = "watchrun 0.1.0"

  private static let usage = """
    Runs a command, or the tasks of a project, again when files change.

    Usage: watchrun [options] [--] command [argument...]
           watchrun [options]                    the tasks of watchrun.json, or the usual ones
           watchrun [options] --serve DIR [[--] command...]
           watchrun [options] --print json
           watchrun [options] --explain path...

    """

  private static let placeholders = """

    In the command: {} is one argument for each changed path, {first} or /_ the first of them.
    In its environment: WATCHRUN_REASON, WATCHRUN_COUNT, WATCHRUN_FIRST, WATCHRUN_PATHS (one a
    line) and WATCHRUN_PATHS_FILE (a file with all of them, a NUL behind each).

    """

  static var full: String {
    var text = usage
    for group in Option.Group.allCases {
      text += "\n\(group.rawValue):\n"
      for option in OptionTable.options where option.group == group { text += line(for: option) }
    }
    return text + placeholders
  }

  private static let column = 31

  private static func line(for option: Option) -> String {
    let short = option.short.map { "-\($0), " } ?? "    "
    let value = option.placeholder.map { option.isValueOptional ? $0 : " " + $0 } ?? ""
    let names = "  \(short)--\(option.long)\(value)"
    let padding = String(repeating: " ", count: max(1, column - names.count))
    let indentation = String(repeating: " ", count: column)
    let lines = option.help.split(separator: Character("\n"))
    return names + padding + lines.joined(separator: "\n" + indentation) + "\n"
  }
}
