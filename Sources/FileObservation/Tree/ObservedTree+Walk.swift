import PathFiltering
import SystemCalls

// MARK: - Scanning directories

extension ObservedTree {
  /// Watches and scans the pending directories until `isOver`, and at least one of them. Returns
  /// whether any is left.
  @discardableResult
  mutating func scanPending(
    includingLinks: Bool = true, until isOver: () -> Bool = { false }
  ) -> Bool {
    while let next = walk.pending.popLast() ?? (includingLinks ? walk.pendingLinks.popLast() : nil)
    {
      scan(next.directory, for: next.mode)
      if isOver() { break }
    }
    walk.openDirectories.closeAll()
    return !walk.pending.isEmpty || !walk.pendingLinks.isEmpty
  }

  /// Watches and scans a directory, and the descendants that this makes pending, before other
  /// pending ones.
  mutating func scanNow(_ directory: Entry, for mode: Occasion) {
    scanNow { $0.walk.pending = [(directory: directory, mode: mode)] }
  }

  /// Watches and scans the directories that `prepare` makes pending, before other pending ones. While there are
  /// such, links wait: a directory is known by its own path, and not by a link to it.
  mutating func scanNow(_ prepare: (inout ObservedTree) -> Void) {
    let others = (walk.pending, walk.pendingLinks)
    (walk.pending, walk.pendingLinks) = ([], [])
    prepare(&self)
    scanPending(includingLinks: others.0.isEmpty)
    (walk.pending, walk.pendingLinks) = (others.0, others.1 + walk.pendingLinks)
  }

  private mutating func scan(_ directory: Entry, for mode: Occasion) {
    guard let stack = rules.takePendingStack(of: directory) else {
      return scan(directory, for: mode, former: nil)
    }
    let isUnread = snapshot.marks(of: directory).contains(.unread)
    let refilter = refilterMode(of: directory)
    let former = isUnread ? nil : directories[directory]?.stack
    directories.setStack(stack, of: directory)
    let wasHinted = isHinted(directory)
    // Changed rules first: what was ignored before is not new.
    scan(directory, for: refilter, former: former)
    if !mode.isRefilter {
      scan(directory, for: mode, former: nil)
    } else if !wasHinted, isHinted(directory) {
      scan(directory, for: comparison, former: nil)
    }
  }

  private mutating func scan(_ directory: Entry, for mode: Occasion, former: IgnoreStack?) {
    // It may have been removed since it became pending.
    guard let details = directories[directory] else { return }
    // What is not known yet cannot be compared.
    let isUnread = snapshot.marks(of: directory).contains(.unread)
    if mode.isDiff && isUnread && !(mode.renewsWatches && details.watch != nil) { return }
    var buffers = walk.takeBuffers()
    defer { walk.giveBack(buffers) }
    snapshot.writePath(of: directory, into: &buffers.directoryPath)
    let path = Path(bytes: buffers.directoryPath)
    guard watch(directory, details, at: path, for: mode), !mode.isDiff || !isUnread else { return }
    if roots[directory] != nil, let parent = snapshot.parent(of: directory) {
      removeIfUnneeded(parent)
    }
    guard details.coverage > .named else { return compareNamedEntries(in: directory, for: mode) }
    snapshot.unmark(directory, .unread)
    do throws(SystemError) {
      let opened = try open(directory, details, at: path)
      // Later changes are in the listing or have hints.
      let before = mode.isDiff ? try disk.status(of: opened) : nil
      if let before, isAnother(before, than: directory, details) {
        return compareEntry(directory, for: comparison)
      }
      if let before, roots[directory] != nil { compareRoot(directory, before, at: path) }
      let primary = primaryName(of: directory, at: path)
      if primary != directory { return awaitTurn(directory, behind: primary) }
      try disk.list(opened, into: &buffers.listing)
      let names = buffers.listing.ignoreFiles
      if names != details.names {
        directories.setNames(names, of: directory)
        // That of a repository is not entered, and has no hint of its own.
        if mode.isDiff { rules.stale.insert(directory) }
      }
      var site = Site(
        directory: directory, details: details,
        stack: enterRules(of: directory, at: path, names, parentStack: details.stack),
        former: former)
      if case .diff(let since, _) = mode, let before { site.isChanged = before.changed >= since }
      let others = walk.pending.count
      buffers.entryPath.setDirectory(path)
      compare(buffers.listing, at: &buffers.entryPath, in: site, for: mode, opened)
      watchOtherRules(site.stack, in: path, names)
      if mode.isBaseline, isRoot(directory) {
        warnIfAllIsIgnored(buffers.listing, path, site.stack)
      }
      if case .diff(let since, .firstTime) = mode, let before, before.modified >= since {
        reportUnseenRemoval(in: directory, at: path)
      }
      if walk.pending.count > others { walk.openDirectories.keep(opened, of: directory) }
    } catch {
      if !error.isNotFound {
        unreported.add(unreadable: .unreadableDirectory(path, error))
        setUnexamined(directory, error)
      } else if roots[directory] != nil {
        rootDisappeared(directory)
      }
    }
  }

  private func open(
    _ directory: Entry, _ details: DirectoryTable.Directory, at path: Path
  ) throws(SystemError) -> Descriptor {
    if isAnchor(directory, details) { return try disk.openDirectory(path, followsLinks: true) }
    return try walk.openDirectories.open(path, in: snapshot.parent(of: directory), on: disk)
  }

  /// Whether another directory has replaced the one that is about to be compared. Its entries would
  /// be compared with those of the former by its own ignore rules, and removals would be lost.
  private func isAnother(
    _ opened: FileStatus, than directory: Entry, _ details: DirectoryTable.Directory
  ) -> Bool {
    !isAnchor(directory, details) && isReplaced(directory, by: opened)
  }

  /// The rules in force in a directory that was just listed.
  private mutating func enterRules(
    of directory: Entry, at path: Path, _ seen: IgnoreFileNames, parentStack: IgnoreStack?
  ) -> IgnoreStack? {
    guard let parentStack, !isRoot(directory) else { return parentStack }
    // What has changed in the files is applied by `refilter`.
    if seen.isEmpty || parentStack.directory == path { return parentStack }
    let stack = readRules { parentStack.entering(path, seen: seen, warn: $0) }
    directories.setStack(stack, of: directory)
    return stack
  }
}

// MARK: - Comparing listings

extension ObservedTree {
  private mutating func compare(
    _ listing: DirectoryListing, at path: inout EntryPath, in site: Site, for mode: Occasion,
    _ opened: borrowing Descriptor
  ) {
    var hasNewEntries = false
    listing.forEach { item in
      if compare(item, at: &path, in: site, for: mode, opened) { hasNewEntries = true }
    }
    guard mode.isDiff else { return }
    let count = unreported.events.count
    // After the baseline of a watched directory, every removal has a hint.
    let areRemovalsHinted = hintedSince(mode, in: site) != nil
    let hasRemovals = removeUnseen(in: site, isReported: !areRemovalsHinted)
    if hasNewEntries || hasRemovals || unreported.events.count > count {
      snapshot.mark(site.directory, .entriesChanged)
    }
  }

  /// Compares one entry of a listing. Returns whether it alone explains a change of its directory.
  private mutating func compare(
    _ item: DirectoryListing.Entry, at path: inout EntryPath, in site: Site, for mode: Occasion,
    _ opened: borrowing Descriptor
  ) -> Bool {
    // A directory that changes during the listing may contain a name twice.
    let lookup = snapshot.find(item.name, in: site.directory)
    var marks = lookup.entry.map { snapshot.marks(of: $0) } ?? []
    if marks.contains(.root), let entry = lookup.entry, releaseIfCovered(entry) {
      // In a new directory, it is new under its own path.
      if case .discover = mode { snapshot.mark(entry, .absent) }
      marks = snapshot.marks(of: entry)
    }
    if let entry = lookup.entry {
      if mode.isDiff { snapshot.mark(entry, .seen) }
      if !marks.isDisjoint(with: [.root, .absent]), !lookUpRoot(entry, for: mode) {
        return false
      }
    }
    let isKnown = lookup.entry != nil && !marks.contains(.absent)
    let isDirectory = item.type == .directory
    var isEntered = isDirectory && site.isRecursive
    if isDirectory, !marks.contains(.root) || lookup.entry.map(roots.isReported) == false {
      path.setName(item.name)
      if !mayEnter(path, site.stack) {
        isEntered = false
        if mode.isBaseline { walk.prunedCount += 1 }
        if !marks.contains(.root) {
          if let entry = lookup.entry { exclude(entry, in: site) }
          return false
        }
      }
    }
    let isAlike =
      lookup.entry.map { (snapshot.type(of: $0) == .directory) == isDirectory } ?? true
    if isAlike && !mode.comparesStatus(isKnown: isKnown), item.type != .symlink || !isKnown {
      let entry =
        lookup.entry
        ?? snapshot.insert(
          item.name, item.type, inode: item.inode, in: site.directory, after: lookup)
      // One that was made on the way to a root is listed from now on.
      if marks.contains(.absent) {
        snapshot.unmark(entry, .absent)
        snapshot.setInode(item.inode, of: entry)
      }
      if isEntered {
        descend(entry, site.stack, for: mode)
      } else if item.type == .symlink {
        path.setName(item.name)
        followLink(entry, at: path, in: site, for: mode)
      }
      return false
    }
    path.setName(item.name)
    let found = Result { () throws(SystemError) in
      try disk.status(ofListed: item.name, in: opened)
    }
    guard case .success(let status) = found,
      lookup.entry.map({ isStillThere($0, status, at: path.path, in: site) }) ?? true
    else {
      if case .failure(let error) = found, !error.isNotFound {
        setUnexamined(site.directory, error)
      } else if let entry = lookup.entry {
        // It is gone again, and is removed after the listing.
        snapshot.unmark(entry, .seen)
      }
      return false
    }
    let isOther = lookup.entry.map { !isSame($0, as: status) } ?? true
    if isOther, let watched = hintedSince(mode, in: site), status.changed > watched {
      // It has a hint, which says whether it was renamed.
      return true
    }
    reconcile(
      item.name, snapshot.child(item.name, of: site.directory), status, at: path, in: site,
      for: mode)
    if mode.isDiff, let entry = snapshot.child(item.name, of: site.directory) {
      snapshot.mark(entry, .seen)
    }
    guard case .diff(let since, _) = mode else { return false }
    return !isKnown && status.changed >= since
  }

  /// The time since which each change in a directory has a hint that names the entry, if the
  /// directory is compared for the first time after its baseline.
  func hintedSince(_ mode: Occasion, in site: Site) -> FileTime? {
    guard case .diff(_, .firstTime(let watched)) = mode, wasHinted(site) else { return nil }
    return watched
  }

  /// Whether an entry that has changed is still at its path. Its directory may have been moved since
  /// it was opened, and then the change belongs to another path. Hints take care of that elsewhere.
  private func isStillThere(
    _ entry: Entry, _ status: FileStatus, at path: @autoclosure () -> Path, in site: Site
  ) -> Bool {
    guard !isHinted(site.directory), let known = snapshot.fingerprint(of: entry),
      known.difference(to: fingerprint(status)) != nil
    else { return true }
    return (try? disk.status(of: path()))?.inode == status.inode
  }

  /// Makes a directory pending, unless the mode excludes it.
  mutating func descend(_ entry: Entry, _ stack: IgnoreStack?, for mode: Occasion) {
    release(entry)
    // A root has rules of its own, and the coverage of its parent.
    let own = isRoot(entry) ? rules.pendingStack(of: entry) ?? directories[entry]?.stack : nil
    if mode.isRefilter, let stack = own ?? stack {
      if directories.coverage(of: entry) != .recursive {
        directories.add(entry, coverage: .recursive, stack: stack)
        snapshot.mark(entry, .unread)
      }
      return refilterLater(entry, by: stack)
    }
    if directories.coverage(of: entry) == .recursive {
      switch mode {
      case .diff(_, .directory), .diff(_, .firstTime): return
      case .baseline: if directories[entry]?.watch != nil { return }
      case .hint, .discover, .refilter, .diff: break
      }
    }
    directories.add(entry, coverage: .recursive, stack: own ?? stack)
    if case .discover = mode { snapshot.mark(entry, .entriesChanged) }
    if mode.isBaseline { snapshot.mark(entry, .unread) }
    let scan = (directory: entry, mode: mode)
    if snapshot.type(of: entry) == .symlink {
      walk.pendingLinks.append(scan)
    } else {
      walk.pending.append(scan)
    }
  }

  /// Reports a directory that changed before it was watched, and in which nothing new was found: it
  /// has lost an entry whose name is unknown.
  private mutating func reportUnseenRemoval(in directory: Entry, at path: Path) {
    guard snapshot.marks(of: directory).isDisjoint(with: [.entriesChanged, .absent]) else { return }
    snapshot.mark(directory, .entriesChanged)
    emit(.modified(isOpen: false), .directory, at: path)
  }
}
