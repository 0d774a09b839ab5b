import FileObservation

@testable import ActionRunning
import Support

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

/// `Rounds` with a table in place of files, and a clock that only a test moves.
struct RoundsBench {
  /// What follows from a step.
  enum FollowUp: Hashable {
    case none
    case now
    case after(Duration)
  }

  var rounds: Rounds
  var files: [Path: PathContent] = [:]
  var now = Duration.zero
  /// The actions of the latest step.
  var actions: [Rounds.Action] = []

  init(isLive: Bool = false, _ files: [Path: String] = [:]) {
    rounds = Rounds(isLive: isLive)
    self.files = files.mapValues { .text($0) }
  }

  private var reader: Rounds.Reader {
    { [files] paths in paths.map { files[$0.path] ?? .absent } }
  }

  // MARK: What happened

  var followUp: FollowUp {
    var followUp = FollowUp.none
    for action in actions {
      switch action {
      case .run: return .now
      case .wait(let due, _): followUp = .after(now.asInstant.duration(to: due))
      case .read, .announce, .keep: break
      }
    }
    return followUp
  }

  /// The trigger of the run that is to begin.
  var trigger: RunTrigger? {
    actions.compactMap { if case .run(let trigger) = $0 { trigger } else { nil } }.first
  }

  var loops: [FeedbackLoop] {
    actions.compactMap { if case .announce(let loop) = $0 { loop } else { nil } }
  }

  var kept: RunTrigger? {
    actions.compactMap { if case .keep(let trigger) = $0 { trigger } else { nil } }.first
  }

  /// The generation of a read, or of the latest delay.
  var generation: Int? {
    actions.compactMap { action in
      switch action {
      case .read(let generation), .wait(_, let generation): generation
      case .run, .announce, .keep: nil
      }
    }.last
  }

  // MARK: Steps

  mutating func report(_ trigger: RunTrigger, _ situation: Rounds.Situation = .running) {
    actions = rounds.changed(trigger, situation, at: now.asInstant, reading: reader)
  }

  /// Gives paths these contents, `nil` for none, and reports that in one batch.
  mutating func write(
    _ contents: [(Path, String?)], _ situation: Rounds.Situation = .running
  ) {
    var changes: [ChangeBatch.Change] = []
    for (path, text) in contents {
      let isThere = files[path] ?? .absent != .absent
      files[path] = text.map { .text($0) }
      changes.append(.of(path, text == nil ? .removed : isThere ? .modified : .created))
    }
    report(RunTrigger(.change, changes: changes), situation)
  }

  mutating func write(
    _ path: Path, _ text: String?, _ situation: Rounds.Situation = .running
  ) {
    write([(path, text)], situation)
  }

  /// Begins a round, and returns the trigger of its run.
  @discardableResult
  mutating func begin(_ trigger: RunTrigger? = nil) -> RunTrigger {
    rounds.began(
      trigger ?? self.trigger ?? RunTrigger(.start), at: now.asInstant, reading: reader)
  }

  /// Ends the runs of the round, and answers that all changes were reported.
  ///
  /// - Parameter isLive: Whether something still runs that belongs to the round.
  mutating func end(after duration: Duration = .seconds(1), isLive: Bool = false) {
    now += duration
    actions = rounds.workEnded(isLive: isLive)
    answer()
  }

  mutating func answer() {
    guard let generation else { return }
    actions = rounds.hasRead(generation: generation, at: now.asInstant, reading: reader)
  }

  /// Ends a delay, and answers that all changes were reported.
  mutating func elapse(_ generation: Int) {
    actions = rounds.elapsed(generation: generation)
    if case .read? = actions.first { answer() }
  }

  /// Waits for the delay that was asked for last, if any.
  mutating func waitForDelay() {
    guard case .after(let delay) = followUp, let generation else { return }
    now += delay
    elapse(generation)
  }

  /// The time until the next run is due, which is waited for. `nil` if none follows.
  mutating func waitForRun() -> Duration? {
    let start = now
    for _ in 0..<3 where followUp != .now { waitForDelay() }
    return followUp == .now ? now - start : nil
  }

  /// One round whose run makes these changes.
  mutating func round(_ contents: [(Path, String?)] = [], by trigger: RunTrigger? = nil) -> FollowUp
  {
    begin(trigger)
    if !contents.isEmpty { write(contents) }
    end()
    return followUp
  }

  /// A round, and the follow-ups to which it leads, at most so many rounds. What followed from each.
  mutating func rounds(
    _ count: Int, by trigger: RunTrigger = RunTrigger(.start),
    writing contents: (Int) -> [(Path, String?)]
  ) -> [FollowUp] {
    var followUps = [round(contents(0), by: trigger)]
    while followUps.count < count && followUp != .none {
      waitForDelay()
      followUps.append(round(contents(followUps.count)))
    }
    return followUps
  }

  /// Somebody changes a path while nothing runs, and the round that follows leaves all alone.
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
