import Support
import SystemCalls

/// A command as messages show it, so that it can be pasted into a shell.
enum ShownCommand {
  /// A shell line as it is, or the words of a program, quoted where a shell needs that.
  static func text(_ words: [[UInt8]]) -> String {
    if words.count == 1, ShellLine(words[0]).needsShell { return words[0].printable }
    return ShellWords.quoted(words)
  }
}
