/// The roots, and how much of each counts. One that does not exist at present is marked as absent.
struct Roots: Sequence {
  private var coverages: [TreeSnapshot.Entry: Coverage] = [:]

  /// How much of a root counts; nil for what is no root.
  subscript(entry: TreeSnapshot.Entry) -> Coverage? { coverages[entry] }

  /// Adds a root, or extends what of it counts.
  mutating func add(_ entry: TreeSnapshot.Entry, _ coverage: Coverage) {
    coverages[entry] = Swift.max(coverages[entry] ?? .named, coverage)
  }

  mutating func remove(_ entry: TreeSnapshot.Entry) {
    coverages[entry] = nil
  }

  func makeIterator() -> AnyIterator<TreeSnapshot.Entry> {
    var keys = coverages.keys.makeIterator()
    return AnyIterator { keys.next() }
  }
}
