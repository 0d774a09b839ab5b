import FileObservation
import SystemCalls

extension Rounds {
  /// A change of the present round that has not been judged: the net effect of all changes of a
  /// path.
  struct PendingChange: Hashable, Sendable {
    let path: Path
    /// Whether the path did not exist before its first change.
    let wasAbsent: Bool
    /// Whether the path was created or removed, so that its directory counts as well.
    var isOfEntry: Bool
    /// Whether it is a directory whose entries were not reported.
    var isMovedAsWhole: Bool

    init(_ change: ChangeBatch.Change) {
      path = change.path
      wasAbsent = change.kind == .created || change.kind == .renamed
      isOfEntry = change.isOfEntry
      isMovedAsWhole = change.kind == .renamed && change.type == .directory
    }

    /// The removal of the former path of a renamed one.
    init(removed path: Path) {
      self.path = path
      (wasAbsent, isOfEntry, isMovedAsWhole) = (false, true, false)
    }

    /// Combines the change with a later one of the same path.
    mutating func add(_ later: PendingChange) {
      isOfEntry = isOfEntry || later.isOfEntry
      isMovedAsWhole = isMovedAsWhole || later.isMovedAsWhole
    }
  }

  /// What is remembered of a path. A directory has a record for its entries as well.
  struct Record: Hashable, Sendable {
    /// The content with which the latest run began, if the path changed in the round before.
    var knownContent: PathContent?
    /// The content when the path was judged in the present round.
    var judgedContent: PathContent?
    /// The number of consecutive follow-ups for the path, or for the entries of the directory.
    var followUps: Int?
    /// The change that has not been judged.
    var unjudged: PendingChange?
    /// The judged change for which the next follow-up is due.
    var due: PendingChange?
    /// Whether the path, or an entry of the directory, changed in the present round.
    var hasChanged = false
    /// Whether an entry of the directory was created or removed in the present round.
    var entriesChanged = false
    /// Whether an entry of the directory was created or removed in the round before.
    var entriesChangedBefore = false
    /// Whether the path, or an entry of the directory, changed while nothing ran, so that it is not
    /// only an output.
    var isEdited = false
    /// Whether a delay for the path has been announced.
    var isAnnounced = false
  }

  /// Changes the record of a path, and removes it if it is empty afterwards.
  mutating func update(_ path: Path, _ body: (inout Record) -> Void) {
    guard var record = records[path] else { return }
    body(&record)
    records[path] = record == Record() ? nil : record
  }

  /// Changes all records, and removes those that are empty afterwards.
  mutating func updateAll(_ body: (inout Record) -> Void) {
    records = records.compactMapValues { record in
      var record = record
      body(&record)
      return record == Record() ? nil : record
    }
  }

  /// Adds changes of the present round, which are judged later.
  mutating func add(_ changes: [ChangeBatch.Change]) {
    for change in changes {
      if let from = change.from { add(PendingChange(removed: from)) }
      add(PendingChange(change))
    }
  }

  private mutating func add(_ change: PendingChange) {
    let isFirst = records[change.path, default: Record()].add(change)
    if isFirst { unjudged.append(change.path) }
    if change.isOfEntry { records[change.path.directory, default: Record()].entryChanged() }
  }

  /// Removes the changes that have not been judged, and returns them in order.
  mutating func takeUnjudged() -> [PendingChange] {
    defer { unjudged = [] }
    return unjudged.compactMap { path in
      let change = records[path]?.unjudged
      update(path) { $0.unjudged = nil }
      return change
    }
  }

  /// Marks a path that changed while nothing ran. Its contents are unknown from then on.
  mutating func markEdited(_ path: Path) {
    if records[path, default: Record()].edited() { editedCount += 1 }
  }

  /// Marks a path as announced. Returns whether it was not before.
  mutating func markAnnounced(_ path: Path) -> Bool {
    if announcedCount > Self.mostAnnounced {
      updateAll { $0.isAnnounced = false }
      announcedCount = 0
    }
    if records[path]?.isAnnounced == true { return false }
    records[path, default: Record()].isAnnounced = true
    announcedCount += 1
    return true
  }

  /// Cancels the follow-up that is due, now or after a delay.
  mutating func cancelFollowUp() {
    for path in followUp?.paths ?? [] { update(path) { $0.due = nil } }
    followUp = nil
  }
}

extension Rounds.Record {
  /// Adds a change to the one that has not been judged. Returns whether it is the first one.
  fileprivate mutating func add(_ change: Rounds.PendingChange) -> Bool {
    hasChanged = true
    guard unjudged == nil else {
      unjudged?.add(change)
      return false
    }
    unjudged = change
    return true
  }

  fileprivate mutating func entryChanged() {
    (hasChanged, entriesChanged) = (true, true)
  }

  /// Notes a change while nothing ran. Returns whether it is the first one.
  fileprivate mutating func edited() -> Bool {
    defer { isEdited = true }
    (knownContent, judgedContent) = (nil, nil)
    followUps = followUps.map { $0 / 2 }
    return !isEdited
  }
}

extension ChangeBatch.Change {
  /// Whether an entry of its directory was created or removed.
  var isOfEntry: Bool {
    switch kind {
    case .created, .removed, .renamed: true
    case .modified, .metadata: false
    }
  }
}

extension Path {
  /// The parent directory.
  var directory: Path { parent ?? self }
}
