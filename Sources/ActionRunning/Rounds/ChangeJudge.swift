import FileObservation
import Support
import SystemCalls

/// The decisions about follow-ups: which changes during a round require another run, and when it is
/// due. A pure state machine, without processes, clock or queue.
///
/// A round is all work that one batch causes. Commands write files, and the kernel does not report
/// which process wrote one. So a change during a round requires a run that begins after it: a
/// follow-up, which may be delayed, but is never dropped. The caller stores the changes that no run
/// has received; this type only knows their paths.
///
/// What a change leads to is in the table of `CONTRIBUTING.md`.
///
/// - At the end of a round the source is flushed, and each changed path is judged. A change during a
///   run that is restarted or signaled by changes is judged when it is reported.
/// - Keys are the path, its directory if an entry was created or removed, and all paths together.
/// - A path is an output if two follow-ups for it have changed nothing and ended as the run before,
///   and if it is proved that runs write it (`OutputProof`). It is no output while others are known to
///   edit it.
struct ChangeJudge: Sendable {
  /// The state of the runs when a change is reported.
  enum Situation: Hashable, Sendable {
    /// Nothing runs.
    case idle
    /// Runs that end by themselves.
    case running
    /// Runs that end by themselves, and that a change which they have not made stops: a build, and a test
    /// after it.
    case building
    /// A run that is restarted or signaled by a change.
    case interruptible
    /// The same, and a program works in it that compares the times of files, as with `-r make`.
    case buildingService
    /// No run, but processes that may have made the change: what a run of this round has left behind, or
    /// services of other rounds, and runs that began before the latest one of this round.
    case leftovers
    /// Runs of other rounds that have begun since the latest one of this round, so that they may follow from it.
    case othersRunning
    /// Runs that are being stopped. The next one has not started, and receives the change.
    case stopping

    /// Whether the runs are those of the round, which the user may have stopped.
    var isOwn: Bool {
      switch self {
      case .running, .building, .interruptible, .buildingService, .stopping: true
      case .idle, .leftovers, .othersRunning: false
      }
    }

    /// Whether a change is judged when it is reported.
    var judgesAtOnce: Bool {
      switch self {
      case .interruptible, .buildingService, .leftovers, .othersRunning: true
      case .idle, .running, .building, .stopping: false
      }
    }
  }

  enum Action: Equatable, Sendable {
    /// Request runs of the tasks that are owed the changes of these paths.
    case run([Path])
    /// Nothing is owed for these paths: they hold what they held when the round began.
    case settle([Path])
    /// These outputs request no run of the tasks that have run in this round. They stay owed.
    case setAside([Path])
    /// These files, which a service keeps open for writing, request no run of any task. They stay owed.
    case leave([Path])
    /// These paths prove to be outputs.
    case announceOutputs([Path])
    /// These paths have changed while stopped runs ended. They stay owed, without a request.
    case announceOwed([Path])
    /// Stop the builds that what was saved in these paths makes worthless: their restart, which follows, is delayed.
    case stopBuilds([Path])
    /// Flush the source, then call `hasFlushed` with this generation.
    case flush(generation: Int)
    /// Call `elapsed` at this time with this generation.
    case wait(until: Instant, generation: Int)
    case announce(FeedbackLoop)
    case explain([ChangeExplanation])
    /// The next start is delayed by so much, as a test: what follows a start of others by way of this one is late by it.
    case tested(Duration)
    /// A flush has ended, and its changes have been judged.
    case judged
  }

  /// What the caller knows when changes are judged.
  struct Knowledge: Sendable {
    /// The present states of the paths of `pathsToRead`.
    var files: [Path: FileState] = [:]
    /// Those of these and the delayed paths whose changes are still owed to a task, and for which no run is requested.
    var owed: Set<Path> = []
    /// How the latest runs have ended.
    var results: [String: ExitStatus] = [:]
    /// Whether only tasks have run that depend on each other, so that each of them that reads an
    /// output has run after the one that writes it.
    var hasOneWriter = true
    /// Whether a program that compares the times of files works in a service of the component, and has done something
    /// since the latest look.
    var isBuilding = false

    func content(of path: Path) -> PathContent { files[path]?.content ?? .absent }
  }

  /// A run that is due, now or after a delay.
  struct FollowUp: Equatable, Sendable {
    /// The paths that require it, in the order in which they changed. Each has a `due` change.
    var paths: [Path] = []
    var due: Instant
  }

  /// The reason for a flush of the source, after which the changes are judged.
  enum FlushReason: Hashable, Sendable {
    /// In the middle of a round, before a dependent task starts.
    case checkpoint
    /// A task has ended that ignores changes: those that it has ignored are reported by then, and nothing is
    /// judged.
    case ignored
    /// A delay has ended.
    case delay
    /// All work of the round has ended but a run that is still active.
    case work
    case end
  }

  /// The number of paths that are remembered. The oldest ones are forgotten first.
  static let mostRecords = 4096
  /// The number of kinds of edited files that are remembered. With more, any file may be edited.
  static let mostKinds = 1024
  /// How long after the end of a round a path that changed in it may change because of what was
  /// reported, as `watchrun make | tee log` does.
  static let echoTime = Duration.milliseconds(300)
  /// The pause between looks whether a build works in a service, and the longest time after the latest file that it has
  /// made: in 'make run', make lives as long as the server.
  static let buildLooks = (pause: Duration.seconds(1), time: Duration.seconds(60))

  var records: [Path: Record] = [:]
  /// The kinds of files that others are known to change.
  var editedKinds: Set<FileKind> = []
  /// The kinds of files that have come and gone in runs.
  var temporaryKinds: Set<FileKind> = []
  /// The number of rounds, by which the oldest records are known.
  var roundCount = 0
  /// The paths with changes that have not been judged, in order.
  var unjudged: [Path] = []
  /// Whether the services have ended by themselves, as 'make' does, and 'make run' does not.
  var endsByItself = false
  /// When a build in a service has probably made a file, while it is awaited that it ends to judge that.
  var latestMade: Instant?
  /// The changes of whatever paths that are not yet suspected themselves: runs may change another one each time.
  var common = Suspicion()
  /// How often changes have requested runs.
  var limit = StartLimit(share: 2)
  /// The runs that changes by others have answered.
  var answers = AnswerCount()
  var followUp: FollowUp?
  /// The number of follow-ups, by which it is known whether one is tested.
  var followUpCount = 0
  /// When the latest run began, by the scheduler's clock and by that of files.
  var lastLaunch: (time: Instant, files: FileTime)?
  /// For how long starts of other rounds have been delayed as tests since then.
  var testedElsewhere = Duration.zero
  /// The flush that is under way.
  var flushReason: FlushReason?
  /// Whether the round has ended, and the next one has not begun.
  var hasEnded = false
  /// When the latest round ended, or its follow-up was delayed.
  var lastReport: Instant?
  /// How long the longest run has lasted of the latest work that ends by itself, and of the present one: in that time
  /// after a start, a person may save at any moment.
  var workTime: Duration?
  var longestRun = Duration.zero
  /// Whether the user stopped the round, so that it has no follow-up.
  var isStopped = false
  /// Whether processes that do not end by themselves may have made the latest changes.
  var isBesideLasting = false
  /// The follow-up that shows whether its paths are outputs.
  var observation: Observation?
  private(set) var generation = 0

  /// Whether a change may restart or signal a service of the component.
  private(set) var hasInterruptibleService: Bool

  init(hasInterruptibleService: Bool = false) {
    self.hasInterruptibleService = hasInterruptibleService
  }

  /// The judge of tasks that replace those of others, of which the first one has most tasks in common: it knows who
  /// writes what, and what waits there goes on to wait. Others may read and write from now on.
  init(hasInterruptibleService: Bool, replacing formers: [ChangeJudge]) {
    self = formers.first ?? ChangeJudge()
    self.hasInterruptibleService = hasInterruptibleService
    for former in formers.dropFirst() { add(former) }
    updateAll { record in
      (record.knownContent, record.judgedContent, record.proof) = (nil, nil, OutputProof())
    }
    (observation, isStopped) = (nil, false)
  }

  /// Whether the source is being flushed, so that changes are not judged before its end.
  var isFlushing: Bool { flushReason != nil }

  /// Whether it is awaited that a build in a service ends, or does nothing for a while.
  var awaitsBuild: Bool { latestMade != nil }

  /// Whether changes wait for a judgment, and no flush is under way that leads to it.
  var awaitsJudgment: Bool { !unjudged.isEmpty && !isFlushing }

  /// Whether a follow-up is due, now or after a delay.
  var owesRun: Bool { followUp != nil }

  /// The paths for which a follow-up is due.
  var delayedPaths: [Path] { followUp?.paths ?? [] }

  /// When the run that is delayed is due.
  var due: Instant? { followUp?.due }

  /// Whether the runs are suspected to change a path, so that a recent look at the processes helps to
  /// judge its next change.
  var suspectsRuns: Bool {
    common.isSuspected || records.values.contains { $0.suspicion.isSuspected }
  }

  /// Whether these paths have changed after starts before, or others in their directories, and none by others.
  func areProbablyOfRuns(_ changes: [ChangeBatch.Change]) -> Bool {
    !changes.isEmpty
      && changes.allSatisfy { change in
        let keys = change.kind == .modified ? [change.path] : [change.path, change.path.directory]
        return records[change.path]?.isEdited != true
          && keys.contains { records[$0]?.suspicion.isRepeated == true }
      }
  }

  /// The paths that runs change again and again.
  var frequentPaths: [Path] {
    records.filter { !$0.value.isEdited && ($0.value.suspicion.isProved || $0.value.proof.wasOpen) }
      .map(\.key)
  }

  /// Adds what another judge knows, and what waits there.
  private mutating func add(_ other: ChangeJudge) {
    let known = Set(unjudged)
    unjudged += other.unjudged.filter { !known.contains($0) }
    let due = [followUp?.due, other.followUp?.due].compactMap(\.self).min()
    let paths = other.delayedPaths.filter { records[$0]?.due == nil }
    followUp = due.map { FollowUp(paths: delayedPaths + paths, due: $0) }
    records.merge(other.records) { record, other in
      var record = record
      record.unjudged = record.unjudged ?? other.unjudged
      record.due = record.due ?? other.due
      record.isEdited = record.isEdited || other.isEdited
      record.isTemporary = record.isTemporary || other.isTemporary
      record.suspicion.formMaximum(other.suspicion)
      record.limit.formMaximum(other.limit)
      return record
    }
    common.formMaximum(other.common)
    limit.formMaximum(other.limit)
    if let launch = other.lastLaunch, lastLaunch.map({ $0.time < launch.time }) ?? true {
      lastLaunch = launch
    }
    lastReport = [lastReport, other.lastReport].compactMap(\.self).max()
    workTime = [workTime, other.workTime].compactMap(\.self).max()
    hasEnded = hasEnded && other.hasEnded
    editedKinds.formUnion(other.editedKinds)
    temporaryKinds.formUnion(other.temporaryKinds)
    flushReason = flushReason ?? other.flushReason
  }

  mutating func makeGeneration() -> Int {
    generation += 1
    return generation
  }

  /// How long ago the latest run began.
  func offset(at now: Instant) -> Duration {
    max((lastLaunch?.time.duration(to: now) ?? .zero) - testedElsewhere, .zero)
  }
}
