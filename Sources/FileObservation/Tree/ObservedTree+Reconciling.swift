import PathFiltering
import SystemCalls

extension ObservedTree {
  /// Compares an existing entry with the snapshot, reports the difference, and updates the
  /// snapshot.
  mutating func reconcile(
    _ name: UnsafeBufferPointer<UInt8>, _ known: Entry?, _ status: FileStatus,
    at path: EntryPath, in site: Site, for occasion: Occasion
  ) {
    var known = known
    let isDirectory = status.type == .directory
    if isDirectory, site.isRecursive, let known, isRoot(known), mayEnter(path, site.stack) {
      release(known)
    }
    let marks = known.map { snapshot.marks(of: $0) } ?? []
    let isRoot = marks.contains(.root)
    if site.stack == nil && !isRoot { return }
    if let entry = known, !isRoot, !marks.contains(.absent),
      isAnother(status, than: entry, at: path, for: occasion)
    {
      disappeared(entry, in: site, isMoved: occasion.reasons.contains(.moved))
      // It stays, as an absent one, if roots are awaited in it.
      known = snapshot.child(name, of: site.directory)
    }
    if isDirectory && !isRoot && !mayEnter(path, site.stack) {
      if let known { exclude(known, in: site) }
      if occasion.reasons.contains(.appeared) {
        noteIgnored(path.path, isDirectory: true, site.stack)
      }
      return
    }
    let isNew = known.map { snapshot.marks(of: $0).contains(.absent) } ?? true
    let entry = known ?? snapshot.insert(name, status.type, inode: status.inode, in: site.directory)
    if isNew { snapshot.unmark(entry, .absent) }
    let isReported = isRoot || reports(path, isDirectory: isDirectory, site.stack)
    let difference = report(
      entry, status, isNew: isNew, at: path, in: site, isReported: isReported, for: occasion)
    if directories.watch(ofFile: entry) != nil, isDirectory || !isSame(entry, as: status) {
      unwatch(entry)
    }
    let wasLink = !isNew && snapshot.type(of: entry) == .symlink
    snapshot.setType(status.type, of: entry)
    snapshot.setInode(status.inode, of: entry)
    watchFileIfNeeded(entry, at: path, isRenewed: occasion.renewsWatches)
    if let difference, !occasion.isHint || rules.files.contains(entry) {
      markStaleRules(name, in: site.directory, difference == .created ? .appeared : .closed)
    }
    if difference == .created { snapshot.mark(site.directory, .entriesChanged) }
    if isDirectory { examineAgain(in: entry) }
    if isDirectory, site.isRecursive, !isRoot || mayEnter(path, site.stack) {
      let isKnownNew = isNew && wasIncluded(path, isDirectory: true, in: site)
      enter(entry, isNew: isNew, in: site, for: isKnownNew ? .discover : occasion)
    } else if status.type == .symlink || wasLink {
      followLink(entry, at: path, in: site, for: occasion, isChanged: difference != nil)
    }
  }

  /// Whether another file has replaced an entry, so that the entry and its descendants are gone.
  private mutating func isAnother(
    _ status: FileStatus, than entry: Entry, at path: EntryPath, for occasion: Occasion
  ) -> Bool {
    let isDirectory = status.type == .directory
    let wasDirectory = snapshot.type(of: entry) == .directory
    if isDirectory != wasDirectory { return true }
    guard isDirectory, directories[entry] != nil else { return false }
    if !occasion.isHint || snapshot.fingerprint(of: entry) != nil, isReplaced(entry, by: status) {
      return true
    }
    guard occasion.reasons.isAboutName else { return false }
    // Another directory may reuse the inode of the former one, but never its watch.
    guard let watch = directories[entry]?.watch else { return true }
    let found = try? addWatch(at: path.path, .directory).get()
    // It is added again when the directory at the path then is entered, which may be another.
    if let found, directories.owner(of: found) == nil, !directories.retired.contains(found) {
      source?.unwatch(found)
    }
    return found != watch
  }

  /// Whether a directory is not the one that the snapshot knows.
  ///
  /// A mount point is listed with the inode of the directory below it. So the replacement of one
  /// that was not looked at before must be recent as well.
  func isReplaced(_ directory: Entry, by status: FileStatus) -> Bool {
    !isSame(directory, as: status)
      && (snapshot.fingerprint(of: directory) != nil || status.changed >= walk.comparedUntil)
  }

  /// Whether hints named the entries of a directory that change, before this scan watched it.
  func wasHinted(_ site: Site) -> Bool { site.isWatched && source?.namesEntries == true }

  /// Whether an entry was included by the former rules, so that it would be known.
  private func wasIncluded(_ path: EntryPath, isDirectory: Bool, in site: Site) -> Bool {
    guard let former = site.former else { return false }
    return isDirectory ? mayEnter(path, former) : reports(path, isDirectory: false, former)
  }

  /// The mode for a directory that may have become readable. One that is pending is not compared
  /// before its turn.
  func modeOfReadable(_ directory: Entry) -> Occasion {
    let isUnread = snapshot.marks(of: directory).contains(.unread)
    return isUnread && directories.unexamined[directory] != nil ? .discover : comparison
  }

  private mutating func enter(
    _ entry: Entry, isNew: Bool, in site: Site, for occasion: Occasion
  ) {
    guard case .hint(let reasons) = occasion else {
      return descend(entry, site.stack, for: isNew ? occasion.forNewDirectory : occasion)
    }
    // It is entered when its directory is listed.
    if snapshot.marks(of: site.directory).contains(.unread) { return }
    // One that was only watched by name, or as the target of a link, has been a root until now.
    let isEntered = directories.coverage(of: entry) == .recursive
    if !isNew, isEntered, reasons.contains(.disappeared) { return directoryReturned(entry) }
    // A directory without a watch may have become readable.
    guard isNew || !isEntered || directories[entry]?.watch == nil else { return }
    directories.add(entry, coverage: .recursive, stack: site.stack)
    if isNew { snapshot.mark(entry, .entriesChanged) }
    scanNow(entry, for: isNew || !isEntered ? .discover : modeOfReadable(entry))
  }
}

extension ObservedTree {
  /// Compares a directory that was renamed and is back, with its descendants: what was looked up
  /// meanwhile was not found.
  mutating func directoryReturned(_ directory: Entry) {
    for inner in subtree(of: directory)
    where directories[inner] != nil && snapshot.isWithin(inner, directory) {
      let isUnread = snapshot.marks(of: inner).contains(.unread)
      scanNow(inner, for: !isUnread ? comparison : walk.isComparedOnce ? .discover : .baseline)
    }
  }
}

// MARK: - Reporting

extension ObservedTree {
  /// Reports the difference of an entry, and returns it.
  private mutating func report(
    _ entry: Entry, _ status: FileStatus, isNew: Bool, at path: EntryPath, in site: Site,
    isReported: Bool, for occasion: Occasion
  ) -> Difference? {
    let before = snapshot.fingerprint(of: entry)
    let now = fingerprint(status)
    let difference = difference(
      of: entry, isNew: isNew, before, now, status, at: path, in: site, for: occasion)
    if difference == .undecided { return nil }
    guard let difference else {
      snapshot.setFingerprint(now, of: entry)
      return nil
    }
    // The inode of a file that was removed since may have been reused.
    let isReused = before == nil && status.isBorn(since: walk.comparedUntil)
    let isOther = isReused || !isSame(entry, as: status)
    let isOpen = occasion.reasons.contains(.written) && !occasion.reasons.contains(.closed)
    // A file may be touched while it is open for writing: its close must still count as a change.
    let mayIncludeWrite =
      difference == .metadata && status.type != .directory
      && before?.difference(to: now) != .attributes
    snapshot.setFingerprint(isOpen || mayIncludeWrite ? now.partial : now, of: entry)
    let isReported = isReported || difference == .movedDirectory
    if !isReported {
      noteIgnored(path.path, isDirectory: status.type == .directory, site.stack)
      if roots.links.isEmpty { return difference }
    }
    let (type, path) = (status.type, path.path)
    switch difference {
    case .modified where isOther:
      // Another file has replaced the one that was there.
      let isMoved = occasion.reasons.contains(.moved)
      let former = sighting(of: entry, before, mayBeRenamed: isMoved)
      emit(.removed, former.type, at: path, former, isReported: isReported)
      fallthrough
    case .created:
      let file = sighting(now, status, foundBy: occasion)
      emit(.created, type, at: path, file, isReported: isReported)
      if isOpen { emit(.modified(isOpen: true), type, at: path, isReported: isReported) }
    case .modified, .movedDirectory:
      emit(.modified(isOpen: isOpen), type, at: path, isReported: isReported)
    case .metadata:
      emit(.metadata, type, at: path, isReported: isReported)
    case .undecided:
      break
    }
    return difference
  }

  /// An entry of the snapshot that has disappeared.
  func sighting(
    of entry: Entry, _ fingerprint: Fingerprint?, mayBeRenamed: Bool
  ) -> RawEvent.Sighting {
    RawEvent.Sighting(
      inode: snapshot.inode(of: entry), existed: walk.comparedUntil, fingerprint: fingerprint,
      type: snapshot.type(of: entry), mayBeRenamed: mayBeRenamed)
  }

  private func sighting(
    _ fingerprint: Fingerprint, _ status: FileStatus, foundBy occasion: Occasion
  ) -> RawEvent.Sighting {
    let isMove = occasion.reasons.contains(.moved) || !occasion.reasons.contains(.appeared)
    return RawEvent.Sighting(
      inode: status.inode, existed: status.born ?? FileTime(nanoseconds: 0),
      fingerprint: fingerprint, type: status.type, mayBeRenamed: isMove)
  }

  /// The difference between an entry in the snapshot and on the disk; `nil` if there is none.
  ///
  /// | occasion | a new entry | one without a fingerprint | one with a fingerprint |
  /// |---|---|---|---|
  /// | baseline | undecided | undecided | undecided |
  /// | discover | created | none | that of the fingerprints |
  /// | hint | created | by the reasons, or undecided | none if it is certainly equal, or else by the reasons |
  /// | diff | created | if changed since: created or modified, or undecided if a hint is due | that of the fingerprints, or a write that they may not show |
  /// | refilter, if included before | created | none | as for diff |
  /// | refilter, if ignored before | created if changed since | modified if changed since | the same |
  /// | refilter, if hinted | as above | modified if changed since | undecided if it is equal and a hint is due |
  private mutating func difference(
    of entry: Entry, isNew: Bool, _ before: Fingerprint?, _ now: Fingerprint, _ status: FileStatus,
    at path: EntryPath, in site: Site, for occasion: Occasion
  ) -> Difference? {
    let isDirectory = status.type == .directory
    if !isNew, isDirectory != (snapshot.type(of: entry) == .directory) { return .modified }
    if isNew { walk.racilyClean.forget(path.path) }
    let isRewritten = isRewrittenUnseen(status, at: path, in: site)
    let undecided: Difference? = isHintDue(status, for: occasion, in: site) ? .undecided : nil
    switch (occasion, before) {
    case (.baseline, _):
      return .undecided
    case (.refilter(let since), _)
    where isNew && !wasIncluded(path, isDirectory: isDirectory, in: site):
      return status.changed > since ? .created : undecided
    case _ where isNew:
      return .created
    case (.refilter(let since), _)
    where wasHinted(site) || !wasIncluded(path, isDirectory: isDirectory, in: site):
      // The change may have been ignored by the former rules, unless its hint was reported.
      if wasHinted(site), isDirectory || before == now { return undecided }
      if isDirectory { return before?.difference(to: now) == .attributes ? .metadata : nil }
      return status.changed >= since ? .modified : nil
    case (.hint(let reasons), nil):
      // One that was listed before the hint of its appearance was read, or was left to that.
      if isDirectory, reasons.contains(.appeared) { return .created }
      // The name was free. The baseline was taken between its creation and this hint.
      if reasons.isDisjoint(with: [.disappeared, .moved]), isSame(entry, as: status),
        status.isBorn(since: start)
      {
        return .created
      }
      return difference(for: reasons, isDirectory: isDirectory, nil) ?? .undecided
    case (.hint(let reasons), let before?):
      // What has appeared was found before the hint was read. What was moved may have the inode of a former file.
      let isUncertain = before.isUncertain && !reasons.isSubset(of: .appeared)
      if before == now, isDirectory || !isUncertain { return nil }
      if !isDirectory, !before.mayBeSameFile(as: now) { return .modified }
      return difference(for: reasons, isDirectory: isDirectory, before.difference(to: now))
    case (.diff(let since, _), nil):
      if undecided != nil || status.changed < since { return undecided }
      if status.isBorn(since: since), isSame(entry, as: status) { return .created }
      if !isDirectory { return .modified }
      // Where no times of birth are stored, it may be new. With entries of its own that have changed, it may have been
      // renamed if its parent has changed as well.
      return status.modified < since || status.born == nil || site.isChanged ? .movedDirectory : nil
    case (.discover, nil), (.refilter, nil):
      return nil
    case (.discover, let before?), (.refilter, let before?), (.diff, let before?):
      switch before.difference(to: now) {
      case .content: return .modified
      case .attributes: return isRewritten ? .modified : .metadata
      case nil:
        let isWritten = !isDirectory && mayBeWrittenUnseen(status, before, for: occasion)
        return isRewritten || isWritten ? .modified : nil
      }
    }
  }

  /// The difference of an entry of which its hints say more than its fingerprints.
  private func difference(
    for reasons: Hint.Reasons, isDirectory: Bool, _ difference: Fingerprint.Difference?
  ) -> Difference? {
    if !isDirectory && reasons.areAboutContent { return .modified }
    if reasons.contains(.attributes) || difference == .attributes { return .metadata }
    return difference == .content ? .modified : nil
  }

  /// Whether a change that a scan does not report has a hint, which says what it is: one since the
  /// start that is no write, or one in the clock tick since which changed rules are applied.
  private func isHintDue(
    _ status: FileStatus, for occasion: Occasion, in site: Site
  ) -> Bool {
    switch occasion {
    case .refilter(let since):
      return wasHinted(site) && status.changed >= since
    case .diff(let since, .firstTime(let watched)):
      return wasHinted(site) && status.modified < since && status.changed > watched
    case .hint, .baseline, .discover, .diff:
      return false
    }
  }

  /// Whether a write may have left the fingerprint of a file as it is, and its hint was dropped, or
  /// was not given because the file was not watched yet.
  private func mayBeWrittenUnseen(
    _ status: FileStatus, _ before: Fingerprint, for occasion: Occasion
  ) -> Bool {
    guard case .diff(let since, let extent) = occasion else { return false }
    switch extent {
    case .tree: return before.isUncertain && source?.namesEntries == true
    case .firstTime(let watched):
      return before.isPartial && status.modified >= since && status.modified <= watched
    case .directory: return false
    }
  }

  /// Whether a file was written to without a change of its timestamps.
  private mutating func isRewrittenUnseen(
    _ status: FileStatus, at path: EntryPath, in site: Site
  ) -> Bool {
    guard status.type == .file, !wasHinted(site) else { return false }
    let path = path.path
    let disk = disk
    return walk.racilyClean.isRewritten(at: path, status, now: disk.now) { disk.digest(of: path) }
  }
}

/// The difference between an entry in the snapshot and on the disk.
private enum Difference: Equatable {
  case created
  case modified
  case metadata
  /// A directory that was renamed, or whose attributes have changed.
  case movedDirectory
  /// A difference, if any, that the first comparison or a hint shows. What is known stays.
  case undecided
}
