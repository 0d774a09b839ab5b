import Support
import SystemCalls

/// A single argument that may be a line for a shell.
struct ShellLine {
  let line: [UInt8]

  /// Whether the line holds a space or a character that is special to shells.
  var needsShell: Bool {
    let special = Array(" \t\n|&;<>()$`\\\"'*?[]{}!#~".utf8)
    return line.contains { special.contains($0) }
  }

  /// The first placeholder for changed paths that is a word of the line outside of quotes.
  ///
  /// Not in a line of a program that has placeholders of its own, such as `find -exec`.
  var placeholder: [UInt8]? {
    let words = self.words
    let others = Self.programsWithPlaceholders.map { Array($0.utf8) }
    if words.contains(where: others.contains) { return nil }
    let placeholders = ["{}", "{first}", "/_"].map { Array($0.utf8) }
    return words.first(where: placeholders.contains)
  }

  private static let programsWithPlaceholders = [
    "-exec", "-execdir", "-ok", "-okdir", "xargs", "parallel", "fd", "fdfind", "-x", "-X", "-I",
  ]

  /// The command line to write instead, with the placeholder as an argument. In `sh`, because not every
  /// shell of a user knows `"$@"`.
  var replacement: String {
    let words = self.words
    let plain = line.filter { !"{}".utf8.contains($0) }
    if !plain.contains(where: Array("|&;<>()$`\\\"'*?[]!#~\n".utf8).contains) {
      return ShellWords.quoted(words)
    }
    let shell = Array("sh".utf8)
    return ShellWords.quoted([shell, Array("-c".utf8), withArguments, shell, placeholder ?? []])
  }

  /// The line with its placeholder replaced by the arguments of the shell.
  private var withArguments: [UInt8] {
    guard let placeholder else { return line }
    var result: [UInt8] = []
    var rest = line[...]
    while let start = rest.firstIndex(of: placeholder.decoded) {
      result += rest[..<start] + #""$@""#.word
      rest = rest[start...].dropFirst(placeholder.count)
    }
    return result + rest
  }

  /// The words of the line; a quoted part is a space, so that it is no word that is looked for.
  private var words: [[UInt8]] {
    var words: [[UInt8]] = []
    var word: [UInt8] = []
    var quote: UInt8?
    let separators = Array(" \t\n;|&()<>".utf8)
    for byte in line + [UInt8(ascii: " ")] {
      if let open = quote {
        if byte == open { quote = nil }
        word.append(byte == open ? byte : UInt8(ascii: " "))
      } else if separators.contains(byte) {
        if !word.isEmpty { words.append(word) }
        word = []
      } else {
        if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") { quote = byte }
        word.append(byte)
      }
    }
    return words
  }
}

extension [[UInt8]] {
  /// The words of a command as messages show it, so that it can be pasted into a shell: a shell line as it is,
  /// or the words of a program, quoted where a shell needs that.
  package var shownCommand: String {
    count == 1 && ShellLine(line: self[0]).needsShell ? self[0].printable : ShellWords.quoted(self)
  }
}
