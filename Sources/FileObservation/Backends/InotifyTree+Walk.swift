#if os(Linux)

import PathFiltering
import SystemCalls

extension InotifyTree {
  /// A folder to be watched and listed.
  struct Visit {
    let folder: Entry
    let purpose: Purpose
  }

  /// What a folder is listed for.
  enum Purpose {
    /// To know what is there.
    case learn
    /// To know what is there, and to tell of what was not known.
    case tell
    /// To find what has changed in a time of which the kernel has not told: in each folder up to
    /// the moment when it was watched, if `untilWatched`.
    case compare(since: FileTime, untilWatched: Bool)
  }

  /// The entries of one folder, as read from it. Used again for each.
  struct Listing {
    private var bytes: [UInt8] = []
    private var items: [(start: Int, count: Int, type: FileType)] = []
    private(set) var ignoreFiles: IgnoreFileNames = []

    var count: Int { items.count }

    mutating func removeAll() {
      bytes.removeAll(keepingCapacity: true)
      items.removeAll(keepingCapacity: true)
      ignoreFiles = []
    }

    mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ type: FileType) {
      items.append((bytes.count, name.count, type))
      bytes.append(contentsOf: name)
      bytes.append(0)
      ignoreFiles.formUnion(IgnoreFileNames.of(name))
    }

    /// Calls `body` with an entry's name, behind which there is a NUL, and its type.
    func withItem<Result>(
      _ index: Int, _ body: (UnsafeBufferPointer<UInt8>, FileType) -> Result
    ) -> Result {
      let item = items[index]
      return bytes.withUnsafeBufferPointer {
        body(UnsafeBufferPointer(rebasing: $0[item.start..<(item.start + item.count)]), item.type)
      }
    }
  }
}

// MARK: - Walking

extension InotifyTree {
  /// Watches and lists up to `limit` of the folders that are still to be visited. False when none
  /// is left.
  mutating func visitPending(atMost limit: Int) -> Bool {
    var left = limit
    while left > 0, let visit = pending.popLast() {
      self.visit(visit.folder, for: visit.purpose)
      left -= 1
    }
    return !pending.isEmpty
  }

  /// Watches and lists `folder` and what is below it, before anything else is done.
  mutating func visitAtOnce(_ folder: Entry, for purpose: Purpose) {
    let others = pending
    pending = [Visit(folder: folder, purpose: purpose)]
    while visitPending(atMost: .max) {}
    pending = others
  }

  /// A folder that has come to be: it and all that is in it already are told of.
  mutating func discover(_ place: Place) {
    guard let parent = table[place.folder] else { return }
    let mayEnter = place.path.bytes.withUnsafeBufferPointer {
      filter.mayEnter($0, nameAt: $0.count - place.name.count, in: parent.stack)
    }
    guard mayEnter else { return }
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
    guard let details = table[folder], watch(folder, details, for: purpose) else { return }
    guard details.coverage > .named else {
      lookAtNamed(in: folder, for: purpose)
      return
    }
    snapshot.putPath(of: folder, into: &path)
    let folderPath = Path(bytes: path)
    do throws(SystemError) {
      let directory = try Descriptor.openDirectory(folderPath, followsLinks: isAnchor(folder))
      listing.removeAll()
      try reader.forEachEntry(of: directory) { (name, type) throws(SystemError) in
        listing.append(name, type)
      }
      let stack = enter(folder, at: folderPath, parentStack: details.stack)
      followListing(of: folder, at: folderPath, stack: stack, for: purpose, directory)
    } catch {
      if !error.saysGone { warn(.unreadableFolder(folderPath, error)) }
    }
  }

  /// The rules in force in the folder that has just been listed.
  private mutating func enter(_ folder: Entry, at path: Path, parentStack: IgnoreStack)
    -> IgnoreStack
  {
    if listing.ignoreFiles.isEmpty || roots[folder] != nil { return parentStack }
    let stack = filter.stack(entering: path, seen: listing.ignoreFiles, from: parentStack)
    table.setStack(stack, of: folder)
    return stack
  }

  /// True if the folder is watched now; false if it is gone, or another name of one that is watched.
  private mutating func watch(
    _ folder: Entry, _ details: WatchTable.Folder, for purpose: Purpose
  ) -> Bool {
    let mayBeOutdated = purpose.mistrustsWatches
    if details.watch != nil && !mayBeOutdated { return true }
    let isAnchor = isAnchor(folder)
    snapshot.putPath(of: folder, into: &path)
    path.append(0)
    let result = path.withUnsafeBytes { bytes -> Result<Int32, SystemError> in
      guard let start = bytes.assumingMemoryBound(to: CChar.self).baseAddress else {
        return .failure(SystemError(call: "inotify_add_watch", code: ENOENT))
      }
      return Result { () throws(SystemError) in
        try inotify.addWatch(start, isAnchor ? .anchor : .folder)
      }
    }
    path.removeLast()
    switch result {
    case .success(let watch):
      if let owner = table.owner(of: watch), owner != folder, !mayBeOutdated { return false }
      if details.watch != watch { table.setWatch(watch, of: folder, at: FileTime.latest()) }
      return true
    case .failure(let error):
      refused(folder, error)
      return false
    }
  }

  private mutating func refused(_ folder: Entry, _ error: SystemError) {
    let path = Path(bytes: self.path)
    switch error.code {
    case _ where error.saysGone:
      break
    case ENOSPC:
      if hasToldOfWatchLimit { return }
      hasToldOfWatchLimit = true
      warn(.watchLimitReached(at: path, watches: table.watchCount, error))
    default:
      warn(.unreadableFolder(path, error))
    }
  }
}

// MARK: - Comparing a listing with what was known

extension InotifyTree {
  private mutating func followListing(
    of folder: Entry, at folderPath: Path, stack: IgnoreStack, for purpose: Purpose,
    _ directory: borrowing Descriptor
  ) {
    let isFresh = !snapshot.hasChildren(folder)
    let isRecursive = table[folder]?.coverage == .recursive
    let listing = listing
    let filter = filter
    var toldOfArrival = false
    for index in 0..<listing.count {
      listing.withItem(index) { name, type in
        var known = isFresh ? nil : snapshot.child(name, of: folder)
        // What came since the folder was watched, the kernel tells.
        if known == nil && purpose.isAboutTheKnown {
          toldOfArrival = toldOfArrival || hasArrived(name, for: purpose, in: directory)
          return
        }
        let marks = known.map { snapshot.marks(of: $0) } ?? []
        if let known, marks.contains(.absent) { return returned(known) }
        let isWanted = marks.contains(.wanted)
        if let entry = known, !isWanted,
          (snapshot.type(of: entry) == .directory) != (type == .directory)
        {
          removeSubtree(entry)
          known = nil
        }
        if type == .directory && !isWanted {
          let nameStart = putPath(folderPath, name)
          let mayEnter = path.withUnsafeBufferPointer {
            filter.mayEnter($0, nameAt: nameStart, in: stack)
          }
          guard mayEnter else {
            if let known { removeSubtree(known) }
            return
          }
        }
        let entry = known ?? snapshot.insert(name, type, in: folder)
        if purpose.mistrustsWatches { snapshot.mark(entry, .seen) }
        if type == .directory && isRecursive { descend(entry, stack, for: purpose) }
        let news = news(of: name, wasKnown: known != nil, for: purpose, folder, in: directory)
        guard let news else { return }
        toldOfArrival = toldOfArrival || news == .created
        if type == .directory && news != .created { return }
        let nameStart = putPath(folderPath, name)
        let isReported =
          isWanted
          || path.withUnsafeBufferPointer {
            filter.reports($0, nameAt: nameStart, isDirectory: type == .directory, in: stack)
          }
        if isReported { emit(news, type, at: Path(bytes: path)) }
      }
    }
    switch purpose {
    case .learn, .tell:
      break
    case .compare(_, untilWatched: false):
      forgetUnseen(in: folder, stack: stack)
    case .compare(let since, untilWatched: true):
      if !toldOfArrival {
        lookForTracesOfRemoval(in: folder, at: folderPath, since: since, stack: stack)
      }
    }
  }

  private mutating func descend(_ entry: Entry, _ stack: IgnoreStack, for purpose: Purpose) {
    if let known = table[entry], known.watch != nil {
      switch purpose {
      case .learn: return
      case .tell: table.setStack(roots[entry] == nil ? stack : known.stack, of: entry)
      case .compare(_, untilWatched: true): return
      case .compare: break
      }
    }
    if roots[entry] == nil { table.add(entry, coverage: .recursive, stack: stack) }
    pending.append(Visit(folder: entry, purpose: purpose.forSubfolders))
  }

  /// What there is to tell of an entry that is listed.
  private func news(
    of name: UnsafeBufferPointer<UInt8>, wasKnown: Bool, for purpose: Purpose, _ folder: Entry,
    in directory: borrowing Descriptor
  ) -> RawEvent.Kind? {
    switch purpose {
    case .learn:
      return nil
    case .tell:
      return wasKnown ? nil : .created
    case .compare(let since, let untilWatched):
      if !wasKnown { return .created }
      guard let start = name.baseAddress else { return nil }
      let chars = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
      guard let status = try? FileStatus(of: chars, in: directory) else { return nil }
      let end = untilWatched ? table[folder]?.watchedAt : nil
      guard status.changed >= since, end.map({ status.changed <= $0 }) ?? true else { return nil }
      if untilWatched, let born = status.born, born >= since { return .created }
      return .modified(isOpen: false)
    }
  }

  /// True if an entry that is not known is one of those that have changed the folder's time, and
  /// none that is ignored and was there before.
  private func hasArrived(
    _ name: UnsafeBufferPointer<UInt8>, for purpose: Purpose, in directory: borrowing Descriptor
  ) -> Bool {
    guard case .compare(let since, _) = purpose, let start = name.baseAddress else { return false }
    let chars = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
    return (try? FileStatus(of: chars, in: directory)).map { $0.changed >= since } ?? false
  }

  /// After a listing: what was known and is not there any more.
  private mutating func forgetUnseen(in folder: Entry, stack: IgnoreStack) {
    for entry in snapshot.children(of: folder) {
      if snapshot.marks(of: entry).contains(.seen) {
        snapshot.unmark(entry, .seen)
      } else if snapshot.marks(of: entry).contains(.wanted) {
        lose(root: entry)
      } else if !snapshot.marks(of: entry).contains(.awaited) {
        removeAndTell(entry, in: folder, stack: stack)
      }
    }
  }

  private mutating func removeAndTell(_ entry: Entry, in folder: Entry, stack: IgnoreStack) {
    snapshot.putPath(of: entry, into: &path)
    let type = snapshot.type(of: entry)
    let nameStart = path.count - snapshot.name(of: entry).count
    let isReported = path.withUnsafeBufferPointer {
      filter.reports($0, nameAt: nameStart, isDirectory: type == .directory, in: stack)
    }
    if isReported { emit(.removed, type, at: Path(bytes: path)) }
    removeSubtree(entry)
  }

  /// A folder that changed before it was watched, and in which nothing new is found, has lost
  /// something whose name cannot be known: the folder itself is told of. Unless the kernel has told
  /// of something in it, which within one tick of the clock looks the same.
  private mutating func lookForTracesOfRemoval(
    in folder: Entry, at folderPath: Path, since: FileTime, stack: IgnoreStack
  ) {
    guard let status = try? FileStatus(of: folderPath, followsLinks: true),
      let details = table[folder], !details.hasNews,
      status.modified >= since, status.modified <= details.watchedAt
    else { return }
    let nameStart = folderPath.bytes.count - folderPath.lastComponent.count
    let isReported =
      roots[folder] != nil
      || folderPath.bytes.withUnsafeBufferPointer {
        filter.reports($0, nameAt: nameStart, isDirectory: true, in: stack)
      }
    if isReported { emit(.modified(isOpen: false), .directory, at: folderPath) }
  }
}

extension InotifyTree.Purpose {
  /// After an overflow, a folder may have been replaced without our being told.
  fileprivate var mistrustsWatches: Bool {
    if case .compare(_, untilWatched: false) = self { return true }
    return false
  }

  fileprivate var isAboutTheKnown: Bool {
    if case .compare(_, untilWatched: true) = self { return true }
    return false
  }

  /// Folders that were watched already when the comparing began are compared one by one.
  fileprivate var forSubfolders: Self {
    if case .compare(_, untilWatched: true) = self { return .tell }
    return self
  }
}

extension InotifyMask {
  private static let events: InotifyMask = [
    .create, .delete, .modify, .closeAfterWrite, .attributes, .movedFrom, .movedTo,
    .onlyDirectory, .excludeUnlinked, .add,
  ]
  /// For a folder found in a folder: what becomes of itself, its parent's watch tells.
  fileprivate static let folder = events.union(.dontFollow)
  /// For a folder reached by its path: it tells itself when it goes.
  fileprivate static let anchor = events.union([.deleteSelf, .moveSelf])
}

#endif  // os(Linux)
