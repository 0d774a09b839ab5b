/// The lists in the completion script for zsh.
enum ZshCompletion {
  /// What stands for the names in the template.
  static var lists: [String: String] { ["specifications": specifications] }

  private static var specifications: String {
    Setting.options.flatMap(specifications).map { "    \($0) \\\n" }.joined()
  }

  /// A specification for each name of an option, which excludes the other one unless it is repeatable.
  private static func specifications(_ option: Option) -> [String] {
    option.names.map { name in
      var prefix = "*"
      if !option.isRepeatable {
        prefix = option.names.count > 1 ? "(\(option.names.joined(separator: " ")))" : ""
      }
      let text = "[\(escaped(option.help))]"
      guard let value = option.value else {
        return CompletionShell.quoted(prefix + name + text)
      }
      let isLong = name.hasPrefix("--")
      let joint = option.isValueOptional ? "=-" : isLong ? "=" : "+"
      let argument =
        (option.isValueOptional ? "::" : ":") + escaped(value) + ":" + action(for: option.kind)
      return CompletionShell.quoted(prefix + name + joint + text + argument)
    }
  }

  private static func action(for kind: ValueKind) -> String {
    let words = kind.words.joined(separator: " ")
    return switch kind {
    case .paths, .file, .files: "_files"
    case .directory: "_directories"
    case .shellLine: "_cmdstring"
    case .taskNames: "_watchrun_tasks"
    case .hosts: "_hosts"
    case .choices: "_sequence compadd - \(words)"
    case .choice, .signal, .shell: "(\(words))"
    default: " "
    }
  }

  private static func escaped(_ text: String) -> String {
    text.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
  }
}
