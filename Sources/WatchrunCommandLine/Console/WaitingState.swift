import ActionRunning
import FileObservation
import Support
import SystemCalls

/// What waits for something, and since when: triggers for the end of a run, jobs that were asked to end, and
/// tasks for their turn. Decides when that is reported. A pure state machine: reports in, notices out.
///
/// The only task of a command line has the empty name.
struct WaitingState {
  /// Something that has waited for so long that the user should know.
  enum Notice: Hashable {
    /// A trigger waits for the end of runs of these tasks, the task's own among them or not.
    case queued(task: String, RunTrigger, behind: [String])
    /// A trigger waits for the end of the hook.
    case queuedBehindHook(RunTrigger)
    /// A job was asked to end, and has not.
    case stopping(task: String, ActionQueue.Job, Signal, waited: Duration, killIn: Duration)
    /// A task waits for one of the jobs, which these tasks hold.
    case needsJob(task: String, heldBy: [String])
  }

  /// A trigger that waits for the end of runs.
  struct Queued: Hashable {
    let task: String
    var trigger: RunTrigger
    var behind: [String]
    var isBehindHook = false
    let since: Instant
    var isReported = false

    var isKey: Bool { trigger.reason == .key }

    var notice: Notice {
      isBehindHook
        ? .queuedBehindHook(trigger) : .queued(task: task, trigger, behind: behind)
    }
  }

  /// A job that was asked to end.
  struct Stop: Hashable {
    let task: String
    let job: ActionQueue.Job
    let signal: Signal
    let since: Instant
    let killAfter: Duration
    var isReported = false

    func notice(at now: Instant) -> Notice {
      let waited = since.duration(to: now)
      return .stopping(
        task: task, job, signal, waited: waited, killIn: max(.zero, killAfter - waited))
    }
  }

  /// A task that waits for a job.
  private struct JobWait: Hashable {
    let task: String
    let since: Instant
    var isReported = false
  }

  /// A service or command that is restarted after a delay.
  struct Restart: Hashable {
    let task: String
    let time: Instant
  }

  /// How long something may wait before it is reported.
  static let queueTime = Duration.seconds(2)
  static let stopTime = Duration.seconds(1)
  static let jobTime = Duration.seconds(5)

  private(set) var queued: [Queued] = []
  private(set) var stops: [Stop] = []
  private(set) var restarts: [Restart] = []
  /// The waiting tasks of a project, in the order in which they begin.
  private(set) var tasks: [TaskRunner.Waiting] = []
  private var jobWaits: [JobWait] = []
}

// MARK: - Reports

extension WaitingState {
  /// Takes a report of the action queue, or of one of a task.
  mutating func take(_ report: RunReport, of task: String = "", at now: Instant) {
    switch report {
    case .started(let run):
      if run.job != .hook { queued.removeAll { $0.task == task } }
      restarts.removeAll { $0.task == task }
    case .ended(let run, _, _, _), .notStarted(let run, _, _):
      // With the end of the command, the hook may begin, behind which the trigger waits then.
      if run.job == .hook { queued.removeAll { $0.task == task && $0.isBehindHook } }
      if run.job == .command { runEnded(of: task) }
    case .queued(let trigger, let job):
      enqueue(trigger, of: task, behind: [task], isBehindHook: job == .hook, at: now)
    case .stopping(let job, let signal, let killAfter):
      stops.removeAll { $0.task == task && $0.job == job }
      stops.append(
        Stop(task: task, job: job, signal: signal, since: now, killAfter: killAfter))
    case .gone(let job), .abandoned(let job):
      stops.removeAll { $0.task == task && $0.job == job }
    case .backingOff(let pause):
      restarts.removeAll { $0.task == task }
      restarts.append(Restart(task: task, time: now.advanced(by: pause)))
    case .idle, .finished:
      restarts.removeAll { $0.task == task }
      queued.removeAll { $0.task == task }
    case .output, .unfinishedOutput, .timedOut, .killing, .signaled, .ignored, .foundLoop, .settled:
      break
    }
  }

  /// Takes a report of a project's runner.
  mutating func take(_ report: TaskReport, at now: Instant) {
    switch report {
    case .started(let name, let run):
      take(.started(run), of: name, at: now)
    case .ended(let name, _, _, _), .notStarted(let name, _, _), .conflict(let name, _):
      runEnded(of: name)
    case .detail(let name, let report):
      take(report, of: name, at: now)
    case .queued(let name, let trigger, let behind):
      enqueue(trigger, of: name, behind: behind, at: now)
    case .waiting(let tasks):
      take(tasks, at: now)
    case .idle, .finished:
      self = WaitingState()
    case .skipped, .kept, .ready, .notReady, .output, .unfinishedOutput, .ignored, .unwatched,
      .foundLoop, .unsettled,
      .roundEnded:
      break
    }
  }

  private mutating func take(_ tasks: [TaskRunner.Waiting], at now: Instant) {
    self.tasks = tasks
    var names: Set<String> = []
    for task in tasks {
      switch task.cause {
      case .ownRun:
        enqueue(RunTrigger(task.reason), of: task.name, behind: [task.name], at: now)
      case .job:
        names.insert(task.name)
        if !jobWaits.contains(where: { $0.task == task.name }) {
          jobWaits.append(JobWait(task: task.name, since: now))
        }
      case .dependencies, .dependents, .predecessor, .pause:
        break
      }
    }
    jobWaits.removeAll { !names.contains($0.task) }
  }

  private mutating func enqueue(
    _ trigger: RunTrigger, of task: String, behind: [String], isBehindHook: Bool = false,
    at now: Instant
  ) {
    let isKey = trigger.reason == .key
    let index = queued.firstIndex { $0.task == task && $0.isKey == isKey }
    guard let index else {
      return queued.append(
        Queued(
          task: task, trigger: trigger, behind: behind, isBehindHook: isBehindHook, since: now))
    }
    let known = Set(queued[index].trigger.changes.map(\.path))
    queued[index].trigger.changes += trigger.changes.filter { !known.contains($0.path) }
    queued[index].behind = behind
    queued[index].isBehindHook = isBehindHook
  }

  private mutating func runEnded(of task: String) {
    for index in queued.indices { queued[index].behind.removeAll { $0 == task } }
    queued.removeAll { $0.behind.isEmpty }
  }
}

// MARK: - Notices

extension WaitingState {
  /// When the next notice is due; `nil` if none is.
  var nextTime: Instant? {
    let times =
      queued.filter { !$0.isReported }.map { $0.since.advanced(by: Self.queueTime) }
      + stops.filter { !$0.isReported }.map { $0.since.advanced(by: Self.stopTime) }
      + jobWaits.filter { !$0.isReported }.map { $0.since.advanced(by: Self.jobTime) }
    return times.min()
  }

  /// The notices that are due, each once.
  mutating func takeNotices(at now: Instant) -> [Notice] {
    var notices: [Notice] = []
    for index in stops.indices where !stops[index].isReported {
      guard stops[index].since.advanced(by: Self.stopTime) <= now else { continue }
      stops[index].isReported = true
      // A job that is killed at once or soon needs no notice.
      if stops[index].killAfter > Self.stopTime { notices.append(stops[index].notice(at: now)) }
    }
    for index in queued.indices where !queued[index].isReported {
      guard queued[index].since.advanced(by: Self.queueTime) <= now else { continue }
      queued[index].isReported = true
      // What runs is being stopped, which was reported.
      if !stops.contains(where: { queued[index].behind.contains($0.task) }) {
        notices.append(queued[index].notice)
      }
    }
    for index in jobWaits.indices where !jobWaits[index].isReported {
      guard jobWaits[index].since.advanced(by: Self.jobTime) <= now else { continue }
      jobWaits[index].isReported = true
      let task = jobWaits[index].task
      notices.append(.needsJob(task: task, heldBy: jobHolders(for: task)))
    }
    return notices
  }

  private func jobHolders(for task: String) -> [String] {
    for waiting in tasks where waiting.name == task {
      if case .job(let holders) = waiting.cause { return holders }
    }
    return []
  }
}
