import FileObservation
import Support

@testable import ActionRunning

/// What is true of edits and runs, and by when a run must have followed an edit. It knows nothing of
/// contents but when they are equal, and of `ChangeJudge` nothing.
struct ChangeJudgeTruth {
  typealias Time = ChangeJudgeModel.Time

  /// How many runs in a row have changed a key, at most.
  struct Row {
    private var repetitions = 0
    /// The same, with changes of any verdict.
    private var followers = 0
    private var offset: Time = 0
    private var hasChanged = false

    mutating func changed(_ verdict: Verdict, at offset: Time) {
      followers += hasChanged ? 0 : 1
      if verdict == .others {
        repetitions = 0
      } else {
        repetitions += hasChanged ? 0 : 1
      }
      if !hasChanged { self.offset = offset }
      hasChanged = true
    }

    mutating func reset() { self = Row() }

    var longestDelay: Duration {
      // What others have changed as well may be tested.
      max(
        ChangeJudgeRules.longestDelay(repetitions), ChangeJudgeRules.longestDelay(followers - 4),
        followers < 4 ? .zero : Suspicion.Rules.test.least)
    }

    var isEmpty: Bool { repetitions == 0 }

    /// A run has lasted so long, `nil` if it has ended by itself.
    mutating func began(after time: Time?) {
      if !hasChanged && time.map({ 2 * $0 > 3 * offset }) ?? true { self = Row() }
      hasChanged = false
    }
  }

  /// How long a stop takes at most, and an answer.
  private static let slack: Time = 60_000
  /// How long after a report changes may be part of it.
  private static let echoTime = 300_000
  /// What changes later after the start of a run that it restarts is not counted.
  private static let longestOffset = 60_000_000

  /// When the latest round ended, or its follow-up was delayed.
  var latestReport: Time = 0
  private var start: Time = 0
  /// Whether the latest round has ended.
  private var hasEnded = false

  // Edits.
  private var unserved: [ChangeJudgeModel.Edit] = []
  private var unreported: Set<Path> = []
  private var edited: Set<Path> = []

  // Contents.
  private var contentsAtStart: [Path: Int] = [:]
  /// Changed in a round before, and not while nothing ran since.
  private var comparable: Set<Path> = []
  private var changed: Set<Path> = []
  /// Changed by others after that.
  private var changedByOthers: Set<Path> = []
  private var unjudged: [ChangeBatch.Change] = []

  // Delays.
  private var rows: [Path: Row] = [:]
  /// The times of the runs.
  private var starts: [Time] = []
  /// Whether a change restarts the run, so that a change may wait for as long as any.
  private let isLive: Bool
  private var common = Row()

  init(isLive: Bool) {
    self.isLive = isLive
  }

  /// A person edits a path.
  mutating func edited(_ path: Path) {
    edited.insert(path)
    unserved.append(ChangeJudgeModel.Edit(path: path))
    unreported.insert(path)
  }

  /// Nothing is owed for the path.
  mutating func settled(_ path: Path) {
    unserved.removeAll { $0.path == path }
    unreported.remove(path)
  }

  /// The complaints about outputs that request no run.
  func setAside(_ paths: [Path]) -> [String] {
    paths.filter(edited.contains).map { "\($0), which a person edits, is set aside" }
  }

  // MARK: Reports

  /// - Parameters:
  ///   - situation: `nil` if the changes are judged after a flush.
  ///   - isLive: Whether a run is active that a change restarts.
  mutating func reported(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict],
    _ situation: ChangeJudge.Situation?,
    isLive: Bool, at now: Time, _ files: [Path: Int]
  ) {
    let others = changes.filter { evidence[$0.path] == .others }
    switch situation {
    case .idle: return reportedAtRest(changes, at: now)
    case .interruptible:
      let differing = changes.filter { !isExempt($0.path, files) }
      for change in changes {
        note(change)
        if isExempt(change.path, files) { settled(change.path) }
      }
      count(
        differing.filter { change in
          now - start <= Self.longestOffset || others.contains(change)
        }, evidence, isLive: true, at: now)
      for change in differing { setDeadline(now + longestDelay(of: change), of: change.path) }
    default:
      for change in changes { note(change) }
      count(changes, evidence, isLive: isLive, at: now)
      unjudged += changes
    }
    changedByOthers.formUnion(others.map(\.path))
  }

  private mutating func reportedAtRest(_ changes: [ChangeBatch.Change], at now: Time) {
    for change in changes {
      if now < latestReport + Self.echoTime && rows[change.path]?.isEmpty == false {
        note(change)
        count([change], [:], isLive: false, at: now)
        setDeadline(now + longestDelay(of: change), of: change.path)
      } else {
        changedByOthers.insert(change.path)
        comparable.remove(change.path)
        changed.remove(change.path)
        for key in keys(of: change) { rows[key]?.reset() }
        common.reset()
        setDeadline(now, of: change.path)
      }
    }
  }

  private mutating func note(_ change: ChangeBatch.Change) {
    changed.insert(change.path)
    changedByOthers.remove(change.path)
  }

  private func keys(of change: ChangeBatch.Change) -> [Path] {
    change.isOfEntry ? [change.path, change.path.directory] : [change.path]
  }

  private mutating func count(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict], isLive: Bool, at now: Time
  ) {
    for change in changes {
      let evidence = evidence[change.path] ?? .unknown
      for key in keys(of: change) {
        rows[key, default: Row()].changed(evidence, at: now - start)
      }
      common.changed(evidence, at: now - start)
    }
  }

  // MARK: Judgments

  private mutating func setDeadline(_ time: Time, of path: Path) {
    for index in unserved.indices where unserved[index].path == path {
      unserved[index].deadline = min(unserved[index].deadline ?? .max, time)
    }
  }

  /// What was reported and is judged now is exempt, or must be followed by a run in time.
  mutating func judged(at now: Time, _ files: [Path: Int], hasEnded: Bool) {
    for change in unjudged {
      if isExempt(change.path, files) {
        settled(change.path)
      } else {
        setDeadline(now + longestDelay(of: change), of: change.path)
      }
    }
    unjudged = []
    self.hasEnded = self.hasEnded || hasEnded
    latestReport = now
  }

  /// The exception to the promise: the run began with that, and the round before changed it as well, or it was absent.
  private func isExempt(_ path: Path, _ files: [Path: Int]) -> Bool {
    guard files[path] == contentsAtStart[path] else { return false }
    return !changedByOthers.contains(path) && (comparable.contains(path) || files[path] == nil)
  }

  private func longestDelay(of change: ChangeBatch.Change) -> Time {
    if isLive { return Int(Duration.seconds(600) / .microseconds(1)) }
    // A limit holds for many runs.
    let limited = starts.suffix(30).first.map { starts.count >= 30 && start - $0 < 900_000_000 }
    let delay =
      (keys(of: change).map { rows[$0] ?? Row() } + [common]).map(\.longestDelay).max() ?? .zero
    return max(Int(delay / .microseconds(1)), limited == true ? 30_000_000 : 0)
  }

  // MARK: Runs

  /// A round begins.
  mutating func requested(at now: Time) {
    let time = hasEnded ? nil : now - start
    for key in rows.keys { rows[key]?.began(after: time) }
    common.began(after: time)
    hasEnded = false
  }

  /// The person is told that these paths have changed.
  mutating func told(_ paths: [Path]) {
    for path in paths { settled(path) }
  }

  /// A run begins. Returns complaints.
  mutating func began(at now: Time, receiving paths: [Path], _ files: [Path: Int]) -> [String] {
    let late = unserved.filter { $0.deadline.map { now > $0 + Self.slack } ?? false }
    unserved = []
    unreported.subtract(paths)
    // What others have changed meanwhile has been read since.
    comparable.formUnion(changed)
    (changed, unjudged, changedByOthers) = ([], [], [])
    (contentsAtStart, start, hasEnded) = (files, now, false)
    starts.append(now)
    return late.map { "the run after an edit of \($0.path) is late" }
  }

  var complaintsAtRest: [String] {
    unserved.map { "no run followed an edit of \($0.path)" }
      + unreported.map { "no run received \($0)" }
  }
}
