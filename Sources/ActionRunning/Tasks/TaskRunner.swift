import Dispatch
import FileObservation
import Support
import SystemCalls

/// Runs the tasks of a graph when something has changed that they watch.
///
/// Changes go in with `submit`, reports come out. Each task has a serial queue of its own, and no two
/// runs of it overlap; at most ``TaskGraph/jobs`` run at once, services aside. What stands after others
/// waits for their newest success, and is skipped if they fail. A run whose sources change again, or
/// those of what it stands after, is stopped or waited for by its busy policy, and then made again. A
/// task that was started because another has succeeded is told of what it watches itself, and of
/// nothing else.
///
/// All its methods may be called from any thread. It lives until it was ended, and has told so by
/// `finished`; nothing of the tasks is left then but what made a session of its own.
public final class TaskRunner: Sendable {
  /// What concerns all tasks of a graph.
  public struct Options: Sendable {
    /// After which round all is over; a round counts as a run.
    public var completion: CompletionRule
    /// The signals that the tasks are to ignore from their start.
    public var ignoredSignals: Set<Signal>
    /// Who ends the tasks should we not be able to.
    public var guardian: Guardian?
    /// Whether the output of the only task of a graph is read and reported, too. That of several tasks
    /// always is.
    public var readsOutput = false
    /// Whether ``TaskReport/unsettled(_:)`` is reported.
    public var reportsSettling = false
    /// Whether ``TaskReport/unwatched(_:)`` is reported.
    public var reportsUnwatched = false
    /// Who stops the tasks with us.
    package var jobControl: JobControl?

    /// The options as given.
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
    /// Those that belong to the graph no more, and have not ended.
    var retiring: [TaskWorker] = []
    var actions = PendingActions<TaskStateMachine.Action>()
    /// The status of the last round, if one was the last by the completion's rule.
    var status: ExitStatus?
    /// The tasks that depend on each other, directly or not, each with rounds of their own.
    var components: [TaskComponent] = []
    /// The tasks that were reported to be unsettled.
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
  /// On which all is done.
  package let queue = DispatchQueue(label: "watchrun.tasks", qos: .userInitiated)

  /// A runner for the graph. Nothing runs yet.
  ///
  /// - Parameters:
  ///   - graph: The tasks.
  ///   - options: What applies to all tasks.
  ///   - source: Whose batches are submitted, such as a `FileObserver`. After each round the runner asks
  ///     it for the changes made so far. It is not kept alive. Without a source, tasks that write watched
  ///     files may run once more often.
  ///   - report: Called on a queue of the runner's, in order, with every report. Until it returns, the
  ///     output of the tasks is not read, and they wait.
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

  /// Runs all tasks but those that are postponed, and those that stand after one of these.
  public func start() {
    queue.async { [self] in beginRounds(.start) { $0.start() } }
  }

  /// Something has changed: what watches it is run, and what stands after it.
  public func submit(_ batch: ChangeBatch) {
    queue.async { [self] in accept(batch) }
  }

  /// Runs all tasks, also while paused.
  public func submitKey() {
    queue.async { [self] in beginRounds(.key) { $0.keyPressed() } }
  }

  /// From now on changes start nothing, and are collected. What runs goes on.
  public func pause() {
    queue.async { [self] in advance { $0.pause() } }
  }

  /// Ends a pause: what was collected is seen to.
  public func resume() {
    queue.async { [self] in advance { $0.resume() } }
  }

  /// Stops what runs, services as well, without ending the runner. Nothing starts until the next change
  /// or key.
  public func stop() {
    queue.async { [self] in stopNow() }
  }

  /// Ends the runner: what runs is stopped, each task before those that it stands after, and then
  /// `finished` is reported. When called a second time, what runs is killed.
  public func end() {
    queue.async { [self] in advance { $0.end() } }
  }

  /// Takes over a changed project. Tasks that are as they were keep running, and keep their state;
  /// those that are gone are stopped; those that are new, or other than before, are run, as at the
  /// start.
  public func replaceGraph(_ graph: TaskGraph) {
    queue.async { [self] in replace(graph) }
  }

  /// Sends a signal to all that runs.
  public func send(_ signal: Signal) {
    queue.async { [self] in
      let workers = state.access { Array($0.workers.values) + $0.retiring }
      for worker in workers { worker.actions.pass(signal, toAll: true) }
    }
  }
}
