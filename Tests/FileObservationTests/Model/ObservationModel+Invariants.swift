import SystemCalls

@testable import FileObservation

// What is always true of the tree.

extension ObservationModel {
  /// Each watch belongs to its entries, and is known to the source unless its end has a hint, or had
  /// one that was dropped while the directory could not be read.
  mutating func checkWatches() {
    guard let hints, brokenInvariants.isEmpty else { return }
    for entry in tree.directories.entries {
      guard let watch = tree.directories[entry]?.watch else { continue }
      if !tree.directories.owners(of: watch).contains(entry) {
        brokenInvariants.append("the watch of \(tree.snapshot.path(of: entry)) is another's")
      }
      let canBeRead = !setting.lacksPermissions && !setting.fails
      let isEndKnown = !hints.hasHints && !tree.hints.areDropped && canBeRead
      if isEndKnown, hints.inode(of: watch) == nil {
        brokenInvariants.append("\(tree.snapshot.path(of: entry)) has a watch that has ended")
      }
    }
  }

  /// When all is quiet, the snapshot is the disk, and each directory is watched or polled.
  mutating func checkSnapshot() {
    let present = disk.tree(at: Self.root)
    for (path, node) in present.sorted(by: { $0.key < $1.key }) {
      guard let entry = tree.snapshot.entry(at: path), !tree.isMissing(entry) else {
        if node.type == .directory || isReported(path, node.type) {
          brokenInvariants.append("\(path) is unknown")
        }
        continue
      }
      if tree.snapshot.inode(of: entry) != node.inode || tree.snapshot.type(of: entry) != node.type
      {
        brokenInvariants.append("\(path) is known as another file")
      }
      if node.type == .directory { checkDirectory(entry, node, at: path) }
    }
    var pending = tree.snapshot.entry(at: Self.root).map { [$0] } ?? []
    while let entry = pending.popLast() {
      let path = tree.snapshot.path(of: entry)
      if present[path] == nil, !tree.isMissing(entry) {
        brokenInvariants.append("\(path) does not exist any more")
      }
      pending += tree.snapshot.children(of: entry)
    }
    if let hints, hints.watchCount != tree.directories.watchCount {
      brokenInvariants.append(
        "\(hints.watchCount) watches instead of \(tree.directories.watchCount)")
    }
  }

  private mutating func checkDirectory(
    _ entry: TreeSnapshot.Entry, _ node: MemoryDisk.Node, at path: Path
  ) {
    guard tree.directories.coverage(of: entry) == .recursive else {
      brokenInvariants.append("\(path) is not observed")
      return
    }
    if let watch = tree.directories[entry]?.watch {
      if hints?.inode(of: watch) != node.inode {
        brokenInvariants.append("the watch of \(path) is that of another directory")
      }
    } else if !tree.directories.unwatched.contains(entry) {
      brokenInvariants.append("\(path) is neither watched nor polled")
    }
  }
}
