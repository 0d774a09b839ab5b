import FileObservation
import Support
import SystemCalls
import TestSupport

@testable import ActionRunning

/// A virtual tree of files, an observer, a ledger, one command and a person around `ChangeJudge`. The
/// model knows who changed what and when, which `ChangeJudge` does not, and reports broken promises.
struct ChangeJudgeModel {
  /// In microseconds.
  typealias Time = Int

  struct Edit {
    let path: Path
    /// When a run must have begun at the latest, once the change has been judged.
    var deadline: Time?
  }

  struct Run {
    let start: Time
    let number: Int
    var isStopping = false
  }

  static let second: Time = 1_000_000
  private static let quietPeriod: Time = 10_000
  private static let maximumWait = second
  private static let timeOfFlush: Time = 800
  /// If the command has not written for so long, a look has found it idle.
  private static let pauseBetweenLooks = 50_000

  /// Whether a change restarts the command.
  let isLive: Bool
  let command: ModelCommand
  /// How long the command runs.
  let duration: Time
  var random: SeededGenerator
  private var timeline = VirtualTimeline<Self>()
  private(set) var files: [Path: Int] = ["/p/a": 1, "/p/b": 3]
  private(set) var judge: ChangeJudge
  var truth: ChangeJudgeTruth

  // The processes.
  private var latestWrites: [Path: (time: Time, isByCommand: Bool)] = [:]
  private var commandWrites: [Time] = []

  // The observer, which notes what was there before the burst.
  private var burst: [Path: Bool] = [:]
  private var burstOrder: [Path] = []
  private var (burstFirst, burstLast, burstNumber) = (0, 0, 0)

  // The queue.
  private(set) var run: Run?
  private var isRunPending = false
  /// The reported paths whose changes no run has received.
  private var ledger = ChangeJudgeLedger()
  private(set) var starts: [Time] = []

  // The result.
  /// Edits and keys.
  private(set) var occasions = 0
  private(set) var complaints: [String] = []
  /// Called when a run begins.
  var runBegan: (inout ChangeJudgeModel) -> Void = { _ in }

  init(_ command: ModelCommand, isLive: Bool, duration: Time, seed: UInt64) {
    (self.command, self.isLive, self.duration) = (command, isLive, duration)
    random = SeededGenerator(seed: seed)
    judge = ChangeJudge(hasInterruptibleService: isLive)
    truth = ChangeJudgeTruth(isLive: isLive)
  }

  private var instant: Instant { Instant(offset: .microseconds(now)) }

  private static func fileTime(_ time: Time) -> FileTime {
    FileTime(nanoseconds: Int64(time) * 1000)
  }

  /// What a client reads for a step.
  private func knowledge(_ paths: [(path: Path, isMovedAsWhole: Bool)]) -> ChangeJudge.Knowledge {
    var knowledge = ChangeJudge.Knowledge()
    for (path, _) in paths {
      let content = files[path].map {
        PathContent.file(ContentDigest(high: 0, low: UInt64($0)), attributes: 0)
      }
      knowledge.files[path] = FileState(
        content: content ?? .absent, born: latestWrites[path].map { Self.fileTime($0.time) },
        modified: latestWrites[path].map { Self.fileTime($0.time) },
        isBuilt: content != nil && ModelCommand.programs.contains(path))
    }
    knowledge.owed = Set((paths.map(\.path) + judge.delayedPaths).filter(ledger.owes))
    return knowledge
  }

  /// What looks at the processes prove about the latest change of a path: never anything wrong, and not
  /// always all that is true.
  private mutating func evidence(about path: Path) -> Verdict {
    guard let (time, isByCommand) = latestWrites[path] else { return .unknown }
    if isByCommand {
      if command.keepsOpen(path) { return .run }
      return .unknown
    }
    let isIdle = !commandWrites.contains { $0 > time - Self.pauseBetweenLooks }
    if isIdle && Int.random(in: 0..<4, using: &random) > 0 { return .others }
    return .unknown
  }

  private mutating func complain(_ texts: [String]) {
    complaints += texts.map { "\($0) at \(Double(now) / Double(Self.second)) s" }
  }

  // MARK: Time

  var now: Time { timeline.now }

  mutating func after(_ delay: Time, _ body: @escaping (inout ChangeJudgeModel) -> Void) {
    timeline.add(after: delay, body)
  }

  mutating func advance(to time: Time) {
    while starts.count < 2000, let event = timeline.next(until: time) { event(&self) }
  }

  // MARK: Files

  /// Gives a path this content, `nil` for none, and lets the observer see it.
  mutating func write(_ path: Path, _ content: Int?, isByCommand: Bool = true) {
    latestWrites[path] = (now, isByCommand)
    if isByCommand { commandWrites = commandWrites.suffix(20) + [now] }
    if burst.isEmpty {
      burstFirst = now
      burstNumber += 1
      wakeObserver(burstNumber, after: Self.quietPeriod)
    }
    burstLast = now
    if burst[path] == nil {
      burst[path] = files[path] != nil
      burstOrder.append(path)
    }
    files[path] = content
  }

  mutating func edit(_ path: Path, _ content: Int?) {
    occasions += 1
    truth.edited(path)
    write(path, content, isByCommand: false)
  }

  private mutating func wakeObserver(_ number: Int, after delay: Time) {
    after(delay) { model in
      guard model.burstNumber == number, !model.burst.isEmpty else { return }
      let end = min(model.burstLast + Self.quietPeriod, model.burstFirst + Self.maximumWait)
      if model.now < end {
        model.wakeObserver(number, after: end - model.now)
      } else {
        model.endBurst()
      }
    }
  }

  private mutating func endBurst() {
    var changes: [ChangeBatch.Change] = []
    for path in burstOrder {
      switch (burst[path] ?? false, files[path] != nil) {
      case (false, true): changes.append(.of(path, .created))
      case (true, false): changes.append(.of(path, .removed))
      case (true, true): changes.append(.of(path, .modified))
      // The observer reports nothing.
      case (false, false): truth.settled(path)
      }
    }
    (burst, burstOrder) = ([:], [])
    if !changes.isEmpty { report(changes) }
  }
}

// MARK: - The queue

extension ChangeJudgeModel {
  private mutating func report(_ changes: [ChangeBatch.Change]) {
    ledger.add(changes)
    var evidence: [Path: Verdict] = [:]
    for change in changes { evidence[change.path] = self.evidence(about: change.path) }
    let situation: ChangeJudge.Situation =
      run.map { isLive && !$0.isStopping ? .interruptible : .running } ?? .idle
    truth.reported(
      changes, evidence, judge.isFlushing ? nil : situation, isLive: situation == .interruptible,
      at: now, files)
    let mayHaveEchoes = situation == .idle && judge.mayHaveEchoes(evidence, at: instant)
    let isJudged = (situation.judgesAtOnce || mayHaveEchoes) && !judge.isFlushing
    perform(
      judge.changed(
        changes, evidence, situation, at: instant,
        knowledge(isJudged ? judge.pathsToRead(changes) : [])))
  }

  private mutating func perform(_ actions: [ChangeJudge.Action]) {
    for action in actions {
      switch action {
      case .run(let paths):
        if !paths.allSatisfy(ledger.owes) { complain(["a run is requested for nothing"]) }
        if run != nil && !isLive { complain(["a change interrupts a run"]) }
        requestRun()
      case .settle(let paths): ledger.settle(paths)
      case .setAside(let paths), .leave(let paths):
        ledger.setAside(paths)
        complain(truth.setAside(paths))
      case .flush(let generation):
        after(Self.timeOfFlush) { $0.hasFlushed(generation) }
      case .wait(let due, let generation):
        truth.latestReport = now
        let time = Int(due.offset / .microseconds(1))
        after(time - now) { $0.perform($0.judge.elapsed(generation: generation)) }
      case .announceOwed(let paths): truth.told(paths)
      case .announce, .announceOutputs, .stopBuilds, .explain, .tested, .judged: break
      }
    }
  }

  private mutating func hasFlushed(_ generation: Int) {
    endBurst()
    guard judge.isFlushing else { return }
    truth.judged(at: now, files, hasEnded: run == nil)
    perform(
      judge.hasFlushed(generation: generation, at: instant, knowledge(judge.pathsToRead())))
  }

  private mutating func requestRun() {
    guard let run else {
      beginRound()
      return start()
    }
    isRunPending = true
    guard isLive, !run.isStopping else { return }
    beginRound()
    self.run?.isStopping = true
    after(.random(in: 1000...30_000, using: &random)) { $0.end(run.number) }
  }

  mutating func pressKey() {
    occasions += 1
    requestRun()
  }

  mutating func begin() {
    beginRound()
    start()
  }

  private mutating func beginRound() {
    judge.began(at: instant, files: Self.fileTime(now))
    truth.requested(at: now)
  }

  private mutating func start() {
    if run != nil { complain(["two runs overlap"]) }
    complain(truth.began(at: now, receiving: ledger.removeAll(), files))
    judge.launched(
      at: instant, files: Self.fileTime(now), knowledge(judge.pathsToReadAtStart))
    starts.append(now)
    let number = starts.count
    run = Run(start: now, number: number)
    command.begin(&self, number)
    runBegan(&self)
    if isLive && command.isServer { return }
    after(duration) { $0.end(number) }
  }

  private mutating func end(_ number: Int) {
    guard run?.number == number else { return }
    run = nil
    if isRunPending {
      isRunPending = false
      start()
    } else {
      perform(judge.workEnded())
    }
  }

  /// Complains of edits that no run has followed, and of paths that are owed to a run although none
  /// is due.
  mutating func settle() {
    complain(truth.complaintsAtRest)
    if isRunPending { return }
    let awaited = judge.unjudged + (judge.followUp?.paths ?? [])
    for path in ledger.paths where !awaited.contains(path) && !ledger.aside.contains(path) {
      complain(["\(path) is owed, but no run is due"])
    }
  }
}
