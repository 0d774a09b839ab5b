import PathFiltering
import SystemCalls

// MARK: - Walking

extension ObservedTree {
  /// Watches and lists up to `limit` of the directories that are still to be visited. Returns false when
  /// none is left.
  mutating func visitPending(atMost limit: Int) -> Bool {
    var left = limit
    while left > 0, let visit = walk.pending.popLast() ?? walk.pendingLinks.popLast() {
      self.visit(visit.directory, for: visit.mode)
      left -= 1
    }
    walk.openDirectories.forgetAll()
    return !walk.pending.isEmpty || !walk.pendingLinks.isEmpty
  }

  /// Watches and lists `directory` and what is below it, before anything else is done.
  mutating func visitAtOnce(_ directory: Entry, for mode: ScanMode) {
    visitAtOnce { $0.walk.pending = [Walk.Visit(directory: directory, mode: mode)] }
  }

  /// The same for what `prepare` makes pending.
  mutating func visitAtOnce(_ prepare: (inout ObservedTree) -> Void) {
    let others = (walk.pending, walk.pendingLinks)
    (walk.pending, walk.pendingLinks) = ([], [])
    prepare(&self)
    while visitPending(atMost: .max) {}
    (walk.pending, walk.pendingLinks) = others
  }

  private mutating func visit(_ directory: Entry, for mode: ScanMode) {
    // One that was removed meanwhile has no details.
    guard let details = directories[directory] else { return }
    var buffers = walk.takeBuffers()
    defer { walk.giveBack(buffers) }
    snapshot.writePath(of: directory, into: &buffers.directoryPath)
    let path = Path(bytes: buffers.directoryPath)
    let outcome = watch(directory, details, at: path, for: mode)
    guard outcome != .impossible else { return }
    guard details.coverage > .named else { return lookAtNamed(in: directory, for: mode) }
    do throws(SystemError) {
      let opened = try open(directory, details, at: path)
      // What changes from here on is in the listing, or is hinted at.
      let before = mode.isDiff ? try FileStatus(of: ".", in: opened) : nil
      if let before, isAnother(before, than: directory, details) {
        return lookAt(directory, because: [])
      }
      guard isFirstName(directory, for: path) else { return releaseWatch(of: directory) }
      buffers.listing.removeAll()
      try walk.reader.forEachNumberedEntry(of: opened) {
        (name, type, inode) throws(SystemError) in buffers.listing.append(name, type, inode)
      }
      let site = Site(
        directory, details,
        stack: enterRules(of: directory, at: path, buffers.listing, parentStack: details.stack),
        hasMoved: outcome == .passedOn)
      let others = walk.pending.count
      buffers.entryPath.setDirectory(path)
      follow(buffers.listing, at: &buffers.entryPath, in: site, for: mode, opened)
      if case .baseline = mode, isRoot(directory) {
        warnIfAllIsIgnored(buffers.listing, path, site.stack)
      }
      if case .diff(let since, .firstTime) = mode, let before, before.modified >= since {
        reportUnseenRemoval(in: directory, at: path)
      }
      if walk.pending.count > others { walk.openDirectories.keep(opened, of: directory) }
    } catch {
      if !error.saysGone {
        warnings.add(unreadableDirectory: path, error)
      } else if roots[directory] != nil {
        rootDisappeared(directory)
      }
    }
  }

  private func open(
    _ directory: Entry, _ details: DirectoryTable.Directory, at path: Path
  ) throws(SystemError) -> Descriptor {
    if isAnchor(directory, details) { return try .openDirectory(path, followsLinks: true) }
    return try walk.openDirectories.open(path, in: snapshot.parent(of: directory))
  }

  /// Whether another directory has taken the place of one that is about to be compared. Its entries would be
  /// compared with those of the former, by its own ignore rules, and removals would be lost.
  private func isAnother(
    _ opened: FileStatus, than directory: Entry, _ details: DirectoryTable.Directory
  ) -> Bool {
    guard !isAnchor(directory, details), let known = snapshot.fingerprint(of: directory) else {
      return false
    }
    return !known.isOneFile(with: Fingerprint(opened))
  }

  /// The rules in force in the directory that was just listed.
  private mutating func enterRules(
    of directory: Entry, at path: Path, _ listing: DirectoryListing, parentStack: IgnoreStack?
  ) -> IgnoreStack? {
    guard let parentStack, !listing.ignoreFiles.isEmpty, !isRoot(directory) else {
      return parentStack
    }
    let seen = listing.ignoreFiles
    let stack = readRules { filter, warn in
      filter.stack(entering: path, seen: seen, from: parentStack, warn: warn)
    }
    directories.setStack(stack, of: directory)
    return stack
  }
}

// MARK: - Following a listing

extension ObservedTree {
  private mutating func follow(
    _ listing: DirectoryListing, at path: inout EntryPath, in site: Site, for mode: ScanMode,
    _ opened: borrowing Descriptor
  ) {
    var isStirred = false
    listing.forEach { item in
      if follow(item, at: &path, in: site, for: mode, opened) { isStirred = true }
    }
    guard mode.isDiff else { return }
    let count = moves.events.count
    removeUnseen(in: site)
    if isStirred || moves.events.count > count { snapshot.mark(site.directory, .stirred) }
  }

  /// Follows one entry of a listing. Returns whether it has appeared there lately.
  private mutating func follow(
    _ item: DirectoryListing.Item, at path: inout EntryPath, in site: Site, for mode: ScanMode,
    _ opened: borrowing Descriptor
  ) -> Bool {
    // A directory that changes while it is listed may list a name twice.
    let lookup = snapshot.find(item.name, in: site.directory)
    let marks = lookup.entry.map { snapshot.marks(of: $0) } ?? []
    if marks.contains(.passage) { return false }
    if let entry = lookup.entry {
      if mode.isDiff { snapshot.mark(entry, .seen) }
      if !marks.isDisjoint(with: [.wanted, .absent]), !lookUpRoot(entry, because: []) {
        return false
      }
    }
    let isKnown = lookup.entry != nil && !marks.contains(.absent)
    let isDirectory = item.type == .directory
    if isDirectory && !marks.contains(.wanted) {
      path.setName(item.name)
      if !mayEnter(path, site.stack) {
        if let entry = lookup.entry { removeSubtree(entry) }
        if case .baseline = mode { walk.prunedCount += 1 }
        return false
      }
    }
    let isAlike =
      lookup.entry.map { (snapshot.type(of: $0) == .directory) == isDirectory } ?? true
    if isAlike && !mode.comparesStatus(isKnown: isKnown), item.type != .symlink || !isKnown {
      let entry =
        lookup.entry
        ?? snapshot.insert(
          item.name, item.type, inode: item.inode, in: site.directory, after: lookup)
      if isDirectory && site.isRecursive {
        descend(entry, site.stack, for: mode)
      } else if item.type == .symlink {
        path.setName(item.name)
        followLink(entry, at: path, in: site, for: .scan(mode))
      }
      return false
    }
    path.setName(item.name)
    guard let status = FileStatus(ofListed: item.name, in: opened) else {
      // Gone again; the end of the listing sees to that.
      if let entry = lookup.entry { snapshot.unmark(entry, .seen) }
      return false
    }
    let isCreated = reconcile(
      item.name, snapshot.child(item.name, of: site.directory), status, at: path, in: site,
      for: .scan(mode))
    if mode.isDiff, let entry = snapshot.child(item.name, of: site.directory) {
      snapshot.mark(entry, .seen)
    }
    if case .diff(let since, _) = mode { return isCreated || (!isKnown && status.changed >= since) }
    return isCreated
  }

  /// Makes a directory pending, unless the scan ends before it.
  mutating func descend(_ entry: Entry, _ stack: IgnoreStack?, for mode: ScanMode) {
    if let known = directories[entry], known.coverage == .recursive {
      switch mode {
      case .diff(_, .directory), .diff(_, .firstTime): return
      case .baseline: if known.watch != nil { return }
      case .discover, .refilter, .diff: break
      }
    }
    // A root has rules of its own, but is covered as far as the directory around it.
    directories.add(
      entry, coverage: .recursive, stack: (isRoot(entry) ? directories[entry]?.stack : nil) ?? stack
    )
    if case .discover = mode { snapshot.mark(entry, .stirred) }
    let visit = Walk.Visit(directory: entry, mode: mode)
    if snapshot.type(of: entry) == .symlink {
      walk.pendingLinks.append(visit)
    } else {
      walk.pending.append(visit)
    }
  }

  /// A directory that changed before it was watched, and in which nothing new is found, has lost an entry
  /// whose name cannot be known: the directory itself is reported.
  private mutating func reportUnseenRemoval(in directory: Entry, at path: Path) {
    guard snapshot.marks(of: directory).isDisjoint(with: [.stirred, .absent]) else { return }
    snapshot.mark(directory, .stirred)
    emit(.modified(isOpen: false), .directory, at: path)
  }
}

extension ScanMode {
  var isDiff: Bool {
    if case .diff = self { return true }
    return false
  }

  /// Whether directories must be watched anew, since hints of their replacement may have been dropped.
  var mistrustsWatches: Bool {
    if case .diff(_, .tree) = self { return true }
    return false
  }

  /// Whether a listed entry is compared by its status, and not by its name alone.
  fileprivate func comparesStatus(isKnown: Bool) -> Bool {
    switch self {
    case .baseline: false
    case .discover, .refilter: !isKnown
    case .diff: true
    }
  }

  /// For a directory that is new where it is found.
  var forNewDirectory: ScanMode {
    switch self {
    case .baseline: self
    // What appeared in the clock tick of that time has no hint here.
    case .refilter(let since): .refilter(since: since.advanced(by: .nanoseconds(-1)))
    case .discover, .diff: .discover
    }
  }
}
