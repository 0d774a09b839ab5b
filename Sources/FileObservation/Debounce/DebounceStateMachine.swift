import Support

/// A state machine that decides when a burst of changes ends. It has no clock, queue or effects.
///
/// A burst ends after a quiet period, and at the latest `maximumWait` after its first change, so
/// that a continuous stream of changes is still delivered.
///
/// A growing quiet period remembers: a change soon after a burst that has ended belongs to the same
/// stream, so its burst begins with the longest gap of the stream instead of none. A pause that is
/// longer than the longest quiet period halves that gap; one of more than twice as long forgets it.
///
/// It also learns which changes are usually followed up (`FollowUpHabits`), and then waits for the
/// follow-up. Once that has come, the burst ends as if its writer had made no pause.
///
/// A change does not reset the timer. A timer that fires too early is replaced by one for the time
/// that is left, so a burst of 20,000 changes costs a handful of timers.
struct DebounceStateMachine: Sendable {
  enum Action: Equatable, Sendable {
    case none
    /// Call `timerFired` with this generation at that time; an earlier timer is void.
    case schedule(at: Instant, generation: Int)
    /// Deliver the changes so far. The burst goes on, and its timer stays.
    case deliver
    /// The burst has ended: deliver it. A timer that is still set is void.
    case fire
  }

  private struct Burst {
    let first: Instant
    var last: Instant
    /// The longest gap of the stream to which the burst belongs.
    var longestGap: Duration
    var isBeingWritten: Bool
    /// Whether a change has not been delivered by a flush.
    var isUndelivered = true
    /// When to check again whether the burst is held open; until then it is.
    var heldUntil: Instant?
  }

  private static let holdPause = Duration.milliseconds(25)
  static let longestHold = Duration.seconds(5)

  private let quietPeriod: QuietPeriod
  private let maximumWait: Duration
  /// The burst that is being collected.
  private var burst: Burst?
  /// The latest burst that has ended.
  private var latest: Burst?
  private var generation = 0
  /// The stream of changes to which the present burst belongs, or the latest one.
  private var stream = ChangeStream(at: Instant(offset: .zero))
  private var habits = FollowUpHabits()
  /// The quiet period that a follow-up needs which is usual and has not come yet.
  private var followUpWait: Duration?

  init(quietPeriod: QuietPeriod, maximumWait: Duration) {
    self.quietPeriod = quietPeriod
    self.maximumWait = maximumWait
  }

  /// Something changed. `isBeingWritten` if a file of the burst has been written to and not closed.
  mutating func changed(
    at now: Instant, isBeingWritten: Bool = false, _ events: [RawEvent] = []
  ) -> Action {
    guard var burst else {
      let burst = Burst(
        first: now, last: now, longestGap: rememberedGap(at: now), isBeingWritten: isBeingWritten)
      begin(burst, with: events)
      let end = end(of: burst)
      return end <= now ? finish(burst) : collect(burst, until: end)
    }
    let waitBefore = followUpWait
    if events.isEmpty || !follow(burst, with: events, at: now) {
      burst.longestGap = max(burst.longestGap, burst.last.duration(to: now))
    }
    burst.last = max(burst.last, now)
    burst.isUndelivered = true
    let endBefore = end(of: burst, followUpWait: waitBefore)
    burst.isBeingWritten = isBeingWritten
    let end = end(of: burst)
    // Only an end that has come nearer needs another timer. One that is past is left to the timer
    // that is due: it asks whether the burst is held open.
    if end < endBefore { return collect(burst, until: end) }
    self.burst = burst
    return .none
  }

  /// Ends the burst, or returns the next timer. A timer of an earlier generation, which may have
  /// begun before it was cancelled, has no effect.
  ///
  /// With `isHeld`, more changes are known to follow: the burst is held open, for a limited time.
  mutating func timerFired(
    generation: Int, at now: Instant, isHeld: Bool = false
  ) -> Action {
    guard var burst, generation == self.generation else { return .none }
    var end = end(of: burst)
    if isHeld && end <= now {
      end = min(now.advanced(by: Self.holdPause), burst.first.advanced(by: Self.longestHold))
      burst.heldUntil = end
    }
    return end <= now ? finish(burst) : collect(burst, until: end)
  }

  /// Whether the timer of that generation is still needed.
  func isWaiting(for generation: Int) -> Bool {
    burst != nil && generation == self.generation
  }

  /// Whether a burst is being collected.
  var isCollecting: Bool { burst != nil }

  /// Delivers the changes so far without waiting for the end of the burst, which goes on.
  mutating func flush(at now: Instant, isHeld: Bool = false) -> Action {
    guard let burst, burst.isUndelivered else { return .none }
    if !isHeld && end(of: burst) <= now { return finish(burst) }
    self.burst?.isUndelivered = false
    return .deliver
  }

  /// Forgets the burst.
  mutating func reset() {
    burst = nil
    generation += 1
  }

  private mutating func collect(_ burst: Burst, until end: Instant) -> Action {
    self.burst = burst
    generation += 1
    return .schedule(at: end, generation: generation)
  }

  private mutating func finish(_ burst: Burst) -> Action {
    if stream.isBeginning {
      stream.hasWaited =
        burst.heldUntil == nil && end(of: burst, followUpWait: nil) < end(of: burst)
    }
    latest = burst
    reset()
    return .fire
  }

  /// Begins a burst: that of a new stream, or one that goes on with the present stream.
  private mutating func begin(_ burst: Burst, with events: [RawEvent]) {
    guard case .growing(let bounds) = quietPeriod else { return }
    let reach = Self.longestWait(in: bounds)
    if let latest, latest.last.duration(to: burst.first) <= reach {
      stream.endBeginning()
      followUpWait = nil
      stream.followUp(with: events, at: burst.first, within: reach)
    } else {
      habits.learn(from: stream)
      stream = ChangeStream(at: burst.first)
      stream.begin(with: events, at: burst.first)
      followUpWait = longestFollowUpWait(in: bounds)
    }
  }

  /// Adds changes to the stream. Returns whether they are the last that are usual, so that the
  /// pause before them is none of the gaps of the burst.
  private mutating func follow(
    _ burst: Burst, with events: [RawEvent], at now: Instant
  ) -> Bool {
    guard case .growing(let bounds) = quietPeriod else { return false }
    let isSeparate =
      stream.followUps.isEmpty
      ? end(of: burst, followUpWait: nil) <= now : burst.last.duration(to: now) >= bounds.lowerBound
    if isSeparate {
      stream.followUp(with: events, at: now, within: Self.longestWait(in: bounds))
    }
    guard stream.isBeginning else { return false }
    if stream.followUps.isEmpty { stream.begin(with: events, at: now) }
    followUpWait = longestFollowUpWait(in: bounds)
    return isSeparate && habits.isComplete(stream)
  }

  /// How long to wait for the follow-ups that are due; `nil` if none is.
  private func longestFollowUpWait(in bounds: ClosedRange<Duration>) -> Duration? {
    habits.awaitedGap(in: stream).map { min($0 * 2, Self.longestWait(in: bounds)) }
  }

  /// The longest wait for a follow-up. A writer that pauses for the longest quiet period takes a
  /// little longer than that.
  private static func longestWait(in bounds: ClosedRange<Duration>) -> Duration {
    bounds.upperBound + bounds.lowerBound
  }

  /// The longest gap of the stream to which a change belongs that begins a burst.
  private func rememberedGap(at now: Instant) -> Duration {
    guard case .growing(let bounds) = quietPeriod, let latest else { return .zero }
    let gap = latest.last.duration(to: now)
    // A longer gap has no effect on the quiet period, but would take longer to halve.
    let longest = min(max(latest.longestGap, .zero), bounds.upperBound)
    if gap <= bounds.upperBound { return max(longest, gap) }
    return gap <= bounds.upperBound * 2 ? longest / 2 : .zero
  }

  private func end(of burst: Burst) -> Instant { end(of: burst, followUpWait: followUpWait) }

  private func end(of burst: Burst, followUpWait: Duration?) -> Instant {
    var quiet = quiet(in: burst)
    if let followUpWait { quiet = max(quiet, followUpWait) }
    let end = min(burst.last.advanced(by: quiet), burst.first.advanced(by: maximumWait))
    return burst.heldUntil.map { max($0, end) } ?? end
  }

  private func quiet(in burst: Burst) -> Duration {
    switch quietPeriod {
    case .fixed(let period):
      return period
    case .growing(let bounds):
      // A sum, because a generic multiplication costs hundreds of instructions.
      let wanted =
        burst.isBeingWritten ? bounds.upperBound : burst.longestGap + burst.longestGap
      return min(max(wanted, bounds.lowerBound), bounds.upperBound)
    }
  }
}
