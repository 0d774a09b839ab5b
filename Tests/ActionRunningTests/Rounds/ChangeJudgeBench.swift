import FileObservation
import Support
import SystemCalls

@testable import ActionRunning

extension Duration {
  var asInstant: Instant { Instant(offset: self) }

  /// A time by the clock of files.
  var asFileTime: FileTime { FileTime(nanoseconds: 0).advanced(by: self) }
}

extension PathContent {
  /// A file that holds this text.
  static func text(_ text: String, attributes: UInt64 = 0o644) -> PathContent {
    let digest = Array(text.utf8).withUnsafeBytes { ContentDigest(of: $0) }
    return .file(digest, attributes: attributes)
  }
}

extension ChangeJudge {
  /// The repetitions of each key that has any.
  var repetitions: [Path: Int] {
    records.mapValues { $0.suspicion.level() }.filter { $0.value > 0 }
  }

  var editedPaths: Set<Path> { Set(records.filter { $0.value.isEdited }.keys) }
  var announcedPaths: Set<Path> { Set(records.filter { $0.value.isAnnounced }.keys) }
}

/// The paths whose changes no run has received, as a client of `ChangeJudge` keeps them.
struct ChangeJudgeLedger {
  private(set) var paths: [Path] = []
  /// The outputs that request no run.
  private(set) var aside: Set<Path> = []
  private var owed: Set<Path> = []

  func owes(_ path: Path) -> Bool { owed.contains(path) }

  mutating func add(_ changes: [ChangeBatch.Change]) {
    for path in changes.flatMap({ [$0.from, $0.path].compactMap(\.self) }) {
      aside.remove(path)
      if owed.insert(path).inserted { paths.append(path) }
    }
  }

  mutating func settle(_ settled: [Path]) {
    if settled.isEmpty { return }
    owed.subtract(settled)
    aside.subtract(settled)
    paths = paths.filter(owed.contains)
  }

  mutating func setAside(_ outputs: [Path]) {
    aside.formUnion(outputs.filter(owed.contains))
  }

  /// Removes all paths, and returns them.
  mutating func removeAll() -> [Path] {
    defer { self = ChangeJudgeLedger() }
    return paths
  }
}

/// `ChangeJudge` with a dictionary instead of files, a ledger, and a manual clock.
struct ChangeJudgeBench {
  /// The consequence of a step.
  enum FollowUp: Hashable {
    case none
    case now
    case after(Duration)
  }

  var judge: ChangeJudge
  var files: [Path: PathContent] = [:]
  var now = Duration.zero
  private(set) var ledger = ChangeJudgeLedger()
  /// The actions of the latest step.
  var actions: [ChangeJudge.Action] = [] {
    didSet {
      judgments = actions.flatMap { action -> [ChangeExplanation] in
        if case .explain(let judgments) = action { judgments } else { [] }
      }
      actions.removeAll { if case .explain = $0 { true } else { false } }
      ledger.settle(settled)
      ledger.setAside(setAside)
    }
  }
  /// The explanations of the latest step.
  private(set) var judgments: [ChangeExplanation] = []

  init(hasInterruptibleService: Bool = false, _ files: [Path: String] = [:]) {
    judge = ChangeJudge(hasInterruptibleService: hasInterruptibleService)
    self.files = files.mapValues { .text($0) }
  }

  /// The evidence about changes of each path.
  var evidence: [Path: Verdict] = [:]
  /// By how much the clock of files, which ticks, is late when a round begins.
  var lag = Duration.zero
  /// The paths of programs and object files, which are created anew by each change.
  var programs: Set<Path> = []
  private var births: [Path: FileTime] = [:]
  private var writes: [Path: FileTime] = [:]
  /// How the latest runs have ended.
  var results: [String: ExitStatus] = [:]
  var hasOneWriter = true
  /// Whether a build works in a service.
  var isBuilding = false

  /// What is known of these paths. The content of any other path is unknown to the step.
  private func knowledge(_ paths: [(path: Path, isMovedAsWhole: Bool)]) -> ChangeJudge.Knowledge {
    var knowledge = ChangeJudge.Knowledge()
    for (path, _) in paths {
      let isBuilt = programs.contains(path) && files[path] != nil
      knowledge.files[path] = FileState(
        content: files[path] ?? .absent, born: births[path], modified: writes[path],
        isBuilt: isBuilt)
    }
    knowledge.owed = Set((paths.map(\.path) + judge.delayedPaths).filter(ledger.owes))
    (knowledge.results, knowledge.hasOneWriter) = (results, hasOneWriter)
    knowledge.isBuilding = isBuilding
    return knowledge
  }

  // MARK: Consequences

  var followUp: FollowUp {
    var followUp = FollowUp.none
    for action in actions {
      switch action {
      case .run: return .now
      case .wait(let due, _): followUp = .after(now.asInstant.duration(to: due))
      case .flush, .announce, .announceOutputs, .announceOwed, .explain, .settle, .setAside, .leave,
        .stopBuilds, .tested, .judged:
        break
      }
    }
    return followUp
  }

  /// The paths for which a run is requested.
  var run: [Path]? {
    actions.compactMap { if case .run(let paths) = $0 { paths } else { nil } }.first
  }

  /// The paths for which nothing is owed.
  var settled: [Path] {
    actions.flatMap { if case .settle(let paths) = $0 { paths } else { [Path]() } }
  }

  /// The outputs that request no run.
  var setAside: [Path] {
    actions.flatMap { action in
      switch action {
      case .setAside(let paths), .leave(let paths): paths
      default: [Path]()
      }
    }
  }

  /// The paths whose changes no run has received.
  var owed: [Path] { ledger.paths }

  /// The paths that prove to be outputs.
  var outputs: [Path] {
    actions.flatMap { action -> [Path] in
      if case .announceOutputs(let paths) = action { paths } else { [] }
    }
  }

  var loops: [FeedbackLoop] {
    actions.compactMap { if case .announce(let loop) = $0 { loop } else { nil } }
  }

  /// The generation of a read, or of the latest delay.
  var generation: Int? {
    actions.compactMap { action in
      switch action {
      case .flush(let generation), .wait(_, let generation): generation
      case .run, .announce, .announceOutputs, .announceOwed, .explain, .settle, .setAside, .leave,
        .stopBuilds, .tested, .judged:
        nil
      }
    }.last
  }

  // MARK: Steps

  mutating func report(
    _ changes: [ChangeBatch.Change], _ situation: ChangeJudge.Situation = .running
  ) {
    ledger.add(changes)
    let mayHaveEchoes = situation == .idle && judge.mayHaveEchoes(evidence, at: now.asInstant)
    let isJudged = (situation.judgesAtOnce || mayHaveEchoes) && !judge.isFlushing
    let isCompared = situation == .building || situation == .running
    let compared =
      isCompared && !judge.isFlushing
      ? judge.pathsToCompare(changes, evidence, inBuild: situation == .building) : []
    actions = judge.changed(
      changes, evidence, situation, at: now.asInstant,
      knowledge(isJudged ? judge.pathsToRead(changes) : compared))
  }

  /// Gives paths these contents, `nil` for none, and reports that in one batch.
  mutating func write(
    _ contents: [(Path, String?)], _ situation: ChangeJudge.Situation = .running
  ) {
    var changes: [ChangeBatch.Change] = []
    for (path, text) in contents {
      let exists = files[path] ?? .absent != .absent
      files[path] = text.map { .text($0) }
      writes[path] = now.asFileTime
      if programs.contains(path) { births[path] = now.asFileTime }
      changes.append(.of(path, text == nil ? .removed : exists ? .modified : .created))
    }
    report(changes, situation)
  }

  mutating func write(
    _ path: Path, _ text: String?, _ situation: ChangeJudge.Situation = .running
  ) {
    write([(path, text)], situation)
  }

  /// Begins a round, and returns the paths whose changes its run receives.
  @discardableResult
  mutating func begin() -> [Path] {
    request()
    return launch()
  }

  /// Begins a round whose run does not start yet.
  mutating func request() {
    judge.began(at: now.asInstant, files: (now - lag).asFileTime)
  }

  /// Starts a run of the round, and returns the paths whose changes it receives.
  ///
  /// - Parameter isRestart: Whether it is only started again, and receives none.
  @discardableResult
  mutating func launch(isRestart: Bool = false, isOnlyReader: Bool = true) -> [Path] {
    let received = isRestart ? [] : ledger.removeAll()
    judge.launched(
      at: now.asInstant, files: (now - lag).asFileTime, knowledge(judge.pathsToReadAtStart),
      isOnlyReader: isOnlyReader)
    return received
  }

  /// Ends the runs of the round, and answers that all changes were reported.
  ///
  /// - Parameter isLive: Whether a run of the round is still active.
  mutating func end(
    after duration: Duration = .seconds(1), isLive: Bool = false, hasSucceeded: Bool = true
  ) {
    now += duration
    actions = judge.workEnded(isServing: isLive, hasSucceeded: hasSucceeded)
    answer()
  }

  mutating func answer() {
    guard let generation else { return }
    actions = judge.hasFlushed(
      generation: generation, at: now.asInstant, knowledge(judge.pathsToRead()))
  }

  /// Judges the changes so far, and answers that all changes were reported.
  mutating func checkpoint() {
    actions = judge.checkpoint()
    answer()
  }

  /// Ends a delay, and answers that all changes were reported.
  mutating func elapse(_ generation: Int) {
    actions = judge.elapsed(generation: generation)
    if case .flush? = actions.first { answer() }
  }

  /// Waits for the latest delay, if any.
  mutating func waitForDelay() {
    guard case .after(let delay) = followUp, let generation else { return }
    now += delay
    elapse(generation)
  }

  /// Waits for the next run, and for so many delays at most. Returns the time until it is due; `nil` if there is none.
  mutating func waitForRun(most delays: Int = 3) -> Duration? {
    let start = now
    for _ in 0..<delays where followUp != .now { waitForDelay() }
    return followUp == .now ? now - start : nil
  }

  /// Performs one round whose run makes these changes, after the latest delay.
  mutating func round(_ contents: [(Path, String?)] = []) -> FollowUp {
    waitForDelay()
    begin()
    if !contents.isEmpty { write(contents) }
    end()
    return followUp
  }

  /// Performs a round and the follow-ups to which it leads, at most `count` rounds. Returns the
  /// consequence of each.
  mutating func rounds(_ count: Int, writing contents: (Int) -> [(Path, String?)]) -> [FollowUp] {
    var followUps = [round(contents(0))]
    while followUps.count < count && followUp != .none {
      waitForDelay()
      followUps.append(round(contents(followUps.count)))
    }
    return followUps
  }

  /// Changes a path while nothing runs, and performs a round that changes nothing.
  mutating func editAtRest(_ path: Path, _ text: String?) {
    write(path, text, .idle)
    _ = round()
  }
}
