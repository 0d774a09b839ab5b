/// The roots, each by its entry, and which of them do not exist at present.
struct Roots: Sequence {
  private var coverages: [TreeSnapshot.Entry: Coverage] = [:]
  var missing: Set<TreeSnapshot.Entry> = []

  /// How much of a root counts; nil for what is no root.
  subscript(entry: TreeSnapshot.Entry) -> Coverage? { coverages[entry] }

  /// Adds a root, or extends what of it counts.
  mutating func add(_ entry: TreeSnapshot.Entry, _ coverage: Coverage) {
    coverages[entry] = Swift.max(coverages[entry] ?? .named, coverage)
  }

  mutating func remove(_ entry: TreeSnapshot.Entry) {
    coverages[entry] = nil
    missing.remove(entry)
  }

  func makeIterator() -> AnyIterator<TreeSnapshot.Entry> {
    var keys = coverages.keys.makeIterator()
    return AnyIterator { keys.next() }
  }
}
