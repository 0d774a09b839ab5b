import FileObservation
import Support
import SystemCalls

/// The decisions about follow-ups: which changes during a round require another run, and when it is
/// due. A pure state machine, without processes, clock or queue.
///
/// A round is all work that one batch causes. Commands write files, and the kernel does not report
/// which process wrote one: a command, or an editor at the same time. A change during a round
/// therefore requires a run that begins after it: a follow-up, which may be delayed, but is never
/// dropped. The caller stores the changes that no run has received; this type only knows their
/// paths.
///
/// - At the end of a round the source is flushed, and each changed path is judged. If the path
///   changed in the round before as well, and its content is the one with which the round began, it
///   requires no run. A path that did not exist at first and does not exist at the end requires
///   none if entries of its directory were created or removed in the round before as well.
/// - The first three consecutive follow-ups for a path start immediately, or the first one if the
///   path has only ever changed during runs; later ones back off exponentially, and the first delay
///   is announced. A round that leaves the path unchanged resets its count.
/// - A path that has only ever changed during runs is an output once two follow-ups for it have
///   changed nothing and ended as the run before. From then on its changes during a run of the task
///   that writes it require no other run of that task.
/// - A change while nothing runs starts a round immediately, halves the path's count, and makes its
///   content unknown: others edit the path, and it is no output. Only one that runs keep changing, and
///   that changes again right after one, was changed because of it.
/// - A change during a run that is restarted or signaled by changes is judged when it is reported,
///   by the evidence of the run's processes (`Rounds+Live`).
/// - A path that is created or removed counts for its directory as well, because names may differ
///   each time. Consecutive follow-ups for any paths are counted, too, so that tasks that change
///   each other's files come to rest.
///
/// Two changes lead to no run: bytes that are changed and changed back within one round, in a path
/// that changed in the round before as well, and the change of an output.
struct Rounds: Sendable {
  /// The state of the runs when a change is reported.
  enum Situation: Hashable, Sendable {
    /// Nothing runs.
    case idle
    /// Runs that end by themselves.
    case running
    /// A build beside the command that it precedes: a change that the build has not made stops it.
    case building
    /// A run that is restarted or signaled by a change.
    case live
    /// Only runs of other rounds. The depth is the greatest one of these rounds.
    case othersRunning(depth: Int)

    /// Whether the runs are those of the round, which the user may have stopped.
    var isOwn: Bool {
      switch self {
      case .running, .building, .live: true
      case .idle, .othersRunning: false
      }
    }
  }

  enum Action: Hashable, Sendable {
    /// Request runs of the tasks that are owed the changes of these paths.
    case run([Path])
    /// Nothing is owed for these paths: they hold what they held when the round began.
    case forgive([Path])
    /// Nothing is owed for these outputs to the tasks that have run in this round.
    case absorb([Path])
    /// These paths prove to be outputs.
    case announceOutputs([Path])
    /// Flush the source, then call `hasRead` with this generation.
    case read(generation: Int)
    /// Call `elapsed` at this time with this generation.
    case wait(until: Instant, generation: Int)
    case announce(FeedbackLoop)
    case explain([ChangeJudgment])
  }

  /// Reads the present contents of paths, in their order.
  typealias Reader = ([(path: Path, isMovedAsWhole: Bool)]) -> [PathContent]

  /// What is known when changes are judged.
  struct Facts {
    /// Whether the change of a path is still owed to a task. It is not if a run has received it that
    /// has started since, or that is requested and waits for the end of a burst.
    var isOwed: (Path) -> Bool
    var contents: Reader
    /// What is known of changes during an active run.
    var clues: ([PendingChange]) -> [Clue] = { $0.map { _ in Clue() } }
    /// How the latest runs have ended.
    var results: () -> [String: ExitStatus] = { [:] }
    /// Whether the active run has had the same processes for a while.
    var isSteady: () -> Bool = { true }
    /// Whether only tasks have run that depend on each other, so that each of them that reads an
    /// output has run after the one that writes it.
    var hasOneWriter: () -> Bool = { true }
  }

  /// A run that is due, now or after a delay.
  struct FollowUp: Hashable, Sendable {
    /// The paths that require it, in the order in which they changed. Each has a `due` change.
    var paths: [Path] = []
    var due: Instant
  }

  /// Consecutive restarts of an active run for whatever paths, as a server causes them that writes
  /// another file each time.
  struct Chain: Hashable, Sendable {
    var suspicion = 0.0
    /// How long the latest restart was delayed for it.
    var delay = Duration.zero
  }

  /// A flush of the source, after which the changes are judged.
  enum Reading: Hashable, Sendable {
    /// In the middle of a round, before a dependent task starts.
    case checkpoint
    /// A delay has ended.
    case delay
    /// All work of the round has ended but a run that is still active.
    case work
    case end
  }

  private static let mostEdited = 4096
  static let mostAnnounced = 256

  var records: [Path: Record] = [:]
  /// The paths with changes that have not been judged, in order.
  var unjudged: [Path] = []
  /// The number of records with `isEdited`.
  var editedCount = 0
  /// The number of records with `isAnnounced`.
  var announcedCount = 0
  var followUp: FollowUp?
  /// The number of consecutive follow-ups that led to the present round.
  var depth = 0
  /// The number of consecutive follow-ups that lead to the next round.
  var nextDepth = 0
  var chain = Chain()
  /// When the latest run began.
  var lastLaunch: Instant?
  /// The flush that is under way.
  var reading: Reading?
  /// Whether the round has ended, and the next one has not begun.
  var hasEnded = false
  /// When the latest round ended, or its follow-up was delayed: what is reported at that time may
  /// change files as well, such as the copy of a log.
  var lastReport: Instant?
  /// Whether the user stopped the round, so that it has no follow-up.
  var isStopped = false
  /// The follow-up that shows whether its paths are outputs.
  var trial: Trial?
  private(set) var generation = 0

  /// Whether a change may stop or signal an active run.
  let isLive: Bool

  init(isLive: Bool = false) {
    self.isLive = isLive
  }

  /// Whether the source is being flushed, so that changes are not judged before its end.
  var isReading: Bool { reading != nil }

  /// Whether a follow-up is due, now or after a delay.
  var owesRun: Bool { followUp != nil }

  /// Whether all of these paths changed in the round before as well, so that they may be outputs.
  func mayBeOutputs(_ changes: [ChangeBatch.Change]) -> Bool {
    changes.allSatisfy { records[$0.path]?.knownContent != nil }
  }

  /// How long after a look at the processes of an active run, or after its start, the next one follows:
  /// soon while a path is suspected, so that a look before its next change proves much. Otherwise there
  /// are two for a run that a change restarts, and none for others.
  func pauseBeforeLook(_ number: Int, at now: Instant) -> Duration? {
    let isSuspicious = records.values.contains {
      ($0.followUps ?? 0) > 0 || (isLive ? $0.suspicion > 0 : $0.isPossibleOutput)
    }
    let time = lastLaunch?.duration(to: now) ?? .zero
    if isSuspicious {
      let longest = max(.milliseconds(400), time / 50)
      return max(.milliseconds(50), min(time / 10, longest))
    }
    return isLive && number < 2 ? .milliseconds(50 + 200 * number) : nil
  }

  mutating func makeGeneration() -> Int {
    generation += 1
    return generation
  }
}

// MARK: - Changes

extension Rounds {
  /// How long after the end of a round a path that changed in it may change because of it.
  private static let echoTime = Duration.milliseconds(300)

  /// Handles changes that were reported.
  mutating func changed(
    _ changes: [ChangeBatch.Change], _ situation: Situation, at now: Instant, _ facts: Facts
  ) -> [Action] {
    let changes = changes.flatMap { PendingChange.all(of: $0, at: now) }
    if isReading || isStopped && situation.isOwn {
      add(changes)
      return []
    }
    switch situation {
    case .idle:
      return changedAtRest(changes, at: now, facts)
    case .running:
      add(changes)
      return markInnocent(changes, facts)
    case .building:
      return changedInBuild(changes, at: now, facts)
    case .live:
      return changedLive(changes, at: now, facts)
    case .othersRunning(let depth):
      // Nothing runs that the user could have stopped.
      isStopped = false
      add(changes)
      return judge(depth: depth + 1, areOfRuns: false, at: now, facts)
    }
  }

  /// Forgives suspected paths and outputs that a run cannot have changed.
  private mutating func markInnocent(_ changes: [PendingChange], _ facts: Facts) -> [Action] {
    let suspected = changes.filter {
      followUps(of: $0) > 0 || records[$0.path]?.isPossibleOutput == true
    }
    if suspected.isEmpty { return [] }
    var judgments: [ChangeJudgment] = []
    for (change, clue) in zip(suspected, facts.clues(suspected)) {
      if clue.evidence == .innocent || clue.evidence == .before {
        markEdited(change.path)
        judgments.append(ChangeJudgment(change.path, .innocent))
      } else if clue.mayBeOfRun != true && !change.isRemoval {
        update(change.path) { if $0.origin.isWritten { $0.origin = .written(vain: 0) } }
      }
    }
    return Self.explain(judgments)
  }

  /// The first judgments, for a person to read.
  static func explain(_ judgments: [ChangeJudgment]) -> [Action] {
    judgments.isEmpty ? [] : [.explain(Array(judgments.prefix(10)))]
  }

  private mutating func changedAtRest(
    _ changes: [PendingChange], at now: Instant, _ facts: Facts
  ) -> [Action] {
    let echoes = changes.filter { isEcho($0, at: now) }
    add(echoes)
    if echoes.count < changes.count {
      return changedByOthers(changes.filter { !isEcho($0, at: now) }, at: now)
    }
    // They are judged with the changes for which the follow-up is due.
    return owesRun ? [] : judge(depth: depth + 1, at: now, facts)
  }

  /// Whether a change follows from what was reported of the runs, as `watchrun make | tee log` does.
  private func isEcho(_ change: PendingChange, at now: Instant) -> Bool {
    guard let lastReport, lastReport.duration(to: now) < Self.echoTime,
      let record = records[change.path]
    else { return false }
    return record.judgedContent != nil && record.origin.isWritten && followUps(of: change) > 0
  }

  /// Begins a round immediately, because no run can have made these changes.
  mutating func changedByOthers(_ changes: [PendingChange], at now: Instant) -> [Action] {
    trial = nil
    if editedCount > Self.mostEdited {
      updateAll { if $0.origin.isEdited { $0.origin = .unknown } }
      editedCount = 0
    }
    // Of a large batch, such as a checkout, its beginning is enough if there is nothing to forget.
    let edits = hasHistory ? changes[...] : changes.prefix(ContentReader.mostFiles)
    for change in edits {
      markEdited(change.path, isRemoval: change.isRemoval)
      if change.isOfEntry { markEdited(change.path.directory, isRemoval: change.isRemoval) }
    }
    (nextDepth, isStopped, chain) = (0, false, Chain())
    return [.run(changes.map(\.path))]
  }

  /// Whether a content or a count is remembered.
  private var hasHistory: Bool {
    records.values.contains { record in
      record.knownContent != nil || record.judgedContent != nil || record.followUps != nil
        || record.origin != .unknown
    }
  }

  /// Keeps changes during a build, which are judged at its end. One that the build cannot have made stops
  /// it; and once, one of a path that others have edited and no build has changed yet. A build that is
  /// stopped before its end proves nothing about that path.
  private mutating func changedInBuild(
    _ changes: [PendingChange], at now: Instant, _ facts: Facts
  ) -> [Action] {
    var (others, possible): ([PendingChange], [PendingChange]) = ([], [])
    var judgments: [ChangeJudgment] = []
    for (change, clue) in zip(changes, facts.clues(changes)) {
      let isOfOthers =
        switch records[change.path]?.origin {
        case .edited(let isRewritten): !isRewritten
        case .written, .output: false
        case .unknown, nil: clue.excludesRun
        }
      guard isOfOthers else {
        possible.append(change)
        continue
      }
      others.append(change)
      judgments.append(ChangeJudgment(change.path, clue.excludesRun ? .innocent : .unknown))
      if !clue.excludesRun { markWritten(change.path) }
    }
    add(possible)
    if others.isEmpty { return [] }
    return changedByOthers(others, at: now) + Self.explain(judgments)
  }
}
