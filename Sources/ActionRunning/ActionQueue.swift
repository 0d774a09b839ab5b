import Dispatch
import FileObservation
import Support
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
  public struct Options: Sendable, Hashable {
    /// What to do with a change during a run.
    public var busyPolicy: BusyPolicy
    /// How the command is stopped, and its build and its hooks are.
    public var stopPlan: StopPlan
    /// After which run all is over.
    public var completion: CompletionRule
    /// The signals that the command is to ignore from its start, as `nohup` makes it.
    public var ignoredSignals: Set<Signal>
    /// Who ends the command should we not be able to.
    public var guardian: Guardian?
    /// Who stops the command with us.
    package var jobControl: JobControl?
    /// What is run first on every change; the command is only started if it succeeds. If it fails,
    /// what runs is left as it is.
    public var build: Command?
    /// How long a run of the command may take; then it is stopped, and has failed.
    public var timeout: Duration?
    /// If the command is started again when it has ended by itself, after a pause.
    public var keepsAlive = false
    /// What is run after a run of the command that has succeeded, unless that was stopped.
    public var onSuccess: Command?
    /// What is run after a run of the command that has failed, unless that was stopped for another
    /// reason than its timeout.
    public var onFailure: Command?
    /// Whether the output of the command, its build and its hooks is read and reported by lines
    /// (``RunReport/output(_:_:)``). By default they write to the descriptors of this process, which
    /// a command that takes the terminal always does.
    public var readsOutput = false
    /// Whether ``RunReport/settled(_:)`` is reported.
    public var reportsSettling = false

    /// The options as given; by default a change during a run leads to one more run.
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
  let folder = RunDirectory()
  let report: @Sendable (RunReport) -> Void
  let shared: SharedContext
  /// Decides which changes lead to a run; `nil` where a task runner does.
  let rounds: RoundController?
  /// On which all is done.
  package var queue: DispatchQueue { shared.queue }

  /// A queue that runs `command`. Nothing runs yet.
  ///
  /// - Parameters:
  ///   - command: The command of each run.
  ///   - options: How the command is run and stopped.
  ///   - source: Whose changes are submitted, such as a `FileObserver`. After each run the queue asks
  ///     it for the changes made so far. It is not kept alive. Without a source, a command that writes
  ///     watched files may run once more often.
  ///   - report: Called on the queue, in order, with every report.
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

  /// A queue that shares with others what is in the shared; of the options, those do not count that
  /// are the launcher's.
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

  /// A run is wanted. One by a key is also made while the queue is paused, and by the policy
  /// `ignore` it waits for the run that is under way.
  public func submit(_ trigger: RunTrigger) {
    queue.async { [self] in accept(trigger) }
  }

  /// From now on changes start nothing, and are collected. What runs goes on.
  public func pause() {
    queue.async { [self] in advance { $0.pause() } }
  }

  /// Ends a pause: what was collected leads to one run.
  public func resume() {
    queue.async { [self] in advance { $0.resume() } }
  }

  /// Stops what runs, as planned, without ending the queue. Nothing starts until the next change or
  /// key, and that run is also told of what was to lead to one before.
  public func stopCommand() {
    queue.async { [self] in stopNow() }
  }

  /// Ends the queue: what runs is stopped, and then `finished` is reported. When called a second
  /// time, what runs is killed.
  public func end() {
    queue.async { [self] in advance { $0.end() } }
  }

  /// Sends the running command a signal; if none runs, nothing happens. With `toAll`, its build and
  /// its hook are sent it as well.
  public func send(_ signal: Signal, toAll: Bool = false) {
    queue.async { [self] in pass(signal, toAll: toAll) }
  }
}

// MARK: - As one of several

extension ActionQueue {
  /// Where a queue stands.
  struct SharedContext: Sendable {
    /// On which all is done.
    let queue: DispatchQueue
    let launcher: any ProcessLauncher
    /// Called on the queue whenever nothing is under way any more.
    var becameIdle: @Sendable () -> Void = {}
  }

  /// `submit`, for callers on the queue.
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

  /// `stopCommand`, for callers on the queue.
  func stopNow() {
    rounds?.stopped()
    advance { $0.stopCommand() }
  }

  /// `send`, for those who are on the queue.
  func pass(_ signal: Signal, toAll: Bool = false) {
    for (job, supervisor) in supervisors where toAll || job == .command {
      supervisor.send(signal)
    }
  }
}
