import FileObservation
import Support
import SystemCalls

extension ChangeJudge {
  /// A change of the present round that has not been judged: the net effect of all changes of a
  /// path.
  struct PendingChange: Equatable, Sendable {
    let path: Path
    /// Whether the path did not exist before its first change.
    let wasAbsent: Bool
    /// Whether no run has begun with the path, so that it is unchanged when it is gone. A rename may have replaced what
    /// was there.
    var isNew: Bool
    /// Whether the path was created or removed, so that its directory counts as well.
    var isOfEntry: Bool
    /// Whether it is a directory whose entries were not reported.
    var isMovedAsWhole: Bool
    /// Who has made the latest change.
    var verdict: Verdict
    /// When its burst began, if that was before the report.
    var time: Instant?
    /// Whether the change was counted when it was reported.
    var isCounted = false

    /// The changes of the paths, and of the former paths of renamed entries.
    static func all(
      of changes: [ChangeBatch.Change], _ evidence: [Path: Verdict] = [:], at time: Instant? = nil
    ) -> [PendingChange] {
      // A large batch is given to many judges, so nothing is allocated for each change.
      var all: [PendingChange] = []
      all.reserveCapacity(changes.count)
      for change in changes {
        if let former = change.from {
          all.append(
            PendingChange(
              path: former, wasAbsent: false, isNew: false, isOfEntry: true, isMovedAsWhole: false,
              verdict: evidence[former] ?? .unknown, time: time))
        }
        all.append(
          PendingChange(
            path: change.path, wasAbsent: change.kind == .created || change.kind == .renamed,
            isNew: change.kind == .created, isOfEntry: change.isOfEntry,
            isMovedAsWhole: change.kind == .renamed && change.type == .directory,
            verdict: evidence[change.path] ?? .unknown, time: time))
      }
      return all
    }

    /// Combines the change with a later one of the same path.
    mutating func add(_ later: PendingChange) {
      isOfEntry = isOfEntry || later.isOfEntry
      isMovedAsWhole = isMovedAsWhole || later.isMovedAsWhole
      (verdict, time, isCounted) = (later.verdict, later.time, later.isCounted)
    }
  }

  /// What is remembered of a path. A directory has a record for its entries as well.
  struct Record: Equatable, Sendable {
    /// The content with which the latest run began, if it is known: the path has changed in a round
    /// before, and not since.
    var knownContent: PathContent?
    /// The content when the path was judged in the present round.
    var judgedContent: PathContent?
    /// How often in a row the path, or the entries of the directory, have changed during runs.
    var suspicion = Suspicion()
    /// How often it has led to starts.
    var limit = StartLimit(share: 1)
    /// The change that has not been judged.
    var unjudged: PendingChange?
    /// The judged change for which the next follow-up is due.
    var due: PendingChange?
    /// Whether a change was judged to require a run, so that runs which reached their ends may have made it.
    var wasJudged = false
    /// Whether others are known to change the path.
    var isEdited = false
    /// Whether it has come and gone in a run before.
    var isTemporary = false
    /// What proves that runs write the path.
    var proof = OutputProof()
    /// Whether a delay for the path has been announced, and one at rest.
    var (isAnnounced, isNamed) = (false, false)
    /// How often the path was reported in the present round.
    var reportCount = 0
    /// The same in the round before.
    var formerReportCount = 0
    /// The round in which the path changed last.
    var lastRound = 0
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
  mutating func add(_ changes: [PendingChange], areCounted: Bool = true) {
    for var change in changes {
      change.isCounted = areCounted
      for key in keys(of: change) { records[key, default: Record()].lastRound = roundCount }
      records[change.path]?.reportCount += 1
      if records[change.path]?.unjudged == nil {
        records[change.path]?.unjudged = change
        unjudged.append(change.path)
      } else {
        records[change.path]?.unjudged?.add(change)
      }
    }
  }

  /// Removes the changes that have not been judged, and returns them in order.
  mutating func takeUnjudged() -> [PendingChange] {
    defer { (unjudged, latestMade) = ([], nil) }
    return unjudged.compactMap { path in
      let change = records[path]?.unjudged
      update(path) { $0.unjudged = nil }
      return change
    }
  }

  /// Marks what others have changed. Its contents are unknown from then on.
  mutating func markEdited(_ change: PendingChange) {
    for key in keys(of: change) {
      var record = records[key] ?? Record()
      // Outputs are removed together, as by `make clean`, and stay outputs.
      let isRemoval = change.isOfEntry && !change.wasAbsent
      let kind = FileKind(key)
      let isOfKind = key == change.path && !isRemoval && kind.ending != nil
      if isOfKind && editedKinds.count < Self.mostKinds { editedKinds.insert(kind) }
      record.isEdited = record.isEdited || !(isRemoval && isProved(key))
      (record.knownContent, record.judgedContent, record.lastRound) = (nil, nil, roundCount)
      records[key] = record
    }
  }

  /// Cancels the follow-up that is due, now or after a delay.
  mutating func cancelFollowUp() {
    for path in followUp?.paths ?? [] { update(path) { $0.due = nil } }
    followUp = nil
  }
}

extension ChangeJudge.Record {
  /// Whether nothing is lost without the record.
  fileprivate var isEmpty: Bool {
    var rest = self
    (rest.lastRound, rest.wasJudged) = (0, false)
    if !limit.matters { rest.limit = StartLimit(share: 1) }
    return rest == ChangeJudge.Record()
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
