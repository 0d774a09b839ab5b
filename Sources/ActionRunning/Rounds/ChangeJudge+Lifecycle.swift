import FileObservation
import Support
import SystemCalls

// The course of a round: its runs begin and end, and its changes are read.

extension ChangeJudge {
  /// Begins a round: runs are requested, which receive all changes that no run has received, so that a
  /// follow-up is no longer due. Their start may have to wait.
  ///
  /// - Parameters:
  ///   - files: The time by the clock of files.
  ///   - isComplete: Whether what the runs before have changed has been received: another graph starts tasks before that.
  mutating func began(at now: Instant, files: FileTime, isComplete: Bool = true) {
    if observation?.hasLaunched == true { observation = nil }
    observation?.hasLaunched = true
    let (time, isComplete) = (isComplete ? offset(at: now) : .zero, isComplete && hasEnded)
    common.began(after: time, isComplete: isComplete)
    roundCount += 1
    updateAll { record in
      record.suspicion.began(after: time, isComplete: isComplete)
      if record.suspicion.isEmpty && !record.isNamed { record.isAnnounced = false }
      record.beginRound()
    }
    forgetOldest()
    (hasEnded, isStopped) = (false, false)
    (followUp, flushReason) = (nil, nil)
    _ = makeGeneration()
    (lastLaunch, testedElsewhere, longestRun) = ((now, files), .zero, .zero)
  }

  /// A run of the present round starts: it finds what is known of the paths of `pathsToReadAtStart`, and has
  /// received what is not owed any more.
  ///
  /// - Parameter isOnlyReader: Whether no other task watches these paths.
  mutating func launched(
    at now: Instant, files: FileTime, _ knowledge: Knowledge = Knowledge(),
    isOnlyReader: Bool = true
  ) {
    longestRun = max(longestRun, offset(at: now))
    (lastLaunch, testedElsewhere) = ((now, files), .zero)
    hasEnded = false
    latestMade = nil
    observation?.hasLaunched = true
    for (path, state) in knowledge.files {
      let isReceived = isOnlyReader && !knowledge.owed.contains(path)
      update(path) { record in
        if isReceived {
          (record.knownContent, record.judgedContent) = (state.content, nil)
        } else {
          // Another task may have begun with something else.
          if record.knownContent != state.content { record.knownContent = nil }
          if record.judgedContent != state.content { record.judgedContent = nil }
        }
        if state.content != .absent { record.unjudged?.isNew = false }
      }
    }
    removeFromFollowUp(delayedPaths.filter { !knowledge.owed.contains($0) })
  }

  /// All work that ends by itself has ended.
  ///
  /// - Parameters:
  ///   - isServing: Whether a service of the round runs.
  ///   - hasSucceeded: Whether the services have ended with success. A build that fails in `make run` tells nothing of
  ///     one that does not.
  mutating func workEnded(isServing: Bool = false, hasSucceeded: Bool = true) -> [Action] {
    flushReason = isServing ? .work : .end
    endsByItself = endsByItself || !isServing && !isStopped && hasSucceeded
    return [.flush(generation: makeGeneration())]
  }

  /// Judges the changes so far in the middle of a round, before a dependent task starts. A flush that is under way
  /// may have begun before what the task changed last.
  mutating func checkpoint() -> [Action] {
    if flushReason == nil || flushReason == .ignored { flushReason = .checkpoint }
    return [.flush(generation: makeGeneration())]
  }

  /// A task has ended that ignores changes, and others run. Asks for what it has ignored.
  mutating func ignoringEnded() -> [Action] {
    flushReason = flushReason ?? .ignored
    return [.flush(generation: makeGeneration())]
  }

  /// Judges the changes: everything that changed before the flush has been reported.
  mutating func hasFlushed(
    generation: Int, at now: Instant, _ knowledge: Knowledge
  ) -> [Action] {
    guard let reason = flushReason, generation == self.generation else { return [] }
    flushReason = nil
    if reason == .ignored {
      return hasInterruptibleService && !unjudged.isEmpty
        ? judgeBesideActiveRun(at: now, knowledge, isBuilding: knowledge.isBuilding)
        : resumeFollowUp(at: now)
    }
    if reason == .end || reason == .work { workHasEnded(at: now) }
    if reason == .end {
      (hasEnded, lastReport) = (!isStopped, now)
    }
    if isStopped {
      // Before the end, the stopped runs have yet to end.
      isStopped = reason != .end
      return afterStop(takeUnjudged(), at: now, knowledge)
    }
    if reason == .delay && hasInterruptibleService {
      let age = latestMade.map { $0.duration(to: now) }
      let isBuilding = knowledge.isBuilding && age.map { $0 < Self.buildLooks.time } == true
      if age != nil && !isBuilding { endsByItself = false }
      return judgeBesideActiveRun(at: now, knowledge, isBuilding: isBuilding)
    }
    let actions = judge(areOfRuns: reason != .delay, at: now, knowledge)
    // In the middle of a round, the follow-up may change something yet.
    if reason == .checkpoint && observation?.hasLaunched == true { return actions }
    return concludeObservation(knowledge) + actions
  }

  private mutating func workHasEnded(at now: Instant) {
    workTime = max(longestRun, offset(at: now))
    updateAll { $0.suspicion.ended(at: now) }
    common.ended(at: now)
  }

  /// The user stops the runs. The present round has no follow-up; a later run receives its changes.
  ///
  /// - Parameter awaitsEnd: Whether runs are active, whose end is awaited.
  mutating func stopped(awaitsEnd: Bool = true) -> [Action] {
    _ = takeUnjudged()
    cancelFollowUp()
    isStopped = awaitsEnd
    // A delay is cancelled, but a flush that is under way is not.
    if !isFlushing { _ = makeGeneration() }
    return []
  }

  /// The changes that were made while the stopped runs ended: those of others begin a round, and the rest is
  /// only told.
  private mutating func afterStop(
    _ pending: [PendingChange], at now: Instant, _ knowledge: Knowledge
  ) -> [Action] {
    let owed = pending.filter { knowledge.owed.contains($0.path) }
    let others = owed.filter { $0.verdict == .others }
    if !others.isEmpty {
      let run = runAtOnce(others, at: now)
      return explain(others, at: now) + run
    }
    let told = owed.filter { change in
      change.verdict != .run && !isOutput(change)
        && records[change.path]?.knownContent != knowledge.content(of: change.path)
    }
    return told.isEmpty ? [] : [.announceOwed(told.map(\.path))]
  }

  /// The user requests runs before the stopped round has ended.
  mutating func resumed() -> [Action] {
    isStopped = false
    return []
  }

  /// Goes on where the judges were that this one replaces, without the paths of which no task is owed a change.
  mutating func goOn(at now: Instant, owed: Set<Path>) -> [Action] {
    removeFromFollowUp(delayedPaths.filter { !owed.contains($0) })
    if isFlushing { return [.flush(generation: makeGeneration())] }
    let look = awaitsBuild ? now.advanced(by: Self.buildLooks.pause) : nil
    return (due ?? look).map { [.wait(until: $0, generation: makeGeneration())] } ?? []
  }

  /// A delay has ended.
  mutating func elapsed(generation: Int) -> [Action] {
    guard generation == self.generation, owesRun || !unjudged.isEmpty else { return [] }
    // Unreported changes must be known before the next run, or their paths would be compared with
    // older contents.
    flushReason = .delay
    return [.flush(generation: makeGeneration())]
  }

  /// Forgets the paths that have not changed for the longest time, if there are too many.
  mutating func forgetOldest() {
    let excess = records.count - Self.mostRecords
    if excess <= 0 { return }
    var count = excess + Self.mostRecords / 4
    let rounds = records.values.map(\.lastRound).sorted()
    let oldest = rounds[min(count, rounds.count - 1)]
    for (path, record) in records where count > 0 {
      guard record.unjudged == nil, record.due == nil, record.lastRound <= oldest else { continue }
      records[path] = nil
      count -= 1
    }
  }
}

extension ChangeJudge.Record {
  fileprivate mutating func beginRound() {
    // What has not changed since then still holds that.
    (knownContent, judgedContent) = (judgedContent ?? knownContent, nil)
    (due, formerReportCount, reportCount) = (nil, reportCount, 0)
  }
}

extension PathContent {
  /// Whether reading the path again compares more than inodes and times.
  var isRead: Bool {
    switch self {
    case .absent, .file, .link: true
    case .directory, .special, .stamp: false
    }
  }
}
