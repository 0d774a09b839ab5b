import PathFiltering
import SystemCalls

// A root is reached by its path and not through a watched parent. Its own watch reports its removal
// or rename. After that, what is on the way to it is watched for the first name that does not exist.
extension ObservedTree {
  /// Adds a root, which need not exist yet.
  mutating func add(_ root: BackendConfiguration.Root) {
    let entry = snapshot.makeEntry(at: root.path)
    snapshot.mark(entry, .root)
    roots.add(entry, root.coverage)
    rootAppeared(entry, for: .baseline)
  }

  /// Adds a root while others are observed, and reports the changes in it since a time.
  mutating func addAtOnce(_ root: BackendConfiguration.Root, since: FileTime) {
    let entry = snapshot.makeEntry(at: root.path)
    // What a poll has not found yet would be known as it is now.
    let isPolled = source == nil && isInDirectory(entry, withCoverage: .recursive)
    let since = isPolled ? min(since, walk.comparedUntil) : since
    add(root)
    scanPending()
    reportIfJustChanged(root: entry, at: root.path, since: since)
    let watched = disk.latest
    for directory in directories.entries where snapshot.isWithin(directory, entry) {
      scanNow(directory, for: .diff(since: since, .firstTime(until: watched)))
    }
  }

  /// Removes a root. Entries that other roots cover stay watched. Roots within it are removed and
  /// added again, so that each has the rules that it would have had without it.
  mutating func remove(rootAt path: Path) {
    guard let root = snapshot.entry(at: path), let coverage = roots[root] else { return }
    // It may have covered the targets of others.
    defer { if coverage > .linked { roots.links.refresh(within: path) } }
    unwatchTargets(ofLink: path)
    let innerRoots =
      snapshot.hasChildren(root)
      ? roots.filter { $0 != root && snapshot.isWithin($0, root) } : []
    if coverage <= .named, !innerRoots.isEmpty {
      // It is still on the way to others.
      roots.remove(root)
      snapshot.unmark(root, .root)
      if let parent = snapshot.parent(of: root) { removeIfUnneeded(parent) }
      return
    }
    let inner = innerRoots.map {
      BackendConfiguration.Root(path: snapshot.path(of: $0), coverage: roots[$0] ?? .named)
    }
    for entry in [root] + innerRoots {
      roots.remove(entry)
      snapshot.unmark(entry, .root)
    }
    let parent = snapshot.parent(of: root)
    let around = parent.flatMap { directories[$0] }
    let isThere = !snapshot.marks(of: root).contains(.absent)
    if let stack = around?.stack, around?.coverage == .recursive, isThere {
      keep(formerRoot: root, stack)
    } else {
      removeSubtree(root)
      if let parent, around?.coverage == .entries {
        scanNow(parent, for: refilterMode(of: parent))
      } else if let parent {
        removeIfUnneeded(parent)
      }
    }
    if coverage == .linked { return }
    // At once, before the roots within it have rules of their own again.
    while refilter() {}
    for root in inner { addAtOnce(root, since: walk.comparedUntil) }
  }

  /// Keeps what is not a root any more in a directory that is observed, by the rules of that.
  private mutating func keep(formerRoot root: Entry, _ stack: IgnoreStack) {
    let path = entryPath(of: root)
    guard let status = try? disk.status(of: path.path) else { return removeSubtree(root) }
    if status.type == .directory {
      if mayEnter(path, stack) { refilterLater(root, by: stack) } else { removeSubtree(root) }
    } else if directories[root] == nil {
      // The directory of the file reports its writes.
      unwatch(root)
      watchFileIfNeeded(root, at: path)
    } else {
      // The directory to which it links is entered only if links are followed.
      removeDescendants(link: root, areReported: false)
      snapshot.setType(status.type, of: root)
      snapshot.setInode(status.inode, of: root)
      snapshot.setFingerprint(fingerprint(status), of: root)
      roots.links.stale.insert(path.path)
    }
  }

  private mutating func reportIfJustChanged(root: Entry, at path: Path, since: FileTime) {
    guard let status = try? disk.status(of: path), status.changed >= since else { return }
    if status.isBorn(since: since) {
      emit(.created, status.type, at: path)
    } else if status.type != .directory || status.modified < since {
      // Changed entries of a directory are reported by themselves.
      emit(.modified(isOpen: false), status.type, at: path)
    }
    if isSame(root, as: status) {
      snapshot.setFingerprint(fingerprint(status), of: root)
    }
  }
}

// MARK: - Roots that appear and disappear

extension ObservedTree {
  func isRoot(_ entry: Entry) -> Bool {
    snapshot.marks(of: entry).contains(.root)
  }

  func isMissing(_ root: Entry) -> Bool {
    snapshot.marks(of: root).contains(.absent)
  }

  /// Whether the parent of an entry has at least this coverage.
  func isInDirectory(_ entry: Entry, withCoverage coverage: Coverage) -> Bool {
    snapshot.parent(of: entry).flatMap { directories.coverage(of: $0) }.map { $0 >= coverage }
      ?? false
  }

  var missingRoots: [Entry] { roots.filter { isMissing($0) } }

  /// Looks up a root, or an ancestor of a missing one. Returns whether the entry must also be reconciled like any
  /// other.
  mutating func lookUpRoot(_ entry: Entry, for occasion: Occasion) -> Bool {
    let marks = snapshot.marks(of: entry)
    if marks.isDisjoint(with: [.root, .absent]) { return true }
    if !roots.isReported(entry) {
      // Roots are awaited in it. A directory may be back with the same inode and times, and without its entries.
      if marks.contains(.absent) || occasion.reasons.isAboutName {
        let links = roots.links.links(to: snapshot.path(of: entry))
        roots.links.stale.formUnion(links)
        for link in links.sorted() where occasion.reasons.isAboutName { wayReturned(to: link) }
      }
      return marks.contains(.root) || isInDirectory(entry, withCoverage: .entries)
    }
    let path = snapshot.path(of: entry)
    let (status, isLink): (FileStatus, Bool)
    do throws(SystemError) {
      (status, isLink) = try lookUp(entry, at: path)
    } catch {
      if roots.isNamed(entry) { return true }
      if error.isNotFound {
        rootDisappeared(entry)
        // What is there now may be a link whose target is missing.
        roots.links.stale.insert(path)
      } else {
        // As where an ancestor cannot be searched. Nothing but the hint is known until it can.
        if occasion.reasons.contains(.written), !isMissing(entry) {
          emit(.modified(isOpen: false), snapshot.type(of: entry), at: path)
        }
        setUnexamined(entry, error)
      }
      return false
    }
    let isDirectory = status.type == .directory
    if !isDirectory && roots.isNamed(entry) { return true }
    let isReplaced =
      roots.isNamed(entry) || isDirectory != (snapshot.type(of: entry) == .directory)
      || (isDirectory && !isSame(entry, as: status))
    if isReplaced || isMissing(entry) {
      rootDisappeared(entry)
      if isMissing(entry) { rootAppeared(entry) }
      return false
    }
    if !isDirectory { return true }
    // It may lead to the same directory by way of other links.
    if isLink { roots.links.stale.insert(path) }
    // What its directory has left to a hint is reconciled by that.
    let isLeftToHint =
      snapshot.fingerprint(of: entry) == nil && !occasion.reasons.isEmpty
      && isInDirectory(entry, withCoverage: .entries)
    compareRoot(entry, status, at: path)
    if !occasion.isHint || isLeftToHint { return !isLink }
    // A directory without a watch may have become readable.
    if directories[entry]?.watch == nil { scanNow(entry, for: modeOfReadable(entry)) }
    return false
  }

  /// Compares a root after something on the way to it was replaced, perhaps by itself.
  private mutating func wayReturned(to path: Path) {
    guard let root = snapshot.entry(at: path), roots.isReported(root), directories[root] != nil
    else { return }
    _ = lookUpRoot(root, for: .hint([]))
    directoryReturned(root)
  }

  /// What a root is: the directory to which its path leads, or else the file or link there. The target of a link must
  /// exist, unless the root is watched by its name.
  func lookUp(
    _ root: Entry, at path: Path
  ) throws(SystemError) -> (status: FileStatus, isLink: Bool) {
    let own = try disk.status(of: path)
    if own.type != .symlink || roots[root] == .linked { return (own, false) }
    do throws(SystemError) {
      let target = try disk.status(of: path, followsLinks: true)
      return (target.type == .directory ? target : own, true)
    } catch {
      if roots.isNamed(root) { return (own, true) }
      throw error
    }
  }

  /// Reports that the attributes of a directory that is a root have changed.
  mutating func compareRoot(_ root: Entry, _ status: FileStatus, at path: Path) {
    let (before, now) = (snapshot.fingerprint(of: root), fingerprint(status))
    // The first comparison of its parent finds what has happened since the start.
    if before == nil && isInDirectory(root, withCoverage: .entries) { return }
    snapshot.setFingerprint(now, of: root)
    guard before?.difference(to: now) == .attributes else { return }
    emit(.metadata, .directory, at: path)
    examineAgain(in: root)
  }

  mutating func lookUpDirectoryRoots() {
    for root in roots.filter({ !isMissing($0) && directories[$0] != nil }) {
      _ = lookUpRoot(root, for: .hint([]))
    }
  }

  /// Looks up a root that was missing, and that an earlier one may have made found or needless.
  mutating func rootMayHaveAppeared(_ root: Entry) {
    if roots[root] != nil && isMissing(root) { rootAppeared(root) }
  }

  /// Starts observing a root if it exists, and awaits it otherwise.
  mutating func rootAppeared(_ root: Entry, for mode: Occasion = .discover) {
    let path = snapshot.path(of: root)
    let (status, isLink): (FileStatus, Bool)
    do throws(SystemError) {
      (status, isLink) = try lookUp(root, at: path)
    } catch {
      if !error.isNotFound, let parent = snapshot.parent(of: root) { setUnexamined(parent, error) }
      snapshot.mark(root, .absent)
      // Missing roots are polled.
      if source != nil { watchWay(of: root) }
      return
    }
    let isBaseline = mode.isBaseline
    snapshot.unmark(root, .absent)
    snapshot.setType(status.type, of: root)
    snapshot.setInode(status.inode, of: root)
    if !isBaseline { emit(.created, status.type, at: path) }
    // It may have replaced a file.
    if status.type == .directory, roots[root] == .named { roots.add(root, .recursive) }
    guard let coverage = roots[root], coverage > .named, status.type == .directory else {
      // A file is watched through its directory, which reports when it is replaced.
      watchFileIfNeeded(root, at: entryPath(of: root))
      watchWay(of: root)
      // What was reported, or has not changed since the start, is compared from now on.
      if let status = try? disk.status(of: path), !isBaseline || status.changed < start {
        snapshot.setInode(status.inode, of: root)
        snapshot.setFingerprint(fingerprint(status), of: root)
      }
      return
    }
    watchWay(of: root)
    let isCovered = !isLink && isInDirectory(root, withCoverage: .recursive)
    directories.add(
      root, coverage: isCovered ? .recursive : coverage, stack: rules(forRoot: path))
    if !isBaseline || status.changed < start {
      snapshot.setFingerprint(fingerprint(status), of: root)
    }
    if isBaseline {
      snapshot.mark(root, .unread)
      walk.pending.append((directory: root, mode: mode))
    } else {
      snapshot.mark(root, .entriesChanged)
      scanNow(root, for: mode)
    }
  }

  /// Handles the removal or rename of a directory that is reached by its path.
  mutating func directoryDisappeared(_ directory: Entry) {
    guard directories[directory] != nil else { return }
    if roots[directory] != nil, !isMissing(directory) {
      rootDisappeared(directory)
    } else if snapshot.type(of: directory) == .symlink {
      removeDescendants(link: directory)
      roots.links.stale.insert(snapshot.path(of: directory))
    } else if directories[directory]?.coverage == .named {
      let lost = subtree(of: directory)
      if lost.contains(where: rules.files.contains) { rules.stale.formUnion(roots) }
      // The watches of the directories in it are those of other paths.
      for inner in lost where directories.coverage(of: inner) == .named { stopWatching(inner) }
      for root in lost.filter({ roots[$0] != nil }) where roots[root] != nil {
        let path = snapshot.path(of: root)
        if !isMissing(root) {
          rootDisappeared(root)
        } else if roots.isReported(root) {
          roots.links.stale.insert(path)
        }
        roots.links.stale.formUnion(roots.links.links(to: path))
      }
    }
  }

  /// Reports the removal of a root, removes its descendants, and awaits its return.
  mutating func rootDisappeared(_ root: Entry) {
    if isMissing(root) { return }
    reportRemovedChildren(of: root)
    snapshot.mark(root, .absent)
    emit(.removed, snapshot.type(of: root), at: snapshot.path(of: root))
    stopWatching(root)
    snapshot.setFingerprint(nil, of: root)
    for child in snapshot.children(of: root) { removeSubtree(child) }
    // What is polled keeps what is known of the targets.
    if source != nil && roots.isReported(root) { watchWay(of: root) }
  }

  /// Compares all roots and their descendants, and what is watched by name, since hints were
  /// dropped.
  ///
  /// - Parameter places: If given, only what is within them.
  mutating func compareAll(since: FileTime, within places: [Path]? = nil) {
    let anchors = directories.entries.filter { directory in
      guard
        roots[directory] != nil || directories.coverage(of: directory) == .named
          || snapshot.type(of: directory) == .symlink
      else { return false }
      return places?.contains(where: snapshot.path(of: directory).isWithin) ?? true
    }
    // The scan of one may make another be observed, whose watch is outdated as well.
    for directory in anchors where directories[directory] != nil {
      if roots[directory] != nil {
        _ = lookUpRoot(directory, for: .hint([]))
      } else if (try? disk.status(of: snapshot.path(of: directory), followsLinks: true).type)
        != .directory
      {
        directoryDisappeared(directory)
      }
      if directories[directory] != nil { scanNow(directory, for: .diff(since: since, .tree)) }
    }
  }

  /// Compares what is at these paths, where file systems were mounted or unmounted, and the roots that are reached
  /// through them. The kernel names mounts without links.
  mutating func compareMounts(at points: Set<Path>) {
    // Many files of few directories may be watched. A missing root appears in its parent.
    let anchors =
      roots.map { roots.isNamed($0) || isMissing($0) ? snapshot.parent(of: $0) ?? $0 : $0 }
      + directories.entries.filter { snapshot.type(of: $0) == .symlink }
    let places = Set(anchors.map(snapshot.path))
    var behind: [Path] = []
    for place in places.sorted() {
      let real = Way(to: place, on: disk).end
      for point in points.sorted() {
        if place.isWithin(point) || real.isWithin(point) {
          behind.append(place)
        } else if let name = point.relative(to: real),
          let entry = snapshot.entry(at: place.appending(name.bytes))
        {
          compareEntry(entry, for: comparison)
        }
      }
    }
    if !behind.isEmpty { compareAll(since: walk.comparedUntil, within: behind) }
  }
}
