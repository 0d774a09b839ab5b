/// The roots and their coverage, and the symbolic links, of which the targets are roots too. A root
/// that does not exist at present is marked as absent in the snapshot.
struct Roots: Sequence {
  var links: Links
  /// The directory from which roots are named. It, and those between it and a root, may be replaced by others.
  private let base: Path?
  private var coverages: [TreeSnapshot.Entry: Coverage] = [:]

  init(followingLinks areFollowed: Bool, below base: Path?) {
    links = Links(areFollowed: areFollowed)
    self.base = base
  }

  /// Whether a directory on the way to a root may be replaced by another one.
  func isReplaceable(_ path: Path) -> Bool {
    base.map(path.isWithin) ?? false
  }

  /// The coverage of a root; `nil` for other entries.
  @inline(__always)
  subscript(entry: TreeSnapshot.Entry) -> Coverage? { coverages[entry] }

  /// Whether an entry is a root that is watched by its name: a file, or what links lead to.
  func isNamed(_ entry: TreeSnapshot.Entry) -> Bool {
    coverages[entry].map { $0 <= .named } ?? false
  }

  /// Whether an entry is a root of which the entries are observed, if it is a directory.
  func isDirectory(_ entry: TreeSnapshot.Entry) -> Bool {
    coverages[entry].map { $0 > .named } ?? false
  }

  /// Whether an entry is a root for its own sake, and not only because links lead to it.
  func isReported(_ entry: TreeSnapshot.Entry) -> Bool {
    coverages[entry].map { $0 > .linked } ?? false
  }

  /// Adds a root, or extends its coverage.
  mutating func add(_ entry: TreeSnapshot.Entry, _ coverage: Coverage) {
    coverages[entry] = Swift.max(coverages[entry] ?? .linked, coverage)
  }

  mutating func remove(_ entry: TreeSnapshot.Entry) {
    coverages[entry] = nil
  }

  func makeIterator() -> Dictionary<TreeSnapshot.Entry, Coverage>.Keys.Iterator {
    coverages.keys.makeIterator()
  }
}
