import FileObservation
import Support
import SystemCalls

// Handles changes that are reported: judges them at once, or keeps them for the end of the round.

extension ChangeJudge {
  /// The paths that have to be read for a step: those of changes that are judged now.
  func pathsToRead(
    _ changes: [ChangeBatch.Change] = []
  ) -> [(path: Path, isMovedAsWhole: Bool)] {
    var paths = unjudged.compactMap { path in
      records[path]?.unjudged.map { (path, $0.isMovedAsWhole) }
    }
    var known = Set(unjudged)
    for change in changes.flatMap({ PendingChange.all(of: $0) })
    where known.insert(change.path).inserted {
      paths.append((change.path, change.isMovedAsWhole))
    }
    return paths
  }

  /// The paths that have to be read when a run starts: those whose contents are known as well, because they may
  /// have changed without a report.
  var pathsToReadAtStart: [(path: Path, isMovedAsWhole: Bool)] {
    let known = records.filter { _, record in
      record.unjudged == nil && (record.judgedContent ?? record.knownContent)?.isRead == true
    }
    let isFew = known.count + unjudged.count <= ContentReader.mostFiles
    return pathsToRead() + (isFew ? known.keys.map { ($0, false) } : [])
  }

  /// Handles changes that were reported, with the evidence about each path.
  mutating func changed(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict], _ situation: Situation,
    at now: Instant, _ knowledge: Knowledge
  ) -> [Action] {
    let changes = changes.flatMap { PendingChange.all(of: $0, evidence) }
    if isFlushing || isStopped && situation.isOwn {
      note(changes, at: now, isInterruptible: hasInterruptibleService)
      let others = isFlushing ? [] : changes.filter { $0.verdict == .others }
      add(changes.filter { !others.contains($0) })
      return others.isEmpty ? [] : explain(others) + runAtOnce(others)
    }
    switch situation {
    case .idle:
      return changedAtRest(changes, at: now, knowledge)
    case .running:
      // Also while a service is being stopped.
      note(changes, at: now, isInterruptible: hasInterruptibleService)
      add(changes)
      return []
    case .building:
      return changedInBuild(changes, at: now, knowledge)
    case .interruptible:
      let found = endObservation(for: changes, at: now)
      add(changes, areCounted: false)
      return found + judgeBesideActiveRun(at: now, knowledge)
    case .leftovers, .othersRunning:
      // Nothing runs that the user could have stopped.
      isStopped = false
      let isLeft = situation == .leftovers
      // Later, a person saves one file after the other: that processes which were there before may have made
      // all changes says nothing of these runs.
      let isEcho = lastReport.map { $0.duration(to: now) <= Self.echoTime } ?? true
      note(changes, at: now, mayBeOfRound: isLeft, countForAll: !isLeft || isEcho)
      add(changes)
      return judge(areOfRuns: false, at: now, knowledge)
    }
  }

  /// Counts changes for their keys, or against them.
  ///
  /// - Parameters:
  ///   - mayBeOfRound: Whether processes of the round are there that may have made them, even after its end.
  ///   - countForAll: Whether they count for all paths together as well.
  mutating func note(
    _ changes: [PendingChange], at now: Instant, isInterruptible: Bool = false,
    mayBeOfRound: Bool = false, countForAll: Bool = true
  ) {
    let offset = offset(at: now)
    isBesideLasting = isInterruptible || mayBeOfRound
    // What changes later than an echo of the latest run follows a run without the change.
    let isLater =
      hasEnded && !mayBeOfRound && lastReport.map { $0.duration(to: now) > Self.echoTime } ?? false
    for change in changes {
      if isLater && change.verdict != .run {
        for key in keys(of: change) where records[key]?.count.hasChanged == false {
          records[key]?.count.reset()
        }
      }
      // What is delayed for its own sake says nothing of other paths.
      let isCommon = records[change.path]?.count.isProved != true
      for key in keys(of: change) {
        records[key, default: Record()].count.changed(
          change.verdict, at: offset, isInFinite: !isBesideLasting)
      }
      if change.verdict == .others || isCommon && countForAll {
        common.changed(change.verdict, at: offset, isInFinite: !isBesideLasting)
      }
      switch change.verdict {
      case .others: markEdited(change)
      case .run: records[change.path]?.proof.wasOpen = true
      case .unknown: break
      }
    }
  }

  /// The keys that a change counts for.
  func keys(of change: PendingChange) -> [Path] {
    change.isOfEntry ? [change.path, change.path.directory] : [change.path]
  }

  private mutating func changedAtRest(
    _ changes: [PendingChange], at now: Instant, _ knowledge: Knowledge
  ) -> [Action] {
    let echoes = changes.filter { isEcho($0, at: now) }
    note(echoes, at: now)
    add(echoes)
    if echoes.count < changes.count {
      return changedByOthers(changes.filter { !isEcho($0, at: now) }, at: now)
    }
    // They are judged with the changes for which the follow-up is due.
    return owesRun ? [] : judge(at: now, knowledge)
  }

  /// Whether a change may follow from what was reported of the runs.
  private func isEcho(_ change: PendingChange, at now: Instant) -> Bool {
    guard let lastReport else { return false }
    if change.verdict == .run { return true }
    guard lastReport.duration(to: now) < Self.echoTime, let record = records[change.path] else {
      return false
    }
    return !record.isEdited && record.judgedContent != nil && record.count.repetitions > 0
  }

  /// Whether changes at rest may be judged, so that their paths have to be read.
  func mayHaveEchoes(_ evidence: [Path: Verdict], at now: Instant) -> Bool {
    lastReport.map { $0.duration(to: now) < Self.echoTime } ?? false
      || evidence.values.contains(.run)
  }

  /// Begins a round immediately, because no run can have made these changes, unless changes have answered to each run
  /// for long.
  private mutating func changedByOthers(
    _ changes: [PendingChange], at now: Instant
  ) -> [Action] {
    // Of a large batch, such as a checkout, its beginning is enough if there is nothing to forget.
    let isKnown = records.values.contains { $0.knownContent != nil || $0.count.repetitions > 0 }
    for change in isKnown ? changes[...] : changes.prefix(ContentReader.mostFiles) {
      markEdited(change)
      for key in keys(of: change) { records[key]?.count.reset() }
    }
    common.reset()
    answers.add(lastReport?.duration(to: now) ?? .zero, round: roundCount)
    return answers.delay == .zero
      ? runAtOnce(changes) : follow(changes, after: answers.delay, at: now)
  }

  /// Requests a run for changes of which others have made at least one. It receives all changes, also those
  /// that were delayed, possibly for other tasks.
  mutating func runAtOnce(_ changes: [PendingChange]) -> [Action] {
    let paths = changes.map(\.path)
    let delayed = followUp?.paths.filter { !paths.contains($0) } ?? []
    cancelFollowUp()
    (observation, isStopped) = (nil, false)
    // The delay is over; a flush goes on.
    if !isFlushing { _ = makeGeneration() }
    return [.run(paths + delayed)]
  }

  /// The paths of which it must be known, in a build, whether compilers make such files.
  func pathsToClassify(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict]
  ) -> [Path] {
    changes.filter { change in
      (change.kind == .modified || isOfEditedKind(change.path)) && records[change.path] == nil
        && evidence[change.path] != .run
    }.prefix(ContentReader.mostFiles).map(\.path)
  }

  /// The paths that others may have changed in a build, of which it must be known what they hold.
  func pathsToCompare(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict]
  ) -> [(path: Path, isMovedAsWhole: Bool)] {
    changes.filter { change in
      switch evidence[change.path] {
      case .others: true
      case .run: false
      case .unknown, nil: records[change.path]?.isEdited == true
      }
    }.prefix(ContentReader.mostFiles).map { ($0.path, false) }
  }

  /// Keeps changes during a build, which are judged at its end, unless they stop it.
  private mutating func changedInBuild(
    _ changes: [PendingChange], at now: Instant, _ knowledge: Knowledge
  ) -> [Action] {
    let time = offset(at: now)
    let others = changes.filter { stopsBuild($0, after: time, knowledge) }
    for change in others where records[change.path].map({ isInRow($0, after: time) }) ?? false {
      // At another time than before: a person saves again, or the machine is slow.
      records[change.path]?.count.doubt()
      common.doubt()
    }
    let paths = Set(others.map(\.path))
    // What others have left as it was stays known.
    note(
      changes.filter { paths.contains($0.path) || $0.verdict != .others }, at: now)
    add(changes.filter { !paths.contains($0.path) })
    if others.isEmpty { return [] }
    // The build begins anew, with what they hold now, and what changes then counts again.
    for change in others {
      for key in keys(of: change) { records[key]?.count.answered() }
      if let state = knowledge.files[change.path] {
        records[change.path]?.judgedContent = state.content
      }
    }
    common.answered()
    return explain(others) + runAtOnce(others)
  }

  /// Whether people edit files of this kind, which a name without an ending does not tell.
  private func isOfEditedKind(_ path: Path) -> Bool {
    let kind = FileKind(path)
    return kind.ending != nil && editedKinds.contains(kind)
  }

  /// Whether a change stops a build: one that others are proved to make, or of a path that people type, or edit,
  /// unless it holds what it held when the build began. What a build writes changes at the same time after each
  /// start, so after a few changes in a row only one at another time does. One that changes one path after the
  /// other is not stopped for ever either (`TaskStateMachine.mostStops`).
  private func stopsBuild(
    _ change: PendingChange, after time: Duration, _ knowledge: Knowledge
  ) -> Bool {
    switch change.verdict {
    case .others:
      let known = records[change.path]?.knownContent
      return known == nil || known != knowledge.files[change.path]?.content
    case .run: return false
    case .unknown:
      guard let record = records[change.path] else {
        return (!change.wasAbsent || isOfEditedKind(change.path))
          && !knowledge.built.contains(change.path)
      }
      if isInRow(record, after: time) && !record.count.isAtOtherTime(time) { return false }
      if record.isEdited {
        return record.knownContent.map { $0 != knowledge.content(of: change.path) } ?? true
      }
      // Its former changes have stopped builds, so that none was judged.
      return record.count.repetitions > 0 && record.knownContent == nil
        && record.judgedContent == nil
    }
  }

  /// Whether the path has changed in more starts in a row than stop a build: in the fewer, the more of its work
  /// that costs.
  private func isInRow(_ record: Record, after time: Duration) -> Bool {
    typealias Rules = RepetitionCount.Rules
    let most = min(
      Self.longestRebuilding / max(time, .milliseconds(1)), Double(Rules.free + Rules.tests.finite))
    return record.count.repetitions >= max(Rules.free, Int(most))
  }
}
