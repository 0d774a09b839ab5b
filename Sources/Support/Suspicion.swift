import SystemCalls

/// How much the changes of a key look as if the starts led to them, and how long the next start waits for that: the one
/// law of delays, for runs, restarts and reloads.
///
/// A key is a path, a directory in which entries come and go, or everything that one round changes. What a run writes
/// comes at about the same time after each start, however late that start is. What a person saves comes at any time, or
/// at an even pace after the save before. So each change is compared with those before, and the level rises with those
/// that speak for a run, and falls with the others. The first levels are free. The next ones are tested: some starts are
/// delayed, hardly noticeably, which delays what follows a start, and nothing else. From then on, starts become rare.
package struct Suspicion: Equatable, Sendable {
  /// Who has made a change, as far as that is known.
  package enum Verdict: Hashable, Sendable {
    /// No run can have made it.
    case others
    /// It may be a run's or not.
    case unknown
    /// A process of the run has the file open for writing.
    case run
  }

  /// The numbers of the law.
  package enum Rules {
    /// Up to this level nothing is delayed: a person saves again, a build has several steps.
    package static let free = 3.0
    /// So many more levels are free for changes that no run can have made: others may answer to the runs.
    package static let proofs = 4.0
    /// The levels after the free ones that are tested.
    package static let tests = 5.0
    /// The delay of a test: so much, or this part of what the change comes later than a second, since its time varies
    /// with that.
    package static let test = (
      least: Duration.milliseconds(210), part: 0.12, most: Duration.milliseconds(800)
    )
    /// Where no run ends, so many standard deviations of the times, if these are at most so many seconds, and from the
    /// first level on if they are at most this part of the times.
    package static let wide = (deviations: 7.0, most: 0.33, part: 0.1)
    /// The part of the tests that are left out, and the step from one to the next: the golden ratio, so that no rhythm of
    /// saves has the same one.
    package static let untested = (part: 333, step: 618, of: 1000)
    /// A key that begins to change while another one delays the start, as where runs write one file after the other, is
    /// tested each time until so many of its times are known.
    package static let timesBesideLoop = 4
    /// The first delays above the levels that are tested, in which a person saves again.
    package static let firstPauses = [Duration.seconds(1), .seconds(4)]
    /// The delay with which a person who looks like a loop can live, and of which a message says what to do.
    package static let noticed = Duration.milliseconds(9800)
    /// After so many pauses they double: a person may save soon after each start for a while.
    package static let bearable = 22
    /// The longest delay; twice `noticed` for what no run can have made.
    package static let longestPause = Duration.seconds(600)
    /// By how much one change raises the level at most, also while starts are tested, and lowers it.
    package static let step = (up: 1.0, tested: 2.7, down: 1.5)
    /// The number of changes over which their times are averaged.
    package static let memory = 8
    /// The standard deviation, in seconds, of times that vary as little as those of processes do.
    package static let leastDeviation = 0.03
    /// By how much times differ at most that are alike: so much, or this part of them.
    package static let alike = (least: Duration.milliseconds(100), part: 0.25)
    /// The shortest time, in seconds, in which a person saves at any time: in a run, in a run after a pause without a
    /// save, and from save to save.
    package static let leastWindow = (inRun: 0.2, afterPause: 0.5, otherwise: 1.0)
    /// A run that lasts so many times as long as the change took, without it, ends the row.
    package static let endOfRow = 1.5
    /// By how much likelier a change is after a start than at any time, if what others are proved to make counts there
    /// without a test.
    package static let narrow = 0.5
    /// What comes later after a start of what lasts leads to few starts, and ends the row.
    package static let longest = Duration.seconds(60)
    /// By how much less the time before the end counts: one of two times is alike by chance more often.
    package static let choice = 0.35
    /// What it counts that nothing changes while a start is delayed, for each time after which the key changes on
    /// average: from this delay on, and at least this time, in seconds.
    package static let silence = (weight: 2.0, least: 0.1, time: 0.2)
  }

  /// An average of times in seconds, in which older ones count less, and their variance.
  private struct Average: Equatable {
    private(set) var mean = 0.0
    private var variance = 0.0
    private var count = 0

    /// The variance of a time that is not yet in the average.
    private var expected: Double {
      variance * (1 + 1 / Double(max(count, 1))) + Rules.leastDeviation * Rules.leastDeviation
    }

    var isEmpty: Bool { count == 0 }

    var isLong: Bool { count >= Rules.timesBesideLoop }

    var deviation: Double { variance.squareRoot() }

    /// The logarithm of the density at a time.
    func density(_ time: Double) -> Double {
      -(log(2 * .pi * expected) + (time - mean) * (time - mean) / expected) / 2
    }

    mutating func add(_ time: Double) {
      count += 1
      let number = Double(min(count, Rules.memory))
      let difference = time - mean
      mean += difference / number
      if number == 1 { return }
      variance += (difference * difference * (number - 1) / number - variance) / (number - 1)
    }
  }

  /// How much speaks for runs.
  private var level = 0.0
  /// The part of it that does not count for changes of unknown origin: others have changed the key since.
  private var forgiven = 0.0
  /// Up to this level nothing is delayed.
  private let free: Double
  /// The times of the first change after each start, before the end of that run, and since the change before.
  private var (offsets, ends, gaps) = (Average(), Average(), Average())
  /// When the key changed, after the latest start.
  package private(set) var offset: Duration?
  /// When it changed last, and when it did since the latest start without counting.
  private var (latest, latestAside): (Instant?, Instant?)
  /// Whether the key has changed since the latest start.
  package private(set) var hasChanged = false
  /// Whether something starts for the latest change, in the same round, so that the next one counts again.
  private var isAnswered = false
  /// Whether the key has changed for the first time while another one delayed the start.
  private var isBesideLoop = false
  /// Whether the key has changed twice after one start.
  private var changesAgain = false

  /// The latest first change in a run that ends by itself, until its end.
  private var counted: Count?

  /// What a change was counted by.
  private struct Count: Equatable {
    let time: Instant
    /// The level before, and whether it was one that is free.
    let (level, isFree): (Double, Bool)
    /// The logarithm of the likelihoods that it follows the start, and that it comes at any time.
    let (follows, comes): (Double, Double)
  }

  /// - Parameter free: Up to this level nothing is delayed.
  package init(free: Double = Rules.free) {
    self.free = free
  }

  /// Whether nothing is remembered.
  package var isEmpty: Bool { self == Suspicion(free: free) }

  /// The level of the latest change, as a number of starts in a row.
  package func level(_ verdict: Verdict = .unknown) -> Int { Int(exactLevel(verdict).rounded()) }

  private func exactLevel(_ verdict: Verdict) -> Double {
    switch verdict {
    case .others: max(level - Rules.proofs, 0)
    case .unknown, .run: max(level - forgiven, level - Rules.proofs, 0)
    }
  }

  /// Whether it has followed starts more than once.
  package var isRepeated: Bool { level() > 1 && !gaps.isEmpty }

  /// Whether the key may be one that runs change.
  package var isSuspected: Bool { exactLevel(.unknown) > 0 && !isProved }

  /// Whether this key delays starts, or soon will.
  package var isAboveFree: Bool { exactLevel(.unknown) > free }

  /// Whether the delay is one that is noticed.
  package var isProved: Bool { pause(.unknown) ?? .zero >= Rules.noticed }

  /// Whether it delays starts for longer than by tests.
  package var isPaused: Bool { pause(.unknown) != nil }

  /// The delay of what a change leads to.
  ///
  /// - Parameter number: The number of the start, which decides whether it is tested.
  package func delay(of verdict: Verdict = .unknown, number: Int) -> Duration {
    if let pause = pause(verdict) { return pause }
    let rule = Rules.untested
    let excess = exactLevel(verdict) - free
    let (test, wide) = (Rules.test, Rules.wide)
    let isTested = excess > 0 && number * rule.step % rule.of >= rule.part
    // Two lengths, as what follows starts looks like an even pace otherwise.
    if excess > 0 && isBesideLoop { return isTested ? test.most : test.least }
    if !isTested { return .zero }
    let (part, deviation) = ((offsets.mean - 1) * test.part, offsets.deviation)
    let isWide =
      ends.isEmpty && deviation <= wide.most
      && excess > (deviation <= offsets.mean * wide.part ? 0 : 1)
    let width = isWide ? deviation * wide.deviations : 0
    return min(max(test.least, .seconds(max(part, width))), test.most)
  }

  /// The delay above the levels that are tested.
  private func pause(_ verdict: Verdict) -> Duration? {
    let excess = exactLevel(verdict) - free - Rules.tests
    if excess <= 0 { return nil }
    let pause = Self.pause(Int(excess.rounded(.up)))
    return verdict == .others ? min(pause, Rules.noticed * 2) : pause
  }

  /// The pause of this number in a row, counted from 1.
  package static func pause(_ number: Int) -> Duration {
    if number <= Rules.firstPauses.count { return Rules.firstPauses[number - 1] }
    return min(Rules.noticed * (1 << min(max(number - Rules.bearable, 0), 10)), Rules.longestPause)
  }

  /// The key changes while another one delays the start.
  package mutating func beginBesideLoop() {
    // Without free starts of its own.
    if isEmpty { (level, isBesideLoop) = (free, true) }
  }

  /// The key has changed.
  ///
  /// - Parameters:
  ///   - now: The time of the change, by a clock that goes on across starts.
  ///   - offset: How long after the latest start.
  ///   - window: How long a run lasts in which it changes, if all of them end by themselves: a person who saves in each
  ///     run does it at any time in it.
  package mutating func changed(
    _ verdict: Verdict, at now: Instant, after offset: Duration, in window: Duration? = nil
  ) {
    if window == nil && !hasChanged && offset > Rules.longest { reset() }
    let gap = latest.map { $0.duration(to: now) / .seconds(1) }
    let isFirst = !hasChanged || isAnswered
    let isExpected = isExpected(offset)
    (hasChanged, isAnswered, latest, latestAside) = (true, false, now, nil)
    changesAgain = changesAgain || !isFirst
    if isFirst {
      let count = count(
        at: now, offset / .seconds(1), gap, window.map { $0 / .seconds(1) }, verdict)
      level = raised(count)
      forgiven = min(forgiven, level)
      counted = window == nil || verdict == .others ? nil : count
      self.offset = offset
      // The first run may be slower than the others.
      if let gap {
        offsets.add(offset / .seconds(1))
        gaps.add(gap)
      }
    }
    if level <= free || offsets.isLong { isBesideLoop = false }
    if verdict == .others {
      // After a change that followed the start, a person saves as well.
      if !isFirst && !isExpected { level = 0 }
      forgiven = level
    }
  }

  /// The key has changed, and that does not count. What changes after the next start may follow it.
  package mutating func changedAside(at now: Instant) {
    if latest != nil { latestAside = now }
  }

  /// All runs have ended by themselves: what they write at the end comes at the same time before that, however long
  /// they last.
  package mutating func ended(at now: Instant) {
    guard let count = counted.take() else { return }
    let time = count.time.duration(to: now) / .seconds(1)
    if !ends.isEmpty && !gaps.isEmpty {
      let follows = max(ends.density(time) - Rules.choice, count.follows)
      let atEnd = Count(
        time: count.time, level: count.level, isFree: count.isFree, follows: follows,
        comes: count.comes)
      level += raised(atEnd) - raised(count)
    }
    ends.add(time)
  }

  private func count(
    at now: Instant, _ offset: Double, _ gap: Double?, _ window: Double?, _ verdict: Verdict
  ) -> Count {
    guard let gap, !gaps.isEmpty else {
      return Count(time: now, level: level, isFree: true, follows: 0, comes: 0)
    }
    let least = Rules.leastWindow
    // After a pause, a run is slower than those before, and what it writes is late by that.
    let inRun = level > free + Rules.tests ? least.afterPause : least.inRun
    let span = window.map { max($0, inRun) } ?? max(gaps.mean, least.otherwise)
    let follows = offsets.density(offset)
    let isNarrow = follows > Rules.narrow - log(span)
    let silence = window == nil ? silence(of: gap - offset) : 0
    return Count(
      time: now, level: level, isFree: level <= free || isNarrow && exactLevel(verdict) <= free,
      follows: follows, comes: max(-log(span) - silence, gaps.density(gap)))
  }

  /// What speaks against changes at any time, beside processes that last: none has come while the start was delayed.
  /// What changes several times after a start is not told by that.
  private func silence(of time: Double) -> Double {
    if changesAgain || offsets.deviation > Rules.wide.most { return 0 }
    return Rules.silence.weight * max(time - Rules.silence.least, 0)
      / max(offsets.mean, Rules.silence.time)
  }

  /// The level after a change.
  private func raised(_ count: Count) -> Double {
    let evidence = count.follows - count.comes
    // The first changes count unless they clearly do not follow the starts: no test has told them from others.
    let isFree = count.isFree && evidence > -Rules.step.up
    let tested = free + Rules.tests
    let most = count.level < tested ? Rules.step.tested : Rules.step.up
    let step = isFree ? Rules.step.up : max(min(evidence, most), -Rules.step.down)
    // No pause is left out.
    return max(min(count.level + step, max(count.level, tested) + Rules.step.up), 0)
  }

  /// Whether the key has changed about so long after the start before.
  package func isExpected(_ time: Duration) -> Bool {
    guard let offset else { return false }
    let difference = time > offset ? time - offset : offset - time
    return difference <= max(Rules.alike.least, offset * Rules.alike.part)
  }

  /// Two keys are one from now on, which is suspected as much as either was.
  package mutating func formMaximum(_ other: Suspicion) {
    if other.level > level { self = other }
  }

  /// A run without the change has ended.
  package mutating func reset() {
    self = Suspicion(free: free)
  }

  /// The latest change has left the key as it was: the row goes on, and is not longer by it.
  package mutating func leftUnchanged() {
    if hasChanged { level = max(level - Rules.step.up, 0) }
  }

  /// The key was written, and is as before: the row goes on.
  package mutating func wasRewritten() {
    if !isEmpty { hasChanged = true }
  }

  /// Something starts for the latest change, in the same round.
  package mutating func answered() {
    isAnswered = true
  }

  /// A run has ended, and another one begins, so long after the former one.
  ///
  /// - Parameter isComplete: Whether it has ended by itself, so that it has changed all that it changes.
  package mutating func began(after time: Duration, isComplete: Bool = false) {
    let isLong = isComplete || time > (offset ?? .zero) * Rules.endOfRow
    if !hasChanged && isLong { reset() }
    (hasChanged, isAnswered) = (false, false)
    latest = latestAside.take() ?? latest
  }
}
