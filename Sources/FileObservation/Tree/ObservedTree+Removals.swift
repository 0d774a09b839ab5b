import PathFiltering
import SystemCalls

extension ObservedTree {
  /// Reports an entry as removed, with its descendants, and removes them from the snapshot.
  mutating func disappeared(_ entry: Entry, in site: Site, isMoved: Bool = false) {
    let marks = snapshot.marks(of: entry)
    if marks.contains(.root) { return rootDisappeared(entry) }
    if rules.files.contains(entry) {
      rules.stale.formUnion(roots)
      if site.stack == nil { return }
    }
    reportRemoved(entry, site.stack, isMoved: isMoved)
    removeSubtree(entry)
  }

  /// Reports the removal of an entry and of its descendants, each by the rules of its directory.
  mutating func reportRemoved(_ entry: Entry, _ stack: IgnoreStack?, isMoved: Bool = false) {
    if isAnchoredOrAbsent(entry) { return }
    reportRemovedChildren(of: entry, isMoved: isMoved)
    reportRemovedAlone(entry, stack, isMoved: isMoved)
  }

  private func isAnchoredOrAbsent(_ entry: Entry) -> Bool {
    roots[entry] != nil || snapshot.marks(of: entry).contains(.absent)
  }

  private mutating func reportRemovedAlone(_ entry: Entry, _ stack: IgnoreStack?, isMoved: Bool) {
    let path = entryPath(of: entry)
    let type = snapshot.type(of: entry)
    let known = snapshot.fingerprint(of: entry)
    // A write in the clock tick of its fingerprint may have a hint that was dropped, or was not read before.
    let isUncertain =
      type != .directory && (known?.mayBeWritten(since: walk.comparedUntil) ?? false)
    let mayBeRewritten = walk.racilyClean.forget(path.path) || isUncertain
    if type == .symlink { unwatchTargets(ofLink: path.path) }
    // The entries of a directory that was never compared are unknown: any of them may have been
    // relevant.
    let isUnknown = !walk.isComparedOnce && directories[entry] != nil
    let isReported = isUnknown || reports(path, isDirectory: type == .directory, stack)
    if !isReported { noteIgnored(path.path, isDirectory: type == .directory, stack) }
    if isReported || !roots.links.isEmpty {
      let file = sighting(of: entry, known, mayBeRenamed: isMoved)
      // If it is elsewhere now, the same timestamps do not prove that it is as it was.
      if mayBeRewritten, isReported { emit(.modified(isOpen: false), type, at: path.path) }
      emit(.removed, type, at: path.path, file, isReported: isReported)
    }
    if let parent = snapshot.parent(of: entry) {
      snapshot.name(of: entry).withUnsafeBufferPointer {
        markStaleRules($0, in: parent, .disappeared)
      }
    }
  }

  /// Reports the removal of the descendants of a directory, each before its own directory: without recursion, as the
  /// tree may be deep.
  mutating func reportRemovedChildren(of directory: Entry, isMoved: Bool = false) {
    guard isObserved(directory) else { return }
    var (pending, found) = ([directory], [(entry: Entry, stack: IgnoreStack?)]())
    while let next = pending.popLast() {
      guard let details = directories[next], details.coverage > .named else { continue }
      for child in snapshot.children(of: next).reversed() where !isAnchoredOrAbsent(child) {
        found.append((child, details.stack))
        if directories[child] != nil { pending.append(child) }
      }
    }
    for (entry, stack) in found.reversed() {
      reportRemovedAlone(entry, stack, isMoved: isMoved)
    }
  }

  /// Removes the descendants of a directory that is not entered by the present rules. If it was
  /// another file before, that has disappeared.
  mutating func exclude(_ entry: Entry, in site: Site) {
    let wasAbsent = snapshot.marks(of: entry).contains(.absent)
    snapshot.unmark(entry, .absent)
    if snapshot.type(of: entry) != .directory && !wasAbsent {
      disappeared(entry, in: site)
    } else if isObserved(entry) {
      removeSubtree(entry)
    }
  }

  /// Removes the entries that were missing in the listing, if that is reported. Returns
  /// whether there are any.
  mutating func removeUnseen(in site: Site, isReported: Bool) -> Bool {
    var hasRemovals = false
    for entry in snapshot.children(of: site.directory) {
      let marks = snapshot.marks(of: entry)
      if marks.contains(.seen) {
        snapshot.unmark(entry, .seen)
      } else if !marks.contains(.absent) {
        hasRemovals = true
        // A root has no hint of its own if it was removed before it was watched.
        if isReported || marks.contains(.root) { disappeared(entry, in: site, isMoved: true) }
      }
    }
    return hasRemovals
  }
}
