import Support
import TestSupport
import Testing

/// People and writers around the law, in virtual time: the bounds are those that the manual promises, and not the
/// law's own numbers.
struct SuspicionTests {
  /// When one path changes.
  enum Changes: Hashable, Sendable {
    /// So long after each start, as a process writes it, more or less by so much.
    case afterStart(Double, Double)
    /// At the end of each run, which lasts longer or shorter by this part.
    case atEnd(Double)
    /// At an even pace, more or less by this part.
    case every(Double, Double)
    /// At any time, so often on average.
    case atRandom(Double)
    /// Twice within the first time, at the second pace.
    case pairs(Double, Double)
    /// Once after each start, within this time.
    case oncePerStart(Double)

    var followsStarts: Bool {
      switch self {
      case .afterStart, .atEnd, .oncePerStart: true
      case .every, .atRandom, .pairs: false
      }
    }
  }

  /// A command, or a service that a change restarts, and one path.
  struct World {
    private var generator: SeededGenerator
    private let changes: Changes
    /// How long a run lasts; `nil` for a service.
    private let duration: Double?
    private let verdict: Suspicion.Verdict
    private var suspicion = Suspicion()
    private var limit = StartLimit(share: 1)
    private var number = 0
    private var (now, next) = (0.0, 0.0)
    private var isSecond = false
    /// How long the present run lasts.
    private var length = 0.0
    private(set) var starts: [Double] = []
    /// How long each change has waited, after the run that was under way.
    private(set) var waits: [Double] = []

    init(
      _ changes: Changes, _ verdict: Suspicion.Verdict = .unknown, in duration: Double?,
      seed: UInt64, until end: Double, count: Int
    ) {
      (self.changes, self.duration, self.verdict) = (changes, duration, verdict)
      generator = SeededGenerator(seed: seed)
      run(until: end, count)
    }

    private mutating func random(_ range: ClosedRange<Double>) -> Double {
      .random(in: range, using: &generator)
    }

    private mutating func plan(after start: Double) {
      switch changes {
      case .afterStart(let time, let spread):
        // After a pause, programs are no longer in caches.
        let isCold = start - (starts.dropLast().last ?? 0) > 3 + (duration ?? time)
        next =
          start + max(time + random(-spread...spread), 0.005) + random(0...0.01)
          + (isCold ? random(0.04...0.06) : 0)
      case .atEnd(let part):
        length = (duration ?? 0) * (1 + random(-part...part))
        next = start + length - random(0.002...0.01)
      case .every(let pace, let part): next += pace * (1 + random(-part...part))
      case .atRandom(let pace):
        // The sum of three is random enough, and never far from it.
        next += pace * (random(0.05...1) + random(0...1) * random(0...1) * 2)
      case .pairs(let pause, let pace):
        next += isSecond ? pause : pace
        isSecond.toggle()
      case .oncePerStart(let time): next = start + random(0.01...time)
      }
    }

    private func instant(_ time: Double) -> Instant { Instant(offset: .seconds(time)) }

    /// How long what has changed waits at this time.
    private func delay(at time: Double) -> Double {
      let delay = max(
        suspicion.delay(of: verdict, number: number),
        limit.delay(of: verdict == .others ? .others : .unknown, at: instant(time)))
      return delay / .seconds(1)
    }

    private mutating func run(until end: Double, _ count: Int) {
      while now < end && waits.count < count {
        let start = now
        suspicion.began(after: .seconds(start - (starts.last ?? 0)), isComplete: duration != nil)
        limit.started(at: instant(start))
        starts.append(start)
        if let duration { length = duration * random(0.97...1.03) }
        if starts.count == 1 || changes.followsStarts { plan(after: start) }
        let length = duration.map { _ in self.length }
        var pending: [Double] = []
        while next < start + (length ?? .infinity), length != nil || pending.isEmpty {
          suspicion.changed(
            verdict, at: instant(next), after: .seconds(next - start),
            in: duration.map { .seconds($0) })
          pending.append(next)
          if changes.followsStarts { break }
          plan(after: start)
        }
        number += 1
        if let length { suspicion.ended(at: instant(start + length)) }
        let judged = length.map { start + $0 } ?? (pending[0] + 0.02)
        if pending.isEmpty || changes.followsStarts && next > judged && length != nil {
          // At rest a change acts at once.
          suspicion.reset()
          now = max(next, judged)
          plan(after: now)
          waits.append(0)
          continue
        }
        now = judged + delay(at: judged)
        while !changes.followsStarts && next < now {
          if duration != nil {
            // So does a change during the delay of a command.
            suspicion.reset()
            now = next
          } else {
            suspicion.changed(verdict, at: instant(next), after: .seconds(next - start))
          }
          pending.append(next)
          plan(after: start)
        }
        waits += pending.map { now - max($0, judged) }
      }
    }

    func starts(within time: Double) -> Int { starts.count { $0 < time } }
  }

  private static let seeds = 1...UInt64(Effort.count(200, quick: 10))

  private static let people: [Changes] =
    [0.2, 0.5, 1, 1.9, 2.5, 5, 10, 30].flatMap {
      [.every($0, 0), .every($0, 0.02), .every($0, 0.3)]
    }
    + [.atRandom(1), .atRandom(5), .pairs(0.1, 4), .pairs(0.3, 1)]

  @Test(arguments: people, [nil, 0.3, 1, 2, 5] as [Double?])
  func `no save of a person waits for longer than 1 s in 30, and 4 s in 100`(
    _ changes: Changes, duration: Double?
  ) {
    let late = Self.seeds.filter { seed in
      let world = World(changes, in: duration, seed: seed, until: 8000, count: 100)
      return world.waits.prefix(30).max() ?? 0 > 1.05 || world.waits.prefix(100).max() ?? 0 > 4.05
    }
    #expect(late.isEmpty)
  }

  /// By time alone, that is a loop with wide times.
  @Test(arguments: [0.2, 0.5, 1, 2, 5, 10])
  func `a person who saves once in each run, at any time in it, waits as little, nearly always`(
    duration: Double
  ) {
    let late = Self.seeds.count { seed in
      let world = World(
        .oncePerStart(duration), in: duration, seed: seed, until: 8000, count: 100)
      return world.waits.prefix(30).max() ?? 0 > 1.05 || world.waits.prefix(100).max() ?? 0 > 4.05
    }
    #expect(late <= Self.seeds.count / 20)
  }

  /// Others who follow the starts are told from that person by how narrowly they do.
  @Test(arguments: [0.3, 0.5, 1, 2, 5])
  func `a person who is proved to save once in each run waits as little`(duration: Double) {
    let late = Self.seeds.count { seed in
      let world = World(
        .oncePerStart(duration), .others, in: duration, seed: seed, until: 8000, count: 100)
      return world.waits.prefix(30).max() ?? 0 > 1.05 || world.waits.prefix(100).max() ?? 0 > 4.05
    }
    #expect(late <= Self.seeds.count / 10)
  }

  @Test(arguments: [nil, 2] as [Double?])
  func `a person who saves only in the half second after each start waits for 10 s at most`(
    duration: Double?
  ) {
    let late = Self.seeds.filter { seed in
      let world = World(.oncePerStart(0.5), in: duration, seed: seed, until: 8000, count: 25)
      return world.waits.max() ?? 0 > 10
    }
    #expect(late.isEmpty)
  }

  private static let times = [0.02, 0.1, 0.3, 1, 2, 5, 10]

  /// The most starts in a minute, and in ten.
  private func mostStarts(_ changes: Changes, in duration: Double? = nil) -> [Int] {
    let worlds = Self.seeds.map {
      World(changes, in: duration, seed: $0, until: 600, count: .max)
    }
    return [worlds.map { $0.starts(within: 60) }.max() ?? 0, worlds.map(\.starts.count).max() ?? 0]
  }

  @Test(arguments: times, [0, 0.1])
  func `what follows each start of a service becomes rare`(time: Double, part: Double) {
    let most = mostStarts(.afterStart(time, time * part))
    #expect(most[0] <= 20 && most[1] <= 60, "\(most)")
  }

  @Test(arguments: [0.2, 0.3, 1, 3, 10], [0, 0.1])
  func `what each run of a command writes becomes rare`(duration: Double, part: Double) {
    let time = duration < 0.3 ? 0.01 : duration / 2
    let most = mostStarts(.afterStart(time, time * part), in: duration)
    #expect(most[0] <= 20 && most[1] <= 60, "\(most)")
  }

  @Test(arguments: [0.2, 0.5, 2, 10], [0.1, 0.5, 0.8])
  func `what each run writes at its end becomes rare, however long it lasts`(
    duration: Double, part: Double
  ) {
    let most = mostStarts(.atEnd(part), in: duration)
    #expect(most[0] <= 20 && most[1] <= 60, "\(most)")
  }

  @Test(arguments: times)
  func `what follows each start of a service at wide times becomes rare as well`(time: Double) {
    let most = mostStarts(.afterStart(time, 0.4))
    #expect(most[1] <= 120, "\(most)")
  }

  /// That nothing changes while a start is delayed tells it from a person who saves at any time.
  @Test(arguments: [0.25, 0.6, 1.4, 2.7])
  func `what follows each start of a service by up to 0.2 s more or less becomes rare soon`(
    time: Double
  ) {
    let most = mostStarts(.afterStart(time, 0.2))
    #expect(most[0] <= 30 && most[1] <= 60, "\(most)")
  }

  // MARK: Single steps

  /// The delays of a key that changes so long after each start, which is delayed by them.
  private func delays(
    _ count: Int, _ verdict: Suspicion.Verdict = .unknown, in suspicion: inout Suspicion
  ) -> [Duration] {
    var now = Duration.seconds(1000)
    return (1...count).map { number in
      suspicion.began(after: .seconds(1))
      now += .milliseconds(500)
      suspicion.changed(verdict, at: Instant(offset: now), after: .milliseconds(500))
      let delay = suspicion.delay(of: verdict, number: number)
      now += delay
      return delay
    }
  }

  @Test func `delays are tests, then pauses that a person can live with, and then double`() {
    var suspicion = Suspicion()
    let delays = delays(40, in: &suspicion)
    #expect(delays[..<3].allSatisfy { $0 == .zero })
    #expect(delays[3...6] == [Suspicion.Rules.test.least, .zero, .seconds(1), .seconds(4)])
    #expect(delays[7..<27].allSatisfy { $0 == Suspicion.Rules.noticed })
    #expect(Array(delays[27...30]) == [2, 4, 8, 16].map { Suspicion.Rules.noticed * $0 })
    #expect(delays.max() == .seconds(600))
    #expect(suspicion.isProved && !suspicion.isSuspected)
  }

  @Test func `what others are proved to change has four more free starts`() {
    var suspicion = Suspicion()
    let delays = delays(45, .others, in: &suspicion)
    #expect(delays[..<7].allSatisfy { $0 == .zero } && delays.last == Suspicion.Rules.noticed * 2)
  }

  @Test func `a second change of others after a start, at another time, begins anew`() {
    var suspicion = Suspicion()
    _ = delays(20, in: &suspicion)
    suspicion.changed(.others, at: Instant(offset: .seconds(9000)), after: .seconds(3))
    #expect(suspicion.delay(of: .others, number: 4) == .zero)
    #expect(suspicion.delay(number: 4) == .zero)
  }

  @Test func `a run without the change ends the row`() {
    var suspicion = Suspicion()
    _ = delays(20, in: &suspicion)
    suspicion.began(after: .seconds(9))
    suspicion.began(after: .milliseconds(600))
    #expect(suspicion.isProved, "it may have been too short")
    suspicion.began(after: .seconds(1))
    #expect(suspicion.isEmpty)
  }

  @Test func `what changes aside just before a change does not make it one that follows a save`() {
    var suspicion = Suspicion()
    var now = Instant(offset: .zero)
    for number in 0..<30 {
      suspicion.began(after: .milliseconds(300))
      now = now.advanced(by: .milliseconds(300) + suspicion.delay(number: number))
      suspicion.changedAside(at: now)
      suspicion.changed(.unknown, at: now, after: .milliseconds(290 + number * 7919 % 20))
    }
    #expect(suspicion.isProved)
  }

  @Test func `what is written again unchanged neither ends the row nor makes it longer`() {
    var suspicion = Suspicion()
    _ = delays(5, in: &suspicion)
    let level = suspicion.level()
    for _ in 1...3 {
      suspicion.began(after: .seconds(9), isComplete: true)
      suspicion.wasRewritten()
    }
    #expect(suspicion.level() == level)
    suspicion.leftUnchanged()
    #expect(suspicion.level() == level - 1)
  }
}
