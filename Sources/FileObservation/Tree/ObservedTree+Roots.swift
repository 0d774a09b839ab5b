import PathFiltering
import SystemCalls

// A root is reached by its path and not through a watched parent: its own watch reports when it goes, and then
// the nearest existing directory above it is watched for the next name on the way to it.
extension ObservedTree {
  /// Adds a root. One that does not exist is waited for.
  mutating func add(_ root: BackendConfiguration.Root) {
    let entry = makeEntry(at: root.path)
    links.targets.setAdded(root.path, false)
    snapshot.mark(entry, .wanted)
    roots.add(entry, root.coverage)
    rootAppeared(entry, for: .baseline)
  }

  /// Adds a root while others are observed, and reports what has changed in it since a time.
  mutating func addAtOnce(_ root: BackendConfiguration.Root, since: FileTime) {
    add(root)
    while visitPending(atMost: .max) {}
    let entry = makeEntry(at: root.path)
    reportIfJustChanged(root: entry, at: root.path, since: since)
    for directory in directories.entries where snapshot.isWithin(directory, entry) {
      visitAtOnce(directory, for: .diff(since: since, .firstTime))
    }
  }

  /// Removes a root. What other roots cover stays watched; those that lie in it begin anew, so that each
  /// has what it would have had without it.
  mutating func remove(rootAt path: Path) {
    guard let root = existingEntry(at: path), roots[root] != nil else { return }
    forgetTarget(ofLink: path)
    let inner = roots.filter { $0 != root && snapshot.isWithin($0, root) }.map {
      BackendConfiguration.Root(path: snapshot.path(of: $0), coverage: roots[$0] ?? .named)
    }
    for entry in [root] + inner.compactMap({ existingEntry(at: $0.path) }) {
      roots.remove(entry)
      snapshot.unmark(entry, .wanted)
    }
    let parent = snapshot.parent(of: root)
    let around = parent.flatMap { directories[$0] }
    let isThere = !snapshot.marks(of: root).contains(.absent)
    if let parent, let around, around.coverage == .recursive, isThere {
      // It stays, by the rules of what is around it.
      if let stack = around.stack, directories[root] != nil {
        directories.setStack(stack, of: root)
      }
      visitAtOnce(parent, for: refilterMode)
    } else {
      removeSubtree(root)
      if let parent, around?.coverage == .entries {
        visitAtOnce(parent, for: refilterMode)
      } else if let parent {
        removeIfUnneeded(parent)
      }
    }
    for root in inner { addAtOnce(root, since: comparedUntil) }
  }

  private mutating func reportIfJustChanged(root: Entry, at path: Path, since: FileTime) {
    guard let status = try? FileStatus(of: path), status.changed >= since else { return }
    if status.isBorn(since: since) {
      emit(.created, status.type, at: path)
    } else if status.type != .directory || status.modified < since {
      // A directory changes with each entry, and these are reported by themselves.
      emit(.modified(isOpen: false), status.type, at: path)
    }
    snapshot.setFingerprint(Fingerprint(status), of: root)
  }

  /// Removes a directory that was watched for certain names only, and those above it, if none of them is
  /// left.
  private mutating func removeIfUnneeded(_ directory: Entry) {
    var here: Entry? = directory
    while let step = here, roots[step] == nil, directories[step]?.coverage ?? .named == .named {
      let isNeeded = snapshot.children(of: step).contains { child in
        let marks: TreeSnapshot.Marks = [.wanted, .awaited, .rules, .passage]
        return !snapshot.marks(of: child).isDisjoint(with: marks) || directories[child] != nil
      }
      if isNeeded { return }
      releaseWatch(of: step)
      snapshot.unmark(step, [.awaited, .absent])
      here = snapshot.parent(of: step)
    }
  }
}

// MARK: - Roots that appear and disappear

extension ObservedTree {
  func isRoot(_ entry: Entry) -> Bool {
    snapshot.marks(of: entry).contains(.wanted)
  }

  /// Whether a root does not exist at present.
  func isMissing(_ root: Entry) -> Bool {
    snapshot.marks(of: root).contains(.absent)
  }

  var missingRoots: [Entry] { roots.filter { isMissing($0) } }

  /// Compares an entry that is reached by its path with what its path leads to: a directory root, or a directory
  /// on the way to a missing one. Returns whether the entry must also be reconciled like any other.
  mutating func lookUpRoot(_ entry: Entry, because reasons: Hint.Reasons) -> Bool {
    let marks = snapshot.marks(of: entry)
    if !marks.contains(.wanted) { return !marks.contains(.awaited) || lookUpWay(to: entry) }
    if roots[entry] == .named { return true }
    let path = snapshot.path(of: entry)
    guard let status = try? FileStatus(of: path, followsLinks: true) else {
      rootDisappeared(entry)
      return false
    }
    let (isDirectory, wasDirectory) = (status.type == .directory, directories[entry] != nil)
    let isOther =
      isDirectory != wasDirectory || (isDirectory && snapshot.inode(of: entry) != status.inode)
    if isOther || isMissing(entry) {
      rootDisappeared(entry)
      if isMissing(entry) { rootAppeared(entry) }
      return false
    }
    if !isDirectory { return true }
    if reasons.isEmpty { return (try? FileStatus(of: path).type) == .directory }
    // An unreadable one may have become readable.
    if directories[entry]?.watch == nil { visitAtOnce(entry, for: .discover) }
    return false
  }

  /// Looks up a directory on the way to missing roots.
  private mutating func lookUpWay(to entry: Entry) -> Bool {
    let isInRoot =
      snapshot.parent(of: entry).flatMap { directories.coverage(of: $0) }.map { $0 > .named }
      ?? false
    let isNew = snapshot.marks(of: entry).contains(.absent)
    if (try? FileStatus(of: snapshot.path(of: entry), followsLinks: true)) != nil {
      wayAppeared(entry)
      if isNew && isInRoot { snapshot.mark(entry, .absent) }
    }
    return isInRoot
  }

  private mutating func wayAppeared(_ entry: Entry) {
    snapshot.unmark(entry, [.absent, .awaited])
    for root in missingRoots where snapshot.isWithin(root, entry) && isMissing(root) {
      rootAppeared(root)
    }
  }

  /// A root may exist: begins to observe it if it does, and waits for it otherwise.
  mutating func rootAppeared(_ root: Entry, for mode: ScanMode = .discover) {
    let path = snapshot.path(of: root)
    let coverage = roots[root] ?? .named
    guard let status = try? FileStatus(of: path, followsLinks: coverage > .named) else {
      snapshot.mark(root, .absent)
      return waitFor(root)
    }
    var isBaseline = false
    if case .baseline = mode { isBaseline = true }
    snapshot.unmark(root, [.absent, .awaited])
    snapshot.setType(status.type, of: root)
    snapshot.setInode(status.inode, of: root)
    if !isBaseline { emit(.created, status.type, at: path) }
    guard coverage > .named && status.type == .directory else {
      // A file is watched through its directory, so that it may be replaced or come and go.
      watchByName(parentOf: root)
      watchFileIfNeeded(root, at: entryPath(of: root))
      if status.type == .symlink { noteTarget(ofLink: root) }
      return
    }
    if (try? FileStatus(of: path).type) == .symlink {
      watchByName(parentOf: root)
      noteTarget(ofLink: root)
    }
    directories.add(root, coverage: coverage, stack: rules(forRoot: path))
    if isBaseline {
      walk.pending.append(Walk.Visit(directory: root, mode: mode))
    } else {
      snapshot.mark(root, .stirred)
      visitAtOnce(root, for: mode)
    }
  }

  /// A directory has taken the place of a file that is a root: it is observed with all that is in it,
  /// unless a link's target is all that it stands for.
  mutating func enterNamedRoot(_ entry: Entry, at path: EntryPath) {
    if links.targets.isAdded(path.path) || directories[entry] != nil { return }
    roots.add(entry, .recursive)
    directories.add(entry, coverage: .recursive, stack: rules(forRoot: path.path))
    snapshot.mark(entry, .stirred)
    visitAtOnce(entry, for: .discover)
  }

  /// A directory that is reached by its path is gone from there.
  mutating func directoryDisappeared(_ directory: Entry) {
    guard directories[directory] != nil else { return }
    if roots[directory] != nil {
      rootDisappeared(directory)
    } else if snapshot.type(of: directory) == .symlink {
      removeBehind(link: directory)
      links.stale.insert(snapshot.path(of: directory))
    } else if directories[directory]?.coverage == .named {
      let lost = roots.filter { snapshot.isWithin($0, directory) }
      for root in lost { releaseWatches(from: root, upTo: directory) }
      // Those that were waited for here already are now waited for further up.
      for root in lost {
        if isMissing(root) { waitFor(root) } else { rootDisappeared(root) }
      }
    }
  }

  /// Gives back the watches of the directories on the way to a root: they are gone, and may exist elsewhere.
  private mutating func releaseWatches(from root: Entry, upTo directory: Entry) {
    var step = snapshot.parent(of: root)
    while let here = step, snapshot.isWithin(here, directory) {
      if roots[here] == nil, directories[here]?.coverage == .named { releaseWatch(of: here) }
      step = snapshot.parent(of: here)
    }
  }

  /// A root is gone: removes its descendants, and waits for its return.
  mutating func rootDisappeared(_ root: Entry) {
    if isMissing(root) { return }
    reportRemovedChildren(of: root)
    snapshot.mark(root, .absent)
    emit(.removed, snapshot.type(of: root), at: snapshot.path(of: root))
    releaseWatch(of: root)
    snapshot.setFingerprint(nil, of: root)
    for child in snapshot.children(of: root) { removeSubtree(child) }
    waitFor(root)
  }

  /// Watches the nearest existing directory above a root for the next name on the way to it.
  private mutating func waitFor(_ root: Entry) {
    // Missing roots are polled.
    if source == nil { return }
    var awaited = root
    while let directory = snapshot.parent(of: awaited) {
      if awaited != root { snapshot.mark(awaited, [.awaited, .absent]) }
      if directories[directory]?.watch == nil {
        directories.add(directory, coverage: .named, stack: nil)
        // One that is pending as a root is visited now: what is in it is not new.
        let mode = walk.pending.last { $0.directory == directory }?.mode
        walk.pending.removeAll { $0.directory == directory }
        visitAtOnce(directory, for: mode ?? .discover)
      }
      if directories[directory]?.watch != nil || watches.unwatched.contains(directory) {
        // It may have come back just before the watch was added.
        let isFile = roots[awaited] == .named
        if (try? FileStatus(of: snapshot.path(of: awaited), followsLinks: !isFile)) != nil {
          if roots[awaited] != nil { rootAppeared(awaited) } else { wayAppeared(awaited) }
        } else {
          noteTarget(ofLink: awaited)
        }
        return
      }
      _ = directories.remove(directory)
      awaited = directory
    }
  }

  /// Watches the directory around an entry for its name.
  mutating func watchByName(parentOf entry: Entry) {
    guard let directory = snapshot.parent(of: entry) else { return }
    directories.add(directory, coverage: .named, stack: nil)
    visitAtOnce(directory, for: .baseline)
  }

  /// Compares the entries of a directory that were asked for by name.
  mutating func lookAtNamed(in directory: Entry, for mode: ScanMode) {
    guard mode.isDiff else { return }
    for entry in snapshot.children(of: directory) {
      let marks = snapshot.marks(of: entry)
      if marks.contains(.rules) { lookAtRules(entry, in: directory) }
      if !marks.isDisjoint(with: [.wanted, .awaited]) {
        lookAt(entry, because: [], for: mode)
      }
    }
  }

  /// Compares everything below all roots, since hints were dropped.
  mutating func compareAll(since: FileTime) {
    for root in roots.filter({ !isMissing($0) }) {
      guard let coverage = roots[root], !isMissing(root) else { continue }
      if coverage > .named {
        visitAtOnce(root, for: .diff(since: since, .tree))
      } else {
        lookAt(root, because: [], for: .diff(since: since, .directory))
      }
    }
  }
}
