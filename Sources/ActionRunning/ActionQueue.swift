import FileObservation
import SystemCalls

/// A serial queue of runs of one command: a ``TaskRunner`` of one task, or of a build and a command
/// that depends on it.
///
/// Changes are submitted with ``submit(_:)``; reports are delivered to a handler. Runs never overlap, and a
/// change during a run is never lost: the ``BusyPolicy`` decides what it leads to.
///
/// After ``end()``, the queue stops the command and reports ``TaskReport/finished(_:)``. Then no process of
/// the command is left, except those with a session of their own. Until then it retains itself.
///
/// All methods may be called from any thread.
public final class ActionQueue: Sendable {
  /// The behaviour of a queue.
  public struct Options: Sendable {
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
    /// Whether ``TaskReport/unsettled(_:)`` is reported.
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
  }

  /// The names by which reports refer to the command and its build.
  public static let taskNames = (build: "build", command: "command")

  let runner: TaskRunner

  /// Creates a queue that runs `command`. Nothing runs before the first ``submit(_:)``.
  ///
  /// - Parameters:
  ///   - command: The command of each run.
  ///   - options: The behaviour of the queue.
  ///   - source: The source of the changes that are submitted, such as a `FileObserver`. It is flushed after
  ///     each run, and is not retained. Without a source, a command that writes watched files may run once
  ///     too often.
  ///   - output: Receives the output of the command, its build and its hooks. Without it, they write to the
  ///     descriptors of this process.
  ///   - report: Called with every report, in order, on a private serial queue. The queue does nothing else
  ///     until it returns.
  public init(
    _ command: Command, options: Options = Options(), source: (any ChangeSource)? = nil,
    output: TaskOutput.Sink? = nil, report: @escaping @Sendable (TaskReport) -> Void
  ) {
    var all = TaskRunner.Options(
      completion: options.completion, ignoredSignals: options.ignoredSignals,
      guardian: options.guardian)
    all.reading = .always
    all.reportsSettling = options.reportsSettling
    let task = options.task(Self.taskNames.command, command)
    runner = TaskRunner(
      TaskGraph(task, build: options.build.map { (Self.taskNames.build, $0) }), options: all,
      source: source, output: output, report: report)
  }

  /// Requests a run.
  ///
  /// A trigger with the reason ``RunTrigger/Reason/key`` leads to a run even while the queue is paused; with
  /// ``BusyPolicy/ignore``, that run follows the current one.
  public func submit(_ trigger: RunTrigger) {
    switch trigger.reason {
    case .change where trigger.changes.isEmpty, .overflow where trigger.changes.isEmpty:
      runner.requestAll()
    case .change, .overflow:
      var batch = ChangeBatch(
        number: 0, changes: trigger.changes, overflow: trigger.reason == .overflow)
      batch.isPartial = trigger.isPartial
      runner.submit(batch)
    case .key: runner.submitKey()
    case .start, .restart: runner.start()
    }
  }

  /// Pauses the queue: changes are collected, but start no run. A run that has begun continues.
  public func pause() { runner.pause() }

  /// Ends a pause. The collected changes lead to one run.
  public func resume() { runner.resume() }

  /// Stops the current run by the ``StopPlan``, without ending the queue. The next change or key starts the
  /// next run, which also receives the changes that were made meanwhile.
  public func stopCommand() { runner.stop() }

  /// Ends the queue: stops the current run, then reports ``TaskReport/finished(_:)``. A second call kills the
  /// run.
  public func end() { runner.end() }

  /// Sends a signal to the command, if it runs, and with `toAll` also to its build and its hook.
  public func send(_ signal: Signal, toAll: Bool = false) {
    runner.send(signal, to: toAll ? nil : Self.taskNames.command)
  }
}

extension ActionQueue.Options {
  /// The task that these options make of a command. A command that a change restarts or signals is a
  /// service, which may end by itself.
  package func task(_ name: String, _ command: Command) -> TaskDefinition {
    var task = TaskDefinition(
      name, command, triggers: .all, isService: busyPolicy.isLive, busyPolicy: busyPolicy,
      stopPlan: stopPlan)
    task.keepsAlive = keepsAlive
    task.timeout = timeout
    task.onSuccess = onSuccess
    task.onFailure = onFailure
    return task
  }
}

extension TaskGraph {
  /// A graph of a task, and of a build on which it depends, if there is one. A change during the build
  /// starts it again.
  package init(_ task: TaskDefinition, build: (name: String, command: Command)?) {
    var task = task
    var tasks: [TaskDefinition] = []
    if let build {
      task.dependencies = [build.name]
      tasks.append(
        TaskDefinition(
          build.name, build.command, triggers: task.triggers, busyPolicy: .restart,
          stopPlan: task.stopPlan, isPostponed: task.isPostponed))
    }
    self.init(valid: tasks + [task], jobs: 1)
  }
}
