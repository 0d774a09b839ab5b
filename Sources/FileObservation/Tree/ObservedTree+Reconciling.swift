import PathFiltering
import SystemCalls

/// Why an entry is compared with the snapshot.
enum Occasion {
  /// The source has hinted at it.
  case hint(Hint.Reasons)
  /// Its directory is listed.
  case scan(ScanMode)
}

/// What a directory is listed for.
enum ScanMode {
  /// To learn which names are there.
  case baseline
  /// It is new, and so is everything in it.
  case discover
  /// To find what has changed since a time, or differs from its fingerprint.
  case diff(since: FileTime, Extent)
  /// Other ignore rules are in force: what is there counts from now on, and is no change unless it appeared
  /// after a time.
  case refilter(since: FileTime)

  enum Extent {
    /// One directory, for the first time since its baseline.
    case firstTime
    /// One directory.
    case directory
    /// A directory and all below it, whose watches may be outdated.
    case tree
  }
}

extension ObservedTree {
  /// The directory around an entry that is reconciled.
  struct Site {
    let directory: Entry
    let stack: IgnoreStack?
    let isRecursive: Bool
    /// Whether the directory was just found under a new path: hints of earlier changes in it may not have
    /// been read yet.
    let hasMoved: Bool

    init(
      _ directory: Entry, _ details: DirectoryTable.Directory, stack: IgnoreStack?,
      hasMoved: Bool = false
    ) {
      self.directory = directory
      self.stack = stack
      self.hasMoved = hasMoved
      isRecursive = details.coverage == .recursive
    }
  }

  /// Compares an entry that exists with the snapshot, reports the difference, and brings the snapshot up
  /// to date. Returns whether it is new there.
  @discardableResult
  mutating func reconcile(
    _ name: UnsafeBufferPointer<UInt8>, _ known: Entry?, _ status: FileStatus,
    at path: EntryPath, in site: Site, for occasion: Occasion
  ) -> Bool {
    var known = known
    let isDirectory = status.type == .directory
    let marks = known.map { snapshot.marks(of: $0) } ?? []
    let isWanted = marks.contains(.wanted)
    if site.stack == nil && !isWanted { return false }
    if let entry = known, !isWanted, !marks.contains(.absent),
      isAnother(status, than: entry, at: path, for: occasion)
    {
      disappeared(entry, in: site, isMoved: occasion.reasons.contains(.moved))
      known = nil
    }
    if isDirectory && !isWanted && !mayEnter(path, site.stack) {
      if let known { removeSubtree(known) }
      return false
    }
    let isNew = known == nil || marks.contains(.absent)
    let entry = known ?? snapshot.insert(name, status.type, inode: status.inode, in: site.directory)
    if isNew { snapshot.unmark(entry, .absent) }
    let isReported = isWanted || reports(path, isDirectory: isDirectory, site.stack)
    let difference = report(
      entry, status, isNew: isNew, at: path, in: site, isReported: isReported, for: occasion)
    if !isDirectory, snapshot.inode(of: entry) != status.inode,
      let outdated = directories.removeWatch(of: entry)
    {
      source?.unwatch(outdated)
    }
    snapshot.setType(status.type, of: entry)
    snapshot.setInode(status.inode, of: entry)
    watchFileIfNeeded(entry, at: path)
    if case .scan = occasion, let difference {
      noteIfRulesChanged(name, in: site.directory, difference == .created ? .appeared : .closed)
    }
    if isDirectory && roots[entry] == .named {
      enterNamedRoot(entry, at: path)
    } else if isDirectory && site.isRecursive {
      enter(entry, isNew: isNew, in: site, for: occasion)
    } else if status.type == .symlink {
      followLink(entry, at: path, in: site, for: occasion, isChanged: difference != nil)
    }
    return difference == .created
  }

  /// Whether another file has taken the place of an entry, so that nothing of it, or below it, is left.
  private mutating func isAnother(
    _ status: FileStatus, than entry: Entry, at path: EntryPath, for occasion: Occasion
  ) -> Bool {
    let isDirectory = status.type == .directory
    let wasDirectory = snapshot.type(of: entry) == .directory
    if isDirectory != wasDirectory { return true }
    guard isDirectory, directories[entry] != nil else { return false }
    if let known = snapshot.fingerprint(of: entry) {
      return !known.isOneFile(with: Fingerprint(status))
    }
    guard case .hint(let reasons) = occasion, reasons.isAboutName else { return false }
    // Another directory may have the inode of the one that is gone, and never its watch.
    guard let watch = directories[entry]?.watch else { return reasons.contains(.appeared) }
    return self.watch(at: path.path, .directory) != watch
  }

  private mutating func enter(
    _ entry: Entry, isNew: Bool, in site: Site, for occasion: Occasion
  ) {
    switch occasion {
    case .hint:
      // An unreadable one may have become readable.
      guard isNew || directories[entry]?.watch == nil else { return }
      directories.add(entry, coverage: .recursive, stack: site.stack)
      if isNew { snapshot.mark(entry, .stirred) }
      visitAtOnce(entry, for: .discover)
    case .scan(let mode):
      descend(entry, site.stack, for: isNew ? mode.forNewDirectory : mode)
    }
  }
}

// MARK: - What is reported

extension ObservedTree {
  /// Reports what has become of an entry, and returns it.
  private mutating func report(
    _ entry: Entry, _ status: FileStatus, isNew: Bool, at path: EntryPath, in site: Site,
    isReported: Bool, for occasion: Occasion
  ) -> Difference? {
    let before = snapshot.fingerprint(of: entry)
    let now = Fingerprint(status)
    let kind = kind(of: entry, isNew: isNew, before, now, status, at: path, for: occasion)
    let isOpen = occasion.reasons.contains(.written) && !occasion.reasons.contains(.closed)
    if kind != nil && (isOpen || site.hasMoved) {
      // The state is not final: the hint of its end must count.
      snapshot.setFingerprint(nil, of: entry)
    } else if kind != nil || before != nil || !isHinted(site.directory) {
      snapshot.setFingerprint(now, of: entry)
    }
    guard let kind else { return nil }
    if isReported || kind == .movedDirectory {
      let isOther =
        kind == .created
        || before.map { !$0.isOneFile(with: now) } ?? (snapshot.inode(of: entry) != status.inode)
      let come = isOther ? sighting(now, isFound: occasion) : nil
      var gone: Moves.Sighting?
      if !isNew && isOther {
        gone = Moves.Sighting(
          inode: snapshot.inode(of: entry), fingerprint: before,
          mayBeMove: occasion.reasons.contains(.moved))
      }
      emit(kind.event, status.type, at: path.path, gone: gone, come: come)
      if kind == .created && isOpen {
        emit(.modified(isOpen: true), status.type, at: path.path)
      }
    }
    return kind
  }

  private func sighting(_ fingerprint: Fingerprint, isFound occasion: Occasion) -> Moves.Sighting {
    let isMove: Bool
    switch occasion {
    case .hint(let reasons): isMove = reasons.contains(.moved) || !reasons.contains(.appeared)
    case .scan: isMove = true
    }
    return Moves.Sighting(inode: fingerprint.inode, fingerprint: fingerprint, mayBeMove: isMove)
  }

  /// The difference between an entry as it is known and as it is; nil if there is none.
  private mutating func kind(
    of entry: Entry, isNew: Bool, _ before: Fingerprint?, _ now: Fingerprint, _ status: FileStatus,
    at path: EntryPath, for occasion: Occasion
  ) -> Difference? {
    let isDirectory = status.type == .directory
    if !isNew, isDirectory != (snapshot.type(of: entry) == .directory) {
      return .modified(isOpen: false)
    }
    if isNew {
      racilyClean.forget(path.path)
      switch occasion {
      case .scan(.baseline): return nil
      case .scan(.refilter(let since)): return status.changed > since ? .created : nil
      case .scan(.discover), .scan(.diff), .hint: return .created
      }
    }
    if let before {
      let isRewritten = isRewrittenUnseen(entry, status, at: path)
      let difference = before.difference(to: now)
      guard case .hint(let reasons) = occasion, !reasons.isEmpty else {
        switch difference {
        case .content:
          return isDirectory && before.isOneFile(with: now) ? nil : .modified(isOpen: false)
        case .attributes: return .metadata
        case nil: return isRewritten ? .modified(isOpen: false) : nil
        }
      }
      if difference == nil && (isDirectory || !status.isRacy) { return nil }
      return kind(for: reasons, isDirectory: isDirectory)
    }
    switch occasion {
    case .hint(let reasons):
      let isSame = snapshot.inode(of: entry) == status.inode
      if reasons.contains(.appeared), !reasons.contains(.disappeared), isSame,
        status.isBorn(since: start)
      {
        // The baseline has come between its birth and its hint.
        return .created
      }
      return kind(for: reasons, isDirectory: isDirectory)
    case .scan(.diff(let since, _)):
      guard status.changed >= since else { return nil }
      if status.isBorn(since: since), snapshot.inode(of: entry) == status.inode { return .created }
      if !isDirectory { return .modified(isOpen: false) }
      return status.modified < since ? .movedDirectory : nil
    case .scan:
      return nil
    }
  }

  private func kind(for reasons: Hint.Reasons, isDirectory: Bool) -> Difference? {
    if !isDirectory && (reasons.isAboutName || reasons.contains(.written)) {
      return .modified(
        isOpen: reasons.contains(.written) && !reasons.contains(.closed))
    }
    return reasons.contains(.attributes) ? .metadata : nil
  }

  /// Whether a file was written to without a trace in its times.
  private mutating func isRewrittenUnseen(
    _ entry: Entry, _ status: FileStatus, at path: EntryPath
  ) -> Bool {
    guard status.type == .file, let directory = snapshot.parent(of: entry), !isHinted(directory)
    else { return false }
    let path = path.path
    return racilyClean.look(at: path, status, now: .now()) {
      DiskContents(largestFile: RacilyCleanFiles.largest).sample(of: path)?.digest
    }
  }
}

/// What has become of an entry.
private enum Difference: Equatable {
  case created
  case modified(isOpen: Bool)
  case metadata
  /// A directory that has another name, or other attributes.
  case movedDirectory

  var event: RawEvent.Kind {
    switch self {
    case .created: .created
    case .modified(let isOpen): .modified(isOpen: isOpen)
    case .metadata: .metadata
    case .movedDirectory: .modified(isOpen: false)
    }
  }
}

extension Occasion {
  fileprivate var reasons: Hint.Reasons {
    if case .hint(let reasons) = self { return reasons }
    return []
  }
}

extension FileStatus {
  func isBorn(since: FileTime) -> Bool {
    born.map { $0 >= since } ?? false
  }

  /// Whether one more write might leave the same times.
  var isRacy: Bool { FileTime.now().nanoseconds &- changed.nanoseconds < timeResolution }
}

// MARK: - What is gone

extension ObservedTree {
  /// Reports an entry as removed, with its descendants, and removes them from the snapshot.
  mutating func disappeared(_ entry: Entry, in site: Site, isMoved: Bool = false) {
    let marks = snapshot.marks(of: entry)
    if marks.contains(.wanted) { return rootDisappeared(entry) }
    if marks.contains(.rules) {
      rules.stale.insert(site.directory)
      if site.stack == nil { return }
    }
    reportRemoved(entry, site.stack, isMoved: isMoved)
    removeSubtree(entry)
  }

  /// Reports that an entry is gone with all its descendants, each by the rules of its directory.
  mutating func reportRemoved(_ entry: Entry, _ stack: IgnoreStack?, isMoved: Bool = false) {
    if roots[entry] != nil || snapshot.marks(of: entry).contains(.absent) { return }
    reportRemovedChildren(of: entry, isMoved: isMoved)
    let path = entryPath(of: entry)
    racilyClean.forget(path.path)
    let type = snapshot.type(of: entry)
    if type == .symlink { forgetTarget(ofLink: path.path) }
    // Of a directory that goes before it was compared, the contents are not known: any may have counted.
    let isUnknown = !walk.isComparedOnce && directories[entry] != nil
    if isUnknown || reports(path, isDirectory: type == .directory, stack) {
      let gone = Moves.Sighting(
        inode: snapshot.inode(of: entry), fingerprint: snapshot.fingerprint(of: entry),
        mayBeMove: isMoved)
      emit(.removed, type, at: path.path, gone: gone)
    }
    if let parent = snapshot.parent(of: entry) {
      snapshot.name(of: entry).withUnsafeBufferPointer {
        noteIfRulesChanged($0, in: parent, .disappeared)
      }
    }
  }

  mutating func reportRemovedChildren(of directory: Entry, isMoved: Bool = false) {
    guard let details = directories[directory], details.coverage > .named else { return }
    for child in snapshot.children(of: directory) {
      reportRemoved(child, details.stack, isMoved: isMoved)
    }
  }

  /// After a listing: what was known and is not there.
  mutating func removeUnseen(in site: Site) {
    for entry in snapshot.children(of: site.directory) {
      let marks = snapshot.marks(of: entry)
      if marks.contains(.seen) {
        snapshot.unmark(entry, .seen)
      } else if marks.isDisjoint(with: [.awaited, .passage, .absent]) {
        disappeared(entry, in: site)
      }
    }
  }
}
