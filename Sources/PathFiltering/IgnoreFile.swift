import SystemCalls

/// An ignore file that is in force: where it is, and the patterns it holds.
public struct IgnoreFile: Sendable {
  /// One line that holds a pattern.
  public struct Rule: Sendable, Hashable {
    /// The line's number, from 1.
    public let line: Int
    /// What stands on it.
    public let pattern: GlobPattern
  }

  /// Where it was read.
  public let path: Path
  let list: PatternList

  /// A file at `path` with these contents.
  ///
  /// Lines end with a newline, before which one carriage return is dropped; a byte-order mark at
  /// the start is skipped. Any bytes will do: a line that is no sound pattern matches nothing.
  public init(path: Path, contents: [UInt8], ignoringCase: Bool = false) {
    self.path = path
    var patterns: [GlobPattern] = []
    var numbers: [Int] = []
    let lines = contents.withoutByteOrderMark.split(
      separator: Byte.newline, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let text = line.last == Byte.carriageReturn ? line.dropLast() : line
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

  /// Its patterns from the first to the last, which is the strongest.
  public var rules: [Rule] {
    zip(list.numbers, list.patterns).map { Rule(line: $0, pattern: $1) }
  }
}
