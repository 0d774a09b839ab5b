import Support
import SystemCalls

/// Knows what is in files, as far as the observer's user knows it, and so which changes are none.
///
/// It holds on to one rule: what it remembers of a path is what its user was told of last, or what
/// was there when observing began, if nothing was told since. Only two things are ever remembered:
///
/// - what is read *after* a change was noticed and *before* it is handed over. What is written after
///   the reading has an event of its own, and is compared with this;
/// - what was read ahead, if the file's time and those of the folders on the way to it prove that it
///   was there, under this name, when observing began (``ReadingAhead``).
///
/// To forget is always right: the next change then counts.
///
/// What is not seen is content that comes and goes within one burst.
package struct ContentMemory {
  private typealias Entry = TreeSnapshot.Entry

  /// How many files of renamed folders are read again in one burst, while what changed waits.
  private static let mostFollowed = 1000

  private let mostFiles: Int
  private var tree = TreeSnapshot()
  private var digests: [Entry: ContentDigest] = [:]

  package init(mostFiles: Int) {
    self.mostFiles = mostFiles
  }

  /// How many files it knows.
  package var count: Int { digests.count }

  /// True if no more can be remembered without forgetting.
  package var isFull: Bool { digests.count >= mostFiles }

  /// What it knows of the file at `path`.
  package func digest(of path: Path) -> ContentDigest? {
    find(path).flatMap { digests[$0] }
  }
}

// MARK: - Which changes count

extension ContentMemory {
  /// Of the net changes of a burst, those of the wanted kinds that are changes indeed. The others'
  /// contents are read and remembered; what is handed over must be handed over after this.
  ///
  /// A file that was written or replaced and holds what it held before is left out, or, where
  /// `metadata` is wanted, told of as that: its times have changed at least. Everything else counts.
  package mutating func follow(
    _ changes: [ChangeBatch.Change], wanted: Set<ChangeBatch.Kind>,
    read: (Path) -> ContentDigest?
  ) -> [ChangeBatch.Change] {
    forgetWhatMoved(changes, wanted, read)
    return changes.compactMap { change in
      // What is not told of leaves what was told of last.
      guard wanted.contains(change.kind) else { return nil }
      guard change.type == .file else { return change }
      switch change.kind {
      case .created, .renamed:
        update(change.path, read)
      case .modified:
        let known = digest(of: change.path)
        update(change.path, read)
        if let known, digest(of: change.path) == known {
          guard wanted.contains(.metadata) else { return nil }
          return ChangeBatch.Change(path: change.path, kind: .metadata, type: .file)
        }
      case .removed, .metadata:
        break
      }
      return change
    }
  }

  /// Forgets what is not where it was, told of or not. The known files of a folder whose rename is
  /// told of are read again where they are now, up to a number of them.
  private mutating func forgetWhatMoved(
    _ changes: [ChangeBatch.Change], _ wanted: Set<ChangeBatch.Kind>,
    _ read: (Path) -> ContentDigest?
  ) {
    var moved: [Path] = []
    for change in changes where change.type == .directory && wanted.contains(change.kind) {
      guard let old = change.from, let folder = find(old) else { continue }
      for file in knownFiles(below: folder, atMost: Self.mostFollowed - moved.count) {
        if let rest = file.relative(to: old) { moved.append(change.path.appending(rest.bytes)) }
      }
    }
    for change in changes {
      if let old = change.from { forget(old) }
      let isInPlace = change.kind == .modified && change.type == .file
      if change.kind != .metadata && !isInPlace { forget(change.path) }
    }
    if moved.isEmpty { return }
    // What has changed besides is not compared with itself.
    let changed = Set(changes.map(\.path))
    for path in moved where !changed.contains(path) { update(path, read) }
  }

  private mutating func update(_ path: Path, _ read: (Path) -> ContentDigest?) {
    if let digest = read(path) {
      remember(digest, of: path)
    } else {
      forget(path)
    }
  }
}

// MARK: - What is read ahead

extension ContentMemory {
  /// Remembers files of one folder, if it is certain that this was in them, under these names, when
  /// observing began, and nothing is known of them.
  ///
  /// - Parameter root: A folder above of which it is known which one it was then.
  package mutating func learn(
    _ samples: [(path: Path, sample: ContentSample)], of folder: Path, since start: FileTime,
    below root: DirectoryAtStart? = nil, from source: some ContentSource
  ) {
    guard !samples.isEmpty, source.isUnmoved(folder, since: start, below: root) else { return }
    for (path, sample) in samples where !isFull && sample.stamp.changed < start {
      // It may have changed since it was read.
      guard digest(of: path) == nil, source.stamp(of: path) == sample.stamp else { continue }
      remember(sample.digest, of: path)
    }
  }
}

extension ContentSource {
  /// True if the path leads to the folder that it led to at `time`, and did so ever since: then no
  /// file in it has come there by a rename of a folder.
  ///
  /// A folder that is renamed has changed, and so have the entries of the folder that it is in. One
  /// of the two alone is no sign: things are made and removed in either.
  fileprivate func isUnmoved(
    _ folder: Path, since time: FileTime, below root: DirectoryAtStart?
  ) -> Bool {
    var here = folder
    while let parent = here.parent {
      if let root, here == root.path {
        return stamp(of: here).map(root.stamp.isOneFile(with:)) ?? false
      }
      guard let stamp = stamp(of: here) else { return false }
      if stamp.changed >= time {
        guard let around = self.stamp(of: parent), around.modified < time else { return false }
      }
      here = parent
    }
    return true
  }
}

// MARK: - Keeping

extension ContentMemory {
  private func find(_ path: Path) -> Entry? {
    var entry = TreeSnapshot.root
    for name in path.components {
      guard let child = name.withUnsafeBufferPointer({ tree.child($0, of: entry) }) else {
        return nil
      }
      entry = child
    }
    return entry == TreeSnapshot.root ? nil : entry
  }

  private mutating func remember(_ digest: ContentDigest, of path: Path) {
    if let known = find(path), digests[known] != nil {
      digests[known] = digest
      return
    }
    if mostFiles < 1 { return }
    if isFull { forgetSome() }
    insert(digest, of: path)
  }

  private mutating func insert(_ digest: ContentDigest, of path: Path) {
    var entry = TreeSnapshot.root
    let names = path.components
    for (depth, name) in names.enumerated() {
      let type: FileType = depth == names.count - 1 ? .file : .directory
      entry = name.withUnsafeBufferPointer {
        tree.child($0, of: entry) ?? tree.insert($0, type, in: entry)
      }
    }
    if entry != TreeSnapshot.root { digests[entry] = digest }
  }

  /// Forgets the file, or the folder with all that is in it.
  private mutating func forget(_ path: Path) {
    guard let entry = find(path) else { return }
    tree.remove(entry) { digests[$0] = nil }
  }

  /// Makes room by forgetting an eighth, whichever it is, and the folders in which nothing is known.
  private mutating func forgetSome() {
    let old = self
    tree = TreeSnapshot()
    digests = [:]
    for (entry, digest) in old.digests.dropFirst(mostFiles / 8 + 1) {
      insert(digest, of: old.tree.path(of: entry))
    }
  }

  private func knownFiles(below folder: Entry, atMost limit: Int) -> [Path] {
    var found: [Path] = []
    var open = [folder]
    while found.count < limit, let entry = open.popLast() {
      if digests[entry] != nil { found.append(tree.path(of: entry)) }
      open += tree.children(of: entry)
    }
    return found
  }
}
