/// Counts of a backend's watches, polled directories and rescans.
package struct BackendStatistics: Sendable, Hashable {
  package var watches = 0
  package var polledDirectories = 0
  /// Ignored directories that the first scan did not enter.
  package var pruned = 0
  package var overflows = 0
  package var rescans = 0

  package init() {}

  /// Sets the counts that a tree keeps.
  mutating func update(from tree: borrowing ObservedTree) {
    watches = tree.directories.watchCount
    polledDirectories = tree.directories.unwatched.count
    pruned = tree.walk.prunedCount
  }

  static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.watches += right.watches
    sum.polledDirectories += right.polledDirectories
    sum.pruned += right.pruned
    sum.overflows += right.overflows
    sum.rescans += right.rescans
    return sum
  }
}
