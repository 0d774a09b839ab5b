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
    /// To know what is there by other rules than before.
    case judge
    /// To find what has changed since a time, of which the kernel has not told.
    case compare(since: FileTime, Comparison)
  }

  /// Which changes a comparison is after.
  enum Comparison {
    /// Those in one folder up to the moment when it was watched.
    case untilWatched
    /// Those in one folder that is not watched.
    case unwatched
    /// All in a tree, after the kernel has dropped events: watches may be outdated, too.
    case everything
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
    guard mayEnter(place, in: parent) else { return }
    if place.isReported { emit(.created, .directory, at: place.path) }
    note(place, .directory)
    guard parent.coverage == .recursive,
      let entry = place.name.withUnsafeBufferPointer({ snapshot.child($0, of: place.folder) })
    else { return }
    table.add(entry, coverage: .recursive, stack: parent.stack)
    visitAtOnce(entry, for: .tell)
  }

  func mayEnter(_ place: Place, in parent: WatchTable.Folder) -> Bool {
    guard let stack = parent.stack else { return false }
    return place.path.bytes.withUnsafeBufferPointer {
      filter.mayEnter($0, nameAt: $0.count - place.name.count, in: stack)
    }
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
      if !error.saysGone { tellUnreadable(folderPath, error) }
    }
  }

  /// The rules in force in the folder that has just been listed.
  private mutating func enter(
    _ folder: Entry, at path: Path, parentStack: IgnoreStack?
  ) -> IgnoreStack? {
    guard let parentStack, !listing.ignoreFiles.isEmpty, roots[folder] == nil else {
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

// MARK: - Comparing a listing with what was known

extension InotifyTree {
  private mutating func followListing(
    of folder: Entry, at folderPath: Path, stack: IgnoreStack?, for purpose: Purpose,
    _ directory: borrowing Descriptor
  ) {
    let isRecursive = table[folder]?.coverage == .recursive
    let listing = listing
    var toldOfArrival = false
    for index in 0..<listing.count {
      listing.withItem(index) { name, type in
        // A folder that changes while it is listed may list a name twice.
        var known = snapshot.child(name, of: folder)
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
          removeSubtree(entry)
          known = nil
        }
        if type == .directory && !isWanted {
          let nameStart = putPath(folderPath, name)
          guard mayEnter(nameStart, stack) else {
            if let known { removeSubtree(known) }
            prunedCount += 1
            return
          }
        }
        let entry = known ?? snapshot.insert(name, type, in: folder)
        if purpose.findsRemovals { snapshot.mark(entry, .seen) }
        if type == .directory && isRecursive { descend(entry, stack, for: purpose) }
        let news = news(of: name, wasKnown: known != nil, for: purpose, folder, in: directory)
        guard let news else { return }
        toldOfArrival = toldOfArrival || news == .created
        if type == .directory && news != .created { return }
        let nameStart = putPath(folderPath, name)
        let isReported = isWanted || reports(nameStart, type == .directory, stack)
        if isReported { emit(news, type, at: Path(bytes: path)) }
      }
    }
    switch purpose {
    case .learn where roots[folder] != nil:
      warnIfAllIsIgnored(in: folder, at: folderPath, stack: stack)
    case .learn, .tell, .judge:
      break
    case .compare(_, .everything), .compare(_, .unwatched):
      forgetUnseen(in: folder, stack: stack)
    case .compare(let since, .untilWatched):
      if !toldOfArrival {
        lookForTracesOfRemoval(in: folder, at: folderPath, since: since, stack: stack)
      }
    }
  }

  private mutating func descend(_ entry: Entry, _ stack: IgnoreStack?, for purpose: Purpose) {
    if let known = table[entry], known.watch != nil, known.coverage == .recursive {
      switch purpose {
      case .learn, .compare(_, .untilWatched), .compare(_, .unwatched): return
      case .tell, .judge, .compare(_, .everything): break
      }
    }
    // A root has rules of its own, but is covered as far as the folder around it.
    let isRoot = roots[entry] != nil
    table.add(
      entry, coverage: .recursive, stack: (isRoot ? table[entry]?.stack : nil) ?? stack)
    pending.append(Visit(folder: entry, purpose: purpose.forSubfolders))
  }

  /// What there is to tell of an entry that is listed.
  private func news(
    of name: UnsafeBufferPointer<UInt8>, wasKnown: Bool, for purpose: Purpose, _ folder: Entry,
    in directory: borrowing Descriptor
  ) -> RawEvent.Kind? {
    switch purpose {
    case .learn, .judge:
      return nil
    case .tell:
      return wasKnown ? nil : .created
    case .compare(let since, let comparison):
      if !wasKnown { return .created }
      guard let start = name.baseAddress else { return nil }
      let chars = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
      guard let status = try? FileStatus(of: chars, in: directory) else { return nil }
      let isBounded = comparison == .untilWatched
      let end = isBounded ? table[folder]?.watchedAt : nil
      guard status.changed >= since, end.map({ status.changed <= $0 }) ?? true else { return nil }
      if isBounded, let born = status.born, born >= since { return .created }
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
  private mutating func forgetUnseen(in folder: Entry, stack: IgnoreStack?) {
    for entry in snapshot.children(of: folder) {
      if snapshot.marks(of: entry).contains(.seen) {
        snapshot.unmark(entry, .seen)
      } else if snapshot.marks(of: entry).contains(.wanted) {
        lose(root: entry)
      } else if snapshot.marks(of: entry).isDisjoint(with: [.awaited, .passage, .rules]) {
        removeAndTell(entry, in: folder, stack: stack)
      }
    }
  }

  private mutating func removeAndTell(_ entry: Entry, in folder: Entry, stack: IgnoreStack?) {
    snapshot.putPath(of: entry, into: &path)
    let type = snapshot.type(of: entry)
    let nameStart = path.count - snapshot.name(of: entry).count
    if reports(nameStart, type == .directory, stack) { emit(.removed, type, at: Path(bytes: path)) }
    removeSubtree(entry)
  }

  /// A folder that changed before it was watched, and in which nothing new is found, has lost
  /// something whose name cannot be known: the folder itself is told of. Unless the kernel has told
  /// of something in it, which within one tick of the clock looks the same.
  private mutating func lookForTracesOfRemoval(
    in folder: Entry, at folderPath: Path, since: FileTime, stack: IgnoreStack?
  ) {
    guard let status = try? FileStatus(of: folderPath, followsLinks: true),
      let details = table[folder], !details.hasNews,
      status.modified >= since, status.modified <= details.watchedAt
    else { return }
    path = folderPath.bytes
    let nameStart = path.count - folderPath.lastComponent.count
    if roots[folder] != nil || reports(nameStart, true, stack) {
      emit(.modified(isOpen: false), .directory, at: folderPath)
    }
  }
}

extension InotifyTree.Purpose {
  /// After an overflow, a folder may have been replaced without our being told.
  var mistrustsWatches: Bool {
    if case .compare(_, .everything) = self { return true }
    return false
  }

  fileprivate var findsRemovals: Bool {
    switch self {
    case .compare(_, .everything), .compare(_, .unwatched): true
    case .compare(_, .untilWatched), .learn, .tell, .judge: false
    }
  }

  fileprivate var isAboutTheKnown: Bool {
    if case .compare(_, .untilWatched) = self { return true }
    return false
  }

  /// For the subfolders that are not watched yet: what of one folder is compared, of others is new.
  fileprivate var forSubfolders: Self {
    switch self {
    case .compare(_, .untilWatched), .compare(_, .unwatched): .tell
    case .compare(_, .everything), .learn, .tell, .judge: self
    }
  }
}

#endif  // os(Linux)
