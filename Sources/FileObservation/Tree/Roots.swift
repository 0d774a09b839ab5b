/// The roots and their coverage, and the symbolic links, of which the targets are roots too. A root
/// that does not exist at present is marked as absent in the snapshot.
struct Roots: Sequence {
  var links: Links
  /// A directory that stays where it is. Those between it and a root may be replaced by others.
  private let base: Path?
  private var coverages: [TreeSnapshot.Entry: Coverage] = [:]

  init(followingLinks areFollowed: Bool, below base: Path?) {
    links = Links(areFollowed: areFollowed)
    self.base = base
  }

  /// The directories below the base in which a root is, and whose own watches do not say that they are replaced.
  func replaceableDirectories(above path: Path, _ coverage: Coverage) -> [Path] {
    guard let base, path != base, path.isWithin(base) else { return [] }
    let above = sequence(state: path) { step -> Path? in
      step = step.parent ?? base
      return step == base ? nil : step
    }
    // The directory of a file has a watch of its own.
    return Array(above.dropFirst(coverage > .named ? 0 : 1))
  }

  /// The coverage of a root; `nil` for other entries.
  @inline(__always)
  subscript(entry: TreeSnapshot.Entry) -> Coverage? { coverages[entry] }

  /// Adds a root, or extends its coverage.
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
