import PathFiltering
import SystemCalls

// What is known by its name, because its directory is not observed: missing roots, single files, and
// ignore files outside of the roots. The nearest existing ancestor is watched for the next name.
extension ObservedTree {
  /// Watches the nearest existing ancestor of a root for the next name on the way to it.
  mutating func awaitReturn(_ root: Entry) {
    // Missing roots are polled.
    if source == nil { return }
    var awaited = root
    while let directory = snapshot.parent(of: awaited) {
      // A file that is in the way is there. One that was reported is, until its removal is.
      if awaited != root, snapshot.type(of: awaited) == .directory, !isListed(awaited) {
        snapshot.mark(awaited, .absent)
      }
      if directories[directory]?.watch == nil {
        directories.add(directory, coverage: .named, stack: nil)
        // The entries of a pending root are not new.
        let isUnread = snapshot.marks(of: directory).contains(.unread)
        scanNow(directory, for: isUnread ? .baseline : .discover)
      }
      if directories[directory]?.watch != nil || directories.unwatched.contains(directory) {
        // The root may have appeared just before the watch was added.
        let isFile = roots.isNamed(awaited)
        let status = try? disk.status(of: snapshot.path(of: awaited), followsLinks: !isFile)
        // What is on the way must be a directory, and one that can be watched.
        let isPassable = status?.type == .directory && directories.unexamined[awaited] == nil
        if roots[awaited] != nil ? status != nil : isPassable {
          if roots[awaited] != nil { rootAppeared(awaited) } else { ancestorAppeared(awaited) }
        } else {
          watchTargets(ofLink: root)
        }
        return
      }
      if !isListed(directory) { _ = directories.remove(directory) }
      awaited = directory
    }
  }

  /// Whether an entry was found in a directory that is observed, so that its removal will be found.
  private func isListed(_ entry: Entry) -> Bool {
    snapshot.inode(of: entry) != 0 && isInDirectory(entry, withCoverage: .entries)
  }

  mutating func lookUpAncestor(to entry: Entry) -> Bool {
    if disk.exists(snapshot.path(of: entry), followsLinks: true) { ancestorAppeared(entry) }
    return isInDirectory(entry, withCoverage: .entries)
  }

  private mutating func ancestorAppeared(_ entry: Entry) {
    // In a directory that is observed, it is new when it is compared.
    let isReportedLater =
      snapshot.marks(of: entry).contains(.absent) && isInDirectory(entry, withCoverage: .entries)
    snapshot.unmark(entry, .absent)
    for root in missingRoots where snapshot.isWithin(root, entry) { rootMayHaveAppeared(root) }
    if isReportedLater { snapshot.mark(entry, .absent) }
  }

  /// Removes the watches of the ancestors of a root. The directories are gone, or exist at other
  /// paths.
  mutating func releaseWatches(from root: Entry, upTo directory: Entry) {
    var step = snapshot.parent(of: root)
    while let here = step, snapshot.isWithin(here, directory) {
      let isAwaited = roots[here] == nil || isMissing(here)
      if isAwaited, directories[here]?.coverage == .named { stopWatching(here) }
      step = snapshot.parent(of: here)
    }
  }

  /// Watches the parent of an entry for its name.
  mutating func watchByName(parentOf entry: Entry) {
    guard let directory = snapshot.parent(of: entry) else { return }
    directories.add(directory, coverage: .named, stack: nil)
    if directories[directory]?.watch != nil || directories.unwatched.contains(directory) { return }
    scanNow(directory, for: .baseline)
  }

  /// Removes a directory that was only watched for certain names, and its ancestors, if none of the
  /// names is left.
  mutating func removeIfUnneeded(_ directory: Entry) {
    var here: Entry? = directory
    while let step = here, roots[step] == nil, directories[step]?.coverage ?? .named == .named {
      if snapshot.children(of: step).contains(where: isWatchedByName) { return }
      stopWatching(step)
      snapshot.unmark(step, .absent)
      here = snapshot.parent(of: step)
    }
  }

  /// Whether the directory of an entry must be watched for its name. A directory with a watch of its
  /// own reports its end by that, unless it is reached by a link.
  private func isWatchedByName(_ entry: Entry) -> Bool {
    let marks = snapshot.marks(of: entry)
    if !marks.isDisjoint(with: [.absent, .ignoreFile]) { return true }
    if directories[entry]?.watch != nil {
      let path = snapshot.path(of: entry)
      return roots.links.contains(path) || isTop(path)
    }
    return marks.contains(.root)
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
      let marks = snapshot.marks(of: entry)
      if marks.contains(.ignoreFile) { compareIgnoreFile(entry, in: directory) }
      if !marks.isDisjoint(with: [.root, .absent]) {
        compareEntry(entry, for: mode)
      }
    }
  }

  mutating func watchRules(at path: Path) {
    guard let directory = path.parent,
      (try? disk.status(of: directory, followsLinks: true).type) == .directory
    else { return }
    let isKnown = snapshot.entry(at: path) != nil
    let entry = snapshot.makeEntry(at: path)
    if !isKnown {
      let status = try? disk.status(of: path)
      snapshot.setType(status?.type ?? .file, of: entry)
      snapshot.setInode(status?.inode ?? 0, of: entry)
      if status == nil { snapshot.mark(entry, .absent) }
    }
    snapshot.mark(entry, .ignoreFile)
    watchByName(parentOf: entry)
  }

  /// Compares an ignore file for which there was no hint.
  mutating func compareIgnoreFile(_ entry: Entry, in directory: Entry) {
    let path = entryPath(of: entry)
    let fingerprint = (try? disk.status(of: path.path)).map { self.fingerprint($0) }
    if fingerprint == snapshot.fingerprint(of: entry) { return }
    // Without a fingerprint it has not been compared yet.
    if snapshot.fingerprint(of: entry) != nil || walk.comparedUntil > start {
      rules.stale.formUnion(roots)
    }
    snapshot.setFingerprint(fingerprint, of: entry)
    if let fingerprint { snapshot.setInode(fingerprint.inode, of: entry) }
    watchFileIfNeeded(entry, at: path)
  }
}
