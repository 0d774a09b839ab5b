import Support
import Testing

@testable import WatchrunSettings

/// What the shells make of the scripts is tested by `Tests/Completions/run`.
struct CompletionTests {
  @Test(arguments: CompletionShell.allCases)
  func `every option is completed`(shell: CompletionShell) {
    let lines = shell.script.split(separator: "\n")
    for option in Setting.options {
      let isThere = lines.contains { line in
        switch shell {
        case .bash: line.contains("-W '") && line.contains("--\(option.long)")
        case .zsh: line.contains("--\(option.long)") && line.contains("[")
        case .fish: line.contains(" -l \(option.long) ")
        }
      }
      #expect(isThere, "\(option.long)")
    }
  }

  @Test(arguments: CompletionShell.allCases)
  func `the words that an option accepts are suggested`(shell: CompletionShell) {
    #expect(shell.script.contains("queue ignore restart overlap signal"))
    #expect(shell.script.contains("USR1"))
  }

  @Test(arguments: [("plain", "'plain'"), ("a'b", "'a'\\''b'"), ("$x", "'$x'")])
  func `a word in single quotes is read back by bash`(text: String, quoted: String) {
    #expect(text.singleQuoted == quoted)
  }
}
