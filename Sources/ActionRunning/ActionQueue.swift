import Dispatch
import FileObservation
import SystemCalls

/// Runs a command, one run at a time, when something has changed.
///
/// A serial queue: changes go in with `submit`, reports come out on it. Two runs never overlap, and
/// a change that comes during a run is not lost; what is done with it, the busy policy says. When
/// the queue has been ended, and has told so by `finished`, nothing of the command is left but what
/// made a session of its own. As long as something runs, the queue keeps itself alive.
///
/// All its methods may be called from any thread.
public final class ActionQueue: Sendable {
  /// How a queue goes about its work.
  public struct Options: Sendable {
    /// What to do with a change during a run.
    public var busyPolicy: BusyPolicy
    /// How the command is stopped.
    public var stopPlan: StopPlan
    /// After which run all is over.
    public var completion: Completion
    /// The signals that the command is to ignore from its start, as `nohup` makes it.
    public var ignoredSignals: Set<Signal>
    /// Who ends the command should we not be able to.
    public var guardian: Guardian?
    /// Who stops the command with us.
    package var jobControl: JobControl?

    /// The options as given; by default a change during a run leads to one more run.
    public init(
      busyPolicy: BusyPolicy = .queue, stopPlan: StopPlan = StopPlan(),
      completion: Completion = .never, ignoredSignals: Set<Signal> = [],
      guardian: Guardian? = nil
    ) {
      self.busyPolicy = busyPolicy
      self.stopPlan = stopPlan
      self.completion = completion
      self.ignoredSignals = ignoredSignals
      self.guardian = guardian
    }
  }

  private struct State {
    var machine: ActionStateMachine
    var runCount = 0
    var current: (run: RunReport.Run, began: Instant)?
    var isBeingStopped = false
    var ownOutputs = OwnOutputs()
    /// When the latest run began, and ended if it has.
    var latestRun: (began: Instant, ended: Instant?)?

    /// True if changes noticed then were made during the latest run, and so perhaps by it.
    func isDuringRun(_ noticed: ClosedRange<Instant>) -> Bool {
      guard let latestRun, noticed.lowerBound >= latestRun.began else { return false }
      return latestRun.ended.map { noticed.upperBound <= $0 } ?? true
    }
  }

  private let command: Command
  private let queue = DispatchQueue(label: "watchrun.actions", qos: .userInitiated)
  private let state: Confined<State>
  private let scheduler: any Scheduler
  private let supervisor: Supervisor
  private let folder = RunFolder()
  private let restarts: Bool
  private let report: @Sendable (RunReport) -> Void

  /// A queue that runs `command`. Nothing runs yet.
  ///
  /// - Parameter report: Is called on the queue, in order, with all there is to tell.
  public init(
    _ command: Command, options: Options = Options(),
    report: @escaping @Sendable (RunReport) -> Void
  ) {
    self.command = command
    self.report = report
    restarts = options.busyPolicy == .restart
    state = Confined(
      State(
        machine: ActionStateMachine(policy: options.busyPolicy, completion: options.completion)),
      to: queue)
    scheduler = DispatchScheduler(queue: queue)
    supervisor = Supervisor(
      plan: options.stopPlan,
      launcher: SystemLauncher(queue: queue, options),
      scheduler: scheduler)
  }

  /// A run is wanted.
  public func submit(_ trigger: Trigger) {
    queue.async { [self] in
      guard let trigger = sifted(trigger) else { return }
      let isSuspect = state.access { $0.ownOutputs.isSuspect(trigger) }
      if case .signal(let signal) = advance({ $0.triggered(trigger, isSuspect: isSuspect) }).first {
        report(.signaled(signal, trigger))
      }
    }
  }

  /// The trigger without what the command itself has written; nil if that is all.
  private func sifted(_ trigger: Trigger) -> Trigger? {
    let now = scheduler.now
    let (sifted, culprits) = state.access { state -> (Trigger?, [Path]) in
      var trigger = trigger
      trigger.cameDuringRun = trigger.noticed.map(state.isDuringRun) ?? false
      if restarts {
        let isRestart = state.current != nil && trigger.reason != .key
        return (trigger, isRestart ? state.ownOutputs.restarted(by: trigger, at: now) : [])
      }
      return (state.ownOutputs.sift(trigger), [])
    }
    if !culprits.isEmpty { report(.restartsItself(culprits)) }
    return sifted
  }

  /// Ends the queue: what runs is stopped, and then `finished` is reported. When called a second
  /// time, what runs is killed.
  public func end() {
    queue.async { [self] in advance { $0.end() } }
  }

  /// Sends the running command a signal; if none runs, nothing happens.
  public func send(_ signal: Signal) {
    queue.async { [self] in supervisor.send(signal) }
  }
}

// MARK: - On the queue

extension ActionQueue {
  /// Lets the machine take a step, and does what it says. What that was.
  @discardableResult
  private func advance(
    _ step: (inout ActionStateMachine) -> [ActionStateMachine.Action]
  ) -> [ActionStateMachine.Action] {
    let actions = state.access { step(&$0.machine) }
    for action in actions { perform(action) }
    return actions
  }

  private func perform(_ action: ActionStateMachine.Action) {
    switch action {
    case .launch(let trigger):
      launch(trigger)
    case .listen(let generation):
      let end = scheduler.now.advanced(by: OwnOutputs.listeningTime)
      _ = scheduler.schedule(at: end) { [self] in
        advance { $0.listened(generation: generation) }
      }
    case .stop:
      state.access { $0.isBeingStopped = true }
      supervisor.stop()
    case .kill:
      supervisor.kill()
    case .signal(let signal):
      supervisor.send(signal)
    case .finish(let status):
      folder.remove()
      report(.finished(status))
    }
  }

  private func launch(_ trigger: Trigger) {
    let now = scheduler.now
    let (run, outputs) = state.access { state -> (RunReport.Run, [Path]) in
      state.runCount += 1
      state.isBeingStopped = false
      let run = RunReport.Run(number: state.runCount, trigger: trigger)
      state.current = (run, now)
      let previous = state.latestRun
      state.latestRun = (now, nil)
      if restarts { return (run, []) }
      let duration = previous.flatMap { run in run.ended.map { run.began.duration(to: $0) } }
      return (run, state.ownOutputs.runBegins(trigger, after: duration ?? .zero))
    }
    if !outputs.isEmpty { report(.foundOwnOutputs(outputs)) }
    report(.started(run))
    let paths = trigger.changes.map(\.path)
    do throws(SystemError) {
      let request = command.spawnRequest(
        for: trigger, inherited: processEnvironment(), currentDirectory: try currentDirectory(),
        pathsFile: paths.isEmpty ? nil : folder.write(paths))
      // While something runs, the queue must not go away, whether anybody else holds it or not.
      try supervisor.launch(request) { [self] event in handle(event) }
    } catch {
      let status = ExitStatus.exited(error.code == ENOENT ? 127 : 126)
      report(.notStarted(run, error, status: status))
      advance { $0.launchFailed(status) }
    }
  }

  private func handle(_ event: Supervisor.Event) {
    switch event {
    case .ended(let status, let leftovers):
      let (current, wasStopped) = state.access { state in
        defer { state.current = nil }
        state.latestRun?.ended = scheduler.now
        return (state.current, state.isBeingStopped)
      }
      if let current {
        let duration = current.began.duration(to: scheduler.now)
        report(.ended(current.run, status, duration: duration, wasStopped: wasStopped))
      }
      let ownOutputs = state.access { $0.ownOutputs }
      advance { $0.runEnded(status, leftovers: leftovers, isSuspect: ownOutputs.isSuspect) }
    case .stopping(let signal):
      report(.stopping(signal))
    case .killing:
      report(.killing)
    case .groupIsGone:
      advance { $0.groupIsGone() }
    }
  }
}
