import Support

/// A shell for which `--completions` prints a script, generated from the table of settings.
package enum CompletionShell: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish

  /// A template, in which lists replace their names in backticks.
  package var script: String {
    let (template, lists) =
      switch self {
      case .bash: (PackageResources.completions_bash, ["values": Bash.values, "names": Bash.names])
      case .zsh: (PackageResources.completions_zsh, ["specifications": Zsh.specifications])
      case .fish:
        (
          PackageResources.completions_fish,
          ["specifications": Fish.specifications, "completions": Fish.completions]
        )
      }
    return template.split(separator: UInt8(ascii: "`"), omittingEmptySubsequences: false)
      .map { part in lists[part.decoded] ?? part.decoded }.joined()
  }

  /// Text with backslashes before these characters.
  fileprivate static func escaped(_ text: String, _ characters: String) -> String {
    text.map { characters.contains($0) ? "\\\($0)" : String($0) }.joined()
  }
}

extension CompletionShell {
  private enum Bash {
    /// The branches of a `case` that print the kinds of values.
    static var values: String {
      Setting.options.filter { $0.value != nil }.map { option in
        let kind = (option.isValueOptional ? "optional:" : "") + option.kind.completion(\.bash)
        return "    \(option.names.joined(separator: " | "))) echo \(kind.singleQuoted) ;;\n"
      }.joined()
    }

    static var names: String { Setting.options.flatMap(\.names).joined(separator: " ") }
  }

  private enum Zsh {
    static var specifications: String {
      Setting.options.flatMap(specifications).map { "    \($0) \\\n" }.joined()
    }

    /// A specification for each name of an option, which excludes the other one unless it is repeatable.
    private static func specifications(_ option: Option) -> [String] {
      option.names.map { name in
        var prefix = "*"
        if !option.isRepeatable {
          prefix = option.names.count > 1 ? "(\(option.names.joined(separator: " ")))" : ""
        }
        let text = "[\(escaped(option.help, "[]:\\"))]"
        guard let value = option.value else { return (prefix + name + text).singleQuoted }
        let isOptional = option.isValueOptional
        let joint = isOptional ? "=-" : name.hasPrefix("--") ? "=" : "+"
        let argument = (isOptional ? "::" : ":") + escaped(value, "[]:\\") + ":"
        return (prefix + name + joint + text + argument + option.kind.completion(\.zsh))
          .singleQuoted
      }
    }
  }

  private enum Fish {
    /// The options, as `argparse` reads them.
    static var specifications: String {
      Setting.options.map { option in
        let names = (option.short.map { "\($0)/" } ?? "") + option.long
        if option.value == nil { return names }
        return (names + (option.isValueOptional ? "=?" : "=+")).singleQuoted
      }.joined(separator: " ")
    }

    static var completions: String {
      Setting.options.map { option in
        "complete -c watchrun -n __watchrun_no_command"
          + (option.short.map { " -s \($0)" } ?? "") + " -l \(option.long)"
          + (option.value == nil ? "" : " " + arguments(for: option))
          + " -d '\(escaped(option.help, "'\\"))'"
      }.joined(separator: "\n")
    }

    private static func arguments(for option: Option) -> String {
      let words = option.kind.words.joined(separator: " ")
      // A value that may be omitted is never the next word.
      if option.isValueOptional { return words.isEmpty ? "-f" : "-f -a '\(words)'" }
      return option.kind.completion(\.fish)
    }
  }
}
