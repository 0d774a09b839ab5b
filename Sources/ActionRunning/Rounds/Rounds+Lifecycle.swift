import FileObservation
import Support
import SystemCalls

// The course of a round: its runs begin and end, and its changes are read.

extension Rounds {
  /// Begins a round. Its first run receives all changes that no run has received, so that a
  /// follow-up is no longer due.
  ///
  /// - Parameter files: The time by the clock of files.
  mutating func began(at now: Instant, files: FileTime, _ knowledge: Knowledge) {
    for (path, state) in knowledge.files where records[path]?.judgedContent?.isRead == true {
      records[path]?.judgedContent = state.content
    }
    // The round begins with the present contents of the paths that have not been judged.
    for change in takeUnjudged() {
      records[change.path, default: Record()].judgedContent = knowledge.content(of: change.path)
    }
    if observation?.hasLaunched == true { observation = nil }
    observation?.hasLaunched = true
    // A run that ended by itself has changed all that it changes.
    let time = hasEnded ? .seconds(86_400) : offset(at: now)
    common.began(after: time)
    roundCount += 1
    updateAll { record in
      record.count.began(after: time)
      record.beginRound()
    }
    forgetOldest()
    (hasEnded, isStopped) = (false, false)
    (followUp, flushReason) = (nil, nil)
    _ = makeGeneration()
    lastLaunch = (now, files)
  }

  /// Another run of the present round begins.
  mutating func launched(at now: Instant, files: FileTime) {
    lastLaunch = (now, files)
    observation?.hasLaunched = true
  }

  /// All work that ends by itself has ended.
  ///
  /// - Parameter isLive: Whether a run of the round is still active.
  mutating func workEnded(isLive: Bool = false) -> [Action] {
    flushReason = isLive ? .work : .end
    return [.flush(generation: makeGeneration())]
  }

  /// Judges the changes so far in the middle of a round, before a dependent task starts. If a
  /// flush is under way, its end is the answer.
  mutating func checkpoint() -> [Action] {
    if isFlushing { return [] }
    flushReason = .checkpoint
    return [.flush(generation: makeGeneration())]
  }

  /// Judges the changes: everything that changed before the flush has been reported.
  mutating func hasFlushed(
    generation: Int, at now: Instant, _ knowledge: Knowledge
  ) -> [Action] {
    guard let reason = flushReason, generation == self.generation else { return [] }
    flushReason = nil
    if reason == .end { (hasEnded, lastReport) = (!isStopped, now) }
    if isStopped {
      // After a checkpoint, the stopped runs have yet to end.
      isStopped = reason == .checkpoint
      _ = takeUnjudged()
      return []
    }
    if reason == .delay && restartsOnChange { return judgeLive(at: now, knowledge) }
    let actions = judge(areOfRuns: reason != .delay, at: now, knowledge)
    // In the middle of a round, the follow-up may change something yet.
    if reason == .checkpoint && observation?.hasLaunched == true { return actions }
    return concludeObservation(knowledge) + actions
  }

  /// The user stops the runs. The present round has no follow-up; a later run receives its changes.
  mutating func stopped() -> [Action] {
    _ = takeUnjudged()
    cancelFollowUp()
    isStopped = true
    // A delay is cancelled, but a flush that is under way is not.
    if !isFlushing { _ = makeGeneration() }
    return []
  }

  /// The user requests runs before the stopped round has ended.
  mutating func resumed() {
    isStopped = false
  }

  /// A delay has ended.
  mutating func elapsed(generation: Int) -> [Action] {
    guard generation == self.generation, !isFlushing, owesRun || !unjudged.isEmpty else {
      return []
    }
    // Unreported changes must be known before the next run, or their paths would be compared with
    // older contents.
    flushReason = .delay
    return [.flush(generation: makeGeneration())]
  }

  /// Forgets the paths that have not changed for the longest time, if there are too many.
  private mutating func forgetOldest() {
    let excess = records.count - Self.mostRecords
    if excess <= 0 { return }
    let oldest = records.sorted { $0.value.lastRound < $1.value.lastRound }
    for (path, _) in oldest.prefix(excess + Self.mostRecords / 4) { records[path] = nil }
  }
}

extension Rounds.Record {
  fileprivate mutating func beginRound() {
    // What has not changed since then still holds that.
    (knownContent, judgedContent) = (judgedContent ?? knownContent, nil)
    (entriesChangedBefore, entriesChanged) = (entriesChanged, false)
    due = nil
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
