/// A list of patterns, of which the last one that matches decides. A copy shares all of it.
package struct PatternList: Sendable, Hashable {
  private let storage: Storage

  private final class Storage: Sendable {
    let patterns: [GlobPattern]
    let numbers: [Int]

    // Most patterns end with a literal byte (`*.o`, `build/`), and can only match paths that end with
    // the same byte. The patterns of each ending are chained: `newest` has the last pattern, `older`
    // the previous one of each. The five low bits of a letter are the same in both cases.
    let newest: [Int32]
    let older: [Int32]
    // The byte with which a matching name must begin, or 0 if it varies.
    let firstBytes: [UInt8]

    init(_ patterns: [GlobPattern], numbers: [Int]) {
      (self.patterns, self.numbers) = (patterns, numbers)
      var newest = [Int32](repeating: none, count: endings + 1)
      older = patterns.enumerated().map { index, pattern in
        let ending = pattern.lastByte.map(PatternList.ending) ?? endings
        defer { newest[ending] = Int32(index) }
        return newest[ending]
      }
      self.newest = newest
      firstBytes = patterns.map { $0.firstByteOfName ?? 0 }
    }
  }

  private static let endings = 32
  private static let none: Int32 = -1
  private static let empty = Storage([], numbers: [])

  package var patterns: [GlobPattern] { storage.patterns }
  /// For each pattern, its line number, or its position in the list.
  var numbers: [Int] { storage.numbers }

  /// Creates a list of patterns that are numbered by their positions, from 1.
  package init(_ patterns: [GlobPattern]) {
    self.init(patterns, numbers: Array(1..<(patterns.count + 1)))
  }

  /// Creates a list of patterns with a number for each.
  init(_ patterns: [GlobPattern], numbers: [Int]) {
    storage = patterns.isEmpty ? Self.empty : Storage(patterns, numbers: numbers)
  }

  package static func == (left: PatternList, right: PatternList) -> Bool {
    left.patterns == right.patterns && left.numbers == right.numbers
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(patterns)
    hasher.combine(numbers)
  }

  private static func ending(_ byte: UInt8) -> Int {
    Int(byte) & (endings - 1)
  }

  /// The index of the last pattern that matches; `nil` if none does. The parameters are those of
  /// `GlobPattern.matches`. Allocates nothing.
  func lastIndex(
    matching path: UnsafeBufferPointer<UInt8>, base: Int?, nameAt name: Int, isDirectory: Bool
  ) -> Int? {
    let (storage, none) = (storage, Self.none)
    guard !storage.patterns.isEmpty, let lastByte = path.last else { return nil }
    let firstByte = name < path.count ? path[name] : 0
    var fixed = storage.newest[Self.ending(lastByte)]
    var open = storage.newest[Self.endings]
    while max(fixed, open) != none {
      let index = Int(max(fixed, open))
      if fixed > open { fixed = storage.older[index] } else { open = storage.older[index] }
      if storage.firstBytes[index] != 0, storage.firstBytes[index] != firstByte { continue }
      if storage.patterns[index].matches(path, base: base, nameAt: name, isDirectory: isDirectory) {
        return index
      }
    }
    return nil
  }
}
