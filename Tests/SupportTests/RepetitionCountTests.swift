import Support
import TestSupport
import Testing

/// The law of delays: each number of it has a claim.
struct RepetitionCountTests {
  private typealias Verdict = RepetitionCount.Verdict

  private var count = RepetitionCount()
  /// How often something has started.
  private var starts = 0

  /// Starts so often, each time after the delay of the change before, and changes the key after each start.
  @discardableResult
  private mutating func change(
    _ times: Int = 1, _ verdict: Verdict = .unknown, at offset: Duration = .seconds(1),
    _ circumstance: RepetitionCount.Circumstance = .finite
  ) -> [Duration] {
    (0..<times).map { _ in
      count.began(after: (count.offset ?? .zero) + delay(circumstance))
      starts += 1
      count.changed(verdict, at: offset, circumstance)
      return delay(circumstance)
    }
  }

  /// The delay of the latest change.
  private func delay(_ circumstance: RepetitionCount.Circumstance) -> Duration {
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
  mutating func `what no test has spoken for waits 1, 2, 4, 8 s, 10 s for a while, up to 600 s`() {
    let delays = delays(40)
    #expect(delays[10..<14].map { $0 / .seconds(1) } == [1, 2, 4, 8])
    #expect(delays[14..<26].allSatisfy { $0 == .seconds(10) })
    #expect(delays[26..<31].map { $0 / .seconds(1) } == [20, 40, 80, 160, 320])
    #expect(delays[31...].allSatisfy { $0 == .seconds(600) })
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

  @Test
  mutating func `what was seen, or is proved elsewhere, is not a person's, whenever it changes`() {
    var random = SeededGenerator(seed: 1)
    let seen = inRuns(14, of: .seconds(3), .run) { .seconds(.random(in: 0...3, using: &random)) }
    #expect(seen.delays.last == .seconds(8))
    count = RepetitionCount()
    _ = inRuns(12, of: .seconds(3)) { .seconds(.random(in: 0...3, using: &random)) }
    count.prove()
    #expect(count.delay() == .seconds(8))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  mutating func `who saves only in the half second after starts waits 10 s in 25 at most`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let delays = inRuns(25, of: .seconds(1)) {
      .milliseconds(Int.random(in: 0...450, using: &random))
    }.delays
    #expect(delays.allSatisfy { $0 <= .seconds(10) })
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>, [0, 0.1, 0.5, 1, 2, 5, 10, 30])
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
    #expect(
      delays[..<10].allSatisfy { $0 == .zero } && delays[..<30].allSatisfy { $0 <= .seconds(1) })
    #expect(delays[..<100].allSatisfy { $0 <= .seconds(4) })
    #expect(starts.count { $0 < .seconds(40) } <= 26 && starts.count { $0 < .seconds(600) } <= 130)
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
    count = RepetitionCount()
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

  @Test
  mutating func `what comes when lasting processes do something is tested from the second time on`()
  {
    change(1, .unknown, at: .seconds(1), .lasting(activity: 1))
    count.changed(.unknown, at: .seconds(2), .lasting(activity: 2))
    #expect(count.repetitions == 2)
    change(1, .unknown, at: .seconds(3), .lasting(activity: 3))
    #expect(count.repetitions == 4 && count.delay() == .milliseconds(250))
  }

  /// A server that reacts to each save does something then, as one that writes the file does.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  mutating func `a person who saves beside a server that reacts waits for a test at the most`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    for number in 1...200 {
      let circumstance = RepetitionCount.Circumstance.lasting(activity: number)
      let pace = Duration.milliseconds(Int.random(in: 2000...5000, using: &random))
      let delay = change(1, .unknown, at: pace - delay(circumstance), circumstance)
      #expect(delay[0] <= RepetitionCount.Rules.test)
    }
  }

  /// As a log that is written three times a second, whoever starts, where nothing is known of its writer.
  @Test mutating func `what changes faster than people save for long is delayed by 4 s at most`() {
    let blind = RepetitionCount.Circumstance.lasting(activity: nil)
    var delays: [Duration] = []
    for number in 0..<100 {
      starts += 1
      delays.append(change(1, .unknown, at: .milliseconds(50 + number % 5 * 50), blind)[0])
      // It is written again during a delay, just before the start.
      if let delay = delays.last, delay > .seconds(1) {
        count.changed(.unknown, at: delay, blind)
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

  @Test mutating func `what a service logs while the start is delayed takes nothing back`() {
    // The times after the starts vary a lot.
    for number in 1...12 {
      change(1, .unknown, at: .milliseconds(100 + number % 2 * 600), .lasting(activity: number))
    }
    let repetitions = count.repetitions
    #expect(repetitions > RepetitionCount.Rules.free)
    for number in 13...20 {
      count.changed(.unknown, at: .milliseconds(700 + number * 10), .lasting(activity: number))
      count.changed(.unknown, at: .milliseconds(900 + number * 30), .lasting(activity: number))
    }
    #expect(count.repetitions == repetitions)
  }

  /// As a service that logs three times a second, beside a task.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  mutating func `what comes when processes do something, faster than people save, is proved`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    var number = 0
    while !count.isProved && number < 30 {
      number += 1
      let time = Duration.milliseconds(Int.random(in: 50...700, using: &random))
      change(1, .unknown, at: time, .lasting(activity: number))
    }
    #expect(number < 20)
  }

  @Test(arguments: [(15, 4), (16, 3)])
  mutating func `a run that did something three times for each change follows it, four times not`(
    _ case: (activity: Int, repetitions: Int)
  ) {
    change(1, .unknown, at: .seconds(1), .lasting(activity: 10))
    change(1, .unknown, at: .seconds(5), .lasting(activity: `case`.activity))
    #expect(count.repetitions == `case`.repetitions)
  }

  @Test
  mutating func `what follows the start of a restarted run counts twice at first`() {
    let blind = RepetitionCount.Circumstance.lasting(activity: nil)
    change(1, .unknown, at: .milliseconds(500), blind)
    change(1, .unknown, at: .milliseconds(600), blind)
    #expect(count.repetitions == 3)
    change(1, .unknown, at: .milliseconds(701), blind)
    #expect(count.repetitions == 4)
  }

  /// So many starts, each delayed by the law, after which the key changes at a time of a server or a person.
  private mutating func starts(
    _ number: Int, _ time: (_ isAfterStart: Bool) -> Duration, isPerson: Bool
  ) -> Int? {
    let blind = RepetitionCount.Circumstance.lasting(activity: nil)
    var delay = Duration.zero
    for start in 1...number {
      count.began(after: (count.offset ?? .zero) + delay)
      let offset = time(true)
      count.changed(.unknown, at: isPerson ? max(offset - delay, .zero) : offset, blind)
      delay = count.delay(isTested: RepetitionCount.isTested(start))
      if count.isProved { return start }
    }
    return nil
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  mutating func `what follows a start is proved, though its time varies by 0.4 s`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let starts = starts(
      60, { _ in .milliseconds(Int.random(in: 300...700, using: &random)) }, isPerson: false)
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

  @Test
  mutating func `a run without it does not take back what a run writes when it does something`() {
    change(1, .unknown, at: .seconds(1), .lasting(activity: 1))
    count.began(after: .seconds(9))
    count.began(after: .seconds(9))
    #expect(count.repetitions == 2)
    change(1, .others)
    #expect(count.repetitions == 0)
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
    for number in 1...12 { change(1, .unknown, at: .seconds(1), .lasting(activity: number)) }
    let proved = count.repetitions
    if isLearned { count.prove() }
    change(1, .unknown, at: .seconds(40), .lasting(activity: nil))
    #expect(count.repetitions == (isLearned ? proved : proved - 1))
  }

  @Test(arguments: [1.3, 2, 3, 4, 7, 9, 13, 30])
  mutating func `a person who saves at an even pace waits for a test at the most`(pace: Double) {
    var longest = Duration.zero
    for _ in 0..<200 {
      let blind = RepetitionCount.Circumstance.lasting(activity: nil)
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
      count.changed(.unknown, at: time, .lasting(activity: nil))
      count.began(after: time + .milliseconds(20))
      if !isOnce { count.began(after: .milliseconds(60)) }
    }
    #expect(count.repetitions == 5)
    count.began(after: .milliseconds(200))
    count.changed(.unknown, at: .milliseconds(9_900), .lasting(activity: nil))
    #expect(count.repetitions == 8)
  }

  @Test mutating func `no pause is left out`() {
    let delays: [Duration] = (1...8).flatMap {
      change(1, .unknown, at: .milliseconds(500), .lasting(activity: $0))
    }
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

  @Test(arguments: [RepetitionCount.Circumstance.finite, .lasting(activity: nil)])
  mutating func `after a proof for others, the next change counts`(
    circumstance: RepetitionCount.Circumstance
  ) {
    change(9)
    change(1, .others, at: .seconds(1), circumstance)
    change()
    #expect(count.repetitions == 1)
  }

  @Test mutating func `each seventh proof in a row at the same time counts as one repetition`() {
    let delays = change(71, .others, at: .seconds(1), .lasting(activity: nil))
    #expect(count.repetitions == 10)
    // The first one repeats nothing.
    #expect(delays.firstIndex { $0 > .zero } == 28)
  }

  @Test mutating func `proofs within 25 ms are at the same time, and other ones are not`() {
    for number in 0..<50 { change(1, .others, at: .milliseconds(500 + number % 2 * 25)) }
    #expect(count.repetitions == 7)
    count = RepetitionCount()
    for number in 0..<50 { change(1, .others, at: .milliseconds(500 + number % 2 * 26)) }
    #expect(count.repetitions == 0)
  }

  @Test mutating func `a change at another time ends the row of proofs`() {
    change(8, .others)
    #expect(count.repetitions == 1)
    change(1, .others, at: .seconds(3))
    #expect(count.repetitions == 0)
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
