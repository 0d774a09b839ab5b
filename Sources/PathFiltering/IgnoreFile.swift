import Support
import SystemCalls

/// An ignore file: its path, and its patterns.
public struct IgnoreFile: Sendable, Hashable {
  /// A line with a pattern.
  public struct Rule: Sendable, Hashable {
    /// The number of the line, from 1.
    public let line: Int
    /// The pattern on the line.
    public let pattern: GlobPattern
  }

  /// The path of the file.
  public let path: Path
  let list: PatternList

  /// Parses an ignore file. It does not read from the disk.
  ///
  /// Lines end with a newline or a carriage return and a newline; a byte-order mark at the start is
  /// skipped. Any bytes are valid: a malformed pattern matches nothing.
  public init(path: Path, contents: [UInt8], ignoringCase: Bool = false) {
    self.path = path
    var patterns: [GlobPattern] = []
    var numbers: [Int] = []
    let lines = contents.withoutByteOrderMark.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if let pattern = GlobPattern(line: text, ignoringCase: ignoringCase) {
        patterns.append(pattern)
        numbers.append(index + 1)
      }
    }
    list = PatternList(patterns, numbers: numbers)
  }

  init(path: Path, list: PatternList) {
    self.path = path
    self.list = list
  }

  /// The rules, in the order of their lines. The last one that matches a path decides.
  public var rules: [Rule] {
    zip(list.numbers, list.patterns).map { Rule(line: $0, pattern: $1) }
  }
}
