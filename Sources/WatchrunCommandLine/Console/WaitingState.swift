import ActionRunning
import FileObservation
import Support

/// What waits, as the runner reports it. Decides when the user is notified of it. A pure state machine:
/// reports in, notices out.
struct WaitingState {
  /// Something that has waited for so long that the user should know.
  enum Notice: Hashable {
    /// A task waits for the end of runs, for a hook, or for a job.
    case waiting(TaskRunner.Waiting)
    /// A run was asked to end, by a signal or the stop command, and has not; or its first process has, and others have
    /// not.
    case stopping(
      TaskReport.Run, String, isCommand: Bool, waited: Duration, killIn: Duration, isEnded: Bool)
  }

  /// A run that was asked to end.
  private struct Stop: Hashable {
    let run: TaskReport.Run
    let way: String
    let isCommand: Bool
    let since: Instant
    let killAfter: Duration
    var isEnded = false
    var isReported = false

    var time: Instant { since.advanced(by: WaitingState.stopTime) }

    func notice(at now: Instant) -> Notice {
      let waited = since.duration(to: now)
      return .stopping(
        run, way, isCommand: isCommand, waited: waited, killIn: max(.zero, killAfter - waited),
        isEnded: isEnded)
    }
  }

  /// How long something may wait before it is reported.
  static let queueTime = Duration.seconds(2)
  static let stopTime = Duration.seconds(1)
  static let jobTime = Duration.seconds(5)

  /// The tasks that wait, in the order in which they will run.
  private(set) var waiting: [TaskRunner.Waiting] = []
  /// Those of them that had their notice.
  private var reported: [TaskRunner.Waiting] = []
  private var stops: [Stop] = []
  /// The changes that the latest run of each task has received.
  private var received: [String: [ChangeBatch.Change]] = [:]
  /// When commands that have ended are started again.
  private(set) var restarts: [String: Instant] = [:]

  /// The runs that were asked to end, at least this long ago.
  func pendingStops(at now: Instant, after time: Duration = .zero) -> [Notice] {
    stops.filter { $0.since.duration(to: now) >= time }.map { $0.notice(at: now) }
  }

  /// Whether a run for which something waits may have made a change itself: new files, as builds do, or
  /// other contents of what it was started for, as formatters do.
  func mayBeByRuns(_ entry: TaskRunner.Waiting) -> Bool {
    guard case .runs(let names) = entry.cause else { return false }
    let paths = Set(names.flatMap { received[$0, default: []].map(\.path) })
    return entry.trigger.changes.contains { $0.kind == .created || paths.contains($0.path) }
  }

  mutating func handle(_ report: TaskReport, at now: Instant) {
    switch report {
    case .runner(.waiting(let waiting)):
      self.waiting = waiting
      reported.removeAll { entry in !waiting.contains { $0.isSame(as: entry) } }
    case .run(let run, .stopping(let signal, let killAfter)):
      stop(run, "\(signal)", at: now, killAfter)
    case .run(let run, .stoppingBy(let command, let killAfter)):
      stop(run, command.words.shownCommand, isCommand: true, at: now, killAfter)
    case .run(let run, .ended):
      for index in stops.indices where stops[index].run == run { stops[index].isEnded = true }
    case .run(let run, .killing), .run(let run, .gone), .run(let run, .notStopped):
      stops.removeAll { $0.run == run }
    case .run(let run, .started):
      restarts[run.task] = nil
      received[run.task] = run.trigger.changes
    case .task(let task, .gaveUp):
      restarts[task] = nil
    case .task(let task, .backingOff(let pause)):
      restarts[task] = now.advanced(by: pause)
    case .runner(.idle), .runner(.finished):
      restarts = [:]
    default:
      break
    }
  }

  private mutating func stop(
    _ run: TaskReport.Run, _ way: String, isCommand: Bool = false, at now: Instant,
    _ killAfter: Duration
  ) {
    stops.removeAll { $0.run == run }
    stops.append(Stop(run: run, way: way, isCommand: isCommand, since: now, killAfter: killAfter))
  }
}

// MARK: - Notices

extension WaitingState {
  /// When the next notice is due; `nil` if none is.
  var nextTime: Instant? {
    (waiting.compactMap(time) + stops.filter { !$0.isReported }.map(\.time)).min()
  }

  /// When the notice of a task that waits is due; `nil` if there is none.
  private func time(of entry: TaskRunner.Waiting) -> Instant? {
    if reported.contains(where: entry.isSame) { return nil }
    return switch entry.cause {
    case .runs, .hook: entry.since.advanced(by: Self.queueTime)
    case .job: entry.since.advanced(by: Self.jobTime)
    case .dependencies, .changes, .dependents, .predecessor, .terminal, .pause, .delay, .nextRun:
      nil
    }
  }

  /// The notices that are due, each once.
  mutating func takeNotices(at now: Instant) -> [Notice] {
    let overdue = stops.filter { !$0.isReported && $0.time <= now }
    for index in stops.indices where stops[index].time <= now { stops[index].isReported = true }
    let due = waiting.filter { entry in time(of: entry).map { $0 <= now } ?? false }
    reported += due
    // A job that is killed at once or soon needs no notice, and what waits for a run that is being stopped
    // none of its own.
    return overdue.filter { $0.killAfter > Self.stopTime }.map { $0.notice(at: now) }
      + due.filter { !isStopping(for: $0.cause) }.map { .waiting($0) }
  }

  private func isStopping(for cause: TaskRunner.Waiting.Cause) -> Bool {
    guard case .runs(let names) = cause else { return false }
    return stops.contains { names.contains($0.run.task) }
  }
}
