import PathFiltering
import SystemCalls

// What is known by its name, because its directory is not observed: what is on the way to roots, single files, and
// ignore files outside of the roots.
extension ObservedTree {
  /// Watches the parent of an entry for its name. Returns whether that was so before, or cannot be at present.
  @discardableResult
  mutating func watchByName(parentOf entry: Entry) -> Bool {
    guard let directory = snapshot.parent(of: entry) else { return true }
    directories.add(directory, coverage: .named, stack: nil)
    if isWatched(directory) { return true }
    // The entries of a pending root are not new.
    let isUnread = snapshot.marks(of: directory).contains(.unread)
    scanNow(directory, for: isUnread ? .baseline : .discover)
    if isWatched(directory) { return false }
    if directories.unexamined[directory] != nil { return true }
    // It has gone.
    if directories.coverage(of: directory) == .named { _ = directories.remove(directory) }
    return false
  }

  private func isWatched(_ directory: Entry) -> Bool {
    directories[directory]?.watch != nil || directories.unwatched.contains(directory)
  }

  /// Removes a directory that was only watched for certain names, if none of them is left.
  mutating func removeIfUnneeded(_ directory: Entry) {
    if directories.coverage(of: directory) == .named,
      !snapshot.children(of: directory).contains(where: isWatchedByName)
    {
      stopWatching(directory)
    }
  }

  /// Whether the directory of an entry must be watched for its name. A directory with a watch of its
  /// own reports its end by that, unless it is reached by a link.
  private func isWatchedByName(_ entry: Entry) -> Bool {
    let marks = snapshot.marks(of: entry)
    if rules.files.contains(entry) { return true }
    if !marks.contains(.root) { return false }
    if marks.contains(.absent) || roots[entry] == .linked || directories[entry]?.watch == nil {
      return true
    }
    let path = snapshot.path(of: entry)
    return roots.links.contains(path) || isTop(path)
  }

  /// Whether a directory is the top of a file system. That may be a subvolume of btrfs, of which a watch does not report
  /// the removal.
  func isTop(_ directory: Path) -> Bool {
    guard let parent = directory.parent,
      let inside = try? disk.status(of: directory, followsLinks: true),
      let outside = try? disk.status(of: parent, followsLinks: true)
    else { return false }
    return inside.device != outside.device
  }

  /// Compares the entries of a directory that are watched by name.
  mutating func compareNamedEntries(in directory: Entry, for mode: Occasion) {
    guard mode.isDiff else { return }
    for entry in snapshot.children(of: directory) {
      if rules.files.contains(entry) { compareIgnoreFile(entry, in: directory) }
      if snapshot.marks(of: entry).contains(.root) { compareEntry(entry, for: mode) }
    }
  }

  mutating func watchRules(at path: Path) {
    guard let directory = path.parent else { return }
    do throws(SystemError) {
      if try disk.status(of: directory, followsLinks: true).type != .directory { return }
    } catch {
      // Git makes this directory after the repository. Others are too unlikely to be watched for.
      guard error.isNotFound, let parent = directory.parent, directory.isInRepositoryData,
        (try? disk.status(of: parent).type) == .directory
      else { return }
      watchRules(at: directory)
      // It may have been made before it was watched for.
      if (try? disk.status(of: directory).type) == .directory { watchRules(at: path) }
      return
    }
    let isKnown = snapshot.entry(at: path) != nil
    let entry = snapshot.makeEntry(at: path)
    if !isKnown {
      let status = try? disk.status(of: path)
      snapshot.setType(status?.type ?? .file, of: entry)
      // What is found in a directory that is observed, or will be, is new.
      if !isInDirectory(entry, withCoverage: .entries), !isBelowObserved(entry) {
        snapshot.setInode(status?.inode ?? 0, of: entry)
        if status != nil { snapshot.unmark(entry, .absent) }
      }
    }
    rules.files.insert(entry)
    watchByName(parentOf: entry)
    watchFileIfNeeded(entry, at: entryPath(of: entry))
    watchTarget(ofRules: path)
  }

  /// Watches the target of an ignore file that is a link, whether it exists or not.
  mutating func watchTarget(ofRules path: Path) {
    guard (try? disk.status(of: path).type) == .symlink, let way = Way(from: path, on: disk),
      way.links.count < Way.maximumLength
    else { return }
    watchRules(at: way.missing ?? way.end)
  }

  private func isBelowObserved(_ entry: Entry) -> Bool {
    var directory = snapshot.parent(of: entry)
    while let next = directory {
      if directories.coverage(of: next) == .recursive { return true }
      directory = snapshot.parent(of: next)
    }
    return false
  }

  /// Compares an ignore file for which there was no hint.
  mutating func compareIgnoreFile(_ entry: Entry, in directory: Entry) {
    let path = entryPath(of: entry)
    let status = try? disk.status(of: path.path)
    let fingerprint = status.map { self.fingerprint($0) }
    let known = snapshot.fingerprint(of: entry)
    // In a directory that was missing, anything may change.
    let isKnownDirectory = known != nil && status?.type == .directory
    if fingerprint != known, !isKnownDirectory {
      // Without a fingerprint it has not been compared yet.
      let mayBeNew = walk.comparedUntil > start || status.map { $0.changed >= start } ?? false
      if known != nil || mayBeNew { rules.stale.formUnion(roots) }
      snapshot.setFingerprint(fingerprint, of: entry)
    }
    if let status {
      snapshot.setType(status.type, of: entry)
      snapshot.setInode(status.inode, of: entry)
    }
    // Its watch may be that of a file that was replaced.
    watchFileIfNeeded(entry, at: path)
  }
}

extension Path {
  /// Whether it belongs to the data of a git repository.
  var isInRepositoryData: Bool { components.contains { $0.elementsEqual(".git".utf8) } }
}
