import FileObservation
import Support
import SystemCalls

/// Decides which changes during a round are owed a run, and when that run is due. Inputs in,
/// actions out: no process, no clock, no queue.
///
/// A round is everything that one batch causes. Commands write files, and the kernel does not report who
/// wrote one: the command, or a person who saved at the same time. So each change during a round is owed
/// a run that begins after it: at most delayed, never dropped.
///
/// - At the end of a round the source is flushed. Each path that changed is compared with what it held
///   at the end of the round before, if it changed in that, too. With the same content, nothing is owed:
///   the round began with that content.
/// - Otherwise a follow-up is due: at once for the first three in a row for a path, then after doubling
///   delays, of which the first is announced. A round in which the path does not change ends its row.
/// - A change while nothing runs starts a round at once, halves the path's count, and drops what is
///   known of its content.
/// - A change during a run that a change would restart or signal is judged when it is reported, and its
///   delay counts from the run's start. More than two seconds after that it counts as a change while
///   nothing runs. A path that the run before changed as well, and that never changed while nothing ran,
///   is judged at the end of these two seconds: a linker removes its output before it writes it.
/// - A path that is created or removed counts for its directory as well, because names may differ each
///   time. Several follow-ups in a row for whatever paths are a row, too: so tasks that change each
///   other's files come to rest.
///
/// One change leads to no run: bytes that are changed and changed back within one round, in a path that
/// the round before changed as well.
struct Rounds: Sendable {
  /// The state of the command when a change is reported.
  enum Situation: Hashable, Sendable {
    /// Nothing.
    case idle
    /// Runs that end by themselves.
    case running
    /// A build, which a change makes worthless unless the build itself made it.
    case building
    /// A run that is restarted or signaled by a change.
    case live
    /// Only runs of other components. The most consecutive follow-ups that led to one of them.
    case beside(depth: Int)

    /// Whether the runs are those of the round, which the user may have stopped.
    var isOwn: Bool {
      switch self {
      case .running, .building, .live: true
      case .idle, .beside: false
      }
    }
  }

  enum Action: Hashable, Sendable {
    /// Begin a round because of these changes.
    case run(RunTrigger)
    /// Flush the source, then call `hasRead` with this generation.
    case read(generation: Int)
    /// Call `elapsed` at this time with this generation.
    case wait(until: Instant, generation: Int)
    case announce(FeedbackLoop)
    /// Add these changes to the next round. They do not need a round of their own.
    case keep(RunTrigger)
  }

  /// Reads what paths hold now, in their order.
  typealias Reader = ([(path: Path, isMovedAsWhole: Bool)]) -> [PathContent]

  /// Changes that are owed a run.
  struct Debt: Sendable {
    var trigger: RunTrigger
    /// Each path, and whether it counts for its directory.
    var paths: [Path: Bool] = [:]
    var due: Instant
  }

  /// A flush of the source, after the runs or a delay have ended.
  struct Reading: Hashable, Sendable {
    /// Whether the round ends with it.
    var endsRound = false
    /// Whether changes that it reports are ignored, because of the policy of the run that has ended.
    var ignoresChanges = false
  }

  private static let mostRemembered = 4096

  /// What the paths held that changed in the round before, when the present one began.
  var known: [Path: PathContent] = [:]
  /// The directories in which entries were created or removed in the round before.
  var knownDirectories: Set<Path> = []
  /// What paths held when they were judged in the present round.
  var judged: [Path: PathContent] = [:]
  /// The number of consecutive follow-ups for each path, and for the entries of each directory.
  var tries: [Path: Int] = [:]
  /// The paths that changed in the present round, and the directories whose entries did.
  var changedKeys: Set<Path> = []
  var changedDirectories: Set<Path> = []
  /// The changes of the present round that were not judged, in order.
  var touched = Touches()
  var debt: Debt?
  /// Paths that changed while nothing ran, and so are not a command's own.
  var edited: Set<Path> = []
  var announced: Set<Path> = []
  /// The numbers of consecutive follow-ups that led to the present round, and lead to the next one.
  var depth = 0
  var nextDepth = 0
  /// When the latest run began.
  var lastLaunch: Instant?
  /// The flush that is under way.
  var reading: Reading?
  var isReading: Bool { reading != nil }
  /// Whether the round has ended, and the next one has not begun.
  var hasEnded = false
  /// Whether the user stopped the round, so that nothing follows from it.
  var isStopped = false
  private(set) var generation = 0

  /// Whether a delay counts from the start of the latest run, because a change stops or signals it.
  let isLive: Bool

  init(isLive: Bool = false) {
    self.isLive = isLive
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

  /// Something changed.
  mutating func changed(
    _ trigger: RunTrigger, _ situation: Situation, at now: Instant, reading read: Reader
  ) -> [Action] {
    if isReading || isStopped && situation.isOwn {
      if reading?.ignoresChanges != true { note(trigger) }
      return []
    }
    switch situation {
    case .idle:
      return changedByOthers(trigger)
    case .running:
      note(trigger)
      return []
    case .building:
      return changedInBuild(trigger, at: now, read)
    case .live:
      guard let lastLaunch, lastLaunch.duration(to: now) <= Self.settlingTime else {
        return changedByOthers(trigger)
      }
      note(trigger)
      return judgeLive(since: lastLaunch, at: now, read)
    case .beside(let depth):
      // Nothing runs that the user could have stopped.
      isStopped = false
      note(trigger)
      return judge(from: now, isLive: false, depth: depth + 1, at: now, read)
    }
  }

  /// A change that no run can have made begins a round at once.
  private mutating func changedByOthers(_ trigger: RunTrigger) -> [Action] {
    if edited.count > Self.mostRemembered { edited = [] }
    let hasPast = !known.isEmpty || !judged.isEmpty || !tries.isEmpty
    // Of a large batch, such as a checkout, its beginning is enough where there is nothing to forget.
    let edits = hasPast ? trigger.changes[...] : trigger.changes.prefix(ContentReader.mostFiles)
    for change in edits {
      var keys = [change.path]
      if change.isOfEntry { keys.append(change.path.directory) }
      if let from = change.from { keys += [from, from.directory] }
      for key in keys {
        edited.insert(key)
        known[key] = nil
        judged[key] = nil
        if let count = tries[key] { tries[key] = count / 2 }
      }
    }
    (nextDepth, isStopped) = (0, false)
    return [.run(trigger)]
  }

  /// What the build before did not write as well makes the present one worthless.
  private mutating func changedInBuild(
    _ trigger: RunTrigger, at now: Instant, _ read: Reader
  ) -> [Action] {
    note(trigger)
    let isWorthless = trigger.changes.contains { change in
      let isOwn = known[change.path] != nil
      return !isOwn && delay(of: Touch(change), isLive: false, depth: depth + 1) == .zero
    }
    return isWorthless ? judge(from: now, isLive: true, depth: depth + 1, at: now, read) : []
  }

  /// Notes changes of the present round, to be judged later.
  private mutating func note(_ trigger: RunTrigger) {
    if trigger.reason == .overflow { touched.sawOverflow = true }
    for change in trigger.changes {
      if let from = change.from {
        note(Touch(removed: from))
      }
      note(Touch(change))
    }
  }

  private mutating func note(_ touch: Touch) {
    changedKeys.insert(touch.path)
    if touch.isEntryChanged {
      changedKeys.insert(touch.path.directory)
      changedDirectories.insert(touch.path.directory)
    }
    touched.add(touch)
  }
}
