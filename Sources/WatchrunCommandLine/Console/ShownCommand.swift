import SystemCalls

/// A command as messages show it, so that it can be pasted into a shell.
enum ShownCommand {
  private static let plainCharacters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-{}".utf8)

  /// The words, quoted where a shell would not take them as they are. A single word is a shell line or a program,
  /// and is shown as it is.
  static func text(_ words: [[UInt8]]) -> String {
    if words.count == 1 { return Path(bytes: words[0]).description }
    return words.map(quoted).joined(separator: " ")
  }

  private static func quoted(_ word: [UInt8]) -> String {
    let shown = Path(bytes: word).description
    let isPlain = word.allSatisfy { $0 >= 0x80 || plainCharacters.contains($0) }
    if isPlain && !word.isEmpty { return shown }
    let parts = shown.split(separator: "'" as Character, omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: "'\\''") + "'"
  }
}
