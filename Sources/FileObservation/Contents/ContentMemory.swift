import Support
import SystemCalls

/// The contents of files as they were last reported, by which changes without a new content are
/// found.
///
/// One rule keeps it from losing a change: the remembered content of a path is the content that was
/// last reported. So a content is only remembered if it was read after a change was noticed and
/// before it is reported: a write after the reading has an event of its own, and is compared with
/// this content. Forgetting is always safe: the next change is then reported.
///
/// Content that changes and changes back within one burst is not noticed.
struct ContentMemory {
  private typealias Entry = TreeSnapshot.Entry

  /// The most files of renamed directories that are read again in one burst, which delays its
  /// batch.
  private static let mostReread = 1000

  private let mostFiles: Int
  private var tree = TreeSnapshot()
  private(set) var digests: [TreeSnapshot.Entry: ContentDigest] = [:]

  init(mostFiles: Int) {
    self.mostFiles = mostFiles
  }

  func digest(of path: Path) -> ContentDigest? {
    tree.entry(at: path).flatMap { digests[$0] }
  }
}

// MARK: - Filtering

extension ContentMemory {
  /// Returns the net changes of a burst that must be reported, and remembers the present contents
  /// of changed files. The result must be reported after this call.
  ///
  /// A modified file with the same content as before is removed, or, if `metadata` is wanted,
  /// becomes a change of that kind, because its times have changed. All other changes of wanted
  /// kinds remain.
  mutating func filterUnchanged(
    _ changes: [ChangeBatch.Change], wanted: Set<ChangeBatch.Kind>,
    read: (Path) -> ContentDigest?
  ) -> [ChangeBatch.Change] {
    forgetMoved(changes, wanted, read)
    return changes.compactMap { change in
      // An unreported change leaves the content that was last reported.
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

  /// Forgets entries that are not at their paths any more, reported or not. The remembered files of
  /// a directory whose rename is reported are read again under their new paths, up to a limit.
  private mutating func forgetMoved(
    _ changes: [ChangeBatch.Change], _ wanted: Set<ChangeBatch.Kind>,
    _ read: (Path) -> ContentDigest?
  ) {
    var moved: [Path] = []
    for change in changes where change.type == .directory && wanted.contains(change.kind) {
      guard let old = change.from, let directory = tree.entry(at: old) else { continue }
      for file in knownFiles(below: directory, atMost: Self.mostReread - moved.count) {
        if let rest = file.relative(to: old) { moved.append(change.path.appending(rest.bytes)) }
      }
    }
    for change in changes {
      if let old = change.from { forget(old) }
      let isInPlace = change.kind == .modified && change.type == .file
      if change.kind != .metadata && !isInPlace { forget(change.path) }
    }
    if moved.isEmpty { return }
    // Files that have changed themselves are compared below.
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

// MARK: - Storage

extension ContentMemory {
  private mutating func remember(_ digest: ContentDigest, of path: Path) {
    if mostFiles < 1 { return }
    if digests.count >= mostFiles, self.digest(of: path) == nil { forgetSome() }
    digests[tree.makeEntry(at: path)] = digest
  }

  /// Forgets a file, or a directory with its descendants.
  private mutating func forget(_ path: Path) {
    if let entry = tree.entry(at: path) { tree.remove(entry) { digests[$0] = nil } }
  }

  /// Makes room by forgetting an arbitrary eighth of the files.
  private mutating func forgetSome() {
    let old = self
    tree = TreeSnapshot()
    digests = [:]
    for (entry, digest) in old.digests.dropFirst(mostFiles / 8 + 1) {
      digests[tree.makeEntry(at: old.tree.path(of: entry))] = digest
    }
  }

  private func knownFiles(below directory: Entry, atMost limit: Int) -> [Path] {
    var found: [Path] = []
    var open = [directory]
    while found.count < limit, let entry = open.popLast() {
      if digests[entry] != nil { found.append(tree.path(of: entry)) }
      open += tree.children(of: entry)
    }
    return found
  }
}
