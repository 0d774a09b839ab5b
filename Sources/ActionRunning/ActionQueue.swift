import Dispatch
import FileObservation
import Support
import SystemCalls

/// A serial queue of runs of one command.
///
/// Changes are submitted with ``submit(_:)``; reports are delivered to a handler. Runs never overlap, and a
/// change during a run is never lost: the ``BusyPolicy`` decides what it leads to.
///
/// After ``end()``, the queue stops the command and reports ``RunReport/finished(_:)``. Then no process of
/// the command is left, except those with a session of their own. While a process runs, the queue keeps
/// itself alive.
///
/// All methods may be called from any thread.
public final class ActionQueue: Sendable {
  /// The behaviour of a queue.
  public struct Options: Sendable, Hashable {
    /// What a change during a run leads to.
    public var busyPolicy: BusyPolicy
    /// How the command, its build and its hooks are stopped.
    public var stopPlan: StopPlan
    /// The run after which the queue ends by itself.
    public var completion: CompletionRule
    /// The signals that the command ignores from its start, as with `nohup`.
    public var ignoredSignals: Set<Signal>
    /// Kills the command if this process dies.
    public var guardian: Guardian?
    /// Suspends the command together with this process.
    package var jobControl: JobControl?
    /// Runs first after every change. The command is started only if the build succeeds; if it fails, a
    /// command that runs is left alone.
    public var build: Command?
    /// The time after which a run of the command is stopped and counts as failed.
    public var timeout: Duration?
    /// Whether a command that ends by itself is started again, after a pause.
    public var keepsAlive = false
    /// Runs after a run of the command that succeeded and was not stopped.
    public var onSuccess: Command?
    /// Runs after a run of the command that failed, or exceeded its timeout.
    public var onFailure: Command?
    /// Whether the output of the command, its build and its hooks is read, and reported line by line as
    /// ``RunReport/output(_:_:)``. By default they inherit the descriptors of this process. A command that
    /// takes the terminal always does.
    public var readsOutput = false
    /// Whether ``RunReport/settled(_:)`` is reported.
    public var reportsSettling = false

    /// Creates options. By default a change during a run leads to one more run.
    public init(
      busyPolicy: BusyPolicy = .queue, stopPlan: StopPlan = StopPlan(),
      completion: CompletionRule = .never, ignoredSignals: Set<Signal> = [],
      guardian: Guardian? = nil
    ) {
      self.busyPolicy = busyPolicy
      self.stopPlan = stopPlan
      self.completion = completion
      self.ignoredSignals = ignoredSignals
      self.guardian = guardian
    }

    var rules: ActionStateMachine.Rules {
      var rules = ActionStateMachine.Rules()
      rules.policy = busyPolicy
      rules.completion = completion
      rules.hasBuild = build != nil
      rules.keepsAlive = keepsAlive
      rules.hasTimeout = timeout != nil
      rules.hasSuccessHook = onSuccess != nil
      rules.hasFailureHook = onFailure != nil
      rules.statusAtTimeout = .signaled(stopPlan.signal)
      return rules
    }
  }

  let command: Command
  let options: Options
  let state: Confined<QueueState>
  let scheduler: any Scheduler
  let supervisors: [ActionQueue.Job: Supervisor]
  let directory = RunDirectory()
  let report: @Sendable (RunReport) -> Void
  let shared: SharedContext
  /// Decides which changes lead to a run; `nil` in the queue of a task, where the runner does.
  let rounds: RoundController?
  /// The queue on which all state is kept.
  package var queue: DispatchQueue { shared.queue }

  /// Creates a queue that runs `command`. Nothing runs before the first ``submit(_:)``.
  ///
  /// - Parameters:
  ///   - command: The command of each run.
  ///   - options: The behaviour of the queue.
  ///   - source: The source of the changes that are submitted, such as a `FileObserver`. It is flushed after
  ///     each run, and is not retained. Without a source, a command that writes watched files may run once
  ///     too often.
  ///   - report: Called with every report, in order, on a private serial queue. The queue does nothing else
  ///     until it returns.
  public convenience init(
    _ command: Command, options: Options = Options(), source: (any ChangeSource)? = nil,
    report: @escaping @Sendable (RunReport) -> Void
  ) {
    let queue = DispatchQueue(label: "watchrun.actions", qos: .userInitiated)
    let launcher = SystemLauncher(queue: queue, options)
    let rounds = RoundController(
      isLive: options.rules.isLive, on: queue, scheduler: DispatchScheduler(queue: queue),
      source: source)
    self.init(
      command, options, in: SharedContext(queue: queue, launcher: launcher), rounds: rounds,
      report: report)
    rounds.deliver(to: { [weak self] in self?.take($0) })
  }

  /// Creates a queue that shares a Dispatch queue and a launcher with others. Options that concern the
  /// launcher have no effect.
  init(
    _ command: Command, _ options: Options, in shared: SharedContext,
    rounds: RoundController? = nil,
    report: @escaping @Sendable (RunReport) -> Void
  ) {
    self.rounds = rounds
    self.command = command
    self.options = options
    self.report = report
    self.shared = shared
    state = Confined(QueueState(options), to: shared.queue)
    let scheduler = DispatchScheduler(queue: shared.queue)
    let pairs = ActionQueue.Job.allCases.map { job in
      let launcher = shared.launcher
      return (job, Supervisor(plan: options.stopPlan, launcher: launcher, scheduler: scheduler))
    }
    supervisors = Dictionary(uniqueKeysWithValues: pairs)
    self.scheduler = scheduler
  }

  /// Requests a run.
  ///
  /// A trigger with the reason ``RunTrigger/Reason/key`` leads to a run even while the queue is paused; with
  /// ``BusyPolicy/ignore``, that run follows the current one.
  public func submit(_ trigger: RunTrigger) {
    queue.async { [self] in accept(trigger) }
  }

  /// Pauses the queue: changes are collected, but start no run. A run that has begun continues.
  public func pause() {
    queue.async { [self] in advance { $0.pause() } }
  }

  /// Ends a pause. The collected changes lead to one run.
  public func resume() {
    queue.async { [self] in advance { $0.resume() } }
  }

  /// Stops the current run by the ``StopPlan``, without ending the queue. The next change or key starts the
  /// next run, which also receives the changes that were queued.
  public func stopCommand() {
    queue.async { [self] in stopNow() }
  }

  /// Ends the queue: stops the current run, then reports ``RunReport/finished(_:)``. A second call kills the
  /// run.
  public func end() {
    queue.async { [self] in advance { $0.end() } }
  }

  /// Sends a signal to the command, if it runs, and with `toAll` also to its build and its hook.
  public func send(_ signal: Signal, toAll: Bool = false) {
    queue.async { [self] in forward(signal, toAll: toAll) }
  }
}

// MARK: - For task runners

extension ActionQueue {
  /// What a queue shares with the queues of other tasks.
  struct SharedContext: Sendable {
    /// The queue on which all state is kept.
    let queue: DispatchQueue
    let launcher: any ProcessLauncher
    /// Called on the queue whenever the queue becomes idle.
    var becameIdle: @Sendable () -> Void = {}
    /// What must hold before the command is started.
    var precondition: Supervisor.Precondition?
  }

  /// `submit` for callers on the queue.
  package func accept(_ trigger: RunTrigger) {
    guard let rounds else { return advance { $0.triggered(trigger) } }
    guard trigger.isChange else {
      advance { $0.triggered(trigger) }
      let isPending = state.access { $0.machine.hasPendingTrigger }
      return isPending ? reportQueued(trigger) : ()
    }
    let (situation, isOver) = state.access { ($0.machine.situation, $0.machine.isOver) }
    guard let situation else { return isOver ? () : report(.ignored(trigger)) }
    let isOwnOutput = rounds.mayBeOwnOutput(trigger)
    rounds.changed(trigger, situation)
    if situation == .running && !isOwnOutput { reportQueued(trigger) }
  }

  /// Sets whether the output of later runs is read, for callers on the queue.
  func readOutput(_ isRead: Bool) {
    state.access { $0.readsOutput = isRead }
  }

  /// `stopCommand` for callers on the queue.
  func stopNow() {
    rounds?.stopped()
    advance { $0.stopCommand() }
  }

  /// `send` for callers on the queue.
  func forward(_ signal: Signal, toAll: Bool = false) {
    for (job, supervisor) in supervisors where toAll || job == .command {
      supervisor.send(signal)
    }
  }
}
