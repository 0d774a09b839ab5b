/// A shell for which `--completions` prints a script, generated from the table of settings.
enum CompletionShell: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish

  var script: String {
    switch self {
    case .bash: BashCompletion.script
    case .zsh: ZshCompletion.script
    case .fish: FishCompletion.script
    }
  }

  /// Text in single quotes, as bash and zsh read it.
  static func quoted(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}
