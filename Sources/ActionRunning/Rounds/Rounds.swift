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
/// - The first three consecutive follow-ups for a path start immediately; later ones back off
///   exponentially, and the first delay is announced. A round that leaves the path unchanged resets
///   its count.
/// - A change while nothing runs starts a round immediately, halves the path's count, and makes its
///   content unknown.
/// - A change during a run that is restarted or signaled by changes is judged when it is reported,
///   and its delay counts from the start of the run. More than two seconds after the start it is
///   handled like a change while nothing runs. A path that changed in the run before as well, and
///   that never changed while nothing ran, is judged when these two seconds have passed: a linker
///   removes its output before it writes it.
/// - A path that is created or removed counts for its directory as well, because names may differ
///   each time. Consecutive follow-ups for any paths are counted, too, so that tasks that change
///   each other's files come to rest.
///
/// One change leads to no run: bytes that are changed and changed back within one round, in a path
/// that changed in the round before as well.
struct Rounds: Sendable {
  /// The state of the runs when a change is reported.
  enum Situation: Hashable, Sendable {
    /// Nothing runs.
    case idle
    /// Runs that end by themselves.
    case running
    /// A build, which a change makes worthless unless the build itself made it.
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
    /// Flush the source, then call `hasRead` with this generation.
    case read(generation: Int)
    /// Call `elapsed` at this time with this generation.
    case wait(until: Instant, generation: Int)
    case announce(FeedbackLoop)
  }

  /// Reads the present contents of paths, in their order.
  typealias Reader = ([(path: Path, isMovedAsWhole: Bool)]) -> [PathContent]

  /// A run that is due, now or after a delay.
  struct FollowUp: Hashable, Sendable {
    /// The paths that require it, in the order in which they changed. Each has a `due` change.
    var paths: [Path] = []
    var due: Instant
  }

  /// A flush of the source, after which the changes are judged.
  enum Reading: Hashable, Sendable {
    /// In the middle of a round, before a dependent task starts.
    case checkpoint
    /// A delay has ended, or all work of the round but a run that is still active.
    case middle
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
  /// When the latest run began.
  var lastLaunch: Instant?
  /// The flush that is under way.
  var reading: Reading?
  /// Whether the round has ended, and the next one has not begun.
  var hasEnded = false
  /// Whether the user stopped the round, so that it has no follow-up.
  var isStopped = false
  private(set) var generation = 0

  /// Whether a delay counts from the start of the latest run, because a change stops or signals it.
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

  mutating func makeGeneration() -> Int {
    generation += 1
    return generation
  }
}

// MARK: - Changes

extension Rounds {
  /// How long after its start a run may have made a change that is judged when it is reported.
  static let settlingTime = Duration.seconds(2)

  /// Handles changes that were reported.
  ///
  /// - Parameter isOwed: Whether the change of a path is still owed to a task. It is not if a run
  ///   that has started since has received it.
  mutating func changed(
    _ changes: [ChangeBatch.Change], _ situation: Situation, at now: Instant,
    isOwed: (Path) -> Bool, reading read: Reader
  ) -> [Action] {
    if isReading || isStopped && situation.isOwn {
      add(changes)
      return []
    }
    switch situation {
    case .idle:
      return changedByOthers(changes)
    case .running:
      add(changes)
      return []
    case .building:
      return changedInBuild(changes, at: now, isOwed, read)
    case .live:
      guard let lastLaunch, lastLaunch.duration(to: now) <= Self.settlingTime else {
        return changedByOthers(changes)
      }
      add(changes)
      return judgeLive(since: lastLaunch, at: now, isOwed, read)
    case .othersRunning(let depth):
      // Nothing runs that the user could have stopped.
      isStopped = false
      add(changes)
      return judge(from: now, isLive: false, depth: depth + 1, at: now, isOwed, read)
    }
  }

  /// Begins a round immediately, because no run can have made these changes.
  private mutating func changedByOthers(_ changes: [ChangeBatch.Change]) -> [Action] {
    if editedCount > Self.mostEdited {
      updateAll { $0.isEdited = false }
      editedCount = 0
    }
    // Of a large batch, such as a checkout, its beginning is enough if there is nothing to forget.
    let edits = hasHistory ? changes[...] : changes.prefix(ContentReader.mostFiles)
    for change in edits {
      for path in [change.path, change.from].compactMap(\.self) {
        markEdited(path)
        if change.isOfEntry { markEdited(path.directory) }
      }
    }
    (nextDepth, isStopped) = (0, false)
    return [.run(changes.paths)]
  }

  /// Whether a content or a count is remembered.
  private var hasHistory: Bool {
    records.values.contains { record in
      record.knownContent != nil || record.judgedContent != nil || record.followUps != nil
    }
  }

  /// Judges changes during a build. A path that the build before did not write as well makes the
  /// present build worthless.
  private mutating func changedInBuild(
    _ changes: [ChangeBatch.Change], at now: Instant, _ isOwed: (Path) -> Bool, _ read: Reader
  ) -> [Action] {
    add(changes)
    let isWorthless = changes.contains { change in
      let mayBeOutput = records[change.path]?.knownContent != nil
      return !mayBeOutput
        && delay(of: PendingChange(change), isLive: false, depth: depth + 1) == .zero
    }
    if !isWorthless { return [] }
    return judge(from: now, isLive: true, depth: depth + 1, at: now, isOwed, read)
  }
}

extension [ChangeBatch.Change] {
  /// The paths of the changes, with the former ones of renames, each once and in order.
  fileprivate var paths: [Path] {
    guard contains(where: { $0.from != nil }) else { return map(\.path) }
    var seen: Set<Path> = []
    return flatMap { [$0.from, $0.path].compactMap(\.self) }.filter { seen.insert($0).inserted }
  }
}
