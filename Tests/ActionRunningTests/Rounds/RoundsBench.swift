import FileObservation
import Support
import SystemCalls

@testable import ActionRunning

extension Duration {
  var asInstant: Instant { Instant(offset: self) }
}

extension PathContent {
  /// A file that holds this text.
  static func text(_ text: String, attributes: UInt64 = 0o644) -> PathContent {
    let digest = Array(text.utf8).withUnsafeBytes { ContentDigest(of: $0) }
    return .file(digest, attributes: attributes)
  }
}

extension Rounds {
  var followUpCounts: [Path: Int] { records.compactMapValues(\.followUps) }
  var editedPaths: Set<Path> { Set(records.filter { $0.value.origin.isEdited }.keys) }
  var announcedPaths: Set<Path> { Set(records.filter { $0.value.isAnnounced }.keys) }
}

/// The paths whose changes no run has received, as a client of `Rounds` keeps them.
struct RoundsLedger {
  private(set) var paths: [Path] = []
  private var owed: Set<Path> = []

  func owes(_ path: Path) -> Bool { owed.contains(path) }

  mutating func add(_ changes: [ChangeBatch.Change]) {
    for path in changes.flatMap({ [$0.from, $0.path].compactMap(\.self) }) {
      if owed.insert(path).inserted { paths.append(path) }
    }
  }

  mutating func forgive(_ forgiven: [Path]) {
    if forgiven.isEmpty { return }
    owed.subtract(forgiven)
    paths = paths.filter(owed.contains)
  }

  /// Removes all paths, and returns them.
  mutating func removeAll() -> [Path] {
    defer { self = RoundsLedger() }
    return paths
  }
}

/// `Rounds` with a dictionary instead of files, a ledger, and a manual clock.
struct RoundsBench {
  /// The consequence of a step.
  enum FollowUp: Hashable {
    case none
    case now
    case after(Duration)
  }

  var rounds: Rounds
  var files: [Path: PathContent] = [:]
  var now = Duration.zero
  private(set) var ledger = RoundsLedger()
  /// The actions of the latest step.
  var actions: [Rounds.Action] = [] {
    didSet {
      actions.removeAll { if case .explain = $0 { true } else { false } }
      ledger.forgive(forgiven)
    }
  }

  init(isLive: Bool = false, _ files: [Path: String] = [:]) {
    rounds = Rounds(isLive: isLive)
    self.files = files.mapValues { .text($0) }
  }

  /// The evidence about each path, and how long ago it changed.
  var evidence: [Path: Evidence] = [:]
  var ages: [Path: Duration] = [:]
  /// Whether runs may have written the whole files that change.
  var isWritten = true
  /// How the latest runs have ended.
  var results: [String: ExitStatus] = [:]
  var hasOneWriter = true

  private var facts: Rounds.Facts {
    Rounds.Facts(
      isOwed: ledger.owes, contents: { [files] paths in paths.map { files[$0.path] ?? .absent } },
      clues: { [evidence, ages, isWritten] changes in
        changes.map {
          Clue(
            evidence: evidence[$0.path] ?? .wrote(bits: 0.5), age: ages[$0.path] ?? .zero,
            mayBeOfRun: isWritten)
        }
      }, results: { [results] in results }, hasOneWriter: { [hasOneWriter] in hasOneWriter })
  }

  // MARK: Consequences

  var followUp: FollowUp {
    var followUp = FollowUp.none
    for action in actions {
      switch action {
      case .run: return .now
      case .wait(let due, _): followUp = .after(now.asInstant.duration(to: due))
      case .read, .announce, .announceOutputs, .explain, .forgive, .absorb: break
      }
    }
    return followUp
  }

  /// The paths for which a run is requested.
  var run: [Path]? {
    actions.compactMap { if case .run(let paths) = $0 { paths } else { nil } }.first
  }

  /// The paths for which nothing is owed.
  var forgiven: [Path] {
    actions.flatMap { action -> [Path] in
      switch action {
      case .forgive(let paths), .absorb(let paths): paths
      case .run, .read, .wait, .announce, .announceOutputs, .explain: []
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
      case .read(let generation), .wait(_, let generation): generation
      case .run, .announce, .announceOutputs, .explain, .forgive, .absorb: nil
      }
    }.last
  }

  // MARK: Steps

  mutating func report(
    _ changes: [ChangeBatch.Change], _ situation: Rounds.Situation = .running
  ) {
    ledger.add(changes)
    actions = rounds.changed(
      changes, situation, at: now.asInstant, facts)
  }

  /// Gives paths these contents, `nil` for none, and reports that in one batch.
  mutating func write(
    _ contents: [(Path, String?)], _ situation: Rounds.Situation = .running
  ) {
    var changes: [ChangeBatch.Change] = []
    for (path, text) in contents {
      let exists = files[path] ?? .absent != .absent
      files[path] = text.map { .text($0) }
      changes.append(.of(path, text == nil ? .removed : exists ? .modified : .created))
    }
    report(changes, situation)
  }

  mutating func write(
    _ path: Path, _ text: String?, _ situation: Rounds.Situation = .running
  ) {
    write([(path, text)], situation)
  }

  /// Begins a round, and returns the paths whose changes its run receives.
  ///
  /// - Parameter isFollowUp: By default, whether the latest step requested a run.
  @discardableResult
  mutating func begin(isFollowUp: Bool? = nil) -> [Path] {
    rounds.began(isFollowUp: isFollowUp ?? (run != nil), at: now.asInstant, facts)
    return ledger.removeAll()
  }

  /// Starts a run in the middle of the round, which receives all changes.
  mutating func launch() {
    rounds.launched(at: now.asInstant)
    _ = ledger.removeAll()
  }

  /// Ends the runs of the round, and answers that all changes were reported.
  ///
  /// - Parameter isLive: Whether a run of the round is still active.
  mutating func end(after duration: Duration = .seconds(1), isLive: Bool = false) {
    now += duration
    actions = rounds.workEnded(isLive: isLive)
    answer()
  }

  mutating func answer() {
    guard let generation else { return }
    actions = rounds.hasRead(
      generation: generation, at: now.asInstant, facts)
  }

  /// Judges the changes so far, and answers that all changes were reported.
  mutating func checkpoint() {
    actions = rounds.checkpoint()
    answer()
  }

  /// Ends a delay, and answers that all changes were reported.
  mutating func elapse(_ generation: Int) {
    actions = rounds.elapsed(generation: generation)
    if case .read? = actions.first { answer() }
  }

  /// Waits for the latest delay, if any.
  mutating func waitForDelay() {
    guard case .after(let delay) = followUp, let generation else { return }
    now += delay
    elapse(generation)
  }

  /// Waits for the next run. Returns the time until it is due; `nil` if there is none.
  mutating func waitForRun() -> Duration? {
    let start = now
    for _ in 0..<3 where followUp != .now { waitForDelay() }
    return followUp == .now ? now - start : nil
  }

  /// Performs one round whose run makes these changes.
  mutating func round(
    _ contents: [(Path, String?)] = [], isFollowUp: Bool? = nil
  ) -> FollowUp {
    begin(isFollowUp: isFollowUp)
    if !contents.isEmpty { write(contents) }
    end()
    return followUp
  }

  /// Performs a round and the follow-ups to which it leads, at most `count` rounds. Returns the
  /// consequence of each.
  mutating func rounds(
    _ count: Int, isFollowUp: Bool = false, writing contents: (Int) -> [(Path, String?)]
  ) -> [FollowUp] {
    var followUps = [round(contents(0), isFollowUp: isFollowUp)]
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

extension RoundsBench.FollowUp {
  static func seconds(_ numbers: Int...) -> [Self] {
    numbers.map { $0 == 0 ? .now : .after(.seconds($0)) }
  }
}
