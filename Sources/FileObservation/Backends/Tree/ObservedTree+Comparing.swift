import PathFiltering
import SystemCalls

// What has changed between two looks, where nobody has told of it.
extension ObservedTree {
  /// What there is to tell of an entry.
  struct News {
    let kind: RawEvent.Kind
    /// What has gone from there, and what has come there: it may be met elsewhere.
    var gone: Fingerprint?
    var come: Fingerprint?
    /// A folder that has come from elsewhere: of what is in it nobody tells, so that it counts though a
    /// filter may leave it out itself.
    var isMovedFolder = false
    var certainty = Certainty.certain
  }

  enum Certainty {
    case certain
    /// Within one tick of the clock, it looks like what the kernel has told, or is about to tell.
    case doubtful
    case told
  }

  /// What there is to tell of an entry that is listed, whose path stands in `path`.
  mutating func news(
    of entry: Entry, named name: UnsafeBufferPointer<UInt8>, in folder: Entry, wasKnown: Bool,
    for purpose: Purpose, _ directory: borrowing Descriptor
  ) -> News? {
    if comparesEntries {
      return newsByFingerprint(of: entry, named: name, wasKnown, purpose, directory)
    }
    switch purpose {
    case .learn, .judge:
      return nil
    case .tell:
      return wasKnown ? nil : News(kind: .created)
    case .compare(let since, let comparison):
      if !wasKnown { return News(kind: .created) }
      guard let status = FileStatus(ofListed: name, in: directory) else { return nil }
      let end = comparison == .untilWatched ? table[folder]?.watchedAt : nil
      guard status.changed >= since, end.map({ status.changed <= $0 }) ?? true else { return nil }
      var news = News(kind: .modified(isOpen: false))
      guard let end else { return status.type == .directory ? nil : news }
      news = News(kind: status.kindOfChange(since: since))
      news.isMovedFolder = status.isFolderMoved(since: since)
      if let toldMeanwhile, toldMeanwhile.covers(news.kind, of: entry) {
        news.certainty = .told
      } else if status.changed.nanoseconds > end.nanoseconds - Self.tick {
        news.certainty = .doubtful
      }
      // A folder that is known changes with each entry that comes or goes.
      let isFolder = status.type == .directory && news.kind != .created
      return isFolder && !news.isMovedFolder ? nil : news
    }
  }

  /// By how much a change may seem to be older than it is, in nanoseconds, and more.
  private static let tick: Int64 = 20_000_000

  private mutating func newsByFingerprint(
    of entry: Entry, named name: UnsafeBufferPointer<UInt8>, _ wasKnown: Bool, _ purpose: Purpose,
    _ directory: borrowing Descriptor
  ) -> News? {
    let known = snapshot.fingerprint(of: entry)
    watchFile(entry)
    guard var status = FileStatus(ofListed: name, in: directory) else {
      // Gone again: if anybody has been told of it, the end of the listing tells of that.
      snapshot.unmark(entry, .seen)
      if !wasKnown { removeSubtree(entry) }
      return nil
    }
    if let known, !known.isOneFile(with: Fingerprint(status)), watchAgain(entry) {
      status = FileStatus(ofListed: name, in: directory) ?? status
    }
    let fingerprint = fingerprint(of: entry, status)
    // What has changed in what was known is left to the next look, since this one tells nothing.
    if case .judge = purpose, known != nil { return nil }
    snapshot.setFingerprint(fingerprint, of: entry)
    let isRewritten = isRewrittenUnseen(status)
    switch purpose {
    case .judge:
      return status.changed >= lastLook ? News(kind: .created, come: fingerprint) : nil
    case .learn(let since):
      guard status.changed >= since else { return nil }
      let kind = status.kindOfChange(since: since)
      if status.isFolderMoved(since: since) { return News(kind: kind, isMovedFolder: true) }
      return status.type == .directory && kind != .created ? nil : News(kind: kind)
    case .tell, .compare:
      if !wasKnown { return News(kind: .created, come: fingerprint) }
      guard let known else { return nil }
      let difference = known.difference(to: fingerprint) ?? (isRewritten ? .content : nil)
      guard let kind = difference?.kind else { return nil }
      if !known.isOneFile(with: fingerprint) {
        return News(kind: kind, gone: known, come: fingerprint)
      }
      return status.type == .directory && kind != .metadata ? nil : News(kind: kind)
    }
  }

  /// True if the file, whose path stands in `path`, was written to without a trace in its times.
  private mutating func isRewrittenUnseen(_ status: FileStatus) -> Bool {
    guard status.type == .file else { return false }
    let path = Path(bytes: path)
    return racilyClean.look(at: path, status, now: .now()) {
      DiskContents(largestFile: RacilyCleanFiles.largest).sample(of: path)?.digest
    }
  }

  /// True if another folder has taken the place of one that is known: what is in it is not to be taken
  /// for that one's. It is looked at when the folder around it has been, where this is found as well.
  func isAnother(_ directory: borrowing Descriptor, than folder: Entry) -> Bool {
    guard comparesEntries, snapshot.type(of: folder) == .directory,
      let known = snapshot.fingerprint(of: folder)
    else { return false }
    let status = try? FileStatus(of: ".", in: directory)
    return status.map { !known.isOneFile(with: Fingerprint($0)) } ?? false
  }

  /// How the entry, whose path stands in `path`, is remembered: a link that counts for what it points
  /// to together with that.
  func fingerprint(of entry: Entry, _ status: FileStatus) -> Fingerprint {
    let countsTarget = followsLinks || roots[entry] == .named
    guard status.type == .symlink, countsTarget else { return Fingerprint(status) }
    let target = try? FileStatus(of: Path(bytes: path), followsLinks: true)
    // A folder changes with each entry, and these are told of by themselves.
    return Fingerprint(status, target: target?.type == .directory ? nil : target)
  }

  /// True if an entry that is not known is one of those that have changed the folder's time, and
  /// none that is ignored and was there before.
  func hasArrived(
    _ name: UnsafeBufferPointer<UInt8>, for purpose: Purpose, in directory: borrowing Descriptor
  ) -> Bool {
    guard case .compare(let since, _) = purpose else { return false }
    return FileStatus(ofListed: name, in: directory).map { $0.changed >= since } ?? false
  }

  /// Looks at one file, of which a watch of its own has told that something has happened to it.
  mutating func lookAt(file: Entry) {
    guard let folder = snapshot.parent(of: file) else { return }
    snapshot.putPath(of: file, into: &path)
    watchFile(file)
    // What is gone or is another one now, its folder's listing shows.
    guard let status = try? FileStatus(of: Path(bytes: path)), status.type == .file,
      let known = snapshot.fingerprint(of: file), known.isOneFile(with: Fingerprint(status))
    else { return visitAtOnce(folder, for: .compare(since: .latest(), .oneFolder)) }
    let fingerprint = Fingerprint(status)
    snapshot.setFingerprint(fingerprint, of: file)
    let isRewritten = isRewrittenUnseen(status)
    let difference = known.difference(to: fingerprint) ?? (isRewritten ? .content : nil)
    guard let difference else { return }
    snapshot.name(of: file).withUnsafeBufferPointer {
      noteIfRulesChanged($0, in: folder, difference.kind)
    }
    if isReported(file, in: folder) {
      emit(difference.kind, status.type, at: snapshot.path(of: file))
    }
  }

  /// Looks whether a folder, of which its watch has told, has itself changed.
  mutating func lookAt(attributesOf folder: Entry) {
    snapshot.putPath(of: folder, into: &path)
    guard roots[folder] == nil, let parent = snapshot.parent(of: folder),
      let known = snapshot.fingerprint(of: folder),
      let status = try? FileStatus(of: Path(bytes: path))
    else { return }
    let fingerprint = fingerprint(of: folder, status)
    guard known.isOneFile(with: fingerprint), known.difference(to: fingerprint) == .attributes
    else {
      return
    }
    snapshot.setFingerprint(fingerprint, of: folder)
    if isReported(folder, in: parent) {
      emit(.metadata, status.type, at: snapshot.path(of: folder))
    }
  }

  private mutating func isReported(_ entry: Entry, in folder: Entry) -> Bool {
    if !snapshot.marks(of: entry).isDisjoint(with: [.wanted]) { return true }
    snapshot.putPath(of: entry, into: &path)
    let nameStart = path.count - snapshot.name(of: entry).count
    return reports(nameStart, snapshot.type(of: entry) == .directory, table[folder]?.stack)
  }

  /// What has been asked for in a folder of which nothing else counts.
  mutating func lookAtNamed(in folder: Entry, for purpose: Purpose) {
    guard case .compare(let since, let comparison) = purpose else {
      if case .learn(let since) = purpose, comparesEntries { learnNamed(in: folder, since: since) }
      return
    }
    for entry in snapshot.children(of: folder) {
      let marks = snapshot.marks(of: entry)
      let isFile = isFileRoot(entry)
      let isLookedAt = comparesEntries || table[folder]?.watch == nil
      let isOfUse = isLookedAt && !marks.isDisjoint(with: [.awaited, .absent, .rules])
      guard isFile || isOfUse else { continue }
      let entryPath = snapshot.path(of: entry)
      path = entryPath.bytes
      watchFile(entry)
      guard var status = try? FileStatus(of: entryPath) else {
        if isFile && comparison != .untilWatched { lose(root: entry) }
        if marks.contains(.rules) { staleRules.insert(folder) }
        continue
      }
      if marks.contains(.awaited) || marks.contains(.absent) {
        returned(entry)
        continue
      }
      if comparesEntries {
        if let coverage = roots[entry], coverage > .named, status.type == .directory {
          returned(entry)
          continue
        }
        let known = snapshot.fingerprint(of: entry)
        if let known, !known.isOneFile(with: Fingerprint(status)), watchAgain(entry) {
          status = (try? FileStatus(of: entryPath)) ?? status
        }
        let fingerprint = fingerprint(of: entry, status)
        snapshot.setFingerprint(fingerprint, of: entry)
        let isRewritten = isRewrittenUnseen(status)
        guard let known else { continue }
        let found = known.difference(to: fingerprint) ?? (isRewritten ? .content : nil)
        guard let difference = found else { continue }
        if marks.contains(.rules) { staleRules.insert(folder) }
        if isFile { emit(difference.kind, status.type, at: entryPath) }
        continue
      }
      let end = comparison == .untilWatched ? table[folder]?.watchedAt : nil
      if status.changed >= since, end.map({ status.changed <= $0 }) ?? true {
        emit(.modified(isOpen: false), status.type, at: entryPath)
      }
    }
  }

  /// True for a file that was asked for, also where it was not known that it would be one.
  private func isFileRoot(_ entry: Entry) -> Bool {
    roots[entry].map { $0 == .named || snapshot.type(of: entry) != .directory } ?? false
  }

  /// The first look at what was asked for by name.
  private mutating func learnNamed(in folder: Entry, since: FileTime) {
    for entry in snapshot.children(of: folder) where snapshot.fingerprint(of: entry) == nil {
      guard !snapshot.marks(of: entry).isDisjoint(with: [.wanted, .rules]) else { continue }
      snapshot.putPath(of: entry, into: &path)
      watchFile(entry)
      guard let status = try? FileStatus(of: Path(bytes: path)) else { continue }
      snapshot.setFingerprint(fingerprint(of: entry, status), of: entry)
      if isFileRoot(entry), status.changed >= since {
        emit(status.kindOfChange(since: since), status.type, at: Path(bytes: path))
      }
    }
  }
}

// MARK: - What is gone

extension ObservedTree {
  /// After a listing: what was known and is not there any more.
  mutating func forgetUnseen(in folder: Entry, stack: IgnoreStack?) {
    for entry in snapshot.children(of: folder) {
      let marks = snapshot.marks(of: entry)
      if marks.contains(.seen) {
        snapshot.unmark(entry, .seen)
      } else if marks.contains(.wanted) {
        lose(root: entry)
      } else if marks.isDisjoint(with: [.awaited, .passage, .rules]) {
        tellRemoved(entry, stack)
        removeSubtree(entry)
      } else if marks.contains(.rules) {
        staleRules.insert(folder)
      }
    }
  }

  /// Tells that an entry is gone, with all that is known below it, each by the rules of its folder.
  mutating func tellRemoved(_ entry: Entry, _ stack: IgnoreStack?) {
    // A root below tells of itself when it is lost.
    if roots[entry] != nil || snapshot.marks(of: entry).contains(.absent) { return }
    tellRemovedChildren(of: entry)
    snapshot.putPath(of: entry, into: &path)
    racilyClean.forget(Path(bytes: path))
    let type = snapshot.type(of: entry)
    let nameStart = path.count - snapshot.name(of: entry).count
    if reports(nameStart, type == .directory, stack) {
      emit(.removed, type, at: Path(bytes: path), was: snapshot.fingerprint(of: entry))
    }
    if let folder = snapshot.parent(of: entry) {
      snapshot.name(of: entry).withUnsafeBufferPointer {
        noteIfRulesChanged($0, in: folder, .removed)
      }
    }
  }

  /// The same by the rules of the folder around it.
  mutating func tellRemoved(_ entry: Entry) {
    let folder = snapshot.parent(of: entry).flatMap { table[$0] }
    tellRemoved(entry, folder?.stack)
  }

  mutating func tellRemovedChildren(of folder: Entry) {
    guard let details = table[folder], details.coverage > .named else { return }
    for child in snapshot.children(of: folder) { tellRemoved(child, details.stack) }
  }

  /// All that is told of in a folder, by the rules that are in force in it.
  mutating func reportedEntries(below folder: Entry) -> [Entry] {
    guard let details = table[folder], details.coverage > .named else { return [] }
    return snapshot.children(of: folder).flatMap { child -> [Entry] in
      snapshot.putPath(of: child, into: &path)
      let nameStart = path.count - snapshot.name(of: child).count
      let isDirectory = snapshot.type(of: child) == .directory
      let own = reports(nameStart, isDirectory, details.stack) ? [child] : []
      return own + reportedEntries(below: child)
    }
  }

  /// A folder that changed before it was watched, and in which nothing new is found, has lost
  /// something whose name cannot be known: the folder itself is told of. But what the kernel tells of
  /// by name looks the same within one tick of the clock: so where it does, that is read first.
  mutating func lookForTracesOfRemoval(in folder: Entry, at folderPath: Path, since: FileTime) {
    guard let status = try? FileStatus(of: folderPath, followsLinks: true),
      let details = table[folder], status.modified >= since,
      comparesEntries || status.modified <= details.watchedAt
    else { return }
    traces.insert(folder)
    if comparesEntries { settleDoubts() }
  }

  /// What was found to have changed, as it seems, before its folder was watched: it is told of unless
  /// the kernel has told of it meanwhile.
  mutating func settleDoubts() {
    if !doubts.isEmpty {
      defer { doubts = [:] }
      for (entry, kind) in doubts where toldMeanwhile?.isKnown(entry) != true {
        emit(kind, snapshot.type(of: entry), at: snapshot.path(of: entry))
      }
    }
    if !traces.isEmpty { tellOfTraces() }
  }

  /// Tells of the folders that have lost something whose name nobody has told. It may have been something
  /// that counts, whatever a filter says of the folder itself.
  private mutating func tellOfTraces() {
    let folders = traces
    traces = []
    for folder in folders {
      // It is being renamed: where to is not known yet.
      guard snapshot.isWithin(folder, TreeSnapshot.root) else {
        traces.insert(folder)
        continue
      }
      guard let details = table[folder], !details.hasNews else { continue }
      emit(.modified(isOpen: false), .directory, at: snapshot.path(of: folder))
    }
  }
}

extension Fingerprint.Difference {
  var kind: RawEvent.Kind {
    switch self {
    case .content: .modified(isOpen: false)
    case .attributes: .metadata
    }
  }
}

extension FileStatus {
  /// True for a folder that has changed though nothing has come to it or gone from it: it has another
  /// name, or other attributes.
  func isFolderMoved(since: FileTime) -> Bool {
    type == .directory && changed >= since && modified < since
  }

  /// What a file that has changed since a time is told of as.
  func kindOfChange(since: FileTime) -> RawEvent.Kind {
    if let born, born >= since { return .created }
    return .modified(isOpen: false)
  }
}
