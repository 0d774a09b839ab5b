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
    if !occasion.isHint, let difference {
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
    return self.watch(at: path.path, .directory) != watch
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
    if !isNew, reasons.contains(.disappeared), directories[entry] != nil {
      return directoryReturned(entry)
    }
    // A directory without a watch may have become readable.
    guard isNew || directories[entry]?.watch == nil else { return }
    directories.add(entry, coverage: .recursive, stack: site.stack)
    if isNew { snapshot.mark(entry, .entriesChanged) }
    scanNow(entry, for: isNew ? .discover : modeOfReadable(entry))
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
    let kind = kind(
      of: entry, isNew: isNew, before, now, status, at: path, in: site, for: occasion)
    // The inode of a file that was removed since may have been reused.
    let isReused = before == nil && status.isBorn(since: walk.comparedUntil)
    let isOther = kind != nil && (isReused || !isSame(entry, as: status))
    let isOpen = occasion.reasons.contains(.written) && !occasion.reasons.contains(.closed)
    // A file may be touched while it is open for writing: its close must still count as a change.
    let mayIncludeWrite =
      kind == .metadata && status.type != .directory && before?.difference(to: now) != .attributes
    if kind != nil && (isOpen || mayIncludeWrite) {
      snapshot.setFingerprint(now.partial, of: entry)
    } else if kind != nil || !isLeft(entry, before, status, for: occasion, in: site) {
      snapshot.setFingerprint(now, of: entry)
    }
    guard let kind else { return nil }
    if isReported || kind == .movedDirectory {
      emit(
        kind, isOpen: isOpen, isOther: isOther, of: entry, before, now, status, at: path.path,
        for: occasion)
    } else {
      noteIgnored(path.path, isDirectory: status.type == .directory, site.stack)
    }
    return kind
  }

  /// Whether an entry without a difference keeps the state that is known, if any.
  private func isLeft(
    _ entry: Entry, _ before: Fingerprint?, _ status: FileStatus, for occasion: Occasion,
    in site: Site
  ) -> Bool {
    switch occasion {
    // The first comparison finds what has changed since the start.
    case .baseline: return true
    case .refilter: break
    case .discover, .diff, .hint: if before != nil { return false }
    }
    return before == nil && occasion.isHint || isLeftToHint(status, for: occasion, in: site)
  }

  private mutating func emit(
    _ difference: Difference, isOpen: Bool, isOther: Bool, of entry: Entry,
    _ before: Fingerprint?, _ now: Fingerprint, _ status: FileStatus, at path: Path,
    for occasion: Occasion
  ) {
    switch difference {
    case .modified where isOther:
      // Another file has replaced the one that was there.
      let isMoved = occasion.reasons.contains(.moved)
      let former = sighting(of: entry, before, mayBeRenamed: isMoved)
      emit(.removed, former.type, at: path, former)
      fallthrough
    case .created:
      emit(.created, status.type, at: path, sighting(now, status, foundBy: occasion))
      if isOpen { emit(.modified(isOpen: true), status.type, at: path) }
    case .modified(let isOpen):
      emit(.modified(isOpen: isOpen), status.type, at: path)
    case .metadata:
      emit(.metadata, status.type, at: path)
    case .movedDirectory:
      emit(.modified(isOpen: false), .directory, at: path)
    }
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
  private mutating func kind(
    of entry: Entry, isNew: Bool, _ before: Fingerprint?, _ now: Fingerprint, _ status: FileStatus,
    at path: EntryPath, in site: Site, for occasion: Occasion
  ) -> Difference? {
    let isDirectory = status.type == .directory
    if !isNew, isDirectory != (snapshot.type(of: entry) == .directory) {
      return .modified(isOpen: false)
    }
    if isNew { walk.racilyClean.forget(path.path) }
    let isRewritten = isRewrittenUnseen(status, at: path, in: site)
    if isNew {
      switch occasion {
      case .baseline: return nil
      case .refilter(let since):
        return wasIncluded(path, isDirectory: isDirectory, in: site) || status.changed > since
          ? .created : nil
      case .discover, .diff, .hint: return .created
      }
    }
    if case .refilter(let since) = occasion,
      wasHinted(site) || !wasIncluded(path, isDirectory: isDirectory, in: site)
    {
      // The change may have been ignored by the former rules, unless its hint was reported.
      if wasHinted(site), isDirectory || before == now { return nil }
      if isDirectory { return before?.difference(to: now) == .attributes ? .metadata : nil }
      return status.changed >= since ? .modified(isOpen: false) : nil
    }
    if let before {
      guard case .hint(let reasons) = occasion else {
        switch before.difference(to: now) {
        case .content: return .modified(isOpen: false)
        case .attributes: return isRewritten ? .modified(isOpen: false) : .metadata
        case nil:
          let isWritten = !isDirectory && mayBeWrittenUnseen(status, before, for: occasion)
          return isRewritten || isWritten ? .modified(isOpen: false) : nil
        }
      }
      // What has appeared was found before the hint was read. What was moved may have the inode of a former file.
      let isUncertain = before.isUncertain && !reasons.isSubset(of: .appeared)
      if before == now, isDirectory || !isUncertain { return nil }
      if !isDirectory, !before.mayBeSameFile(as: now) {
        return .modified(isOpen: reasons.contains(.written) && !reasons.contains(.closed))
      }
      return kind(
        for: reasons, isDirectory: isDirectory, difference: before.difference(to: now))
    }
    switch occasion {
    case .hint(let reasons):
      // One that was listed before the hint of its appearance was read, or was left to that.
      if isDirectory, reasons.contains(.appeared) { return .created }
      if reasons.isDisjoint(with: [.disappeared, .moved]), isSame(entry, as: status),
        status.isBorn(since: start)
      {
        // The name was free. The baseline was taken between its creation and this hint.
        return .created
      }
      return kind(for: reasons, isDirectory: isDirectory)
    case .diff(let since, _):
      guard status.changed >= since, !isLeftToHint(status, for: occasion, in: site) else {
        return nil
      }
      if status.isBorn(since: since), isSame(entry, as: status) { return .created }
      if !isDirectory { return .modified(isOpen: false) }
      // Where no times of birth are stored, it may be new. With entries of its own that have changed, it may have been
      // renamed if its parent has changed as well.
      return status.modified < since || status.born == nil || site.isChanged ? .movedDirectory : nil
    case .baseline, .discover, .refilter:
      return nil
    }
  }

  /// Whether a change that a scan does not report has a hint, which says what it is: one since the
  /// start that is no write, or one in the clock tick since which changed rules are applied.
  private func isLeftToHint(
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

  private func kind(
    for reasons: Hint.Reasons, isDirectory: Bool, difference: Fingerprint.Difference? = nil
  ) -> Difference? {
    if !isDirectory && reasons.areAboutContent {
      return .modified(
        isOpen: reasons.contains(.written) && !reasons.contains(.closed))
    }
    if reasons.contains(.attributes) || difference == .attributes { return .metadata }
    return difference == .content ? .modified(isOpen: false) : nil
  }

  /// Whether a file was written to without a change of its timestamps.
  private mutating func isRewrittenUnseen(
    _ status: FileStatus, at path: EntryPath, in site: Site
  ) -> Bool {
    guard status.type == .file, !wasHinted(site) else { return false }
    let path = path.path
    let disk = disk
    return walk.racilyClean.isRewritten(at: path, status, now: disk.now) {
      disk.contents.sample(of: path)?.digest
    }
  }
}

/// The difference between an entry in the snapshot and on the disk.
private enum Difference: Equatable {
  case created
  case modified(isOpen: Bool)
  case metadata
  /// A directory that was renamed, or whose attributes have changed.
  case movedDirectory
}
