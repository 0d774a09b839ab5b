import SystemCalls

/// An index of paths by the directories that contain them, which finds the descendants of a
/// directory without searching all paths. Inserted paths are never removed.
struct DirectoryIndex {
  private var entries: [Path: Set<Path>] = [:]

  init(_ paths: some Sequence<Path>) {
    for path in paths { insert(path) }
  }

  /// The entries of a directory that were inserted, or are ancestors of such paths.
  func entries(of directory: Path) -> Set<Path> { entries[directory] ?? [] }

  mutating func insert(_ path: Path) {
    var entry = path
    while let directory = entry.parent {
      let isKnown = entries[directory] != nil
      entries[directory, default: []].insert(entry)
      // The ancestors of a known directory have been inserted.
      if isKnown { return }
      entry = directory
    }
  }
}
