import FileObservation
import Support
import SystemCalls

// The course of a round: its runs begin and end, and its changes are read.

extension Rounds {
  /// Begins a round. Its first run receives all changes that no run has received, so that a
  /// follow-up is no longer due.
  ///
  /// - Parameter isFollowUp: Whether changes led to the round, and not a key or a restart.
  mutating func began(isFollowUp: Bool, at now: Instant, _ facts: Facts) {
    rereadJudged(facts.contents)
    // The round begins with the present contents of the paths that have not been judged.
    let pending = takeUnjudged()
    for (change, content) in zip(pending, contents(of: pending, facts)) {
      records[change.path, default: Record()].judgedContent = content
    }
    if trial?.hasLaunched == true { trial = nil }
    trial?.hasLaunched = true
    let ran = lastLaunch?.duration(to: now) ?? .zero
    let endsCounts = !hasEnded
    updateAll { record in
      if endsCounts { record.endCount(ifUnchangedUntil: 1.5, ran: ran) }
      record.beginRound()
    }
    (hasEnded, isStopped) = (false, false)
    (followUp, reading) = (nil, nil)
    (depth, nextDepth) = (isFollowUp ? nextDepth : 0, 0)
    _ = makeGeneration()
    lastLaunch = now
  }

  /// Another run of the present round begins.
  mutating func launched(at now: Instant) {
    lastLaunch = now
    trial?.hasLaunched = true
  }

  /// All work that ends by itself has ended.
  ///
  /// - Parameter isLive: Whether a run of the round is still active.
  mutating func workEnded(isLive: Bool = false) -> [Action] {
    reading = isLive ? .work : .end
    return [.read(generation: makeGeneration())]
  }

  /// Judges the changes so far in the middle of a round, before a dependent task starts. If a
  /// reading is under way, its end is the answer.
  mutating func checkpoint() -> [Action] {
    if isReading { return [] }
    reading = .checkpoint
    return [.read(generation: makeGeneration())]
  }

  /// Judges the changes: everything that changed before the flush has been reported.
  mutating func hasRead(generation: Int, at now: Instant, _ facts: Facts) -> [Action] {
    guard let ended = reading, generation == self.generation else { return [] }
    reading = nil
    if ended == .end {
      let ran = lastLaunch?.duration(to: now) ?? .zero
      updateAll { record in
        record.endCount(ifUnchangedUntil: 1.1, ran: ran)
        record.hasChanged = false
      }
      (hasEnded, lastReport) = (true, now)
    }
    if isStopped {
      // After a checkpoint, the stopped runs have yet to end.
      isStopped = ended == .checkpoint
      _ = takeUnjudged()
      return []
    }
    if ended == .delay && isLive { return judgeLive(at: now, facts) }
    let actions = judge(depth: depth + 1, areOfRuns: ended != .delay, at: now, facts)
    return concludeTrial(facts) + actions
  }

  /// The user stops the runs. The present round has no follow-up; a later run receives its changes.
  mutating func stopped() -> [Action] {
    _ = takeUnjudged()
    cancelFollowUp()
    isStopped = true
    // A delay is cancelled, but a flush that is under way is not.
    if !isReading { _ = makeGeneration() }
    return []
  }

  /// The user requests runs before the stopped round has ended.
  mutating func resumed() {
    isStopped = false
  }

  /// A delay has ended.
  mutating func elapsed(generation: Int) -> [Action] {
    guard generation == self.generation, !isReading, owesRun || !unjudged.isEmpty else {
      return []
    }
    // Unreported changes must be known before the next run, or their paths would be compared with
    // older contents.
    reading = .delay
    return [.read(generation: makeGeneration())]
  }

  /// Reads the contents of judged paths again, because they may have changed without a report. If
  /// there are too many, none is read.
  private mutating func rereadJudged(_ read: Reader) {
    let paths = records.compactMap { path, record in
      record.judgedContent?.isRead == true ? (path: path, isMovedAsWhole: false) : nil
    }
    guard paths.count <= ContentReader.mostFiles else { return }
    for (entry, content) in zip(paths, read(paths)) {
      records[entry.path]?.judgedContent = content
    }
  }
}

extension Rounds.Record {
  /// Resets the count of follow-ups if the path did not change in the round, although the run lasted
  /// until it would have changed.
  fileprivate mutating func endCount(ifUnchangedUntil factor: Double, ran: Duration) {
    if hasChanged || ran <= (offset ?? .zero) * factor { return }
    (followUps, offset, suspicion, restartDelay) = (nil, nil, min(suspicion, 0), .zero)
  }

  fileprivate mutating func beginRound() {
    (knownContent, judgedContent) = (judgedContent, nil)
    (entriesChangedBefore, entriesChanged) = (entriesChanged, false)
    (hasChanged, due) = (false, nil)
  }
}

extension PathContent {
  /// Whether reading the path again compares more than inodes and times.
  fileprivate var isRead: Bool {
    switch self {
    case .absent, .file, .link: true
    case .directory, .special, .stamp: false
    }
  }
}
