/// The lists in the completion script for bash.
enum BashCompletion {
  /// What stands for the names in the template.
  static var lists: [String: String] { ["values": values, "names": names] }

  /// The branches of a `case` that print the kinds of values.
  private static var values: String {
    Setting.options.map { option in
      if option.value == nil { return "" }
      let prefix = option.isValueOptional ? "optional:" : ""
      let pattern = option.names.joined(separator: " | ")
      return "    \(pattern)) echo \(CompletionShell.quoted(prefix + word(for: option.kind))) ;;\n"
    }.joined()
  }

  private static var names: String {
    Setting.options.flatMap(\.names).joined(separator: " ")
  }

  private static func word(for kind: ValueKind) -> String {
    switch kind {
    case .paths, .file, .files: "path"
    case .directory: "directory"
    case .shellLine: "command"
    case .taskNames: "task"
    case .choices: "list:" + kind.words.joined(separator: " ")
    case .choice, .signal, .shell: "words:" + kind.words.joined(separator: " ")
    default: "text"
    }
  }
}
