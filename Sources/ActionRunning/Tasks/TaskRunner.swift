import Dispatch
import FileObservation
import Support
import SystemCalls

/// Runs the tasks of a graph when files that they watch change.
///
/// Changes are submitted with ``submit(_:)``; reports are delivered to a handler. Runs of one task
/// never overlap, unless ``BusyPolicy/overlap`` says so, and at most ``TaskGraph/jobs`` tasks run at
/// the same time, besides services. A task waits for the latest success of its dependencies and is skipped if one fails. When the
/// files of a running task or of its dependencies change, its ``BusyPolicy`` decides whether it is
/// stopped or finishes first; then it runs again. A task that runs because a dependency succeeded
/// receives only the changes that it watches itself.
///
/// All methods may be called from any thread. The runner retains itself until it has reported
/// ``TaskReport/RunnerEvent/finished(_:)`` after ``end()``. Then no process of the tasks is left, except those
/// with a session of their own.
public final class TaskRunner: Sendable {
  /// The options of the whole graph.
  public struct Options: Sendable {
    /// The run or round after which the runner ends by itself.
    public var completion: CompletionRule
    /// The signals that the tasks ignore from their start, as with `nohup`.
    public var ignoredSignals: Set<Signal>
    /// Kills the tasks if this process dies.
    public var guardian: Guardian?
    /// Whether the runner ends, with the status of the round, because this run could not be started for
    /// this reason. Called on the queue of the runner.
    public var endsAfterFailedStart: @Sendable (TaskReport.Run, SystemError) -> Bool = { _, _ in
      false
    }
    /// Which output is read, if there is a sink for it.
    public var reading = TaskOutput.Reading.ofSeveralTasks
    /// The descriptors that the tasks inherit besides the standard ones, in ascending order.
    package var inheritedDescriptors: [Int32] = []
    /// Receives the paths that the tasks change again and again, or declare to write, when they have changed.
    package var frequentPathsChanged: (@Sendable (Set<Path>) -> Void)?
    /// The streams that are read, each from a pipe of its own; `nil` to read both from one.
    var separateStreams: Set<TaskOutput.Stream>?
    /// The size of the pseudo-terminal to which a task writes output that is read; `nil` for a pipe.
    package var terminalSize: @Sendable (_ task: String) -> Terminal.Size? = { _ in nil }
    /// Whether the receiver of output has room for more.
    package var outputRoom: TaskOutput.Room = { _ in true }
    /// Returns variables for a hook of this task. Called on the queue, after the end of the run was reported.
    package var hookVariables: @Sendable (_ task: String) -> [Command.EnvironmentVariable] = { _ in
      []
    }
    /// Called on the queue after each step, when the reports of what it has changed were made.
    package var stepTaken: (@Sendable () -> Void)?
    /// Finds out at the start which tasks need not run; `nil` to run all.
    package var freshness: FreshTasks?
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
    var owed = OwedChanges()
    /// The components of the graph, each with rounds of its own.
    var components: [TaskComponent] = []
    var workers: [String: TaskWorker] = [:]
    /// The workers that no longer belong to the graph and have not ended, and those of former processes.
    var retiring: [TaskWorker] = []
    var actions = PendingActions<TaskStateMachine.Action>()
    var reading: TaskOutput.Reading
    weak var source: (any ChangeSource)?
    /// Whether a flush has delivered a part of a burst that has not ended.
    var isBurstUnderWay = false
    /// Whether the beginning of a round was reported, and its end not.
    var isInRound = false
    /// Ends the runner if its services run for a while.
    var completionTimer: (any ScheduledWork)?
    /// Whether the runner ends after the round, whatever the completion rule.
    var isInLastRound = false
    /// The status by the completion rule.
    var status: ExitStatus?
    /// The number of successes that are about to be recorded and of programs of the user that have the terminal, and
    /// whether the end waits for these, or does not, since the user ends it.
    var lastWork = (pending: 0, isAwaited: false, isSkipped: false)
    /// The last values of the reports that are made when they change.
    var unsettled: Set<String> = []
    var waiting: [Waiting] = []
    var frequentPaths: Set<Path> = []
    /// Paths whose changes start no task, since they are declared to be written.
    var declaredPaths: Set<Path> = []
    var buildSearch = BuildSearch()
    /// The number of walks that give outputs of builds earlier times.
    var outdatingCount = 0
    var isIdle = true
    /// The task whose next run takes the terminal, while that is requested.
    var terminalTask: String?
    /// Whether the end was reported, after which nothing is.
    var isFinished = false
  }

  let options: Options
  let state: Confined<State>
  package let scheduler: any Scheduler
  let probe: any ReadinessProbe
  let monitor: ActivityMonitor
  private let launcher: any ProcessLauncher
  /// The directory from which relative ones start, and in which commands run by default.
  let directory: Path
  private let deliver: @Sendable (TaskReport) -> Void
  let output: TaskOutput.Sink?
  /// The queue on which all state is kept.
  package let queue = DispatchQueue(label: "watchrun.tasks", qos: .userInitiated)
  /// Where outputs of builds get earlier times, which takes long in a large directory.
  let outdating = DispatchQueue.separate(qos: .userInitiated)

  /// Creates a runner. No task runs before ``start()`` or ``submit(_:)``.
  ///
  /// - Parameters:
  ///   - graph: The tasks.
  ///   - options: The options of the whole graph.
  ///   - source: The source of the batches that are submitted, such as a `FileObserver`. It is flushed after
  ///     each round, and is not retained. Without a source, tasks that write watched files may run once too
  ///     often.
  ///   - output: Receives the output of the tasks, on the same queue and in order with the reports. Without
  ///     it, or as ``Options/reading`` says, tasks write to the descriptors of this process.
  ///   - report: Called with every report, in order, on a private serial queue. Until it returns, the output
  ///     of the tasks is not read and the runner does nothing else.
  public convenience init(
    _ graph: TaskGraph, options: Options = Options(), source: (any ChangeSource)? = nil,
    output: TaskOutput.Sink? = nil, report: @escaping @Sendable (TaskReport) -> Void
  ) {
    self.init(graph, options: options, source: source, output: output, report: report) { queue in
      let scheduler = DispatchScheduler(queue: queue)
      let launcher = SystemLauncher(
        queue: queue, scheduler, ignoring: options.ignoredSignals,
        inheriting: options.inheritedDescriptors, guardian: options.guardian,
        jobControl: options.jobControl)
      return (launcher, SystemProbe(queue: queue), scheduler)
    }
  }

  /// - Parameters:
  ///   - directory: By default, that of this process.
  ///   - makeWorld: Makes what starts processes, asks services, and does work later, all of which call back on the
  ///     queue.
  init(
    _ graph: TaskGraph, in directory: Path? = nil, options: Options, source: (any ChangeSource)?,
    output: TaskOutput.Sink?, report: @escaping @Sendable (TaskReport) -> Void,
    makeWorld: (DispatchQueue) -> (any ProcessLauncher, any ReadinessProbe, any Scheduler)
  ) {
    self.options = options
    deliver = report
    self.output = output
    self.directory = directory ?? (try? currentDirectory()) ?? "/"
    state = Confined(
      State(
        graph: graph, machine: TaskStateMachine(graph.rules, jobs: graph.jobs),
        reading: options.reading, source: source),
      to: queue)
    (launcher, probe, scheduler) = makeWorld(queue)
    monitor = ActivityMonitor(launcher, scheduler: scheduler)
    queue.async { [self] in
      makeWorkers(graph.tasks)
      makeComponents(of: graph)
    }
    if let observer = source as? FileObserver { attach(observer) }
  }

  /// Runs all tasks, except postponed ones and their dependents.
  public func start() {
    queue.async { [self] in beginRounds { $0.start() } }
  }

  /// Submits changes. The tasks that watch them run, and then their dependents.
  public func submit(_ batch: ChangeBatch) {
    queue.async { [self] in accept(batch) }
  }

  /// Runs all tasks, even while the runner is paused.
  public func submitKey() {
    queue.async { [self] in beginRounds { $0.keyPressed() } }
  }

  /// Runs these tasks, even while the runner is paused, and first those of their dependencies that have not
  /// succeeded. Those that run are awaited.
  public func submitKey(for names: [String]) {
    queue.async { [self] in keyWasPressed(for: names) }
  }

  /// Something has changed that these tasks use, and do not watch.
  package func submitChange(for names: [String]) {
    let names = Set(names)
    queue.async { [self] in
      if machine.isPaused { return advance { $0.changed(names) } }
      beginRounds(of: names) { $0.changed(names) }
    }
  }

  private func keyWasPressed(for names: [String]) {
    let wanted = graph.withDependencies(names, where: machine.lacksResult)
    beginRounds(of: wanted) { $0.keyPressed(wanted) }
  }

  /// Runs a task as ``submitKey(for:)`` does, and gives the terminal to the run that is requested.
  package func submitKey(forTerminalOf name: String) {
    // At once, or something else may report meanwhile that the task is not requested.
    queue.async { [self] in
      state.access { $0.terminalTask = name }
      keyWasPressed(for: [name])
    }
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
  /// tasks again; they receive the changes that were made meanwhile.
  public func stop() {
    queue.async { [self] in stopNow() }
  }

  /// Ends the runner: stops all runs, each task before its dependencies, then reports
  /// ``TaskReport/RunnerEvent/finished(_:)``. A second call kills all runs.
  public func end() {
    queue.async { [self] in
      state.access { $0.lastWork.isSkipped = true }
      advance { $0.end() }
      if state.access({ $0.lastWork.isAwaited }) { finish() }
    }
  }

  /// Replaces the graph. Unchanged tasks keep running and keep their state, removed tasks are
  /// stopped, and new or changed tasks run as at the start. A changed service that ran, though it was postponed, runs again.
  public func replaceGraph(_ graph: TaskGraph) {
    queue.async { [self] in replace(graph) }
  }

  /// Sends a signal to all processes that run, or only to the command of one task.
  public func send(_ signal: Signal, to task: String? = nil) {
    queue.async { [self] in
      for worker in allWorkers where task == nil || worker.name == task {
        worker.send(signal, toAll: task == nil)
      }
    }
  }

  /// Starts a program of the user that takes the terminal and is no command, such as an editor. It waits while
  /// another process has the terminal.
  package func launchInTerminal(
    _ arguments: [[UInt8]],
    ended: @escaping @Sendable (Result<ExitStatus, SystemError>) -> Void
  ) {
    queue.async { [self] in
      let retry = { @Sendable [weak self] () -> Void in
        self?.launchInTerminal(arguments, ended: ended)
      }
      if state.access({ $0.lastWork.isAwaited || $0.isFinished }) { return }
      if !launcher.hasTerminal(orCall: retry) { return }
      var request = SpawnRequest(arguments: arguments, environment: processEnvironment())
      request.takesTerminal = true
      state.access { $0.lastWork.pending += 1 }
      do throws(SystemError) {
        let group = try launcher.launch(request) { [self] status in
          ended(.success(status))
          lastWorkHasEnded()
        }
        SystemLauncher.exclude(group.leader)
      } catch {
        ended(.failure(error))
        lastWorkHasEnded()
      }
    }
  }

  /// A success is recorded, or a program of the user has ended.
  func lastWorkHasEnded() {
    state.access { $0.lastWork.pending -= 1 }
    if state.access({ $0.lastWork.isAwaited }) { finish() }
  }

  /// The terminal in which the output of the tasks is shown has another size. They are not told.
  package func resizeTerminals() {
    queue.async { [self] in for worker in allWorkers { worker.resizeTerminals() } }
  }

  /// Delivers a report, unless the end was reported: what could not be stopped may end later.
  func report(_ report: TaskReport) {
    if !state.access(\.isFinished) { deliver(report) }
  }

  /// The workers of the graph, and those that are being ended.
  var allWorkers: [TaskWorker] { state.access { Array($0.workers.values) + $0.retiring } }
}

// MARK: - The present state, for callers on the queue

extension TaskRunner {
  var graph: TaskGraph { state.access { $0.graph } }
  var machine: TaskStateMachine { state.access { $0.machine } }
  var owed: OwedChanges { state.access { $0.owed } }
  var components: [TaskComponent] { state.access { $0.components } }

  func worker(_ name: String) -> TaskWorker? { state.access { $0.workers[name] } }
}
