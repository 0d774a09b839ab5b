/// How often in a row a key has changed after what the change had led to, and what that means for the next
/// time: the one law of delays, for runs and restarts.
///
/// A key is a path, a directory in which entries come and go, or everything that one round changes. A run
/// that writes what is watched, and a person who saves in each run, look alike. A delay tells them apart:
/// what the run writes comes with the run, later by the delay, and what the person saves does not wait. So
/// the first repetitions are free, the next ones are tested by unnoticeable delays, and what no test has
/// spoken for becomes rare.
package struct RepetitionCount: Hashable, Sendable {
  /// Who has made a change, as far as that is proved.
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
    /// The first repetitions, which are not delayed: a person saves again, a build has several steps.
    package static let free = 3
    /// The repetitions after those that are delayed by a test: enough of them to meet a person by chance, and
    /// fewer beside processes that do not end, where each test counts by its likelihood.
    package static let tests = (finite: 7, lasting: 4)
    /// The delay of a test: unnoticeable.
    package static let test = Duration.milliseconds(250)
    /// The first delay of what no test has spoken for, in which a person saves again; it doubles, with a rest at
    /// what is bearable in runs that end by themselves.
    package static let firstPause = Duration.seconds(1)
    /// The delay with which a person who looks like a loop can live, and up to which pause in a row it stays: they
    /// may save soon after each start for a while. With the rest of a short run, it is ten seconds from the save on.
    package static let bearable = (pause: Duration.seconds(9), number: 17)
    /// From this delay on a message says what is delayed, and what to do.
    package static let noticed = Duration.seconds(8)
    /// The longest delay of a start after which the time of a change is compared with those before.
    package static let longestTested = Duration.seconds(20)
    /// The longest delay.
    package static let longestPause = Duration.seconds(600)
    /// So many more starts in a row are not delayed if others are proved to have made changes after them.
    package static let proofs = 7
    /// So many runs in a row may be answered by a change at about the same time after their end: a program that
    /// saves and waits for the run does that for a while, and one that answers to each run for ever.
    package static let answers = 120
    /// By how much the time of a change after the start varies, if it always follows the start: so much, or this part
    /// of the time. Smaller than a test, which would show nothing otherwise.
    package static let tolerance = (
      time: Duration.milliseconds(100), part: 0.1, longest: Duration.milliseconds(200)
    )
    /// The part of the time after a start by which another time differs at least.
    package static let otherTime = 0.25
    /// For how many repetitions, or against how many, one change beside lasting processes counts by its time.
    package static let mostEvidence = (for: 4.0, against: 3.0)
    /// The standard deviation, in seconds, of times that vary as little as those of processes do.
    package static let leastDeviation = 0.035
    /// The number of changes over which their times are averaged.
    package static let memory = 8
    /// The part of the delays beside lasting processes that are left out, and the step from one to the next:
    /// the golden ratio, so that no rhythm of saves has the same one.
    package static let untested = (part: 333, step: 618, of: 1000)
    /// Within this time after start after start no person saves: what the run does then counts, and later not.
    package static let restless = Duration.milliseconds(800)
    /// The standard deviation of times after the starts, and the part of their average, from which on they are any
    /// times, down to so much of it: a person saves then, and hardly a process. One time counts for so much of the
    /// variance at most. Up to this number in a row, such changes are delayed as those in a rush. Those that come so
    /// many seconds after the starts lead to few starts, so that the part does not matter.
    package static let anyTime = (
      deviation: Duration.milliseconds(200), part: 0.15, least: 0.6, most: 2.0, number: 100,
      rare: 10.0
    )
    /// After so many changes that came within `restless` after the change before, a start is delayed by this at least:
    /// a person saves that often for a while, and a process for ever. The same after so many in a row at any time.
    package static let rush: [(number: Int, delay: Duration)] = [
      (1600, .seconds(60)), (800, .seconds(30)), (400, .seconds(10)),
      (60, .seconds(4)), (40, .seconds(2)), (30, .seconds(1)),
    ]
    /// The largest number of such changes that is remembered, and how many one takes back that came later: at least so
    /// many, and this part.
    package static let rushMemory = (number: 2000, least: 3, part: 4)
    /// A run that lasts so many times as long as the change took, without it, ends the row.
    package static let endOfRow = 1.5
  }

  /// The times of changes: after the start, and after the change before. What
  /// processes change follows a start, however late that is; what a person saves follows the save before.
  private struct Times: Hashable {
    /// An average of times in seconds, in which older ones count less, and their variance.
    private struct Average: Hashable {
      private(set) var mean = 0.0
      private(set) var variance = 0.0

      /// Adds one of so many times. Returns the square by which it differs from those before, as far as one
      /// expects that of a time that is not yet in their average.
      mutating func add(_ time: Double, number: Int) -> Double {
        let difference = time - mean
        let number = Double(min(number, Rules.memory))
        mean += difference / number
        if number == 1 { return 0 }
        let square = difference * difference * (number - 1) / number
        variance += (square - variance) / (number - 1)
        return square
      }
    }

    private var (offsets, gaps) = (Average(), Average())
    private var count = 0
    /// What is left of the evidence that did not make a whole repetition.
    private var rest = 0.0

    /// Whether they are any times.
    private(set) var areAny = false

    /// The variance by which one time after a start differs from the one before. A single one that differs, as of a
    /// first run that is slow, has little weight.
    private var scatter = 0.0
    private var latest = 0.0

    private mutating func updateAreAny(_ time: Double) {
      defer { latest = time }
      if count == 1 { return }
      let rule = Rules.anyTime
      let deviation = rule.deviation / .seconds(1)
      let part = max(deviation, offsets.mean * rule.part)
      let square = min((time - latest) * (time - latest) / 2, rule.most * part * part)
      let limit = offsets.mean < rule.rare ? part : deviation
      scatter += (square - scatter) / Double(min(count - 1, Rules.memory))
      let least = areAny ? limit * rule.least : limit
      areAny = scatter > least * least
    }

    /// Adds the times of a change. Returns for how many repetitions they count: by the logarithm of the ratio of
    /// the likelihoods that it follows the start, and that it follows the change before.
    ///
    /// - Parameter isAgain: Whether the key has changed several times before the start. Of gaps at random, a start meets
    ///   the longer ones, which vary twice as much.
    mutating func add(offset: Duration, gap: Duration, isAgain: Bool) -> Int {
      count += 1
      let time = offset / .seconds(1)
      let offset = offsets.add(time, number: count)
      updateAreAny(time)
      let gap = gaps.add(gap / .seconds(1), number: count)
      let variance = max(
        min(offsets.variance, gaps.variance), Rules.leastDeviation * Rules.leastDeviation)
      let evidence = ((isAgain ? gap / 2 : gap) - offset) / (2 * variance)
      rest += min(max(evidence, -Rules.mostEvidence.against), Rules.mostEvidence.for)
      let whole = rest.rounded(.towardZero)
      rest -= whole
      return Int(whole)
    }
  }

  /// The number of repetitions in a row.
  package private(set) var repetitions = 0
  /// Whether it was proved elsewhere, so that neither that nor the time of a change takes them back.
  private var isLearned = false
  /// The number of starts in a row that were followed by a change of any verdict, at no wide times: others may answer
  /// to the run. Beside lasting processes, tests take from it.
  private var followers = 0
  /// When the key changed, after the latest start.
  package private(set) var offset: Duration?
  /// When it changed last.
  private var latest: Instant?
  private var times = Times()
  /// Whether the key has changed again after the first time since the latest start, and the same of the start before.
  private var (isAgain, wasAgain) = (false, false)
  /// The number of changes that followed the change before within `Rules.restless`, across starts.
  private var rush = 0
  /// Whether a change of the row was made in a run that ends by itself.
  private var isInFinite = true
  /// How many of the repetitions came at any time.
  private var countOfAnyTime = 0
  /// Whether a process of a run was seen to have the file open for writing.
  private var wasSeen = false
  /// Whether the key has changed since the latest start.
  package private(set) var hasChanged = false
  /// Whether another run was requested for the latest change, so that the next one counts again.
  private var isAnswered = false

  package init() {}

  /// Whether nothing is remembered.
  package var isEmpty: Bool { self == RepetitionCount() }

  /// The number of starts in a row by which a start is delayed.
  package var length: Int { max(repetitions, followers - Rules.proofs) }

  /// Whether the key may be one that runs change.
  package var isSuspected: Bool { repetitions > 0 && !isProved }

  /// How many of the repetitions are tested.
  private var tests: Int { isInFinite ? Rules.tests.finite : Rules.tests.lasting }

  /// Whether the key changes at any time during runs that end by themselves, and nothing shows that they do it.
  private var isAnyTime: Bool {
    isInFinite && !wasSeen && !isLearned && times.areAny
  }

  /// Whether no test has spoken for a person, up to a delay that is noticed.
  package var isProved: Bool { delay(length, isTested: true) >= Rules.noticed }

  /// The delay of what the latest change leads to.
  ///
  /// - Parameter isTested: False for one of three runs beside processes that do not end by themselves, of all
  ///   keys alike (`isTested(_:)`): if all delays were the same, saves at an even pace would look like what a run
  ///   changes after each start.
  package func delay(isTested: Bool = true) -> Duration {
    max(delayOfRow(isTested: isTested), Self.delay(ofRush: rush) ?? .zero)
  }

  /// The same without that of many changes: what is common to all keys may change as often.
  package func delayOfRow(isTested: Bool) -> Duration { delay(length, isTested: isTested) }

  private static func delay(ofRush number: Int) -> Duration? {
    Rules.rush.first { number >= $0.number }?.delay
  }

  /// Whether the key changes so often that this delays starts.
  package var isRushed: Bool { Self.delay(ofRush: rush) != nil }

  private func delay(_ repetitions: Int, isTested: Bool) -> Duration {
    let excess = repetitions - Rules.free
    if excess <= 0 { return .zero }
    if excess <= tests { return isTested ? Rules.test : .zero }
    let number = excess - tests - countOfAnyTime
    if isAnyTime || number <= 0 {
      let late = repetitions - Rules.anyTime.number
      let delay = Self.delay(ofRush: min(repetitions - 1, Rules.anyTime.number)) ?? Rules.test
      return late > 0 ? max(Self.pause(late), delay) : delay
    }
    return isInFinite ? Self.bearablePause(number) : Self.pause(number)
  }

  /// The pause of this number in a row, counted from 1.
  package static func pause(_ number: Int) -> Duration {
    min(Rules.firstPause * (1 << min(number - 1, 10)), Rules.longestPause)
  }

  /// The same in runs that end by themselves.
  package static func bearablePause(_ number: Int) -> Duration {
    let bearable = Rules.bearable
    if number <= bearable.number { return min(pause(number), bearable.pause) }
    return min(bearable.pause * (1 << min(number - bearable.number, 10)), Rules.longestPause)
  }

  /// Whether the delay of the follow-up of this number is a test beside processes that do not end by themselves.
  package static func isTested(_ number: Int) -> Bool {
    number * Rules.untested.step % Rules.untested.of >= Rules.untested.part
  }

  /// The key has changed.
  ///
  /// What processes change that do not end by themselves follows a start, which shows when starts are delayed: saves
  /// follow the save before, not the start (`Times`).
  ///
  /// - Parameters:
  ///   - now: The time of the change, by a clock that goes on across starts.
  ///   - offset: How long after the latest start.
  ///   - isInFinite: Whether all runs end by themselves that may have made the change.
  ///   - countsEach: Whether each change counts for a rush, and not only the first one after a start: no run is there
  ///     that ends by itself, which may change the key many times.
  package mutating func changed(
    _ verdict: Verdict, at now: Instant, after offset: Duration, isInFinite: Bool = true,
    countsEach: Bool = false
  ) {
    let isFirst = !hasChanged || isAnswered
    let isAtSameTime = isNear(offset)
    let gap = latest.map { $0.duration(to: now) }
    countRush(gap, isFirst || countsEach)
    (hasChanged, isAnswered, latest) = (true, false, now)
    self.isInFinite = isInFinite || self.isInFinite && repetitions > 0
    wasSeen = verdict == .run || wasSeen && verdict != .others
    if isFirst { (wasAgain, isAgain) = (isAgain, false) }
    let evidence = isFirst ? note(offset, gap, isAtSameTime) : 0
    if isFirst { countFollower(evidence, isInFinite) }
    if verdict == .others {
      // A person saves again.
      if !isFirst && !isAtSameTime { followers = 0 }
      clear()
    } else if isFirst {
      count(evidence, isAtSameTime, isInFinite)
    } else if let gap, gap > Rules.tolerance.time {
      // Entries of a directory come and go together.
      isAgain = true
    }
  }

  private mutating func countRush(_ gap: Duration?, _ isCounted: Bool) {
    let memory = Rules.rushMemory
    // Of a directory, many entries may change at once.
    if gap == .zero { return }
    if let gap, gap < Rules.restless {
      rush = min(rush + (isCounted ? 1 : 0), memory.number)
    } else {
      rush = max(rush - max(memory.least, rush / memory.part), 0)
    }
  }

  /// Two files that are saved in turn at an even pace beside lasting processes are not delayed by the starts for each
  /// other: only tests prove that such changes follow the starts.
  private mutating func countFollower(_ evidence: Int, _ isInFinite: Bool) {
    if times.areAny {
      followers = 0
    } else if isInFinite || followers <= Rules.free + Rules.proofs || evidence > 0 {
      followers += 1
    } else {
      followers = max(followers + 2 * evidence, Rules.free)
    }
  }

  /// Counts a change that runs may have made, for the first time after a start.
  private mutating func count(
    _ evidence: Int, _ isAtSameTime: Bool, _ isInFinite: Bool
  ) {
    if isInFinite {
      add(1)
      if isAnyTime && repetitions > Rules.free + tests { countOfAnyTime += 1 }
    } else if repetitions <= Rules.free {
      add(isAtSameTime ? 2 : 1)
    } else {
      // A last test that decides nothing is followed by shorter ones.
      let isLast = repetitions == Rules.free + tests + 1
      let count = evidence == 0 && isLast ? -1 : evidence
      add(isLearned ? max(count, 0) : count)
    }
  }

  /// Others have made the changes of the row.
  private mutating func clear() {
    (repetitions, countOfAnyTime, rush, isLearned) = (0, 0, 0, false)
    if !isInFinite && followers == 0 { times = Times() }
  }

  /// Notes when the key has changed, for the first time after the latest start. Returns for how many repetitions
  /// that counts.
  private mutating func note(_ offset: Duration, _ gap: Duration?, _ isAtSameTime: Bool) -> Int {
    self.offset = offset
    guard let gap else { return 0 }
    // After a pause, all times are later than those before.
    if !isInFinite && gap - offset > Rules.longestTested { return isAtSameTime ? 1 : -1 }
    return times.add(offset: offset, gap: gap, isAgain: wasAgain)
  }

  /// Whether the key changed at this time after the latest start that was followed by a change.
  package func isNear(_ time: Duration) -> Bool {
    offset.map { Self.isNear(time, to: $0) } ?? false
  }

  package static func isNear(_ time: Duration, to other: Duration) -> Bool {
    let rule = Rules.tolerance
    return distance(time, other) <= min(max(rule.time, other * rule.part), rule.longest)
  }

  /// Whether a change at this time after the latest start clearly does not follow it as the change before did.
  package func isAtOtherTime(_ time: Duration) -> Bool {
    guard let offset else { return true }
    return Self.distance(offset, time) > max(Rules.tolerance.time, offset * Rules.otherTime)
  }

  private mutating func add(_ count: Int) {
    if count < 0 { return repetitions = max(repetitions + count, min(repetitions, Rules.free)) }
    // No pause is left out.
    let last = Rules.free + tests + 1
    repetitions =
      repetitions < last ? min(repetitions + count, last) : repetitions + min(count, 1)
  }

  private static func distance(_ one: Duration, _ other: Duration) -> Duration {
    one > other ? one - other : other - one
  }

  /// The key has changed at another time than before, so that others may have changed it.
  package mutating func doubt() {
    repetitions = max(repetitions - Int(Rules.mostEvidence.against), 0)
  }

  /// A run without the change has ended.
  package mutating func reset() {
    self = RepetitionCount()
  }

  /// The latest change has left the key as it was: the row goes on, and is not longer by it.
  package mutating func leftUnchanged() {
    if hasChanged { repetitions = max(repetitions - 1, 0) }
  }

  /// The key was written, and is as before: the row goes on.
  package mutating func wasRewritten() {
    if !isEmpty { hasChanged = true }
  }

  /// It is proved elsewhere that runs change the key.
  package mutating func prove() {
    isLearned = true
    while !isProved { repetitions += 1 }
  }

  /// Another run is requested for the latest change.
  package mutating func answered() {
    isAnswered = true
  }

  /// A run has ended, and another one begins, so long after the former one.
  ///
  /// - Parameter isComplete: Whether it has ended by itself, so that it has changed all that it changes.
  package mutating func began(after time: Duration, isComplete: Bool = false) {
    let isLong = isComplete || time > (offset ?? .zero) * Rules.endOfRow
    if !hasChanged && isLong && !isLearned { reset() }
    (hasChanged, isAnswered) = (false, false)
  }
}
