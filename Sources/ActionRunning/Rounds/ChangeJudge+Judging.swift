import FileObservation
import Support
import SystemCalls

// Decides which changes require a follow-up, and when it is due.

extension ChangeJudge {
  /// Compares the contents of changed paths with the known ones. Those that differ require a
  /// follow-up.
  ///
  /// - Parameter areOfRuns: Whether runs of this round may have made the changes.
  mutating func judge(
    areOfRuns: Bool = true, at now: Instant, _ knowledge: Knowledge
  ) -> [Action] {
    let pending = takeUnjudged()
    let found = compare(pending, knowledge)
    let unchanged = found.unchanged.filter { $0.verdict != .others }.flatMap(keys)
    for key in Set(unchanged).subtracting(found.differing.flatMap(keys)) {
      records[key]?.suspicion.leftUnchanged()
    }
    if found.differing.isEmpty && !found.unchanged.isEmpty { common.leftUnchanged() }
    if areOfRuns { collectProofs(pending, unchanged: found.unchanged, knowledge) }
    let (outputs, differing) =
      areOfRuns && knowledge.hasOneWriter
      ? divide(found.differing, where: isOutput) : ([], found.differing)
    // What a run has rewritten needs no explanation.
    let saved = found.unchanged.filter { $0.verdict != .run }
    let decided = found.settled + explain(saved, .unchanged) + setAside(outputs)
    let next = followOrResume(differing, at: now)
    return decided + explain(differing, at: now) + next
  }

  /// Judges the changes beside an active run that a change restarts or signals.
  ///
  /// - Parameter isBuilding: Whether a build works in it, so that what it has made is judged later.
  mutating func judgeBesideActiveRun(
    at now: Instant, _ knowledge: Knowledge, isBuilding: Bool = false
  ) -> [Action] {
    forgetOldest()
    let pending = isBuilding ? takeNotMade(at: now, knowledge) : takeUnjudged()
    let found = compare(pending, knowledge)
    // A person may save what a run reads again, unchanged, but hardly when the run has changed it before.
    let time = offset(at: now)
    let written = found.unchanged.filter { $0.verdict != .others && isWritten($0, knowledge) }
    let rewritten = written.filter { records[$0.path]?.suspicion.isExpected(time) == true }
    note((found.differing + rewritten).filter { !$0.isCounted }, at: now, isBesideLasting: true)
    for change in written {
      for key in keys(of: change) { records[key]?.suspicion.wasRewritten() }
    }
    collectProofs(found.differing, unchanged: rewritten, knowledge)
    let (outputs, differing) = divide(found.differing, where: isOutput)
    let decided = found.settled + explain(found.unchanged, .unchanged) + setAside(outputs)
    let others = differing.filter { $0.verdict == .others }
    if others.contains(where: { delay(of: $0, at: now) == .zero }) {
      // Once all others' changes of a batch are known, none of it is delayed: the run receives all.
      let run = runAtOnce(differing, at: now)
      return decided + explain(differing, at: now) + run
    }
    if differing.isEmpty && !owesRun && awaitsBuild {
      let due = now.advanced(by: Self.buildLooks.pause)
      return decided + [.wait(until: due, generation: makeGeneration())]
    }
    let next = followOrResume(differing, at: now)
    return decided + explain(differing, at: now) + next
  }

  private mutating func followOrResume(_ differing: [PendingChange], at now: Instant) -> [Action] {
    differing.isEmpty
      ? resumeFollowUp(at: now)
      : follow(differing, after: delay(of: differing, at: now), at: now)
  }

  /// The changes for which this holds, and the others: both may be all files of a build or of a checkout.
  func divide(
    _ changes: [PendingChange], where holds: (PendingChange) -> Bool
  ) -> (those: [PendingChange], rest: [PendingChange]) {
    var (those, rest): ([PendingChange], [PendingChange]) = ([], [])
    for change in changes { if holds(change) { those.append(change) } else { rest.append(change) } }
    return (those, rest)
  }

  /// The result of a comparison.
  struct Comparison {
    /// The changes of owed paths whose contents differ from the known ones.
    var differing: [PendingChange] = []
    /// The changes of owed paths with known contents.
    var unchanged: [PendingChange] = []

    /// The actions for the paths that require no run.
    var settled: [Action] { unchanged.isEmpty ? [] : [.settle(unchanged.map(\.path))] }
  }

  private func setAside(_ outputs: [PendingChange]) -> [Action] {
    if outputs.isEmpty { return [] }
    let (open, closed) = divide(outputs, where: isKeptOpen)
    return (open.isEmpty ? [] : [.leave(open.map(\.path))])
      + (closed.isEmpty ? [] : [.setAside(closed.map(\.path))])
      + explain(outputs, .waits)
  }

  /// The first judgments, for a person to read.
  ///
  /// - Parameter now: The time, if the run that follows was decided.
  func explain(
    _ changes: [PendingChange], _ decision: ChangeExplanation.Decision = .run,
    at now: Instant? = nil
  ) -> [Action] {
    if changes.isEmpty { return [] }
    let delay = now.flatMap { now in due.map { now.duration(to: $0) } } ?? .zero
    return [
      .explain(
        changes.prefix(10).map { change in
          ChangeExplanation(
            path: change.path, decision: decision, verdict: change.verdict, delay: delay)
        })
    ]
  }

  /// Records the contents of the changed paths as judged, and compares them with the known ones.
  private mutating func compare(
    _ pending: [PendingChange], _ knowledge: Knowledge
  ) -> Comparison {
    var comparison = Comparison()
    var received: [Path] = []
    for change in pending {
      let content = knowledge.content(of: change.path)
      records[change.path, default: Record()].judgedContent = content
      if !knowledge.owed.contains(change.path) {
        received.append(change.path)
      } else if !isKnown(content, of: change) {
        comparison.differing.append(change)
        records[change.path]?.wasJudged = true
      } else if records[change.path]?.due == nil {
        // A follow-up that is due for the path remains due.
        comparison.unchanged.append(change)
      }
    }
    removeFromFollowUp(received)
    return comparison
  }

  private mutating func isKnown(_ content: PathContent, of change: PendingChange) -> Bool {
    let (record, kind) = (records[change.path], FileKind(change.path))
    if let known = record?.knownContent { return known == content }
    guard content == .absent && change.isNew else { return false }
    // What people have made may have been in the run. What runs make and remove is of one kind, or has one name.
    let wasTemporary = temporaryKinds.contains(kind)
    if temporaryKinds.count < Self.mostKinds { temporaryKinds.insert(kind) }
    records[change.path]?.isTemporary = true
    if record?.isEdited == true { return record?.isTemporary == true && change.verdict != .others }
    return wasTemporary || !editedKinds.contains(kind)
  }

  // MARK: Follow-ups

  /// Requires a follow-up for these changes after a delay.
  ///
  /// - Parameter isNamed: Whether a path is announced also if the delay is short.
  mutating func follow(
    _ changes: [PendingChange], after delay: Duration, at now: Instant, isNamed: Bool = false
  ) -> [Action] {
    failObservation()
    let followUp = add(changes, due: now.advanced(by: delay))
    let wait = max(now.duration(to: followUp.due), .zero)
    // A log of requests to a server is named before it waits for long.
    let isFrequent = isNamed || changes.contains { hasManyStarts($0, at: now) }
    let isNoticed = wait >= Suspicion.Rules.noticed || isFrequent
    let found = isNoticed ? announcement(of: changes, delay: wait, isFrequent: isFrequent) : []
    if wait == .zero { return found + run(followUp, at: now) }
    lastReport = now
    return found + [.wait(until: followUp.due, generation: makeGeneration())]
  }

  /// Whether a path has led to so many runs that it is named. A person saves often as well.
  private func hasManyStarts(_ change: PendingChange, at now: Instant) -> Bool {
    switch change.verdict {
    case .others: false
    case .unknown:
      limit(of: change, at: now) > .seconds(1)
        && keys(of: change).contains { records[$0]?.limit.isNamed(at: now) == true }
    case .run: records[change.path].map { !$0.isEdited && $0.limit.isNamed(at: now) } == true
    }
  }

  /// The shortest delay of these changes. Beside processes that do not end, one that is not delayed waits for the
  /// tests of others, which would show nothing otherwise.
  private func delay(of changes: [PendingChange], at now: Instant) -> Duration {
    let delays = changes.map { delay(of: $0, at: now) }
    let tests = isBesideLasting ? delays.filter { $0 <= Suspicion.Rules.test.most } : []
    return tests.max() ?? delays.min() ?? .zero
  }

  /// The delay of the follow-up that a change requires.
  private func delay(of change: PendingChange, at now: Instant) -> Duration {
    let own = keys(of: change).compactMap { records[$0]?.suspicion }
    let delays = (own + [common]).map {
      $0.delay(of: change.verdict, number: nextNumber)
    }
    return delays.reduce(limit(of: change, at: now), max)
  }

  /// The delay of what a change leads to, whatever is known of who has made it.
  func limit(
    of change: PendingChange, _ origin: StartLimit.Origin? = nil, at now: Instant
  ) -> Duration {
    let isOfOthers =
      change.verdict == .others
      || change.verdict == .unknown && records[change.path]?.isEdited == true
    let origin = origin ?? (isOfOthers ? .others : .unknown)
    let own = keys(of: change).compactMap { records[$0]?.limit }
    let all = limit.delay(of: origin, at: now)
    // One that has hardly led to starts waits a little at most because of those that have.
    let isFew = own.allSatisfy { !$0.isFrequent(at: now) }
    return own.map { $0.delay(of: origin, at: now) }.reduce(
      isFew ? min(all, limit.shortest(at: now)) : all, max)
  }

  /// Something starts for these changes, also if it does not begin a round: what changes then counts again.
  mutating func started(for changes: [PendingChange], at now: Instant) {
    let keys = Set(changes.prefix(ContentReader.mostFiles).flatMap(keys))
    for key in keys {
      records[key, default: Record()].limit.started(at: now)
      records[key]?.suspicion.answered()
    }
    limit.started(at: now)
    common.answered()
    latestMade = nil
  }

  /// The number of the follow-up that is due next.
  var nextNumber: Int { followUpCount + (owesRun ? 0 : 1) }

  /// Adds changes to the follow-up, which is due at this time at the latest.
  private mutating func add(_ changes: [PendingChange], due: Instant) -> FollowUp {
    if self.followUp == nil { followUpCount += 1 }
    var followUp = self.followUp ?? FollowUp(due: due)
    // Not held twice, or its paths would be copied.
    self.followUp = nil
    followUp.due = min(followUp.due, due)
    for change in changes {
      if records[change.path]?.due == nil { followUp.paths.append(change.path) }
      records[change.path, default: Record()].due = change
    }
    self.followUp = followUp
    return followUp
  }

  /// Removes paths whose changes a run has received, and the follow-up if no path requires it then.
  mutating func removeFromFollowUp(_ received: [Path]) {
    guard received.contains(where: { records[$0]?.due != nil }) else { return }
    for path in received { update(path) { $0.due = nil } }
    let rest = followUp?.paths.filter { records[$0]?.due != nil } ?? []
    if rest.isEmpty { followUp = nil } else { followUp?.paths = rest }
  }

  /// Waits for the follow-up again after changes were read. It stays due at the same time.
  mutating func resumeFollowUp(at now: Instant) -> [Action] {
    guard let followUp else { return [] }
    if followUp.due <= now { return run(followUp, at: now) }
    return [.wait(until: followUp.due, generation: makeGeneration())]
  }

  /// Requests the run that is due.
  private mutating func run(_ followUp: FollowUp, at now: Instant) -> [Action] {
    let changes = followUp.paths.compactMap { records[$0]?.due }
    started(for: changes, at: now)
    // The run begins with this content, also if it does not begin a round.
    for path in followUp.paths { update(path) { $0.knownContent = $0.judgedContent } }
    beginObservation(of: followUp.paths)
    cancelFollowUp()
    _ = makeGeneration()
    return [.run(followUp.paths)]
  }

  // MARK: Announcements

  /// Announces once that runs change a path, when the tests have proved it, or that it has led to many.
  private mutating func announcement(
    of differing: [PendingChange], delay: Duration, isFrequent: Bool
  ) -> [Action] {
    let candidates = differing.flatMap { change in
      keys(of: change).map { key in
        (change: change, path: key, level: records[key]?.suspicion.level(change.verdict) ?? 0)
      }
    }
    // The directory, if its entries come and go.
    guard let most = candidates.max(by: { $0.level < $1.level }),
      records[most.path]?.isAnnounced != true
    else { return [] }
    records[most.path, default: Record()].isAnnounced = true
    if isFrequent { records[most.path]?.isNamed = true }
    let isDirectory = most.path != most.change.path
    let entries = isDirectory ? changedEntries(of: most.path, differing).prefix(2) : []
    let isEdited =
      records[most.path]?.isEdited == true || records[most.change.path]?.isEdited == true
    return [
      .announce(
        FeedbackLoop(
          path: most.path, entries: Array(entries), delay: delay, isEdited: isEdited,
          isProved: records[most.path]?.suspicion.isProved == true, isFrequent: isFrequent))
    ]
  }

  /// The entries of a directory that changed in the present round, then those of the round before.
  private func changedEntries(of directory: Path, _ differing: [PendingChange]) -> [Path] {
    let before = records.filter { $0.value.knownContent != nil && $0.key.directory == directory }
    return differing.map(\.path).filter { $0.directory == directory } + before.keys.sorted()
  }
}
