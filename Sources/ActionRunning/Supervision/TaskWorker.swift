import Dispatch
import FileObservation
import Support
import SystemCalls

/// Runs the processes of one task: its command, and the hook after it. Performs the actions of
/// `RunStateMachine` on the runner's queue.
///
/// While a process runs, the worker retains itself.
final class TaskWorker: Sendable {
  /// What happened, for the runner.
  enum Event: Sendable {
    /// The start of a run was reported. Its process is started next.
    case started
    /// A process has ended. Its output has not been read, and its end not been reported.
    case exited
    /// The end of the command, or that it could not be started, was reported. Its hook may follow.
    case ended(TaskStateMachine.Result, TaskReport.Ending)
    /// Nothing runs any more.
    case atRest
    /// The worker has ended for good.
    case finished
  }

  /// What a worker shares with those of other tasks.
  struct Context: Sendable {
    let queue: DispatchQueue
    /// Does work on the queue.
    let scheduler: any Scheduler
    let launcher: any ProcessLauncher
    let probe: any ReadinessProbe
    /// The directory from which relative ones start, and in which commands run by default.
    let directory: Path
    let report: @Sendable (TaskReport) -> Void
    /// `nil` if no output is read.
    let output: TaskOutput.Sink?
    var outputRoom: TaskOutput.Room = { _ in true }
    /// Returns what the run that starts receives.
    let receive: @Sendable (_ task: String, RunTrigger.Reason) -> RunTrigger
    let notify: @Sendable (TaskWorker, Event) -> Void
  }

  struct State {
    var machine: RunStateMachine
    var actions = PendingActions<RunStateMachine.Action>()
    /// The reason for the run that starts next.
    var reason = RunTrigger.Reason.start
    var current: [TaskReport.Job: Current] = [:]
    /// The latest run of the command.
    var latest: TaskReport.Run?
    var runCount = 0
    /// The result of the latest run; `nil` until it has ended.
    var result: TaskStateMachine.Result?
    var status = ExitStatus.exited(0)
    var duration = Duration.zero
    /// The start of the latest run.
    var began: Instant?
    /// Whether the start waits until it is known that no other process answers the readiness check.
    var isChecking = false
    var check: ReadinessCheck?
    var timeout: (any ScheduledWork)?
    var backOff: BackOff
    /// The processes that could not be stopped, and the runs to which they belong.
    var stuck: [TaskReport.Job: (run: TaskReport.Run, survivor: Survivor?)] = [:]
    var readsOutput = false
    var readers: [TaskReport.Job: OutputReader] = [:]
    var isAskedToEnd = false

    /// Whether a hook runs, or processes are being stopped.
    var isActive: Bool { machine.isHooking || machine.isStopping }
  }

  /// A process that runs.
  struct Current {
    let run: TaskReport.Run
    let began: Instant
    var ending = TaskReport.Ending.byItself
  }

  let definition: TaskDefinition
  let context: Context
  let state: Confined<State>
  let supervisors: [TaskReport.Job: Supervisor]
  let files = RunDirectory()

  var name: String { definition.name }
  var scheduler: any Scheduler { context.scheduler }

  init(_ definition: TaskDefinition, _ context: Context) {
    self.definition = definition
    self.context = context
    state = Confined(
      State(
        machine: RunStateMachine(definition.runRules),
        backOff: BackOff(limit: definition.restartLimit)), to: context.queue)
    let pairs = TaskReport.Job.allCases.map { job in
      let plan = definition.stopPlan
      return (job, Supervisor(plan: plan, launcher: context.launcher, scheduler: context.scheduler))
    }
    supervisors = Dictionary(uniqueKeysWithValues: pairs)
  }

  func notify(_ event: Event) { context.notify(self, event) }

  /// Starts a run. The present one is stopped first.
  func start(_ reason: RunTrigger.Reason) {
    state.access { state in
      state.reason = reason
      state.result = nil
      if reason != .restart { state.backOff.reset() }
    }
    advance { $0.start() }
  }

  /// Stops the run, its hook and leftover processes.
  func stop() {
    advance { $0.stop() }
  }

  /// Ends for good. A second call kills what runs.
  func end() {
    state.access { $0.isAskedToEnd = true }
    advance { $0.end() }
  }

  /// Sends a signal to the command, and with `toAll` to its hook as well.
  func send(_ signal: Signal, toAll: Bool = false) {
    for (job, supervisor) in supervisors where toAll || job == .command {
      supervisor.send(signal)
    }
  }

  /// The pause before the command, which has ended by itself, is started again; `nil` if it is not.
  func pauseBeforeRestart() -> Duration? {
    state.access { $0.backOff.pause(afterRunOf: $0.duration) }
  }
}

// MARK: - Performing actions

extension TaskWorker {
  func advance(_ step: (inout RunStateMachine) -> [RunStateMachine.Action]) {
    guard state.access({ $0.actions.add(step(&$0.machine)) }) else { return }
    while let action = state.access({ $0.actions.next() }) { perform(action) }
  }

  private func perform(_ action: RunStateMachine.Action) {
    switch action {
    case .launch:
      launchCommand()
    case .launchHook(let status):
      launchHook(after: status)
    case .stop(let job):
      if job == .command && cancelCheck() { return }
      state.access { $0.current[job]?.ending = .stopped }
      supervisors[job]?.stop()
    case .timeOut:
      let run = state.access { state in
        state.current[.command]?.ending = .timedOut
        return state.current[.command]?.run
      }
      if let run { context.report(.timedOut(run, after: definition.timeout ?? .zero)) }
      supervisors[.command]?.stop()
    case .kill(let job):
      supervisors[job]?.kill()
    case .awaitEnd(let job):
      reportStuck(job, isAwaited: true)
    case .leave(let job):
      reportStuck(job, isAwaited: false)
    case .rest:
      notify(.atRest)
    case .finish:
      files.remove()
      notify(.finished)
    }
  }

  /// Cancels a start that waits for the answer of its readiness check. Returns false if none does.
  private func cancelCheck() -> Bool {
    let isChecking = state.access { state in
      defer { state.isChecking = false }
      return state.isChecking
    }
    guard isChecking else { return false }
    advance { $0.groupIsGone(.command) }
    return true
  }

  /// Starts the command, if no other process answers its readiness check.
  ///
  /// The former process of the service has ended by then. A process that answers nevertheless
  /// belongs to another program, and would make the service ready before it has started.
  private func launchCommand() {
    guard definition.mayHaveConflict, let condition = definition.readiness?.condition else {
      return begin(.command, definition.command, [])
    }
    state.access { $0.isChecking = true }
    context.probe.ask(condition) { [self] isAnswered in
      let isChecking = state.access { state in
        defer { state.isChecking = false }
        return state.isChecking
      }
      guard isChecking else { return }
      if isAnswered {
        report(ReadinessConflict(condition))
      } else {
        begin(.command, definition.command, [])
      }
    }
  }

  private func report(_ conflict: ReadinessConflict) {
    context.report(.conflict(name, conflict))
    state.access { state in
      // Another attempt costs little, and the cause may end at any time.
      state.backOff.reset()
      (state.status, state.duration, state.result) = (.exited(126), .zero, .failed)
    }
    notify(.ended(.failed, .byItself))
    advance { $0.ended(.command, .exited(126)) }
  }
}

// MARK: - Results

extension TaskWorker {
  /// Records the result of a run of the command.
  func record(
    _ status: ExitStatus, _ ending: TaskReport.Ending, _ duration: Duration
  ) -> TaskStateMachine.Result {
    var status = status
    if ending == .timedOut && status.isSuccess { status = .signaled(definition.stopPlan.signal) }
    let result: TaskStateMachine.Result =
      ending == .stopped ? .cancelled : status.isSuccess ? .succeeded : .failed
    state.access { state in
      (state.status, state.duration, state.result) = (status, duration, result)
    }
    return result
  }

  /// The outcome for the report of a round; `nil` if there is none.
  func outcome(_ member: TaskStateMachine.RoundMember) -> TaskRound.Outcome? {
    let (status, duration, result) = state.access { ($0.status, $0.duration, $0.result) }
    switch member.state {
    case .succeeded:
      if !definition.isService { return .succeeded(duration) }
      return .ready(definition.readiness == nil ? .zero : duration)
    case .failed:
      // A service that has not exited with a failure was only not ready in time.
      let isLate = definition.isService && result != .failed
      return isLate ? .notReady : .failed(status, duration)
    case .cancelled: return .cancelled
    case .skipped(let because):
      return member.isUp ? .kept(because: because) : .skipped(because: because)
    case .pending, .ready, .running: return nil
    }
  }
}
