import SystemCalls

/// The sizes of the directories in a tree that was scanned. A class, since each use of the tree in a
/// struct would retain every array of it.
final class TreeMeasure {
  private let tree: ObservedTree
  private var sizes: [TreeSnapshot.Entry: TreeSurvey.Size] = [:]
  /// The directories that `largest` has found, so that overlapping roots do not find them twice.
  private var found: Set<TreeSnapshot.Entry> = []

  init(_ tree: ObservedTree) {
    self.tree = tree
  }

  /// The size of an entry, which itself counts.
  func size(of entry: TreeSnapshot.Entry) -> TreeSurvey.Size {
    if let size = sizes[entry] { return size }
    guard tree.isObserved(entry) else { return sizeOfFile(entry) }
    var size = TreeSurvey.Size(directories: 1)
    for child in children(of: entry) { size += self.size(of: child) }
    sizes[entry] = size
    return size
  }

  /// The largest directories below an entry that do not contain each other. A directory of which one
  /// subdirectory has more than half is replaced by its subdirectories.
  func largest(
    _ limit: Int, in entry: TreeSnapshot.Entry
  ) -> [TreeSnapshot.Entry] {
    var candidates = subdirectories(of: entry)
    var largest: [TreeSnapshot.Entry] = []
    while largest.count < limit, let index = indexOfLargest(candidates) {
      let next = candidates.remove(at: index)
      let inner = subdirectories(of: next)
      if let main = indexOfLargest(inner),
        size(of: inner[main]).entries * 2 > size(of: next).entries
      {
        candidates += inner
      } else if found.insert(next).inserted {
        largest.append(next)
      }
    }
    return largest
  }

  private func indexOfLargest(_ entries: [TreeSnapshot.Entry]) -> Int? {
    var best: (index: Int, entries: Int)?
    for (index, entry) in entries.enumerated() {
      let count = size(of: entry).entries
      if count > best?.entries ?? -1 { best = (index, count) }
    }
    return best?.index
  }

  /// Watched paths are not among them: no rule excludes those.
  private func subdirectories(of entry: TreeSnapshot.Entry) -> [TreeSnapshot.Entry] {
    children(of: entry).filter { tree.isObserved($0) && !tree.isRoot($0) }
  }

  /// The children in the tree, without ignore files that do not exist.
  private func children(of entry: TreeSnapshot.Entry) -> [TreeSnapshot.Entry] {
    tree.snapshot.children(of: entry).filter { child in
      let marks = tree.snapshot.marks(of: child)
      return marks.contains(.root) || !marks.contains(.absent)
    }
  }

  private func sizeOfFile(_ file: TreeSnapshot.Entry) -> TreeSurvey.Size {
    if tree.snapshot.type(of: file) == .directory { return TreeSurvey.Size() }
    if tree.isRoot(file) { return TreeSurvey.Size(files: 1) }
    let stack = tree.snapshot.parent(of: file).flatMap { tree.directories[$0]?.stack }
    let isReported = tree.reports(tree.entryPath(of: file), isDirectory: false, stack)
    return TreeSurvey.Size(files: 1, ignoredFiles: isReported ? 0 : 1)
  }
}
