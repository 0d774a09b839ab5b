import Dispatch
import FileObservation
import Support
import SystemCalls

/// Runs the tasks of a graph when files that they watch change.
///
/// Changes are submitted with ``submit(_:)``; reports are delivered to a handler. Runs of one task
/// never overlap, and at most ``TaskGraph/jobs`` tasks run at the same time, besides services. A
/// task waits for the latest success of its dependencies and is skipped if one fails. When the
/// files of a running task or of its dependencies change, its ``BusyPolicy`` decides whether it is
/// stopped or finishes first; then it runs again. A task that runs because a dependency succeeded
/// receives only the changes that it watches itself.
///
/// All methods may be called from any thread. The runner retains itself until it has reported
/// ``TaskReport/finished(_:)`` after ``end()``. Then no process of the tasks is left, except those
/// with a session of their own.
public final class TaskRunner: Sendable {
  /// The options of the whole graph.
  public struct Options: Sendable {
    /// The round after which the runner ends by itself. A round counts as a run.
    public var completion: CompletionRule
    /// The signals that the tasks ignore from their start, as with `nohup`.
    public var ignoredSignals: Set<Signal>
    /// Kills the tasks if this process dies.
    public var guardian: Guardian?
    /// Whether the output is read and reported even if the graph has only one task.
    public var readsOutput = false
    /// Whether ``TaskReport/unsettled(_:)`` is reported.
    public var reportsSettling = false
    /// Whether ``TaskReport/unwatched(_:)`` is reported.
    public var reportsUnwatched = false
    /// Suspends the tasks together with this process.
    package var jobControl: JobControl?

    /// Creates options.
    public init(
      completion: CompletionRule = .never, ignoredSignals: Set<Signal> = [],
      guardian: Guardian? = nil
    ) {
      self.completion = completion
      self.ignoredSignals = ignoredSignals
      self.guardian = guardian
    }
  }

  struct State {
    var graph: TaskGraph
    var machine: TaskStateMachine
    var workers: [String: TaskWorker] = [:]
    var workerCount = 0
    /// The workers that no longer belong to the graph and have not ended.
    var retiring: [TaskWorker] = []
    var actions = PendingActions<TaskStateMachine.Action>()
    /// The status of the last round by the completion rule.
    var status: ExitStatus?
    /// The components of the graph, each with rounds of its own.
    var components: [TaskComponent] = []
    /// The last value reported by `unsettled`.
    var unsettled: Set<String> = []
    /// The tasks that were reported to wait.
    var waiting: [Waiting] = []
    /// Whether no task ran or was due when that was last examined.
    var isIdle = true
    weak var source: (any ChangeSource)?
    var readsOutput: Bool
  }

  let options: Options
  let state: Confined<State>
  let scheduler: any Scheduler
  let launcher: any ProcessLauncher
  let probe: any ReadinessProbe
  let report: @Sendable (TaskReport) -> Void
  /// The queue on which all state is kept.
  package let queue = DispatchQueue(label: "watchrun.tasks", qos: .userInitiated)

  /// Creates a runner. No task runs before ``start()`` or ``submit(_:)``.
  ///
  /// - Parameters:
  ///   - graph: The tasks.
  ///   - options: The options of the whole graph.
  ///   - source: The source of the batches that are submitted, such as a `FileObserver`. It is flushed after
  ///     each round, and is not retained. Without a source, tasks that write watched files may run once too
  ///     often.
  ///   - report: Called with every report, in order, on a private serial queue. Until it returns, the output
  ///     of the tasks is not read and the runner does nothing else.
  public init(
    _ graph: TaskGraph, options: Options = Options(), source: (any ChangeSource)? = nil,
    report: @escaping @Sendable (TaskReport) -> Void
  ) {
    self.options = options
    self.report = report
    state = Confined(
      State(
        graph: graph, machine: TaskStateMachine(graph.rules, jobs: graph.jobs), source: source,
        readsOutput: options.readsOutput),
      to: queue)
    scheduler = DispatchScheduler(queue: queue)
    var shared = ActionQueue.Options(
      ignoredSignals: options.ignoredSignals, guardian: options.guardian)
    shared.jobControl = options.jobControl
    launcher = SystemLauncher(queue: queue, shared)
    probe = SystemProbe(queue: queue)
    queue.async { [self] in
      makeWorkers(graph.tasks)
      makeComponents(of: graph)
    }
  }

  /// Runs all tasks, except postponed ones and their dependents.
  public func start() {
    queue.async { [self] in beginRounds(.start) { $0.start() } }
  }

  /// Submits changes. The tasks that watch them run, and then their dependents.
  public func submit(_ batch: ChangeBatch) {
    queue.async { [self] in accept(batch) }
  }

  /// Runs all tasks, even while the runner is paused.
  public func submitKey() {
    queue.async { [self] in beginRounds(.key) { $0.keyPressed() } }
  }

  /// Pauses the runner: changes are collected, but start no run. Runs that have begun continue.
  public func pause() {
    queue.async { [self] in advance { $0.pause() } }
  }

  /// Ends a pause. The collected changes start their tasks.
  public func resume() {
    queue.async { [self] in advance { $0.resume() } }
  }

  /// Stops all runs, including services, without ending the runner. The next change or key starts
  /// tasks again.
  public func stop() {
    queue.async { [self] in stopNow() }
  }

  /// Ends the runner: stops all runs, each task before its dependencies, then reports
  /// ``TaskReport/finished(_:)``. A second call kills all runs.
  public func end() {
    queue.async { [self] in advance { $0.end() } }
  }

  /// Replaces the graph. Unchanged tasks keep running and keep their state, removed tasks are
  /// stopped, and new or changed tasks run as at the start.
  public func replaceGraph(_ graph: TaskGraph) {
    queue.async { [self] in replace(graph) }
  }

  /// Sends a signal to all processes that run.
  public func send(_ signal: Signal) {
    queue.async { [self] in
      let workers = state.access { Array($0.workers.values) + $0.retiring }
      for worker in workers { worker.actions.forward(signal, toAll: true) }
    }
  }
}
