import FileObservation
import Support
import SystemCalls

extension Rounds {
  /// A change of the present round that has not been judged: the net effect of all changes of a
  /// path.
  struct PendingChange: Hashable, Sendable {
    let path: Path
    /// Whether the path did not exist before its first change.
    let wasAbsent: Bool
    /// When its first change was reported.
    let reported: Instant
    /// Whether the path was created or removed, so that its directory counts as well.
    var isOfEntry: Bool
    /// Whether content was written, and not only removed, or attributes changed.
    var isContent: Bool
    /// Whether it is a directory whose entries were not reported.
    var isMovedAsWhole: Bool

    /// The changes of the path, and of the former path of a renamed entry.
    static func all(of change: ChangeBatch.Change, at now: Instant) -> [PendingChange] {
      let removal = change.from.map { PendingChange(removed: $0, at: now) }
      return [removal, PendingChange(change, at: now)].compactMap(\.self)
    }

    private init(_ change: ChangeBatch.Change, at now: Instant) {
      (path, reported) = (change.path, now)
      wasAbsent = change.kind == .created || change.kind == .renamed
      isOfEntry = change.isOfEntry
      isContent = change.kind != .removed && change.kind != .metadata
      isMovedAsWhole = change.kind == .renamed && change.type == .directory
    }

    private init(removed path: Path, at now: Instant) {
      (self.path, reported) = (path, now)
      (wasAbsent, isOfEntry, isContent, isMovedAsWhole) = (false, true, false, false)
    }

    /// Whether the path no longer exists.
    var isRemoval: Bool { isOfEntry && !isContent }

    /// Combines the change with a later one of the same path.
    mutating func add(_ later: PendingChange) {
      isOfEntry = isOfEntry || later.isOfEntry
      isContent = later.isContent
      isMovedAsWhole = isMovedAsWhole || later.isMovedAsWhole
    }
  }

  /// Who has changed a path.
  enum Origin: Hashable, Sendable {
    case unknown
    /// Others: it changed while nothing ran, or when no run can have changed it. Possibly runs
    /// have changed it as well.
    case edited(isRewritten: Bool)
    /// Only runs, and so many follow-ups for it have changed nothing.
    case written(vain: Int)
    /// Only runs, and it needs no follow-up.
    case output

    var isEdited: Bool { if case .edited = self { true } else { false } }

    /// Whether only runs have changed it.
    var isWritten: Bool {
      switch self {
      case .written, .output: true
      case .unknown, .edited: false
      }
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
    /// The bits of evidence that active runs change the path, or the entries of the directory; negative
    /// after it was proven that others do.
    var suspicion = 0.0
    /// How long the latest restart for the path was delayed.
    var restartDelay = Duration.zero
    /// The time from the start of an active run to its latest change of the path.
    var offset: Duration?
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
    /// Who has changed the path, or the entries of the directory.
    var origin = Origin.unknown
    /// Whether a delay for the path has been announced.
    var isAnnounced = false
  }

  /// Changes the record of a path, and removes it if it is empty afterwards.
  mutating func update(_ path: Path, _ body: (inout Record) -> Void) {
    guard var record = records[path] else { return }
    body(&record)
    records[path] = record.isEmpty ? nil : record
  }

  /// Changes all records, and removes those that are empty afterwards.
  mutating func updateAll(_ body: (inout Record) -> Void) {
    records = records.compactMapValues { record in
      var record = record
      body(&record)
      return record.isEmpty ? nil : record
    }
  }

  /// Adds changes of the present round, which are judged later.
  mutating func add(_ changes: [PendingChange]) {
    for change in changes {
      let isFirst = records[change.path, default: Record()].add(change)
      if isFirst { unjudged.append(change.path) }
      if change.isOfEntry { records[change.path.directory, default: Record()].entryChanged() }
    }
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

  /// Marks a path that others changed. Its contents are unknown from then on. Outputs are removed
  /// together, as by `make clean`, and stay outputs.
  mutating func markEdited(_ path: Path, isRemoval: Bool = false) {
    if records[path, default: Record()].edited(isRemoval: isRemoval) { editedCount += 1 }
  }

  /// Marks a path that a run changed.
  mutating func markWritten(_ path: Path) {
    switch records[path]?.origin {
    case .edited: records[path]?.origin = .edited(isRewritten: true)
    case .unknown, nil: records[path, default: Record()].origin = .written(vain: 0)
    case .written, .output: break
    }
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
  /// Whether a follow-up for the path has changed nothing.
  var isPossibleOutput: Bool { origin.isWritten && origin != .written(vain: 0) }

  /// Whether nothing is lost without the record.
  fileprivate var isEmpty: Bool {
    var rest = self
    if rest.origin == .written(vain: 0) { rest.origin = .unknown }
    return rest == Rounds.Record()
  }

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

  /// Notes a change by others. Returns whether it is the first one.
  fileprivate mutating func edited(isRemoval: Bool) -> Bool {
    (knownContent, judgedContent, offset) = (nil, nil, nil)
    (suspicion, restartDelay) = (min(suspicion, 0), .zero)
    followUps = followUps.map { $0 / 2 }
    if origin.isEdited || isRemoval && origin.isWritten { return false }
    origin = .edited(isRewritten: false)
    return true
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
