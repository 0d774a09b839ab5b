/// A list of patterns, of which the last one that matches decides.
struct PatternList: Sendable, Hashable {
  let patterns: [GlobPattern]
  /// For each pattern, its line number, or its position in the list.
  let numbers: [Int]

  // Most patterns end with a literal byte (`*.o`, `build/`), and can only match paths that end with
  // the same byte. The patterns of each ending are chained: `newest` has the last pattern, `older`
  // the previous one of each. The five low bits of a letter are the same in both cases.
  private var newest = [Int32](repeating: none, count: endings + 1)
  private var older: [Int32] = []
  // The byte with which a matching name must begin, or 0 if it varies.
  private var firstBytes: [UInt8] = []
  private static let endings = 32
  private static let none: Int32 = -1

  /// Creates a list of patterns that are numbered by their positions, from 1.
  init(_ patterns: [GlobPattern]) {
    self.init(patterns, numbers: Array(1..<(patterns.count + 1)))
  }

  /// Creates a list of patterns with a number for each.
  init(_ patterns: [GlobPattern], numbers: [Int]) {
    self.patterns = patterns
    self.numbers = numbers
    for (index, pattern) in patterns.enumerated() {
      let ending = pattern.lastByte.map(Self.ending) ?? Self.endings
      older.append(newest[ending])
      newest[ending] = Int32(index)
      firstBytes.append(pattern.firstByteOfName ?? 0)
    }
  }

  private static func ending(_ byte: UInt8) -> Int {
    Int(byte) & (endings - 1)
  }

  /// The index of the last pattern that matches; `nil` if none does. The parameters are those of
  /// `GlobPattern.matches`. Allocates nothing.
  func lastIndex(
    matching path: UnsafeBufferPointer<UInt8>, base: Int?, nameAt name: Int, isDirectory: Bool
  ) -> Int? {
    guard let lastByte = path.last else { return nil }
    let firstByte = name < path.count ? path[name] : 0
    var fixed = newest[Self.ending(lastByte)]
    var open = newest[Self.endings]
    while max(fixed, open) != Self.none {
      let index = Int(max(fixed, open))
      if fixed > open { fixed = older[index] } else { open = older[index] }
      if firstBytes[index] != 0, firstBytes[index] != firstByte { continue }
      if patterns[index].matches(path, base: base, nameAt: name, isDirectory: isDirectory) {
        return index
      }
    }
    return nil
  }
}
