import FileObservation
import Support

// The course of a round: its runs begin and end, and their changes are read.

extension Rounds {
  /// Begins a round, and returns its trigger with all that is owed a run.
  mutating func began(_ trigger: RunTrigger, at now: Instant, reading read: Reader) -> RunTrigger {
    rereadJudged(read)
    // Changes that were not judged belong to the content with which this round begins.
    let rest = touched.take()
    for (touch, content) in zip(rest.entries, rest.contents(read)) { judged[touch.path] = content }
    var all = debt.map { $0.trigger.merged(with: trigger) } ?? trigger
    let unreported = rest.trigger
    if !unreported.changes.isEmpty { all = all.merged(with: unreported) }
    let isFollowUp = trigger.isChange
    if !isFollowUp { all.reason = trigger.reason }
    (known, judged) = (judged, [:])
    if !hasEnded { endRows() }
    (knownDirectories, changedDirectories, changedKeys) = (changedDirectories, [], [])
    hasEnded = false
    debt = nil
    (depth, nextDepth) = (isFollowUp ? nextDepth : 0, 0)
    (reading, isStopped) = (nil, false)
    _ = makeGeneration()
    lastLaunch = now
    return all
  }

  /// Another run of the present round begins.
  mutating func launched(at now: Instant) {
    lastLaunch = now
  }

  /// A path that did not change in this round ends its series of follow-ups.
  private mutating func endRows() {
    tries = tries.filter { changedKeys.contains($0.key) }
  }

  /// All work that ends by itself has ended.
  ///
  /// - Parameters:
  ///   - isLive: Whether a run of the round is still active.
  ///   - ignoresChanges: Whether changes during the last run are ignored.
  mutating func workEnded(isLive: Bool = false, ignoresChanges: Bool = false) -> [Action] {
    reading = Reading(endsRound: !isLive, ignoresChanges: ignoresChanges)
    return [.read(generation: makeGeneration())]
  }

  /// Everything that changed up to the end of the work has been reported.
  mutating func hasRead(generation: Int, at now: Instant, reading read: Reader) -> [Action] {
    guard let ended = reading, generation == self.generation else { return [] }
    reading = nil
    if ended.endsRound {
      endRows()
      (hasEnded, changedKeys) = (true, [])
    }
    if isStopped {
      isStopped = false
      let rest = touched.take().trigger
      return rest.changes.isEmpty ? [] : [.keep(rest)]
    }
    let start = isLive ? lastLaunch ?? now : now
    return judge(from: start, isLive: isLive, depth: depth + 1, at: now, read)
  }

  /// The user stops the runs: nothing follows from the present round.
  mutating func stopped() -> [Action] {
    var rest = touched.take().trigger
    if let debt { rest = debt.trigger.merged(with: rest) }
    debt = nil
    isStopped = true
    // A delay that is running is cancelled, but a flush that is under way is not.
    if !isReading { _ = makeGeneration() }
    return rest.changes.isEmpty ? [] : [.keep(rest)]
  }

  /// The user requests runs before the stopped round has ended.
  mutating func resumed() {
    isStopped = false
  }

  /// A delay has ended.
  mutating func elapsed(generation: Int) -> [Action] {
    guard generation == self.generation, !isReading, debt != nil || !touched.isEmpty else {
      return []
    }
    // Unreported changes must be known before the next run, or their paths would be compared with
    // older contents.
    reading = Reading()
    return [.read(generation: makeGeneration())]
  }
}
