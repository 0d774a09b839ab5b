/// Patterns in the order in which they were written, of which the last one that matches decides.
struct PatternList: Sendable, Hashable {
  let patterns: [GlobPattern]
  /// For each pattern, the number by which people know it: its line, or its place in the list.
  let numbers: [Int]

  // Most patterns end with a byte of their own (`*.o`, `build/`), so only those need be tried on a
  // path that end as the path does. They are chained: `newest` holds the last pattern for each
  // ending, `older` the one before each. The five low bits of a letter are the same in both cases.
  private var newest = [Int32](repeating: none, count: endings + 1)
  private var older: [Int32] = []
  private static let endings = 32
  private static let none: Int32 = -1

  /// Patterns that are known by their places, from 1.
  init(_ patterns: [GlobPattern]) {
    self.init(patterns, numbers: Array(1..<(patterns.count + 1)))
  }

  /// Patterns, and a number for each.
  init(_ patterns: [GlobPattern], numbers: [Int]) {
    self.patterns = patterns
    self.numbers = numbers
    for (index, pattern) in patterns.enumerated() {
      let ending = pattern.lastByte.map(Self.ending) ?? Self.endings
      older.append(newest[ending])
      newest[ending] = Int32(index)
    }
  }

  private static func ending(_ byte: UInt8) -> Int {
    Int(byte) & (endings - 1)
  }

  /// The place of the last pattern that matches; nil if none does. See `GlobPattern.matches` for
  /// the parameters. Allocates nothing.
  func lastIndex(
    matching path: UnsafeBufferPointer<UInt8>, base: Int?, nameAt name: Int, isDirectory: Bool
  ) -> Int? {
    guard let lastByte = path.last else { return nil }
    var fixed = newest[Self.ending(lastByte)]
    var open = newest[Self.endings]
    while max(fixed, open) != Self.none {
      let index = Int(max(fixed, open))
      if fixed > open { fixed = older[index] } else { open = older[index] }
      if patterns[index].matches(path, base: base, nameAt: name, isDirectory: isDirectory) {
        return index
      }
    }
    return nil
  }
}
