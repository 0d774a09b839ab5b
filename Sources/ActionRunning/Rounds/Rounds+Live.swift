import Support
import SystemCalls

// Changes while a run is active that a change restarts or signals, such as a server.
//
// Nothing tells who made a change, but much speaks for the run or against it, and is counted in bits. A
// bit is a coincidence that happens in every second case: that the run writes something just when the
// path changes, though it seldom writes, or that the path changes at the same time after the start as in
// the run before. A process of the run that has the path open for writing is caught in the act.
//
// A person who saves at an even pace and a run that writes at its start look alike, until a restart is
// delayed: what the run writes is delayed with it, and what the person saves is not. So a path with some
// bits is tested by two delays that are too short to be noticed, and one with many bits after that is
// suspected: its restarts are delayed for longer and longer.

extension Rounds {
  private static let firstRestartDelay = Duration.seconds(1)
  /// The delays of two tests.
  private static let testDelays = (
    first: Duration.milliseconds(150), second: Duration.milliseconds(250)
  )
  /// The bits from which on a path is tested, and those from which on it is suspected: one coincidence in
  /// 4,000.
  private static let doubt = 6.0
  private static let guilt = 12.0
  /// The bits from which on even a path that no process of the run has written is suspected.
  private static let certainty = 40.0
  /// The bits of a change at the same time after the start as in the run before, at another time, and at
  /// the same time where nothing else is known.
  private static let sameTime = 2.5
  private static let otherTime = -1.0
  private static let sameTimeAlone = 4.0
  /// From so many bits on, writes are no coincidence.
  private static let significant = 3.0
  /// How much of the evidence counts for a chain of restarts for whatever paths, and how much of it is
  /// forgotten with each.
  private static let shareOfChain = 0.3
  /// After how long a run without such a change a chain has ended.
  private static let longestPauseInChain = Duration.seconds(30)
  private static let pause = Duration.milliseconds(200)
  /// How long changes are held while a run prepares its start. A person seldom creates files.
  private static let longestHold = Duration.milliseconds(250)
  private static let longestHoldOfCreated = Duration.seconds(3)
  private static let longestHoldOfRemoved = Duration.seconds(2)

  mutating func changedLive(
    _ changes: [PendingChange], at now: Instant, _ facts: Facts
  ) -> [Action] {
    let found = endTrial(for: changes, at: now, facts)
    add(changes)
    return found + judgeLive(at: now, facts)
  }

  /// Judges the changes of an active run by their evidence.
  mutating func judgeLive(at now: Instant, _ facts: Facts) -> [Action] {
    let ran = lastLaunch?.duration(to: now) ?? .zero
    if ran > Self.longestPauseInChain && followUp == nil { chain = Chain() }
    let pending = takeUnjudged()
    var clues: [Path: Clue] = [:]
    for (change, clue) in zip(pending, facts.clues(pending)) { clues[change.path] = clue }
    let held = pending.filter { isHeld($0, clues[$0.path]?.evidence ?? .none, at: now) }
    let heldPaths = Set(held.map(\.path))
    add(held)
    let found = compare(pending.filter { !heldPaths.contains($0.path) }, facts)
    for path in found.unchanged where clues[path]?.evidence != .before { markWritten(path) }
    var (others, outputs, differing): ([PendingChange], [Path], [PendingChange]) = ([], [], [])
    var judgments = found.unchanged.map { ChangeJudgment($0, .unchanged) }
    var offsets: [Path: Duration] = [:]
    for change in found.differing {
      let clue = clues[change.path] ?? Clue()
      let offset = (lastLaunch?.duration(to: now) ?? .zero) - clue.age
      if weigh(change, clue.evidence, offset: offset) {
        offsets[change.path] = offset
        others.append(change)
        judgments.append(
          ChangeJudgment(change.path, clue.evidence == .innocent ? .innocent : .moved))
      } else if records[change.path]?.origin == .output, !clue.excludesRun {
        outputs.append(change.path)
        judgments.append(ChangeJudgment(change.path, .output))
      } else {
        differing.append(change)
        let isRepeated = suspicion(of: change) >= Self.guilt
        judgments.append(
          ChangeJudgment(
            change.path, clue.evidence == .open ? .open : isRepeated ? .repeated : .unknown))
      }
    }
    let settled = found.settled(absorbing: outputs) + Self.explain(judgments)
    if !others.isEmpty {
      // The run receives all changes.
      let actions = changedByOthers(others, at: now)
      for change in others { setOffset(offsets[change.path] ?? .zero, of: change) }
      return settled + actions
    }
    return settled + restart(for: differing, clues, at: now) + waitForHeld(held, at: now)
  }

  private mutating func restart(
    for differing: [PendingChange], _ clues: [Path: Clue], at now: Instant
  ) -> [Action] {
    if differing.isEmpty { return resumeFollowUp(at: now) }
    let delays = differing.map { change in
      let isInnocent = clues[change.path]?.evidence == .innocent
      return min(
        nextDelay(of: change), isInnocent ? longestDelayOfInnocent(change) : Self.longestDelay)
    }
    let ownDelay = delays.min() ?? .zero
    let delay = max(ownDelay, nextDelay(after: chain.delay, suspicion: chain.suspicion))
    if followUp == nil { chain.delay = delay > ownDelay ? delay : .zero }
    for key in differing.flatMap(keys) where ownDelay > .zero && records[key]?.due == nil {
      records[key, default: Record()].restartDelay = ownDelay
    }
    // The first delay may prove to be wrong.
    return follow(
      differing, after: delay, isAnnounced: delay > Self.firstRestartDelay, at: now)
  }

  /// Only after many tests it is more probable that another process writes on behalf of the run.
  private func longestDelayOfInnocent(_ change: PendingChange) -> Duration {
    suspicion(of: change) < Self.certainty ? Self.testDelays.second : Self.longestDelay
  }

  private func nextDelay(of change: PendingChange) -> Duration {
    nextDelay(after: formerDelay(of: change), suspicion: suspicion(of: change))
  }

  private func nextDelay(after former: Duration, suspicion: Double) -> Duration {
    if suspicion < Self.doubt { return .zero }
    if former == .zero { return Self.testDelays.first }
    if suspicion < Self.guilt || former == Self.testDelays.first { return Self.testDelays.second }
    return former < Self.firstRestartDelay
      ? Self.firstRestartDelay : min(former * 8, Self.longestDelay)
  }

  private mutating func waitForHeld(_ held: [PendingChange], at now: Instant) -> [Action] {
    // A run that is requested receives them.
    if held.isEmpty || trial?.hasLaunched == false { return [] }
    let time = now.advanced(by: Self.pause)
    return [
      .wait(until: followUp.map { min($0.due, time) } ?? time, generation: makeGeneration())
    ]
  }

  // MARK: Evidence

  /// Counts a change for or against its path. Returns whether others have made it.
  private mutating func weigh(
    _ change: PendingChange, _ evidence: Evidence, offset: Duration
  ) -> Bool {
    if records[change.path]?.due != nil {
      if evidence == .innocent {
        forgive(change)
        return true
      }
      // The run has made its change, if any, unless it writes seldom, and now, or again and again.
      guard case .wrote(let bits) = evidence, bits < Self.significant,
        !isPeriodic(offset, formerOffset(of: change))
      else { return false }
      forgive(change, credit: Self.guilt)
      return true
    }
    if evidence == .before || evidence == .unknownTime { return false }
    let former = formerOffset(of: change)
    setOffset(offset, of: change)
    let isOutput = records[change.path]?.origin == .output
    switch evidence {
    case .before, .unknownTime:
      return false
    case .innocent:
      // Only a process that is no descendant of the run can write on its behalf.
      if former.map({ Self.isNear(offset, $0, isStrict: true) }) == true {
        addSuspicion(Self.sameTimeAlone, change)
        return false
      }
      forgive(change, credit: formerDelay(of: change) > .zero ? Self.guilt : 0)
      return true
    case .open:
      markWritten(change.path)
      addSuspicion(Self.guilt, change)
      return false
    case .launching, .launched:
      markWritten(change.path)
      let isNear = former.map { Self.isNear(offset, $0, isStrict: false) }
      addSuspicion(isNear.map { $0 ? Self.significant : Self.otherTime } ?? 0, change)
      return false
    case .wrote(let bits):
      let isNear = former.map { Self.isNear(offset, $0, isStrict: !isOutput) }
      if isNear == false, formerDelay(of: change) > .zero, bits < Self.significant {
        // It was not delayed with the run.
        forgive(change, credit: Self.guilt)
        return true
      }
      if isNear == false, formerDelay(of: change) == Self.testDelays.first {
        // It follows the writes of the run, and not its start: another test would show the same.
        for key in keys(of: change) {
          update(key) { $0.restartDelay = Self.testDelays.second }
        }
      }
      addSuspicion(
        bits + (isNear.map { $0 ? Self.sameTime : Self.otherTime } ?? 0), change)
      return isOutput && isNear == false
    case .none:
      let isNear = former.map { Self.isNear(offset, $0, isStrict: !isOutput) }
      if isNear == false {
        forgive(change)
      } else if isNear == true {
        addSuspicion(Self.sameTimeAlone, change)
      }
      return isOutput && isNear == false
    }
  }

  /// Whether a change may be the first half of one by the run: a linker removes its output before it
  /// writes it, and what a build makes is followed by the start of a program.
  private func isHeld(
    _ change: PendingChange, _ evidence: Evidence, at now: Instant
  ) -> Bool {
    if isEdited(change) || evidence == .innocent || evidence == .before { return false }
    let time = change.reported.duration(to: now)
    let record = records[change.path]
    if change.isRemoval { return record?.knownContent != nil && time < Self.longestHoldOfRemoved }
    if evidence == .launching && change.wasAbsent { return time < Self.longestHoldOfCreated }
    return time < Self.longestHold && (evidence == .launching || record?.origin.isWritten == true)
  }

  private static func isNear(_ one: Duration, _ other: Duration, isStrict: Bool) -> Bool {
    let tolerance =
      isStrict
      ? max(.milliseconds(25), other * 0.04) : max(.milliseconds(100), other * 0.3)
    return one - other <= tolerance && other - one <= tolerance
  }

  /// Whether the time after the start is a multiple of the one at which the path changed first.
  private func isPeriodic(_ offset: Duration, _ first: Duration?) -> Bool {
    guard let first, first > .zero else { return false }
    let periods = (offset / first).rounded() - 1
    return Self.isNear(offset - first * periods, first, isStrict: true)
  }

  // MARK: Counts

  /// The records that a change counts for: of its path, and of its directory.
  private func keys(of change: PendingChange) -> [Path] {
    change.isOfEntry ? [change.path, change.path.directory] : [change.path]
  }

  private func formerDelay(of change: PendingChange) -> Duration {
    keys(of: change).compactMap { records[$0]?.restartDelay }.max() ?? .zero
  }

  private func formerOffset(of change: PendingChange) -> Duration? {
    keys(of: change).compactMap { records[$0]?.offset }.first
  }

  private mutating func setOffset(_ offset: Duration, of change: PendingChange) {
    for key in keys(of: change) { records[key, default: Record()].offset = offset }
  }

  private func suspicion(of change: PendingChange) -> Double {
    keys(of: change).compactMap { records[$0]?.suspicion }.max() ?? 0
  }

  private mutating func addSuspicion(_ bits: Double, _ change: PendingChange) {
    if formerDelay(of: change) == .zero {
      chain.suspicion = max(chain.suspicion + (bits - 1) * Self.shareOfChain, 0)
    }
    for key in keys(of: change) {
      let suspicion = records[key]?.suspicion ?? 0
      // What others have proved to change is not delayed again so soon.
      records[key, default: Record()].suspicion =
        suspicion < 0 ? suspicion + max(bits, 1) : max(suspicion + bits, 0)
    }
  }

  /// Others change the path.
  private mutating func forgive(_ change: PendingChange, credit: Double = 0) {
    for key in keys(of: change) {
      update(key) { record in
        record.suspicion = min(record.suspicion, 0) - credit
        (record.restartDelay, record.followUps) = (.zero, nil)
      }
    }
  }
}
