import PathFiltering
import SystemCalls

extension ObservedTree {
  mutating func readHints() throws(SystemError) {
    guard let source else { return }
    let end = try source.read { hint in
      if hint.reasons.contains(.overflow) { hints.areDropped = true } else { accept(hint) }
    }
    processHints()
    // Changes of which the hints were dropped are only found by the rescan.
    if !hints.areDropped && walk.isComparedOnce { walk.comparedUntil = max(start, end) }
  }

  /// Compares the whole tree with the snapshot after hints were dropped.
  mutating func rescan() {
    let began = disk.now
    stopAwaitingArrivals()
    compareAll(since: walk.comparedUntil)
    hints.areDropped = false
    if walk.isComparedOnce { walk.comparedUntil = began }
  }

  /// Keeps a hint for processing, unless it is irrelevant to everything that is reported.
  mutating func accept(_ hint: Hint) {
    guard let owner = directories.owner(of: hint.watch) else {
      if directories.retired.contains(hint.watch) { keep(hint) }
      return
    }
    if hint.name.isEmpty {
      keep(hint, of: owner)
      for sharer in directories.sharers(of: hint.watch) { keep(hint, of: sharer) }
      return
    }
    if hint.reasons.contains(.appeared), !hints.departed.isEmpty {
      hints.departed.remove(hint.cookie)
    }
    var isRelevant = accept(hint, in: owner)
    for sharer in directories.sharers(of: hint.watch) where accept(hint, in: sharer) {
      isRelevant = true
    }
    guard isRelevant else {
      if settings.ignoredChanges != nil, let details = directories[owner], details.coverage > .named
      {
        noteIgnored(
          snapshot.path(of: owner).appending(hint.name),
          isDirectory: hint.reasons.contains(.directory), details.stack)
      }
      return
    }
    if hint.cookie != 0, hint.reasons.contains(.disappeared) { hints.departed.insert(hint.cookie) }
    keep(hint)
  }

  /// Notes a hint of an entry of a directory. Returns whether it must be processed.
  private mutating func accept(_ hint: Hint, in directory: Entry) -> Bool {
    if hint.reasons.isAboutName { snapshot.mark(directory, .entriesChanged) }
    markStaleRules(hint.name, in: directory, hint.reasons)
    return isRelevant(hint, in: directory)
  }

  // Mutating, because a call from a closure would copy the tree otherwise.
  private mutating func isRelevant(_ hint: Hint, in directory: Entry) -> Bool {
    guard let details = directories[directory] else { return false }
    let known = snapshot.child(hint.name, of: directory)
    let marks = known.map { snapshot.marks(of: $0) } ?? []
    if !marks.isDisjoint(with: [.root, .absent]) { return true }
    guard details.coverage > .named else { return false }
    let isDirectory = hint.reasons.contains(.directory)
    if isDirectory && !hint.reasons.isAboutName && !hint.reasons.contains(.attributes) {
      return false
    }
    // Entries that are not reported are kept up to date if they are known or may have to be
    // entered.
    if hint.reasons.isAboutName, known != nil || isDirectory || roots.links.areFollowed {
      return true
    }
    if isDirectory, known.map({ directories[$0]?.watch == nil }) ?? false { return true }
    guard let stack = details.stack else { return false }
    // Not the filter, of which a copy would retain all tables.
    return snapshot.withPath(of: hint.name, in: directory, settings) { settings, path, nameStart in
      settings.filter.reports(path, nameAt: nameStart, isDirectory: isDirectory, in: stack)
    }
  }

  /// Keeps a hint about the watched directory or file itself. A hint of a write to a file is kept
  /// as the hint of its directory, which has often given the same one.
  private mutating func keep(_ hint: Hint, of owner: Entry) {
    guard directories[owner] == nil, hint.reasons.isDisjoint(with: [.entries, .gone, .unwatched]),
      let parent = snapshot.parent(of: owner), let watch = directories[parent]?.watch
    else { return keep(hint) }
    Array(snapshot.name(of: owner)).withUnsafeBufferPointer {
      keep(Hint(watch: watch, reasons: hint.reasons, name: $0))
    }
  }

  private mutating func keep(_ hint: Hint) {
    if let last = hints.pending.last, last.watch == hint.watch, last.name.elementsEqual(hint.name),
      !last.reasons.isAboutName || !hint.reasons.isAboutName
    {
      hints.pending[hints.pending.count - 1].reasons.formUnion(hint.reasons)
    } else {
      hints.pending.append(
        PendingHint(
          target: .init(watch: hint.watch, name: Array(hint.name)), reasons: hint.reasons))
    }
  }
}

extension Hint.Reasons {
  /// Whether an entry appeared or disappeared.
  var isAboutName: Bool { rawValue & 3 != 0 }

  /// Whether the content at the path may have changed.
  var areAboutContent: Bool { isAboutName || contains(.written) }
}

// MARK: - Processing hints

extension ObservedTree {
  /// Compares the entries at which the hints point with the snapshot.
  mutating func processHints() {
    hints.isLateArrivalExpected = false
    let pending = Self.merged(hints.pending)
    hints.pending = []
    directories.hasTransferred = false
    for hint in pending { process(hint) }
    if directories.hasTransferred {
      // Entries may have been looked up under the former path of a renamed directory.
      directories.hasTransferred = false
      for hint in pending { process(hint) }
      if directories.hasTransferred { compareAll(since: walk.comparedUntil) }
      // What is missing in a renamed directory may have been renamed once more.
      hints.isLateArrivalExpected = true
    }
    lookUpRoots(thatLostEntries: pending)
    refreshLinks()
    refreshRules()
    if hints.areArrivalsAwaited {
      hints.pending = pending.filter { directories.retired.contains($0.watch) }
    } else {
      unwatchRetired()
      refreshLinks()
    }
  }

  /// Looks up the roots in which an entry disappeared, as the last one does before a root is
  /// removed. The kernel does not report the removal of a directory while a process holds it.
  private mutating func lookUpRoots(thatLostEntries hints: [PendingHint]) {
    var lost: Set<Entry> = []
    for hint in hints where hint.reasons.contains(.disappeared) {
      // Not as one array: there is one hint for each file.
      if let owner = directories.owner(of: hint.watch), roots[owner] != nil { lost.insert(owner) }
      for sharer in directories.sharers(of: hint.watch) where roots[sharer] != nil {
        lost.insert(sharer)
      }
    }
    for root in lost where roots[root] != nil { _ = lookUpRoot(root, for: .hint([])) }
  }

  /// Merges the hints at each entry, so that one comparison knows all reasons. The end of a watch
  /// keeps its place: hints of the watch before it are still about the entries of the directory.
  private static func merged(_ hints: [PendingHint]) -> [PendingHint] {
    guard hints.count > 1, hints.contains(where: { $0.reasons.isAboutName }) else { return hints }
    var merged: [PendingHint] = []
    var indices: [PendingHint.Target: Int] = [:]
    for hint in hints {
      if let index = indices[hint.target], !hint.reasons.contains(.unwatched) {
        merged[index].reasons.formUnion(hint.reasons)
      } else {
        indices[hint.target] = merged.count
        merged.append(hint)
      }
    }
    return merged
  }

  /// Treats renames without a second hint as removals: the entries have left the tree.
  mutating func stopAwaitingArrivals() {
    (hints.pending, hints.departed, hints.isLateArrivalExpected) = ([], [], false)
    unwatchRetired()
  }

  private mutating func unwatchRetired() {
    if directories.retired.isEmpty { return }
    let retired = exchange(&directories.retired, with: [])
    for watch in retired { source?.unwatch(watch) }
    // Only now: the kernel has one watch for all names of a directory, which would be removed again.
    for watch in retired { scanOtherNames(of: watch) }
  }

  private mutating func process(_ hint: PendingHint) {
    guard let owner = directories.owner(of: hint.watch) else {
      if hint.reasons.contains(.unwatched), directories.retired.remove(hint.watch) != nil {
        scanOtherNames(of: hint.watch)
      }
      return
    }
    let sharers = directories.sharers(of: hint.watch)
    if !hint.name.isEmpty {
      hint.name.withUnsafeBufferPointer { name in
        compareEntry(name, in: owner, for: .hint(hint.reasons))
        for sharer in sharers { compareEntry(name, in: sharer, for: .hint(hint.reasons)) }
      }
    } else if directories[owner] != nil {
      if hint.reasons.contains(.unwatched) { directories.removeWatch(hint.watch) }
      for directory in [owner] + sharers { process(hint, aboutDirectory: directory) }
      if hint.reasons.contains(.unwatched) { scanOtherNames(of: hint.watch) }
    } else {
      let reasons = hint.reasons.subtracting([.entries, .gone, .unwatched])
      for file in [owner] + sharers {
        if hint.reasons.contains(.unwatched) || hint.reasons.contains(.gone) { unwatch(file) }
        if rules.files.contains(file),
          let directory = snapshot.parent(of: file), directories.coverage(of: directory) == .named
        {
          compareIgnoreFile(file, in: directory)
        }
        compareEntry(file, for: reasons.isEmpty ? comparison : .hint(reasons))
      }
    }
  }

  /// Processes a hint of a directory's watch about the directory itself.
  private mutating func process(_ hint: PendingHint, aboutDirectory directory: Entry) {
    if hint.reasons.contains(.unwatched) {
      directoryDisappeared(directory)
    } else if hint.reasons.contains(.gone) {
      if isAnchor(directory, directories[directory]) {
        directoryDisappeared(directory)
      } else if source?.namesEntries == false {
        unwatch(directory)
      }
    }
    if hint.reasons.contains(.unmounted), directories[directory] != nil {
      // The directory below the mount point is at the path now.
      scanNow(directory, for: .diff(since: walk.comparedUntil, .tree))
    }
    if hint.reasons.contains(.attributes) {
      if roots[directory] != nil { _ = lookUpRoot(directory, for: .hint([])) }
      examineAgain(in: directory)
    }
    guard hint.reasons.contains(.entries), directories[directory] != nil else { return }
    if roots[directory] == nil { compareEntry(directory, for: comparison) }
    if directories[directory] != nil { scanNow(directory, for: comparison) }
  }

  /// The mode in which one directory is compared.
  var comparison: Occasion { .diff(since: walk.comparedUntil, .directory) }

  mutating func compareEntry(_ entry: Entry, for occasion: Occasion) {
    guard let parent = snapshot.parent(of: entry) else { return }
    Array(snapshot.name(of: entry)).withUnsafeBufferPointer {
      compareEntry($0, in: parent, for: occasion)
    }
  }

  mutating func compareEntry(
    _ name: UnsafeBufferPointer<UInt8>, in parent: Entry, for occasion: Occasion
  ) {
    guard let details = directories[parent] else { return }
    let path = entryPath(of: name, in: parent)
    if let root = snapshot.child(name, of: parent) {
      guard lookUpRoot(root, for: occasion), directories[parent] != nil else { return }
    }
    // Roots that were reached by it may have been looked up, and their former targets be gone.
    let known = snapshot.child(name, of: parent)
    // Before its directory is listed, an entry is not new. The first comparison finds what has changed.
    if snapshot.marks(of: parent).contains(.unread), known.map({ !isRoot($0) }) ?? true { return }
    let site = Site(directory: parent, details: details, stack: details.stack)
    let reasons = occasion.reasons
    do throws(SystemError) {
      let status = try disk.status(of: path.path)
      return scanNow {
        $0.reconcile(
          name, $0.snapshot.child(name, of: parent), status, at: path, in: site, for: occasion)
      }
    } catch {
      // Its fingerprint may not prove it where it is found again.
      if let known, !isMissing(known), reasons.contains(.written),
        snapshot.type(of: known) != .directory,
        reports(path, isDirectory: false, site.stack)
      {
        emit(.modified(isOpen: false), snapshot.type(of: known), at: path.path)
      }
      if !error.isNotFound {
        setUnexamined(parent, error)
        // The hint is all that is known.
        if !reasons.contains(.disappeared) || reasons.contains(.appeared) { return }
      }
    }
    if let known { disappeared(known, in: site, isMoved: reasons.contains(.moved)) }
    if reasons.contains(.appeared) && reasons.contains(.moved) {
      hints.isLateArrivalExpected = true
    }
  }
}
