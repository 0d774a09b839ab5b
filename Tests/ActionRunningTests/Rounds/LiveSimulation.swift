import FileObservation
import Support
import SystemCalls
import TestSupport

@testable import ActionRunning

/// A server in virtual time that each change restarts, what it writes, and a person who saves files:
/// `Rounds` and `ActivityLog` with processes and files whose truth is known.
struct LiveSimulation {
  /// In milliseconds.
  typealias Time = Int

  /// What a server does beside waiting for requests.
  enum Server: CaseIterable, Sendable {
    case silent, printsAtItsStart, logsElsewhere, printsOften, stopsSlowly, answersPages
    case writesAtItsStart, writesLater, writesOnce, makesNewNames, keepsLogOpen, appendsToLog
    case printsAndAppends
    case writesAtRequests

    /// Whether it writes files that are watched.
    var writesWatchedFiles: Bool {
      switch self {
      case .silent, .printsAtItsStart, .logsElsewhere, .printsOften, .stopsSlowly, .answersPages:
        false
      default: true
      }
    }
  }

  private struct Event {
    let time: Time
    let body: (inout LiveSimulation) -> Void
  }

  /// How long after a change it is reported, and a run begins after it was stopped.
  private static let timeToReport = 12
  private static let timeToStop = 3
  static let source: Path = "/p/app.py"
  static let output: Path = "/p/data"

  let server: Server
  private var random: SeededGenerator
  private(set) var now: Time = 0
  private var events: [Event] = []
  private var rounds = Rounds(isLive: true)
  private var ledger = RoundsLedger()
  private var log = ActivityLog(began: FileTime(nanoseconds: 0))
  private var lookCount = 0
  private var files: [Path: Int] = [source: 0, output: 0]
  private var changed: [Path: Time] = [:]
  private var run = 0
  private var isStopping = false
  private var began: Time = 0
  private var written: UInt64 = 0
  private var content = 0
  private var requests = 0

  private(set) var starts: [Time] = []
  private(set) var saves: [Time] = []
  private(set) var loops: [FeedbackLoop] = []

  init(_ server: Server, seed: UInt64 = 1) {
    self.server = server
    random = SeededGenerator(seed: seed)
    begin(isFollowUp: false)
    if server == .writesAtRequests { request() }
  }

  /// How long each save waited for the start of a run, in milliseconds; a whole day if it never came.
  var delays: [Time] {
    saves.map { save in starts.first { $0 > save }.map { $0 - save } ?? 86_400_000 }
  }

  // MARK: Time

  private mutating func after(_ delay: Time, _ body: @escaping (inout LiveSimulation) -> Void) {
    let event = Event(time: now + max(delay, 0), body: body)
    let index = events.firstIndex { $0.time > event.time } ?? events.endIndex
    events.insert(event, at: index)
  }

  mutating func advance(to time: Time) {
    while let event = events.first, event.time <= time, starts.count < 2000 {
      events.removeFirst()
      now = event.time
      event.body(&self)
    }
    now = time
  }

  private var instant: Instant { Instant(offset: .milliseconds(now)) }

  private static func fileTime(_ time: Time) -> FileTime {
    FileTime(nanoseconds: Int64(time) * 1_000_000)
  }

  // MARK: The person

  /// Saves a file several times, with gaps of this length, or between half and one and a half times of it.
  mutating func save(_ path: Path = source, times: Int, gap: Time, isRandom: Bool) {
    for _ in 0..<times {
      let time = isRandom ? Int.random(in: gap / 2...gap * 3 / 2, using: &random) : gap
      advance(to: now + time)
      saves.append(now)
      change(path)
    }
  }

  // MARK: The server

  private mutating func serve() {
    let number = run
    func later(_ delay: Time, _ body: @escaping (inout LiveSimulation) -> Void) {
      after(delay) { if $0.run == number && !$0.isStopping { body(&$0) } }
    }
    switch server {
    case .silent, .stopsSlowly: break
    case .printsAtItsStart: later(100) { $0.written += 20 }
    case .logsElsewhere: repeatedly(700, number) { $0.written += 20 }
    case .printsOften: repeatedly(200, number) { $0.written += 20 }
    case .answersPages: for time in [90, 140, 230] { later(time) { $0.written += 80 } }
    case .writesAtItsStart: later(Int.random(in: 50...70, using: &random)) { $0.write() }
    case .writesLater: later(Int.random(in: 480...520, using: &random)) { $0.write() }
    case .writesOnce: later(Int.random(in: 2450...2550, using: &random)) { $0.write() }
    case .makesNewNames: later(60) { $0.write(Path("/p/out/\(number)")) }
    case .keepsLogOpen: repeatedly(700, number) { $0.write() }
    case .appendsToLog: repeatedly(1300, number) { $0.write() }
    case .printsAndAppends:
      repeatedly(200, number) { $0.written += 20 }
      repeatedly(700, number) { $0.write() }
    case .writesAtRequests: break
    }
  }

  private mutating func repeatedly(
    _ pause: Time, _ number: Int, _ body: @escaping (inout LiveSimulation) -> Void
  ) {
    after(pause) { model in
      guard model.run == number && !model.isStopping else { return }
      body(&model)
      model.repeatedly(pause, number, body)
    }
  }

  private mutating func request() {
    after(1200) { model in
      model.requests += 1
      if !model.isStopping { model.write() }
      if model.requests < 20 { model.request() }
    }
  }

  private mutating func write(_ path: Path = output) {
    written += 10
    change(path)
  }

  private mutating func change(_ path: Path) {
    let exists = files[path] != nil
    content += 1
    (files[path], changed[path]) = (content, now)
    after(Self.timeToReport) { $0.report(.of(path, exists ? .modified : .created)) }
  }

  // MARK: The runner

  private mutating func begin(isFollowUp: Bool) {
    isStopping = false
    run += 1
    began = now
    starts.append(now)
    rounds.began(isFollowUp: isFollowUp, at: instant, facts)
    _ = ledger.removeAll()
    log = ActivityLog(began: Self.fileTime(now), after: log)
    lookCount = 0
    lookLater(run)
    serve()
  }

  private mutating func lookLater(_ number: Int) {
    guard let pause = rounds.pauseBeforeLook(lookCount, at: instant) else { return }
    after(Int(pause / .milliseconds(1))) { model in
      guard model.run == number else { return }
      model.log.add(model.look)
      model.lookCount += 1
      model.lookLater(number)
    }
  }

  private var look: ActivityLog.Look {
    ActivityLog.Look(
      time: Self.fileTime(now),
      activity: ProcessActivity(
        writes: ProcessActivity.Writes(bytes: written, processes: UInt64(run)),
        newestStart: Self.fileTime(began)))
  }

  private var facts: Rounds.Facts {
    var facts = Rounds.Facts(isOwed: ledger.owes) { [files] paths in
      paths.map { entry in
        files[entry.path].map { .file(ContentDigest(high: 0, low: UInt64($0)), attributes: 0) }
          ?? .absent
      }
    }
    facts.clues = { [self] changes in
      changes.map { change in
        let time = changed[change.path] ?? now
        if server == .keepsLogOpen && change.path == Self.output { return Clue(evidence: .open) }
        let evidence = log.evidence(
          aboutChangeAt: Self.fileTime(time), isContent: change.isContent, look)
        return Clue(evidence: evidence, age: .milliseconds(now - time))
      }
    }
    facts.isSteady = { [log] in log.isSteady }
    return facts
  }

  private mutating func report(_ change: ChangeBatch.Change) {
    ledger.add([change])
    perform(rounds.changed([change], isStopping ? .running : .live, at: instant, facts))
    log.note(changedAt: Self.fileTime(changed[change.path] ?? now))
  }

  private mutating func perform(_ actions: [Rounds.Action]) {
    for action in actions {
      switch action {
      case .run:
        if isStopping { continue }
        isStopping = true
        after(server == .stopsSlowly ? 200 : Self.timeToStop) { $0.begin(isFollowUp: true) }
      case .forgive(let paths), .absorb(let paths): ledger.forgive(paths)
      case .read(let generation):
        after(1) { $0.perform($0.rounds.hasRead(generation: generation, at: $0.instant, $0.facts)) }
      case .wait(let due, let generation):
        after(Int(due.offset / .milliseconds(1)) - now) {
          $0.perform($0.rounds.elapsed(generation: generation))
        }
      case .announce(let loop): loops.append(loop)
      case .announceOutputs, .explain: break
      }
    }
  }
}
