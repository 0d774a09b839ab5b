import SystemCalls

/// A shell for which `--completions` prints a script, generated from the option table.
enum CompletionShell: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish

  /// The script.
  var script: String {
    switch self {
    case .bash: BashCompletion.script
    case .zsh: ZshCompletion.script
    case .fish: FishCompletion.script
    }
  }

  /// The shells that `--shell` suggests.
  static let shells = ["bash", "dash", "fish", "none", "sh", "zsh"]

  /// Text in single quotes, as bash and zsh read it.
  static func quoted(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}

extension Option {
  /// The names with their dashes.
  var names: [String] { (short.map { ["-\($0)"] } ?? []) + ["--\(long)"] }
}

extension Option.Value.Kind {
  /// The words that can be suggested; empty where they are not known beforehand.
  var words: [String] {
    switch self {
    case .choice(let words), .choices(let words): words
    case .signal: Signal.names
    case .shell: CompletionShell.shells
    default: []
    }
  }
}
