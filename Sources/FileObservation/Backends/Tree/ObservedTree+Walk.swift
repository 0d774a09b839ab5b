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
    if place.isReported { emit(.created, .directory, at: place.path) }
    note(place, .directory)
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
    guard let details = table[folder], watch(folder, details, for: purpose) != .impossible else {
      return
    }
    guard details.coverage > .named else {
      lookAtNamed(in: folder, for: purpose)
      return
    }
    snapshot.putPath(of: folder, into: &path)
    let folderPath = takePath()
    defer { spareBytes = folderPath.bytes }
    do throws(SystemError) {
      let directory = try Descriptor.openDirectory(folderPath, followsLinks: isAnchor(folder))
      guard isFirstName(folder, for: folderPath) else { return releaseWatch(of: folder) }
      if purpose.isOneLook, isAnother(directory, than: folder) { return }
      listing.removeAll()
      try reader.forEachEntry(of: directory) { (name, type) throws(SystemError) in
        listing.append(name, type)
      }
      let stack = enter(folder, at: folderPath, parentStack: details.stack)
      followListing(of: folder, at: folderPath, stack: stack, for: purpose, directory)
    } catch {
      if !error.saysGone {
        tellUnreadable(folderPath, error)
      } else if roots[folder] != nil, comparesEntries || table[folder]?.watch == nil {
        // A watch of inotify would tell by itself.
        lose(root: folder)
      }
    }
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
    _ folder: Entry, at path: Path, parentStack: IgnoreStack?
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
  private mutating func followListing(
    of folder: Entry, at folderPath: Path, stack: IgnoreStack?, for purpose: Purpose,
    _ directory: borrowing Descriptor
  ) {
    let isRecursive = table.coverage(of: folder) == .recursive
    let listing = listing
    // Within the closure, to ask for it would copy the whole tree's state, entry by entry.
    let comparesEntries = comparesEntries
    var toldOfArrival = false
    for index in 0..<listing.count {
      listing.withItem(index) { name, type in
        // A folder that changes while it is listed may list a name twice.
        let lookup = snapshot.find(name, in: folder)
        var known = lookup.entry
        // What came since the folder was watched, the kernel tells.
        if known == nil && purpose.isAboutTheKnown {
          toldOfArrival = toldOfArrival || hasArrived(name, for: purpose, in: directory)
          return
        }
        let marks = known.map { snapshot.marks(of: $0) } ?? []
        if let known, marks.contains(.absent) { return returned(known) }
        if marks.contains(.passage) { return }
        let isWanted = marks.contains(.wanted)
        if let entry = known, !isWanted,
          (snapshot.type(of: entry) == .directory) != (type == .directory)
        {
          tellRemoved(entry, stack)
          removeSubtree(entry)
          known = nil
        }
        if type == .directory && !isWanted {
          guard mayEnter(name, in: folderPath, stack) else {
            if let known { removeSubtree(known) }
            prunedCount += 1
            return
          }
        }
        let entry = known ?? snapshot.insert(name, type, in: folder, after: lookup)
        if purpose.findsRemovals { snapshot.mark(entry, .seen) }
        if type == .directory && isRecursive { descend(entry, stack, for: purpose) }
        let isFollowed = type == .symlink && followsLinks
        let isAskedFor = comparesEntries || purpose.asksOfEach(isKnown: known != nil)
        guard isFollowed || isAskedFor else { return }
        let nameStart = putPath(folderPath, name)
        if isFollowed { follow(entry, nameStart, isRecursive, stack, purpose) }
        guard isAskedFor else { return }
        let isReported = isWanted || reports(nameStart, type == .directory, stack)
        if !isReported && type != .directory { return }
        let news = news(
          of: entry, named: name, in: folder, wasKnown: known != nil, for: purpose, directory)
        guard let news else { return }
        toldOfArrival = toldOfArrival || news.kind == .created
        noteIfRulesChanged(name, in: folder, news.kind)
        guard isReported else { return }
        emit(news.kind, type, at: Path(bytes: path), was: news.gone, is: news.come)
      }
    }
    switch purpose {
    case .learn(let since):
      if isRoot(folder) { warnIfAllIsIgnored(in: folder, at: folderPath, stack: stack) }
      if comparesEntries && !toldOfArrival {
        lookForTracesOfRemoval(in: folder, at: folderPath, since: since, stack: stack)
      }
    case .tell, .judge:
      break
    case .compare(_, .everything), .compare(_, .oneFolder):
      forgetUnseen(in: folder, stack: stack)
    case .compare(let since, .untilWatched):
      if !toldOfArrival {
        lookForTracesOfRemoval(in: folder, at: folderPath, since: since, stack: stack)
      }
    }
  }

  mutating func descend(_ entry: Entry, _ stack: IgnoreStack?, for purpose: Purpose) {
    if table.coverage(of: entry) == .recursive {
      switch purpose {
      case .compare(_, .oneFolder): return
      case .learn, .compare(_, .untilWatched): if table[entry]?.watch != nil { return }
      case .tell, .judge, .compare(_, .everything): break
      }
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
