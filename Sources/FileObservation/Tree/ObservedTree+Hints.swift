import PathFiltering
import SystemCalls

extension ObservedTree {
  /// A hint to follow. It belongs to the watch and not to an entry: a directory that was
  /// renamed keeps its watch, and is another entry afterwards.
  struct PendingHint {
    struct Place: Hashable {
      let watch: Int32
      let name: [UInt8]
    }

    let place: Place
    var reasons: Hint.Reasons
    var watch: Int32 { place.watch }
    var name: [UInt8] { place.name }
  }

  /// How often hints are followed again because a directory was renamed meanwhile, until everything is
  /// compared instead.
  private static let mostRounds = 8

  /// Reads all hints and follows them. Returns false if hints were dropped.
  mutating func readHints() throws(SystemError) -> Bool {
    guard let source else { return true }
    var isComplete = true
    let end = try source.read { hint in
      if hint.reasons.contains(.overflow) { isComplete = false } else { accept(hint) }
    }
    followHints()
    if isComplete { comparedUntil = max(start, end) }
    return isComplete
  }

  /// Keeps a hint unless it can be seen at once that nothing comes of it.
  mutating func accept(_ hint: Hint) {
    guard let owner = directories.owner(of: hint.watch) else {
      if watches.retired.contains(hint.watch) { keep(hint) }
      return
    }
    if hint.name.isEmpty { return keep(hint, of: owner) }
    if hint.reasons.isAboutName {
      snapshot.mark(owner, .stirred)
      if hint.reasons.contains(.appeared) { moves.arrived(hint.cookie) }
    }
    noteIfRulesChanged(hint.name, in: owner, hint.reasons)
    guard
      isWorthALook(hint, in: owner)
        || namedAliases(of: hint.watch).contains(where: { isWorthALook(hint, in: $0) })
    else { return }
    if hint.cookie != 0, hint.reasons.contains(.disappeared) { moves.departed(hint.cookie) }
    keep(hint)
  }

  private func isWorthALook(_ hint: Hint, in directory: Entry) -> Bool {
    guard let details = directories[directory] else { return false }
    let known = snapshot.child(hint.name, of: directory)
    let marks = known.map { snapshot.marks(of: $0) } ?? []
    if marks.contains(.passage) { return false }
    if marks.contains(.wanted) || marks.contains(.awaited) { return true }
    guard details.coverage > .named else { return false }
    let isDirectory = hint.reasons.contains(.directory)
    if isDirectory && !hint.reasons.isAboutName && !hint.reasons.contains(.attributes) {
      return false
    }
    // What is not reported is kept in step if it is known, or may have to be entered.
    if hint.reasons.isAboutName, known != nil || isDirectory || links.areFollowed { return true }
    if isDirectory, known.map({ directories[$0]?.watch == nil }) ?? false { return true }
    guard let stack = details.stack else { return false }
    return snapshot.withPath(of: hint.name, in: directory) { path, nameStart in
      filter.reports(path, nameAt: nameStart, isDirectory: isDirectory, in: stack)
    }
  }

  /// Keeps what a watch has hinted about its own directory or file. That a file was written to is kept as
  /// its directory's hint, which often says so as well.
  private mutating func keep(_ hint: Hint, of owner: Entry) {
    guard directories[owner] == nil, hint.reasons.isDisjoint(with: [.entries, .gone, .unwatched]),
      let parent = snapshot.parent(of: owner), let watch = directories[parent]?.watch
    else { return keep(hint) }
    Array(snapshot.name(of: owner)).withUnsafeBufferPointer {
      keep(Hint(watch: watch, hint.reasons, name: $0))
    }
  }

  private mutating func keep(_ hint: Hint) {
    if let last = hints.last, last.watch == hint.watch, last.name.elementsEqual(hint.name),
      !last.reasons.isAboutName || !hint.reasons.isAboutName
    {
      hints[hints.count - 1].reasons.formUnion(hint.reasons)
    } else {
      hints.append(
        PendingHint(
          place: .init(watch: hint.watch, name: Array(hint.name)), reasons: hint.reasons))
    }
  }
}

extension Hint.Reasons {
  /// Whether an entry appeared or disappeared.
  var isAboutName: Bool { rawValue & 3 != 0 }
}

// MARK: - Following hints

extension ObservedTree {
  /// Compares what the hints point at with the snapshot.
  mutating func followHints() {
    moves.expectMissedArrivals()
    let pending = Self.merged(hints)
    hints = []
    var rounds = 0
    repeat {
      watches.hasPassedOn = false
      for hint in pending { follow(hint) }
      rounds += 1
      // What was looked up by the path that a directory had before its rename is looked up again.
    } while watches.hasPassedOn && rounds < Self.mostRounds
    if watches.hasPassedOn { compareAll(since: comparedUntil) }
    refreshLinks()
    refreshRules()
    if moves.isAwaitingArrival {
      hints = pending.filter { watches.retired.contains($0.watch) }
    } else {
      unwatchRetired()
    }
  }

  /// Makes one of several hints at one entry, so that each look knows of all reasons.
  private static func merged(_ hints: [PendingHint]) -> [PendingHint] {
    guard hints.count > 1, hints.contains(where: { $0.reasons.isAboutName }) else { return hints }
    var merged: [PendingHint] = []
    var places: [PendingHint.Place: Int] = [:]
    for hint in hints {
      if let place = places[hint.place] {
        merged[place].reasons.formUnion(hint.reasons)
      } else {
        places[hint.place] = merged.count
        merged.append(hint)
      }
    }
    return merged
  }

  /// The second hint of a rename has not come: what was renamed has left the tree.
  mutating func stopAwaitingArrivals() {
    moves.stopAwaiting()
    hints = []
    unwatchRetired()
  }

  private mutating func unwatchRetired() {
    if watches.retired.isEmpty { return }
    let retired = watches.retired
    watches.retired = []
    for watch in retired { source?.unwatch(watch) }
    if !watches.aliases.isEmpty { for watch in retired { watchAliases(of: watch) } }
  }

  private mutating func follow(_ hint: PendingHint) {
    guard let owner = directories.owner(of: hint.watch) else {
      if hint.reasons.contains(.unwatched), watches.retired.remove(hint.watch) != nil {
        watchAliases(of: hint.watch)
      }
      return
    }
    if !hint.name.isEmpty {
      hint.name.withUnsafeBufferPointer { name in
        lookAt(name, in: owner, because: hint.reasons)
        for alias in namedAliases(of: hint.watch) { lookAt(name, in: alias, because: hint.reasons) }
      }
    } else if directories[owner] != nil {
      follow(hint, toDirectory: owner)
    } else {
      if hint.reasons.contains(.unwatched) || hint.reasons.contains(.gone),
        let watch = directories.removeWatch(of: owner)
      {
        source?.unwatch(watch)
      }
      lookAt(owner, because: hint.reasons.subtracting([.entries, .gone, .unwatched]))
    }
  }

  /// Follows a hint that a directory's watch has given about the directory itself.
  private mutating func follow(_ hint: PendingHint, toDirectory directory: Entry) {
    if hint.reasons.contains(.unwatched) {
      directories.removeWatch(hint.watch)
      directoryDisappeared(directory)
      watchAliases(of: hint.watch)
      return
    }
    if hint.reasons.contains(.gone) {
      if isAnchor(directory, directories[directory]) {
        directoryDisappeared(directory)
      } else if let watch = directories.removeWatch(of: directory) {
        source?.unwatch(watch)
      }
      if hint.reasons.contains(.unmounted), directories[directory] != nil {
        visitAtOnce(directory, for: .diff(since: comparedUntil, .tree))
      }
    }
    guard hint.reasons.contains(.entries), directories[directory] != nil else { return }
    if roots[directory] == nil { lookAt(directory, because: []) }
    if directories[directory] != nil {
      visitAtOnce(directory, for: .diff(since: comparedUntil, .directory))
    }
  }

  /// Compares an entry with the disk; without a reason, as a scan does.
  mutating func lookAt(
    _ entry: Entry, because reasons: Hint.Reasons, for mode: ScanMode? = nil
  ) {
    guard let parent = snapshot.parent(of: entry) else { return }
    Array(snapshot.name(of: entry)).withUnsafeBufferPointer {
      lookAt($0, in: parent, because: reasons, for: mode)
    }
  }

  /// Compares the entry of that name with the disk.
  mutating func lookAt(
    _ name: UnsafeBufferPointer<UInt8>, in parent: Entry, because reasons: Hint.Reasons,
    for mode: ScanMode? = nil
  ) {
    guard let details = directories[parent] else { return }
    let path = entryPath(of: name, in: parent)
    let known = snapshot.child(name, of: parent)
    if let known, !lookUpRoot(known, because: reasons) { return }
    let site = Site(parent, details, stack: details.stack)
    if let status = try? FileStatus(of: path.path) {
      let occasion: Occasion =
        reasons.isEmpty
        ? .scan(mode ?? .diff(since: comparedUntil, .directory)) : .hint(reasons)
      visitAtOnce {
        $0.reconcile(
          name, $0.snapshot.child(name, of: parent), status, at: path, in: site, for: occasion)
      }
      return
    }
    if let known { disappeared(known, in: site, isMoved: reasons.contains(.moved)) }
    if reasons.contains(.appeared) && reasons.contains(.moved) { moves.missArrival() }
  }
}
