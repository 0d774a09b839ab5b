import Foundation
import Support
import TestSupport
import Testing

/// A count with a clock of its own, by which starts and changes follow each other.
@dynamicMemberLookup
private struct TimedCount {
  var count = RepetitionCount()
  private var start = Instant(offset: .zero)

  subscript<Value>(dynamicMember member: KeyPath<RepetitionCount, Value>) -> Value {
    count[keyPath: member]
  }

  mutating func changed(
    _ verdict: RepetitionCount.Verdict, at offset: Duration, isInFinite: Bool = true
  ) {
    count.changed(verdict, at: start.advanced(by: offset), after: offset, isInFinite: isInFinite)
  }

  mutating func began(after time: Duration, isComplete: Bool = false) {
    start = start.advanced(by: time)
    count.began(after: time, isComplete: isComplete)
  }

  func delay(isTested: Bool = true) -> Duration { count.delay(isTested: isTested) }
  mutating func reset() { count.reset() }
  mutating func answered() { count.answered() }
  mutating func prove() { count.prove() }
  mutating func doubt() { count.doubt() }
  mutating func leftUnchanged() { count.leftUnchanged() }
  mutating func wasRewritten() { count.wasRewritten() }
}

/// The law of delays: each number of it has a claim.
struct RepetitionCountTests {
  private typealias Verdict = RepetitionCount.Verdict

  /// Whether the processes that may have made a change end by themselves.
  enum Company { case finite, lasting }

  private var count = TimedCount()
  /// How often something has started.
  private var starts = 0

  /// Starts so often, each time after the delay of the change before, and changes the key after each start.
  @discardableResult
  private mutating func change(
    _ times: Int = 1, _ verdict: Verdict = .unknown, at offset: Duration = .seconds(1),
    _ circumstance: Company = .finite
  ) -> [Duration] {
    (0..<times).map { _ in
      count.began(after: (count.offset ?? .zero) + delay(circumstance))
      starts += 1
      count.changed(verdict, at: offset, isInFinite: circumstance == .finite)
      return delay(circumstance)
    }
  }

  /// The delay of the latest change.
  private func delay(_ circumstance: Company) -> Duration {
    count.delay(isTested: circumstance == .finite || RepetitionCount.isTested(starts))
  }

  private mutating func delays(_ times: Int) -> [Duration] {
    (0..<times).map { _ in
      change()
      return count.delay()
    }
  }

  // MARK: Delays

  @Test mutating func `the first three repetitions are not delayed, and the fourth one is`() {
    #expect(delays(4) == [.zero, .zero, .zero, .milliseconds(250)])
  }

  @Test mutating func `the next seven are delayed by 0.25 s`() {
    let delays = delays(11)
    #expect(delays[3..<10].allSatisfy { $0 == .milliseconds(250) })
    #expect(delays[10] != .milliseconds(250))
  }

  @Test
  mutating func `what no test has spoken for waits 1, 2, 4, 8 s, 9 s for a while, up to 600 s`() {
    let delays = delays(40)
    #expect(delays[10..<14].map { $0 / .seconds(1) } == [1, 2, 4, 8])
    #expect(delays[14..<27].allSatisfy { $0 == .seconds(9) })
    #expect(delays[27..<32].map { $0 / .seconds(1) } == [18, 36, 72, 144, 288])
    #expect(delays[32] == .seconds(576) && delays[33...].allSatisfy { $0 == .seconds(600) })
  }

  // MARK: People in runs, and loops that look like them

  /// The delays of changes of which one comes in each run of this length, so long after its start as `offset` says,
  /// and the times of the starts for them.
  private mutating func inRuns(
    _ times: Int, of length: Duration, _ verdict: Verdict = .unknown, _ offset: () -> Duration
  ) -> (delays: [Duration], starts: [Duration]) {
    var (delays, starts) = ([Duration](), [Duration]())
    var now = Duration.zero
    for _ in 0..<times {
      let offset = offset()
      count.changed(verdict, at: offset)
      let delay = count.delay()
      let next = max(length, offset) + delay
      now += next
      delays.append(delay)
      starts.append(now)
      count.began(after: next, isComplete: true)
    }
    return (delays, starts)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>, [1.5, 2, 3, 8, 20, 60])
  mutating func `who saves once in each run, at any moment, waits 1 s in 30 at most, 4 s in 100`(
    seed: UInt64, length: Double
  ) {
    var random = SeededGenerator(seed: seed)
    let delays = inRuns(100, of: .seconds(length)) {
      .seconds(.random(in: 0...length, using: &random))
    }.delays
    #expect(delays[..<30].allSatisfy { $0 <= .seconds(1) })
    #expect(delays.allSatisfy { $0 <= .seconds(4) })
    #expect(!count.isProved)
  }

  /// The deviation is near the limit at times.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  mutating func `who saves in the last two of three seconds waits 1 s in 30 at most, 4 s in 100`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let delays = inRuns(100, of: .seconds(3)) { .seconds(.random(in: 1...3, using: &random)) }
      .delays
    #expect(delays[..<30].allSatisfy { $0 <= .seconds(1) })
    #expect(delays.allSatisfy { $0 <= .seconds(4) })
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>, [12.0, 15, 30, 60])
  mutating func `who saves late in long runs waits 1 s in 30 at most, 4 s in 100`(
    seed: UInt64, time: Double
  ) {
    var random = SeededGenerator(seed: seed)
    let delays = inRuns(100, of: .seconds(time * 1.1)) {
      .seconds(time * .random(in: 0.9...1.1, using: &random))
    }.delays
    #expect(delays[..<30].allSatisfy { $0 <= .seconds(1) })
    #expect(delays.allSatisfy { $0 <= .seconds(4) })
  }

  @Test
  mutating func `what was seen, or is proved elsewhere, is not a person's, whenever it changes`() {
    var random = SeededGenerator(seed: 1)
    let seen = inRuns(14, of: .seconds(3), .run) { .seconds(.random(in: 0...3, using: &random)) }
    #expect(seen.delays.last == .seconds(8))
    count = TimedCount()
    _ = inRuns(12, of: .seconds(3)) { .seconds(.random(in: 0...3, using: &random)) }
    count.prove()
    #expect(count.delay() == .seconds(8))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  mutating func `who saves only in the half second after starts waits 9 s in 25 at most`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let delays = inRuns(25, of: .seconds(1)) {
      .milliseconds(Int.random(in: 0...450, using: &random))
    }.delays
    #expect(delays.allSatisfy { $0 <= .seconds(10) })
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>, [0, 0.1, 0.5, 1, 2, 5, 9, 10, 11, 30])
  mutating func `what follows each start by 10 % leads to 20 starts in a minute and 60 in ten`(
    seed: UInt64, time: Double
  ) {
    var random = SeededGenerator(seed: seed)
    let starts = inRuns(200, of: .zero) {
      .seconds(time * .random(in: 0.9...1.1, using: &random))
    }.starts
    #expect(starts.count { $0 < .seconds(60) } <= 20)
    #expect(starts.count { $0 < .seconds(600) } <= 60)
  }

  /// As a build server does that is asked by each run, and the run sleeps meanwhile.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  mutating func `what others change once in each run, soon after its start, becomes rare`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let (delays, starts) = inRuns(300, of: .seconds(1), .others) {
      .milliseconds(Int.random(in: 200...500, using: &random))
    }
    #expect(delays[..<10].allSatisfy { $0 == .zero })
    #expect(delays[..<25].allSatisfy { $0 <= .seconds(10) })
    #expect(starts.count { $0 < .seconds(60) } <= 26 && starts.count { $0 < .seconds(600) } <= 60)
  }

  @Test mutating func `what is proved in every second run only becomes rare as well`() {
    var number = 0
    let delays = (0..<100).flatMap { _ in
      number += 1
      return inRuns(1, of: .seconds(1), number % 2 == 0 ? .others : .unknown) {
        .milliseconds(50 + number % 3 * 50)
      }.delays
    }
    #expect(delays[21...].allSatisfy { $0 >= .seconds(1) })
  }

  @Test mutating func `what others change again in a run, or at any moment, is not delayed`() {
    for number in 1...200 {
      count.changed(.others, at: .milliseconds(300 + number % 3 * 100))
      count.changed(.others, at: .milliseconds(700))
      #expect(count.delay() == .zero)
      count.began(after: .seconds(1), isComplete: true)
    }
    var random = SeededGenerator(seed: 1)
    let delays = inRuns(200, of: .seconds(3), .others) {
      .seconds(.random(in: 0...3, using: &random))
    }.delays
    #expect(delays.allSatisfy { $0 == .zero })
  }

  @Test(arguments: [(0, 2), (5, 0.3), (0, 0.3)])
  mutating func `a single run that is slow makes no person of a loop`(
    _ case: (number: Int, time: Double)
  ) {
    var number = -1
    let starts = inRuns(60, of: .zero) {
      number += 1
      return .seconds(number == `case`.number ? 8 : `case`.time)
    }.starts
    // Five more than without it.
    #expect(starts.count { $0 < .seconds(68) } <= 25)
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>, [0.4, 1.2, 2.5])
  mutating func `what follows each start with up to 0.4 s more leads to 120 starts in ten minutes`(
    seed: UInt64, time: Double
  ) {
    var random = SeededGenerator(seed: seed)
    let starts = inRuns(200, of: .zero) {
      .seconds(time + .random(in: -0.4...0.4, using: &random))
    }.starts
    #expect(starts.count { $0 < .seconds(600) } <= 120)
  }

  @Test mutating func `who makes a change makes no difference unless others are proved to`() {
    let unknown = change(20, .unknown)
    count = TimedCount()
    #expect(change(20, .run) == unknown)
  }

  @Test mutating func `the time after the start makes no difference unless others are proved to`() {
    for number in 0..<4 { change(at: .seconds(1 + number)) }
    #expect(count.repetitions == 4)
  }

  // MARK: Repetitions

  @Test mutating func `several changes after one start count once`() {
    change()
    for _ in 0..<9 { count.changed(.unknown, at: .seconds(2)) }
    #expect(count.repetitions == 1)
    #expect(count.offset == .seconds(1))
  }

  /// As a log that is written three times a second, whoever starts, where nothing is known of its writer.
  @Test mutating func `what changes faster than people save for long is delayed by 4 s at most`() {
    let blind = Company.lasting
    var delays: [Duration] = []
    for number in 0..<100 {
      starts += 1
      delays.append(change(1, .unknown, at: .milliseconds(50 + number % 5 * 50), blind)[0])
      // It is written again during a delay, just before the start.
      if let delay = delays.last, delay > .seconds(1) {
        count.changed(.unknown, at: delay, isInFinite: false)
      }
    }
    #expect(delays[60...].allSatisfy { $0 >= .seconds(4) })
    count.reset()
    // A person saves faster for a while.
    for number in 0..<200 {
      let gap = Duration.milliseconds(number % 4 == 0 ? 1500 : 400)
      let delay = change(1, .unknown, at: max(gap - (delays.last ?? .zero), .zero), blind)[0]
      delays.append(delay)
      #expect(delay <= .seconds(1))
    }
  }

  /// Saves with these gaps beside a run that each of them restarts: how long each waits.
  private mutating func waits(_ number: Int, _ gap: () -> Duration) -> [Duration] {
    var (now, latest, waits) = (Duration.zero, Duration.zero, [Duration]())
    var due: Duration?
    for _ in 0..<number {
      now += gap()
      if let start = due, start <= now {
        count.began(after: start - latest)
        (latest, due) = (start, nil)
        starts += 1
      }
      count.changed(.unknown, at: now - latest, isInFinite: false)
      due = due ?? now + delay(.lasting)
      waits.append((due ?? now) - now)
    }
    return waits
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>, [0.5, 1, 1.5, 4])
  mutating func `who saves at random beside a service waits 1 s in 30 at most, 4 s in 100`(
    seed: UInt64, pace: Double
  ) {
    var random = SeededGenerator(seed: seed)
    let waits = waits(100) {
      .seconds(max(0.2, -pace * log(Double.random(in: 0.001..<1, using: &random))))
    }
    // Twice a second at random looks like an answer for a moment, in one of twenty rows.
    #expect(waits[..<30].allSatisfy { $0 <= .seconds(pace < 1 ? 2 : 1) })
    #expect(waits.allSatisfy { $0 <= .seconds(4) })
    #expect(!count.isProved)
  }

  @Test mutating func `a row that began in runs that end keeps their law beside a service`() {
    var random = SeededGenerator(seed: 1)
    _ = inRuns(12, of: .seconds(3)) { .seconds(.random(in: 0...3, using: &random)) }
    count.changed(.unknown, at: .seconds(2), isInFinite: false)
    #expect(count.delay() <= .seconds(1))
  }

  @Test
  mutating func `what follows the start of a restarted run counts twice at first`() {
    change(1, .unknown, at: .milliseconds(500), .lasting)
    change(1, .unknown, at: .milliseconds(600), .lasting)
    #expect(count.repetitions == 3)
    change(1, .unknown, at: .milliseconds(701), .lasting)
    #expect(count.repetitions == 4)
  }

  /// So many starts, each delayed by the law, after which the key changes at a time of a server or a person.
  private mutating func starts(
    _ number: Int, _ time: (_ isAfterStart: Bool) -> Duration, isPerson: Bool, entries: Int = 1
  ) -> Int? {
    var delay = Duration.zero
    for start in 1...number {
      count.began(after: (count.offset ?? .zero) + delay)
      let offset = time(true)
      for entry in 0..<entries {
        let time = isPerson ? max(offset - delay, .zero) : offset
        count.changed(.unknown, at: time + .milliseconds(5 * entry), isInFinite: false)
      }
      delay = count.delay(isTested: RepetitionCount.isTested(start))
      if count.isProved { return start }
    }
    return nil
  }

  /// A directory changes with each of its entries.
  @Test(arguments: 1...20 as ClosedRange<UInt64>, [1, 2, 5])
  mutating func `what follows a start is proved, though its time varies by 0.4 s`(
    seed: UInt64, entries: Int
  ) {
    var random = SeededGenerator(seed: seed)
    let starts = starts(
      60, { _ in .milliseconds(Int.random(in: 300...700, using: &random)) }, isPerson: false,
      entries: entries)
    #expect(starts != nil)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  mutating func `what follows the change before is never proved to follow the start`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let pace = Int.random(in: 1200...5000, using: &random)
    let part = Int.random(in: 1...70, using: &random)
    let range = pace - pace * part / 100...pace + pace * part / 100
    let starts = starts(
      300, { _ in .milliseconds(Int.random(in: range, using: &random)) }, isPerson: true)
    #expect(starts == nil)
  }

  @Test func `of three restarts that are tested, one is not delayed, in no rhythm`() {
    let tested = (0..<1000).map { RepetitionCount.isTested($0) }
    #expect(tested.count { $0 } == 666)
    for rhythm in 2...7 {
      for first in 0..<rhythm {
        let part = stride(from: first, to: 1000, by: rhythm).count { tested[$0] }
        #expect((0.6...0.75).contains(Double(part * rhythm) / 1000))
      }
    }
  }

  @Test(arguments: [true, false])
  mutating func `a change at another time takes one back, unless it is proved elsewhere`(
    isLearned: Bool
  ) {
    change(12, .unknown, at: .seconds(1), .lasting)
    let proved = count.repetitions
    if isLearned { count.prove() }
    change(1, .unknown, at: .seconds(40), .lasting)
    #expect(count.repetitions == (isLearned ? proved : proved - 1))
  }

  @Test(arguments: [1.3, 2, 3, 4, 7, 9, 13, 30])
  mutating func `a person who saves at an even pace waits for a test at the most`(pace: Double) {
    var longest = Duration.zero
    for _ in 0..<200 {
      let blind = Company.lasting
      longest = max(longest, change(1, .unknown, at: .seconds(pace) - delay(blind), blind)[0])
    }
    #expect(longest == RepetitionCount.Rules.test)
  }

  /// As two files that are saved one after the other, of which the second restarts the run at once, or again.
  @Test(arguments: [true, false])
  mutating func `a change at the same time after each start counts only if that is delayed`(
    isOnce: Bool
  ) {
    for number in 1...99 {
      let time = Duration.milliseconds(9_900 + number % 20)
      count.changed(.unknown, at: time, isInFinite: false)
      count.began(after: time + .milliseconds(20))
      if !isOnce { count.began(after: .milliseconds(60)) }
    }
    #expect(count.repetitions == 5)
    count.began(after: .milliseconds(200))
    count.changed(.unknown, at: .milliseconds(9_900), isInFinite: false)
    #expect(count.repetitions == 8)
  }

  @Test mutating func `no pause is left out`() {
    let delays = change(8, .unknown, at: .milliseconds(500), .lasting)
    #expect(Set(delays).isSuperset(of: [.seconds(1), .seconds(2), .seconds(4)]))
  }

  @Test mutating func `a change for which a run was requested is followed by another repetition`() {
    change()
    count.answered()
    count.changed(.unknown, at: .seconds(2))
    #expect(count.repetitions == 2)
  }

  @Test mutating func `a key is suspected from its first repetition until nothing spoke for it`() {
    #expect(!count.isSuspected)
    for number in 1...14 {
      change()
      #expect(count.isSuspected == (number < 14))
      #expect(count.isProved == (number == 14))
    }
  }

  @Test mutating func `what is proved elsewhere is proved, and a run without it proves nothing`() {
    count.prove()
    #expect(count.isProved && count.delay() == .seconds(8))
    count.began(after: .seconds(99))
    #expect(count.isProved)
    change(1, .others)
    #expect(!count.isProved)
  }

  // MARK: Others

  @Test mutating func `a proof for others resets the count`() {
    change(9)
    change(1, .others)
    #expect(count.repetitions == 0 && count.delay() == .zero)
  }

  @Test(arguments: [Company.finite, .lasting])
  mutating func `after a proof for others, the next change counts`(
    circumstance: Company
  ) {
    change(9)
    change(1, .others, at: .seconds(1), circumstance)
    change()
    #expect(count.repetitions == 1)
  }

  @Test mutating func `proofs in a row at the same time are delayed by the law after seven more`() {
    let delays = change(20, .others, at: .seconds(1))
    #expect(delays[..<10].allSatisfy { $0 == .zero } && delays[10] == .milliseconds(250))
    #expect(delays[16] == .milliseconds(250) && delays[17] == .seconds(1))
    #expect(count.repetitions == 0)
  }

  @Test(arguments: [25, 600])
  mutating func `beside lasting processes they are so at no wide times`(difference: Int) {
    let delays = (0..<50).map { number in
      change(1, .others, at: .milliseconds(500 + number % 2 * difference), .lasting)[0]
    }
    #expect(delays.contains { $0 >= .seconds(8) } == (difference == 25))
    #expect(delays.contains { $0 > .zero } == (difference == 25))
  }

  /// As a watcher outside of the tree does.
  @Test(arguments: 1...10 as ClosedRange<UInt64>, [0.4, 1, 2])
  mutating func `what others change beside a service after each start by 10 % becomes rare`(
    seed: UInt64, time: Double
  ) {
    var random = SeededGenerator(seed: seed)
    var (now, starts) = (Duration.zero, [Duration]())
    for _ in 0..<200 {
      let offset = Duration.seconds(time * .random(in: 0.9...1.1, using: &random))
      now += offset + change(1, .others, at: offset, .lasting)[0]
      starts.append(now)
    }
    #expect(starts.count { $0 < .seconds(60) } <= 26)
    #expect(starts.count { $0 < .seconds(600) } <= 60)
  }

  @Test mutating func `a doubt takes three repetitions back, and goes on with the row`() {
    change(14)
    count.doubt()
    #expect(count.repetitions == 11)
    change()
    #expect(count.repetitions == 12)
  }

  @Test mutating func `a change while nothing runs resets the count`() {
    change(9)
    count.reset()
    #expect(count.isEmpty)
  }

  // MARK: The end of a row

  @Test mutating func `a run of 1.5 times the time without the change ends the row`() {
    change(9, at: .seconds(2))
    count.began(after: .seconds(2))
    count.began(after: .milliseconds(3001))
    #expect(count.repetitions == 0)
    change(at: .seconds(2))
    #expect(count.delay() == .zero)
  }

  @Test mutating func `a run that has written the key again, unchanged, goes on with the row`() {
    change(9, at: .seconds(2))
    count.began(after: .seconds(2))
    count.wasRewritten()
    count.began(after: .seconds(9))
    #expect(count.repetitions == 9)
  }

  @Test mutating func `a run that has ended by itself without the change ends the row`() {
    change(9, at: .seconds(2))
    count.began(after: .seconds(2))
    count.began(after: .seconds(2), isComplete: true)
    #expect(count.repetitions == 0)
  }

  @Test mutating func `a shorter run proves nothing`() {
    change(9, at: .seconds(2))
    count.began(after: .seconds(2))
    count.began(after: .seconds(3))
    #expect(count.repetitions == 9)
  }

  @Test mutating func `a run with the change goes on with the row, however long it lasts`() {
    change(9)
    count.began(after: .seconds(86_400))
    #expect(count.repetitions == 9)
    count.began(after: .seconds(86_400))
    #expect(count.isEmpty)
  }
}
