import FileObservation
import Support

// The course of a round: its runs begin and end, and what they changed is read.

extension Rounds {
  /// A run begins that opens a round. What it must be told: whatever is owed is paid by it.
  mutating func began(_ trigger: RunTrigger, at now: Instant, reading read: Reader) -> RunTrigger {
    rereadJudged(read)
    // What was not judged is what this round begins with.
    let rest = touched
    for (touch, content) in zip(rest, read(rest.map { ($0.path, $0.isMovedAsWhole) })) {
      judged[touch.path] = content
    }
    var all = debt.map { $0.trigger.merged(with: trigger) } ?? trigger
    let untold = takeTouched()
    if !untold.changes.isEmpty { all = all.merged(with: untold) }
    let isFollowUp = trigger.isChange
    if !isFollowUp { all.reason = trigger.reason }
    (known, judged) = (judged, [:])
    if !hasEnded { endRows() }
    (knownDirectories, changedDirectories, changedKeys) = (changedDirectories, [], [])
    hasEnded = false
    debt = nil
    (depth, nextDepth) = (isFollowUp ? nextDepth : 0, 0)
    (isReading, isStopped) = (false, false)
    _ = makeGeneration()
    lastLaunch = now
    return all
  }

  /// A further run of the present round begins.
  mutating func launched(at now: Instant) {
    lastLaunch = now
  }

  /// A path that did not change in this round has been left alone by its command.
  private mutating func endRows() {
    tries = tries.filter { changedKeys.contains($0.key) }
  }

  /// Nothing is under way any more that ends by itself.
  ///
  /// - Parameters:
  ///   - isLive: Whether something still runs that belongs to the round.
  ///   - ignoresChanges: Whether what changed during the last run leads to nothing.
  mutating func workEnded(isLive: Bool = false, ignoresChanges: Bool = false) -> [Action] {
    isReading = true
    isOver = !isLive
    self.ignoresChanges = ignoresChanges
    return [.read(generation: makeGeneration())]
  }

  /// Everything that changed up to the end of the work has been reported.
  mutating func hasRead(generation: Int, at now: Instant, reading read: Reader) -> [Action] {
    guard isReading, generation == self.generation else { return [] }
    isReading = false
    if isOver {
      endRows()
      (hasEnded, changedKeys) = (true, [])
    }
    if isStopped {
      isStopped = false
      let rest = takeTouched()
      return rest.changes.isEmpty ? [] : [.keep(rest)]
    }
    let start = isLive ? lastLaunch ?? now : now
    return judge(from: start, isLive: isLive, depth: depth + 1, at: now, read)
  }

  /// A person stops what is under way: nothing follows from the present round.
  mutating func stopped() -> [Action] {
    var rest = takeTouched()
    if let debt { rest = debt.trigger.merged(with: rest) }
    debt = nil
    isStopped = true
    // A delay that is running is void. An answer that is awaited is not.
    if !isReading { _ = makeGeneration() }
    return rest.changes.isEmpty ? [] : [.keep(rest)]
  }

  /// A person wants runs again before the stopped round has ended.
  mutating func resumed() {
    isStopped = false
  }

  /// The time that was asked for has come.
  mutating func elapsed(generation: Int) -> [Action] {
    guard generation == self.generation, !isReading, debt != nil || !touched.isEmpty else {
      return []
    }
    // The next run must not begin with changes that are not reported: their paths would be compared
    // with older contents.
    (isReading, isOver, ignoresChanges) = (true, false, false)
    return [.read(generation: makeGeneration())]
  }

  private mutating func takeTouched() -> RunTrigger {
    defer { (touched, touchedIndex, sawOverflow) = ([], [:], false) }
    return RunTrigger(
      sawOverflow ? .overflow : .change, changes: touched.compactMap(\.change))
  }
}
