import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// People who save, and servers that write, beside a browser that shows the page.
struct ReloadSuspicionTests {
  /// When a file is saved.
  enum Saves: Hashable, Sendable {
    case every(Int)
    case between(Int, Int)
    case pairs(gap: Int, every: Int)
    case none

    func gap<Generator: RandomNumberGenerator>(
      after number: Int, using generator: inout Generator
    ) -> Int? {
      switch self {
      case .every(let gap): gap
      case .between(let least, let most): .random(in: least...most, using: &generator)
      case .pairs(let gap, let pause): number.isMultiple(of: 2) ? gap : pause
      case .none: nil
      }
    }
  }

  /// When the server writes the file, after a request.
  enum Writes: Hashable, Sendable {
    case never
    case after(Int)
    case afterBetween(Int, Int)
  }

  /// A page that loads by some requests after each reload, in virtual time of milliseconds.
  struct Simulation {
    private enum Event: Hashable {
      case save
      case write
      case request(isLast: Bool)
      case elapsed
    }

    private static let file: Path = "/p/page.html"
    private var generator: SeededGenerator
    private var session = ReloadSession(dependencies: [], loadsMayWrite: true)
    private var events: [(time: Int, event: Event)] = []
    private var unanswered: [Int] = []
    private var saveCount = 0
    private let writes: Writes
    private(set) var reloads: [Int] = []
    private(set) var longestWait = 0
    /// The same of the first thirty saves.
    private(set) var longestEarlyWait = 0
    /// How often saves have waited for longer than 0.3 s.
    private(set) var lateSaves = 0
    private(set) var announced = 0

    init(seed: UInt64, saves: Saves, writes: Writes, until end: Int) {
      generator = SeededGenerator(seed: seed)
      self.writes = writes
      var (now, number) = (1_000, 0)
      while now < end {
        events.append((now, .save))
        guard let gap = saves.gap(after: number, using: &generator) else { break }
        (now, number) = (now + gap, number + 1)
      }
      run(until: end)
    }

    private mutating func run(until end: Int) {
      while let next = events.indices.min(by: { events[$0].time < events[$1].time }) {
        let (now, event) = events.remove(at: next)
        if now > end { break }
        switch event {
        case .save:
          unanswered.append(now)
          saveCount += 1
          // The debouncer's quiet period.
          take(session.changed([Self.file], at: now + 12), at: now + 12)
        case .write:
          take(session.changed([Self.file], at: now + 12), at: now + 12)
        case .request(let isLast):
          session.requested(at: now)
          if isLast { write(after: now) }
        case .elapsed:
          take(session.elapsed(at: now), at: now)
        }
      }
    }

    private mutating func write(after now: Int) {
      switch writes {
      case .never: break
      case .after(let pause): events.append((now + pause, .write))
      case .afterBetween(let least, let most):
        events.append((now + .random(in: least...most, using: &generator), .write))
      }
    }

    private mutating func take(_ decision: ReloadSession.Decision?, at now: Int) {
      switch decision {
      case .send:
        reloads.append(now)
        for save in unanswered { longestWait = max(longestWait, now - save) }
        if saveCount <= 30 { longestEarlyWait = longestWait }
        if let first = unanswered.first, now - first > 300 { lateSaves += 1 }
        unanswered = []
        for number in 1...3 {
          let time = now + number * .random(in: 8...30, using: &generator)
          events.append((time, .request(isLast: number == 3)))
        }
      case .wait(let milliseconds, let loop):
        if loop != nil { announced += 1 }
        events.append((now + milliseconds, .elapsed))
      case .ask, nil:
        break
      }
    }
  }

  private static let people: [Saves] =
    [300, 400, 500, 700, 1000, 1300, 1900, 2500, 4000].map { .every($0) } + [
      .between(300, 1900), .between(500, 900), .between(1000, 5000), .pairs(gap: 100, every: 1500),
      .pairs(gap: 300, every: 700),
    ]

  @Test(arguments: people)
  func `no save waits behind a server that does not write the file`(saves: Saves) {
    for seed in 1...UInt64(Effort.count(30, quick: 2)) {
      let simulation = Simulation(seed: seed, saves: saves, writes: .never, until: 120_000)
      #expect(simulation.longestEarlyWait <= 1_020, "seed \(seed)")
      // Tests by chance.
      #expect(simulation.longestWait <= 4_020, "seed \(seed)")
      if case .between = saves { #expect(simulation.lateSaves <= 20, "seed \(seed)") }
      #expect(simulation.announced == 0, "seed \(seed)")
    }
  }

  @Test(arguments: [
    Writes.after(0), .after(200), .after(800), .after(1500), .after(2500), .afterBetween(0, 100),
    .afterBetween(0, 300),
  ])
  func `a file that each load writes comes to rest, and is named`(writes: Writes) {
    for seed in 1...UInt64(Effort.count(30, quick: 2)) {
      let simulation = Simulation(seed: seed, saves: .none, writes: writes, until: 240_000)
      #expect(simulation.announced > 0, "seed \(seed)")
      // Where the times are wide, the delays that double come later.
      let most = writes == .afterBetween(0, 300) ? 40 : 22
      #expect(simulation.reloads.count { $0 < 61_000 } <= most, "seed \(seed)")
      #expect(simulation.reloads.count { $0 > 121_000 } <= 12, "seed \(seed)")
    }
  }

  @Test func `a save of another file does not wait beside a loop`() {
    var suspicion = ReloadSuspicion()
    var (now, delay) = (0, 0)
    while !ReloadSuspicion.isNoticed(delay) {
      now += delay
      suspicion.reloaded(for: ["/p/log"], at: now)
      suspicion.requested(at: now + 10)
      now += 20
      delay = suspicion.delay(of: ["/p/log"], at: now)
    }
    let isOfOthers = suspicion.isOfOthers(["/p/page.html"], at: now + 10)
    #expect(isOfOthers)
  }
}
