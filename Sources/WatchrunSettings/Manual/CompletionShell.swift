/// A shell for which `--completions` prints a script, generated from the table of settings.
package enum CompletionShell: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish

  /// A template, in which lists replace their names in backticks.
  package var script: String {
    let (template, lists) =
      switch self {
      case .bash: (PackageResources.completions_bash, BashCompletion.lists)
      case .zsh: (PackageResources.completions_zsh, ZshCompletion.lists)
      case .fish: (PackageResources.completions_fish, FishCompletion.lists)
      }
    return template.split(separator: UInt8(ascii: "`"), omittingEmptySubsequences: false)
      .map { part in lists[part.decoded] ?? part.decoded }.joined()
  }

  /// Text in single quotes, as bash and zsh read it.
  static func quoted(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}
