import PathFiltering
import SystemCalls

extension ObservedTree {
  /// A folder to be watched and listed.
  struct Visit {
    let folder: Entry
    let purpose: Purpose
  }

  /// What a folder is listed for.
  enum Purpose {
    /// To know what is there. Where entries are compared, what has changed since a time is told of;
    /// elsewhere that is left to a second look.
    case learn(since: FileTime)
    /// To know what is there, and to tell of what was not known.
    case tell
    /// To know what is there by other rules than before.
    case judge
    /// To find what has changed since a time, of which nobody has told.
    case compare(since: FileTime, Comparison)
  }

  /// Which changes a comparison is after.
  enum Comparison {
    /// Those in one folder up to the moment when it was watched.
    case untilWatched
    /// Those in one folder of which nobody tells all.
    case oneFolder
    /// All in a tree, after the kernel has dropped events: watches may be outdated, too.
    case everything
  }
}

// MARK: - Walking

extension ObservedTree {
  /// Watches and lists up to `limit` of the folders that are still to be visited. False when none
  /// is left.
  mutating func visitPending(atMost limit: Int) -> Bool {
    var left = limit
    while left > 0, let visit = pending.popLast() ?? pendingLinks.popLast() {
      self.visit(visit.folder, for: visit.purpose)
      left -= 1
    }
    openFolders.forgetAll()
    return !pending.isEmpty || !pendingLinks.isEmpty
  }

  /// Watches and lists `folder` and what is below it, before anything else is done.
  mutating func visitAtOnce(_ folder: Entry, for purpose: Purpose) {
    let others = (pending, pendingLinks)
    pending = [Visit(folder: folder, purpose: purpose)]
    pendingLinks = []
    while visitPending(atMost: .max) {}
    (pending, pendingLinks) = others
  }

  /// A folder that has come to be: it and all that is in it already are told of.
  mutating func discover(_ place: Place) {
    guard let parent = table[place.folder] else { return }
    guard mayEnter(place, in: parent) else { return }
    note(place, .directory)
    if place.isReported { tell(.created, .directory, of: place) }
    guard parent.coverage == .recursive,
      let entry = place.name.withUnsafeBufferPointer({ snapshot.child($0, of: place.folder) })
    else { return }
    table.add(entry, coverage: .recursive, stack: parent.stack)
    visitAtOnce(entry, for: .tell)
  }

  /// A folder whose watch was refused may have become readable.
  mutating func retryIfUnwatched(_ place: Place) {
    guard let known = place.known, let folder = table[known], folder.watch == nil else { return }
    visitAtOnce(known, for: .tell)
  }

  private mutating func visit(_ folder: Entry, for purpose: Purpose) {
    // A folder that has been removed since has no details; for another in its place, a visit more
    // does no harm.
    guard let details = table[folder] else { return }
    snapshot.putPath(of: folder, into: &path)
    guard watch(folder, details, for: purpose) != .impossible else { return }
    guard details.coverage > .named else {
      lookAtNamed(in: folder, for: purpose)
      return
    }
    let folderPath = takePath()
    var listing = listings.popLast() ?? FolderListing()
    defer {
      spareBytes = folderPath.bytes
      listings.append(listing)
    }
    do throws(SystemError) {
      let directory = try open(folder, details, at: folderPath)
      guard isFirstName(folder, for: folderPath) else { return releaseWatch(of: folder) }
      if purpose.isOneLook, isAnother(directory, than: folder) { return }
      listing.removeAll()
      try reader.forEachEntry(of: directory) { (name, type) throws(SystemError) in
        listing.append(name, type)
      }
      let stack = enter(folder, at: folderPath, listing, parentStack: details.stack)
      let visited = VisitedFolder(
        folder: folder, path: folderPath, stack: stack, purpose: purpose,
        isRecursive: details.coverage == .recursive)
      let others = pending.count
      follow(listing, of: visited, directory)
      if pending.count > others { openFolders.keep(directory, of: folder) }
    } catch {
      if !error.saysGone {
        tellUnreadable(folderPath, error)
      } else if roots[folder] != nil, comparesEntries || table[folder]?.watch == nil {
        // A watch of inotify would tell by itself.
        lose(root: folder)
      }
    }
  }

  private func open(
    _ folder: Entry, _ details: WatchTable.Folder, at path: Path
  ) throws(SystemError) -> Descriptor {
    if isAnchor(folder, details) { return try .openDirectory(path, followsLinks: true) }
    return try openFolders.open(path, in: snapshot.parent(of: folder))
  }

  /// What stands in `path`, in exchange for room that is used again.
  private mutating func takePath() -> Path {
    defer {
      path = spareBytes
      spareBytes = []
    }
    return Path(bytes: path)
  }

  /// The rules in force in the folder that has just been listed.
  private mutating func enter(
    _ folder: Entry, at path: Path, _ listing: FolderListing, parentStack: IgnoreStack?
  ) -> IgnoreStack? {
    guard let parentStack, !listing.ignoreFiles.isEmpty, !isRoot(folder) else {
      return parentStack
    }
    let seen = listing.ignoreFiles
    let stack = readRules { filter, warn in
      filter.stack(entering: path, seen: seen, from: parentStack, warn: warn)
    }
    table.setStack(stack, of: folder)
    return stack
  }
}

// MARK: - Following a listing

extension ObservedTree {
  /// A folder whose listing is followed, and what is needed for each entry of it.
  private struct VisitedFolder {
    let folder: Entry
    let path: Path
    let stack: IgnoreStack?
    let purpose: Purpose
    let isRecursive: Bool
  }

  private mutating func follow(
    _ listing: FolderListing, of visited: VisitedFolder, _ directory: borrowing Descriptor
  ) {
    var toldOfArrival = false
    listing.forEach { item in
      if follow(item, in: visited, directory) { toldOfArrival = true }
    }
    switch visited.purpose {
    case .learn(let since):
      if isRoot(visited.folder) { warnIfAllIsIgnored(listing, visited.path, visited.stack) }
      if comparesEntries && !toldOfArrival {
        lookForTracesOfRemoval(in: visited.folder, at: visited.path, since: since)
      }
    case .tell, .judge:
      break
    case .compare(_, .everything), .compare(_, .oneFolder):
      forgetUnseen(in: visited.folder, stack: visited.stack)
    case .compare(let since, .untilWatched):
      if !toldOfArrival {
        lookForTracesOfRemoval(in: visited.folder, at: visited.path, since: since)
      }
    }
  }

  /// Sees to one entry. True if it has come there since, as is told of it or has to be told elsewhere.
  private mutating func follow(
    _ item: FolderListing.Item, in visited: VisitedFolder, _ directory: borrowing Descriptor
  ) -> Bool {
    let (name, type) = item
    let (folder, stack) = (visited.folder, visited.stack)
    // A folder that changes while it is listed may list a name twice.
    let lookup = snapshot.find(name, in: folder)
    var known = lookup.entry
    // What came since the folder was watched, the kernel tells.
    if known == nil && visited.purpose.isAboutTheKnown {
      return hasArrived(name, for: visited.purpose, in: directory)
    }
    let marks = known.map { snapshot.marks(of: $0) } ?? []
    let isWanted = marks.contains(.wanted)
    var hasReturned = false
    if let entry = known, marks.contains(.absent) {
      returned(entry)
      if visited.purpose.findsRemovals { snapshot.mark(entry, .seen) }
      if isWanted || stack == nil { return false }
      // It leads to what was waited for, and is new itself.
      snapshot.setType(type, of: entry)
      hasReturned = true
    }
    if marks.contains(.passage) { return false }
    if let entry = known, !isWanted,
      (snapshot.type(of: entry) == .directory) != (type == .directory)
    {
      tellRemoved(entry, stack)
      removeSubtree(entry)
      known = nil
    }
    if type == .directory && !isWanted && !mayEnter(name, in: visited.path, stack) {
      if let known { removeSubtree(known) }
      if case .learn = visited.purpose { prunedCount += 1 }
      return false
    }
    let purpose =
      known == nil && isNew(name, type, in: visited) ? .tell : visited.purpose
    let entry = known ?? snapshot.insert(name, type, in: folder, after: lookup)
    if purpose.findsRemovals { snapshot.mark(entry, .seen) }
    if type == .directory && visited.isRecursive { descend(entry, stack, for: purpose) }
    let isFollowed = type == .symlink && followsLinks
    let isKnown = known != nil && !hasReturned
    let isAskedFor = comparesEntries || purpose.asksOfEach(isKnown: isKnown)
    guard isFollowed || isAskedFor else { return false }
    let nameStart = putPath(visited.path, name)
    if isFollowed { follow(entry, nameStart, visited.isRecursive, stack, purpose) }
    guard isAskedFor else { return false }
    let isReported = isWanted || reports(nameStart, type == .directory, stack)
    if !isReported && type != .directory { return false }
    let news = news(
      of: entry, named: name, in: folder, wasKnown: isKnown, for: purpose, directory)
    guard let news else { return false }
    if news.certainty != .told { noteIfRulesChanged(name, in: folder, news.kind) }
    guard isReported || news.isMovedFolder else { return news.kind == .created }
    switch news.certainty {
    case .certain:
      toldMeanwhile?.note(news.kind, of: entry)
      emit(news.kind, type, at: Path(bytes: path), was: news.gone, is: news.come)
    case .doubtful:
      doubts[entry] = news.kind
    case .told:
      break
    }
    return news.kind == .created
  }

  /// True for a folder that is met while all is judged anew, and that is not known though the rules of
  /// before would not have left it out: it has come just now, and so has all that is in it.
  private mutating func isNew(
    _ name: UnsafeBufferPointer<UInt8>, _ type: FileType, in visited: VisitedFolder
  ) -> Bool {
    guard !comparesEntries, type == .directory, case .judge = visited.purpose,
      let former = formerStacks[visited.folder]
    else { return false }
    return mayEnter(name, in: visited.path, former)
  }

  mutating func descend(_ entry: Entry, _ stack: IgnoreStack?, for purpose: Purpose) {
    if table.coverage(of: entry) == .recursive {
      switch purpose {
      case .compare(_, .oneFolder): return
      case .learn, .compare(_, .untilWatched): if table[entry]?.watch != nil { return }
      case .tell, .judge, .compare(_, .everything): break
      }
    }
    if case .judge = purpose, let parent = snapshot.parent(of: entry),
      formerStacks[parent] != nil
    {
      formerStacks[entry] = table[entry]?.stack
    }
    // A root has rules of its own, but is covered as far as the folder around it.
    table.add(
      entry, coverage: .recursive, stack: (isRoot(entry) ? table[entry]?.stack : nil) ?? stack)
    let visit = Visit(folder: entry, purpose: purpose.forSubfolders)
    if snapshot.type(of: entry) == .symlink {
      pendingLinks.append(visit)
    } else {
      pending.append(visit)
    }
  }
}

extension ObservedTree.Purpose {
  /// After an overflow, a folder may have been replaced without our being told.
  var mistrustsWatches: Bool {
    if case .compare(_, .everything) = self { return true }
    return false
  }

  /// True if something may be to be told of an entry.
  fileprivate func asksOfEach(isKnown: Bool) -> Bool {
    switch self {
    case .learn, .judge: false
    case .tell: !isKnown
    case .compare: true
    }
  }

  fileprivate var findsRemovals: Bool {
    switch self {
    case .compare(_, .everything), .compare(_, .oneFolder): true
    case .compare(_, .untilWatched), .learn, .tell, .judge: false
    }
  }

  fileprivate var isOneLook: Bool {
    if case .compare(_, .oneFolder) = self { return true }
    return false
  }

  fileprivate var isAboutTheKnown: Bool {
    if case .compare(_, .untilWatched) = self { return true }
    return false
  }

  /// For the subfolders that are not watched yet: what of one folder is compared, of others is new.
  fileprivate var forSubfolders: Self {
    switch self {
    case .compare(_, .untilWatched), .compare(_, .oneFolder): .tell
    case .compare(_, .everything), .learn, .tell, .judge: self
    }
  }
}
