/// The lists in the completion script for fish.
enum FishCompletion {
  /// What stands for the names in the template.
  static var lists: [String: String] {
    ["specifications": specifications, "completions": completions]
  }

  /// The options, as `argparse` reads them.
  private static var specifications: String {
    Setting.options.map { option in
      let names = (option.short.map { "\($0)/" } ?? "") + option.long
      if option.value == nil { return names }
      return quoted(names + (option.isValueOptional ? "=?" : "=+"))
    }.joined(separator: " ")
  }

  private static var completions: String {
    Setting.options.map { option in
      "complete -c watchrun -n __watchrun_no_command"
        + (option.short.map { " -s \($0)" } ?? "") + " -l \(option.long)"
        + (option.value == nil ? "" : " " + arguments(for: option))
        + " -d \(quoted(option.help))"
    }.joined(separator: "\n")
  }

  private static func arguments(for option: Option) -> String {
    // A value that may be omitted is never the next word.
    if option.isValueOptional { return "-f" + words(option.kind.words) }
    let list = option.kind.words.joined(separator: " ")
    return switch option.kind {
    case .paths, .file, .files: "-r -F"
    case .directory: "-x -a '(__fish_complete_directories)'"
    case .shellLine: "-x -a '(__fish_complete_command)'"
    case .taskNames: "-x -a '(watchrun --list-tasks 2>/dev/null | string match -r \"^\\S+\")'"
    case .hosts: "-x -a '(__fish_print_hostnames)'"
    case .choices: "-x -a '(__watchrun_list \(list))'"
    default: "-x" + words(option.kind.words)
    }
  }

  private static func words(_ words: [String]) -> String {
    words.isEmpty ? "" : " -a \(quoted(words.joined(separator: " ")))"
  }

  /// Text in single quotes, as fish reads it.
  private static func quoted(_ text: String) -> String {
    "'" + text.map { "'\\".contains($0) ? "\\\($0)" : String($0) }.joined() + "'"
  }
}
