import Dispatch
import FileObservation
import Support
import SystemCalls

/// Runs the processes of one task: its command, and the hook after it. `ProcessStateMachine` decides what
/// they do, and `StopSequence` how a group is stopped; the worker performs that on the runner's queue.
///
/// While a process runs, the worker retains itself.
final class TaskWorker: Sendable {
  /// What happened, for the runner.
  enum Event: Sendable {
    /// The start of a run was reported. Its process is started next.
    case started
    /// The process of the run exists, or cannot be started yet.
    case launched(isAttempt: Bool)
    /// No run was started, since another process has the terminal.
    case awaitsTerminal
    /// That one has ended.
    case terminalIsFree
    /// A process has ended, that of a run perhaps with success. Its output is not read yet, and a hook may follow.
    case exited(isSuccess: Bool, precedesHook: Bool)
    /// The end of the command, or that it could not be started, was reported. Its hook may follow.
    case ended(TaskStateMachine.Result)
    /// Nothing runs any more.
    case atRest
    /// The worker has ended for good.
    case finished
  }

  /// What a worker shares with those of other tasks.
  struct Context: Sendable {
    let queue: DispatchQueue
    let scheduler: any Scheduler
    let launcher: any ProcessLauncher
    let probe: any ReadinessProbe
    /// The directory from which relative ones start, and in which commands run by default.
    let directory: Path
    let report: @Sendable (TaskReport) -> Void
    /// `nil` if no output is read.
    let output: TaskOutput.Sink?
    var options = TaskRunner.Options()
    /// Whether the output of a task is read, if there is a sink.
    var isRead: @Sendable (TaskDefinition) -> Bool = { _ in false }
    /// Whether its task is the only one of the graph.
    var isAlone: @Sendable () -> Bool = { false }
    /// Whether the former process of the service runs, by another worker.
    var hasFormer: @Sendable (_ task: String) -> Bool = { _ in false }
    /// Returns what the run that starts receives.
    let receive: @Sendable (_ task: String, RunTrigger.Reason) -> RunTrigger
    /// Whether the process of the run may be started. Otherwise the second argument is called when it may.
    var mayStart: @Sendable (_ task: String, @escaping @Sendable () -> Void) -> Bool = { _, _ in
      true
    }
    let notify: @Sendable (TaskWorker, Event) -> Void
  }

  struct State {
    var definition: TaskDefinition
    var machine: ProcessStateMachine
    var actions = PendingActions<ProcessStateMachine.Action>()
    /// The events that follow when the actions were performed, since the runner may start the next run then.
    var events: [Event] = []
    /// The reason for the run that starts next.
    var reason = RunTrigger.Reason.start
    var processes: [TaskReport.Job: Process] = [:]
    /// Whether it was reported that a file with changed paths could not be written.
    var hasLackedPaths = false
    var latest: TaskReport.Run?
    var runCount = 0
    /// The result of the latest run; `nil` until it has ended.
    var result: TaskStateMachine.Result?
    var status = ExitStatus.exited(0)
    var duration = Duration.zero
    /// When the commands of the latest run and of the one before began and ended, the latest one last: what was saved
    /// meanwhile may be reported later.
    var spans: [(began: FileTime, ended: FileTime?)] = []
    /// When the latest process of a run ended, or could not be started; `nil` while it runs.
    var ended: FileTime?
    /// Set while the start waits until it is known that no other process answers the readiness check.
    var conflictCheck: ConflictCheck?
    var check: ReadinessCheck?
    var timeout: (any ScheduledWork)?
    /// Starts the command again after a pause.
    var restart: (any ScheduledWork)?
    var backOff: BackOff
    /// The tests of the runs since one has succeeded; `nil` for all, as before the first one.
    var unprovenTests: [Path]?
    /// Whether the next run of the command takes the terminal.
    var takesTerminalNext = false
  }

  /// Tells the answer that is awaited from that of a check which was cancelled.
  final class ConflictCheck: Sendable {}

  /// A process and its group, until nothing is left of them.
  ///
  /// Until the leader is reaped, its ID belongs to its group only. Afterwards a signal is sent only directly
  /// after a member was found alive, because the ID may be reused.
  struct Process {
    var run: TaskReport.Run
    /// When it was started; `nil` while it waits for that.
    var began: Instant?
    /// Whether its end was reported. Members of its group may be alive.
    var hasEnded = false
    /// Whether its leftovers were found gone.
    var hasVanished = false
    /// `nil` while another process writes the program, so that it cannot be started.
    var group: (any LaunchedGroup)?
    var leaderIsAlive = false
    /// The delays between the attempts to start it.
    var attempts = BackOff(.milliseconds(10) ... .milliseconds(400), limit: 7)
    var stopping: StopSequence?
    var stopper: (any LaunchedGroup)?
    /// Attempts to start it again, or checks whether the group that is being stopped is alive.
    var timer: (any ScheduledWork)?
    var readers: [OutputReader] = []
    /// Keeps its standard input open.
    var input: SilentPipe?

    /// Whether the leader was reaped and no other member is alive. Makes system calls.
    var isGone: Bool { !leaderIsAlive && group?.isAlive != true }
  }

  let context: Context
  let state: Confined<State>
  let files = RunDirectory()

  /// What its next run follows.
  var definition: TaskDefinition { state.access(\.definition) }

  let name: String
  var scheduler: any Scheduler { context.scheduler }

  /// The group of the command of a run, while its leader is alive.
  var commandGroup: (any LaunchedGroup)? {
    state.access { state in
      guard let process = state.processes[.command], process.leaderIsAlive else { return nil }
      return process.group
    }
  }

  /// When the process of the latest run was started, unless nothing is left of that.
  var began: Instant? { state.access { $0.processes[.command]?.began } }

  var phase: ProcessStateMachine.State { state.access(\.machine.state) }

  /// Whether a run goes on without a command that a signal could reach: it has ended, or exceeded its timeout.
  var awaitsHook: Bool {
    if commandGroup?.leaderHasEnded == true { return true }
    let isTimingOut = state.access { $0.machine.ending(of: .command) } == .timedOut
    return definition.isService ? phase == .running && isTimingOut : phase.isHooking || isTimingOut
  }

  /// Whether a run begins when what is being stopped has gone, or the hook has ended.
  var isAboutToLaunch: Bool {
    phase == .stopping(next: .launch) || phase == .hooking(next: .launch)
  }

  /// Whether a run is about to begin, also when it is known that no other process answers its readiness check.
  var awaitsLaunch: Bool { isAboutToLaunch || state.access { $0.conflictCheck != nil } }

  /// Whether leftover processes were alive when this was asked the last time: they may have made a new change.
  func hadLeftovers() -> Bool {
    let suspects = state.access(\.processes).filter { _, process in
      !process.leaderIsAlive && process.group != nil && !process.hasVanished
    }
    for (job, process) in suspects where process.isGone {
      state.access { $0.processes[job]?.hasVanished = true }
    }
    return !suspects.isEmpty
  }

  var isEnding: Bool { phase.isEnding }

  init(_ definition: TaskDefinition, _ context: Context) {
    name = definition.name
    self.context = context
    let policy = definition.policy
    state = Confined(
      State(
        definition: definition, machine: ProcessStateMachine(policy),
        backOff: BackOff(first: policy.backOff, limit: policy.restartLimit)),
      to: context.queue)
  }

  /// Whether another process of the service was started beside its own.
  func setFormer(_ isFormer: Bool) {
    state.access { $0.processes[.command]?.run.isFormer = isFormer }
  }

  func notify(_ event: Event) { context.notify(self, event) }

  /// Starts a run. The present one is stopped first.
  ///
  /// - Parameter mayMend: Whether it may succeed where the one before has failed: not if that has changed what it starts
  ///   for.
  func start(
    _ reason: RunTrigger.Reason, takesTerminal: Bool = false, mayMend: Bool = true
  ) {
    state.access { $0.restart.take() }?.cancel()
    state.access { state in
      if takesTerminal { state.takesTerminalNext = true }
      state.reason = reason
      state.result = nil
      if reason != .restart && mayMend { state.backOff.reset() }
    }
    advance { $0.start() }
  }

  /// Stops the run, its hook and leftover processes.
  func stop() {
    state.access { $0.takesTerminalNext = false }
    advance { $0.stop() }
  }

  /// Ends for good. A second call kills what runs.
  func end() {
    state.access { $0.check.take() }?.cancel()
    state.access { $0.restart.take() }?.cancel()
    advance { $0.end() }
  }

  /// Sends a signal to the command, and with `toAll` to its hook as well.
  func send(_ signal: Signal, toAll: Bool = false) {
    for process in state.access(\.processes).values where toAll || process.run.job == .command {
      if !process.isGone { process.group?.send(signal) }
    }
  }

  func resizeTerminals() {
    guard let size = context.options.terminalSize(name) else { return }
    for process in state.access(\.processes).values {
      for reader in process.readers { reader.resize(size) }
    }
  }
}

// MARK: - Performing actions

extension TaskWorker {
  func advance(_ step: (inout ProcessStateMachine) -> [ProcessStateMachine.Action]) {
    guard state.access({ $0.actions.add(step(&$0.machine)) }) else { return }
    while let action = state.access({ $0.actions.next() }) { perform(action) }
    while let event = state.access({ $0.events.isEmpty ? nil : $0.events.removeFirst() }) {
      notify(event)
    }
  }

  private func perform(_ action: ProcessStateMachine.Action) {
    switch action {
    case .launch:
      launchCommand()
    case .launchHook(let status):
      launchHook(after: status)
    case .stop(let job):
      stopGroup(of: job)
    case .timeOut:
      if let run = state.access({ $0.processes[.command]?.run }) {
        context.report(.run(run, .timedOut(after: definition.policy.timeout ?? .zero)))
      }
      stopGroup(of: .command)
    case .kill(let job):
      killGroup(of: job)
    case .awaitEnd(let job):
      reportStuck(job, isAwaited: true)
    case .leave(let job):
      reportStuck(job, isAwaited: false)
    case .rest:
      state.access { $0.events.append(.atRest) }
    case .finish:
      files.remove()
      // Nothing is done for what cannot be stopped.
      for process in state.access(\.processes).values { process.timer?.cancel() }
      state.access { $0.events.append(.finished) }
    }
  }

  /// Starts the command, if it has the terminal that it takes, and no other process answers its readiness check.
  ///
  /// The former process of the service has ended by then. A process that answers nevertheless
  /// belongs to another program, and would make the service ready before it has started.
  private func launchCommand() {
    let takesTerminal = state.access { $0.takesTerminalNext || $0.definition.command.takesTerminal }
    let isFree = { @Sendable [weak self] () -> Void in self?.notify(.terminalIsFree) }
    if takesTerminal && !context.launcher.hasTerminal(orCall: isFree) {
      notify(.awaitsTerminal)
      return advance { $0.isNotStarted() }
    }
    guard definition.mayHaveConflict, let condition = definition.readiness?.condition else {
      return begin(makeRun(), definition.command)
    }
    let check = ConflictCheck()
    state.access { $0.conflictCheck = check }
    context.probe.ask(condition) { [self] isAnswered in
      guard state.access({ $0.conflictCheck }) === check else { return }
      state.access { $0.conflictCheck = nil }
      if isAnswered {
        report(ReadinessConflict(condition))
      } else {
        begin(makeRun(), definition.command)
      }
    }
  }

  private func report(_ conflict: ReadinessConflict) {
    context.report(.task(name, .conflict(conflict)))
    // Another attempt costs little, and the cause may end at any time.
    state.access { $0.backOff.reset() }
    record(.exited(126), .byItself, .zero)
    advance { $0.isNotStarted() }
  }
}

// MARK: - Results

extension TaskWorker {
  /// The command has ended, or could not be started. Its hook may follow.
  func record(_ status: ExitStatus, _ ending: TaskReport.Ending, _ duration: Duration) {
    let status = state.access { $0.machine.result(status, ending) }
    let result: TaskStateMachine.Result =
      ending == .stopped ? .cancelled : status.isSuccess ? .succeeded : .failed
    state.access { state in
      (state.status, state.duration, state.result) = (status, duration, result)
      if result == .succeeded { state.unprovenTests = [] }
      state.events.append(.ended(result))
    }
  }

  /// The outcome for the report of a round; `nil` if there is none.
  func outcome(_ member: TaskStateMachine.RoundMember) -> TaskRound.Outcome? {
    let (status, duration, result) = state.access { ($0.status, $0.duration, $0.result) }
    switch member.state {
    case .succeeded:
      if !definition.isService { return result == nil ? .fresh : .succeeded(duration) }
      return .ready(definition.reportsReadiness ? duration : .zero)
    case .failed:
      // A service that has not exited with a failure was only not ready in time.
      let isLate = definition.isService && result != .failed
      return isLate ? .notReady : .failed(status, duration)
    case .cancelled: return .cancelled
    case .skipped(let because):
      return member.isUp ? .kept(because: because) : .skipped(because: because)
    case .pending, .running: return nil
    }
  }
}
