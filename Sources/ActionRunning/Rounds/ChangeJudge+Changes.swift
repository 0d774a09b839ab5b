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
    for change in PendingChange.all(of: changes)
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
  ///
  /// - Parameter time: When their burst began, if that is known: what follows a start is told by it.
  mutating func changed(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict], _ situation: Situation,
    at now: Instant, burst time: Instant? = nil, _ knowledge: Knowledge
  ) -> [Action] {
    let changes = PendingChange.all(of: changes, evidence, at: time)
    if isFlushing || isStopped && situation.isOwn {
      note(changes, at: now, isBesideLasting: hasInterruptibleService, in: workTime)
      add(changes.filter { isFlushing || $0.verdict != .others })
      let others = isFlushing ? [] : changes.filter { $0.verdict == .others }
      if others.isEmpty { return [] }
      let run = runAtOnce(others, at: now)
      return explain(others, at: now) + run
    }
    switch situation {
    case .idle:
      return changedAtRest(changes, at: now, knowledge)
    case .stopping:
      for change in changes where change.verdict == .others { markEdited(change) }
      add(changes)
      return []
    case .running, .building:
      let isBuilding = situation == .building
      let (saved, rest) = divide(changes) { isBuilding && stopsBuild($0, at: now, knowledge) }
      // What others have left as it was stays known.
      note(
        rest.filter { $0.verdict != .others || !isUnchanged($0, knowledge) }, at: now,
        isBesideLasting: hasInterruptibleService, in: workTime)
      // What people have saved meanwhile may be in the result, also if they take it back before the end.
      for change in rest where change.verdict == .unknown {
        guard let file = knowledge.files[change.path] else { continue }
        update(change.path) { if $0.knownContent != file.content { $0.knownContent = nil } }
      }
      add(rest)
      return stopBuild(for: saved, at: now, knowledge)
    case .interruptible, .buildingService:
      let isBuilding = situation == .buildingService
      let (saved, rest) = divide(changes) { isBuilding && stopsBuild($0, at: now, knowledge) }
      let stop = stopBuild(for: saved, at: now, knowledge)
      let isStopped = endsByItself && !saved.isEmpty && owesRun
      if isStopped { latestMade = nil }
      if rest.isEmpty { return stop }
      let found = endObservation(for: rest, at: now)
      add(rest, areCounted: false)
      // What the stopped build has made is judged when the delay has ended.
      if isStopped { return stop + found }
      return stop + found
        + judgeBesideActiveRun(at: now, knowledge, isBuilding: isBuilding && endsByItself)
    case .leftovers, .othersRunning:
      // Nothing runs that the user could have stopped.
      isStopped = false
      let isLeft = situation == .leftovers
      // Later, a person saves one file after the other: that processes which were there before may have made
      // all changes says nothing of these runs.
      let isEcho = lastReport.map { $0.duration(to: now) <= Self.echoTime } ?? true
      // What none of them has made is a change at rest.
      let (others, rest) = divide(changes) { $0.verdict == .others }
      note(rest, at: now, isBesideLasting: isLeft, countForAll: !isLeft || isEcho)
      add(rest)
      // The run receives what is judged now as well, if it watches that.
      let next = rest.isEmpty ? [] : judge(areOfRuns: false, at: now, knowledge)
      if others.isEmpty { return next }
      let run = changedByOthers(others, at: now)
      return next + explain(others, at: now) + run
    }
  }

  /// Counts changes for their keys, or against them.
  ///
  /// - Parameters:
  ///   - isBesideLasting: Whether processes that do not end by themselves may have made them.
  ///   - window: How long runs last that end by themselves, if one is active: a person saves at any time in it.
  ///   - countForAll: Whether they count for all paths together as well.
  mutating func note(
    _ changes: [PendingChange], at now: Instant, isBesideLasting: Bool = false,
    in window: Duration? = nil, countForAll: Bool = true
  ) {
    self.isBesideLasting = isBesideLasting
    let isBesideLoop = waitsForLoop
    for change in changes {
      let now = change.time ?? now
      let offset = offset(at: now)
      let window = isBesideLasting ? window : workTime
      // What is suspected itself says nothing of other paths.
      let isCommon = !keys(of: change).contains { records[$0]?.suspicion.isAboveFree == true }
      for key in keys(of: change) {
        var record = records[key] ?? Record()
        if isBesideLoop && change.verdict == .unknown && !record.isEdited {
          record.suspicion.beginBesideLoop()
        }
        record.suspicion.changed(change.verdict, at: now, after: offset, in: window)
        records[key] = record
      }
      if change.verdict == .others || isCommon && countForAll {
        common.changed(change.verdict, at: now, after: offset, in: window)
      } else {
        common.changedAside(at: now)
      }
      switch change.verdict {
      case .others: markEdited(change)
      case .run: records[change.path]?.proof.wasOpen = true
      case .unknown: break
      }
    }
  }

  /// Whether a run waits because of what follows the starts.
  private var waitsForLoop: Bool {
    delayedPaths.prefix(ContentReader.mostFiles).contains { path in
      let keys = records[path]?.due.map(keys) ?? []
      return keys.contains { records[$0]?.suspicion.isPaused == true }
    }
  }

  /// The keys that a change counts for.
  func keys(of change: PendingChange) -> [Path] {
    // A person makes files of such a kind, also where runs make others.
    change.isOfEntry && !editedKinds.contains(FileKind(change.path))
      ? [change.path, change.path.directory] : [change.path]
  }

  private mutating func changedAtRest(
    _ changes: [PendingChange], at now: Instant, _ knowledge: Knowledge
  ) -> [Action] {
    let (echoes, others) = divide(changes) { isEcho($0, at: now) }
    note(echoes, at: now)
    add(echoes)
    return others.isEmpty ? judge(at: now, knowledge) : changedByOthers(others, at: now)
  }

  /// Whether a change may follow from what was reported of the runs.
  private func isEcho(_ change: PendingChange, at now: Instant) -> Bool {
    guard let lastReport, change.verdict != .others else { return false }
    if change.verdict == .run { return true }
    guard lastReport.duration(to: now) < Self.echoTime, let record = records[change.path] else {
      return false
    }
    return !record.isEdited && record.judgedContent != nil && record.suspicion.level() > 0
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
    let isKnown = records.values.contains { $0.knownContent != nil || !$0.suspicion.isEmpty }
    for change in isKnown ? changes[...] : changes.prefix(ContentReader.mostFiles) {
      markEdited(change)
      for key in keys(of: change) { records[key]?.suspicion.reset() }
    }
    common.reset()
    guard let lastReport else { return runAtOnce(changes, .atRest, at: now) }
    let named = changes.prefix(ContentReader.mostFiles)
    let delay = answers.delay(
      for: Set(named.map { $0.wasAbsent ? $0.path.directory : $0.path }),
      after: lastReport.duration(to: now), at: now, round: roundCount, number: nextNumber)
    return runAtOnce(changes, after: delay, .atRest, at: now)
  }

  /// Requests a run for changes of which others have made at least one. It receives all changes, also those
  /// that were delayed, possibly for other tasks.
  ///
  /// - Parameter delay: The delay because runs have been answered for long.
  mutating func runAtOnce(
    _ changes: [PendingChange], after delay: Duration = .zero,
    _ origin: StartLimit.Origin = .others, at now: Instant
  ) -> [Action] {
    let limits = changes.prefix(ContentReader.mostFiles).map { limit(of: $0, origin, at: now) }
    let delay = max(delay, limits.min() ?? .zero)
    isStopped = false
    if delay > .zero {
      // At rest, only what answers to the runs for long is delayed, which is said once.
      let isNamed = origin == .atRest && changes.contains { records[$0.path]?.isNamed != true }
      if isNamed { for change in changes { update(change.path) { $0.isNamed = true } } }
      return follow(changes, after: delay, at: now, isNamed: isNamed)
    }
    started(for: changes, at: now)
    followUpCount += 1
    let paths = changes.map(\.path)
    let known = followUp == nil ? [] : Set(paths)
    let delayed = followUp?.paths.filter { !known.contains($0) } ?? []
    cancelFollowUp()
    observation = nil
    _ = makeGeneration()
    return [.run(paths + delayed)]
  }
}
