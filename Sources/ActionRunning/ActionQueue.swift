import FileObservation
import SystemCalls

/// A serial queue of runs of one command: a ``TaskRunner`` of one task, or of a build and a command
/// that depends on it.
///
/// Changes are submitted with ``submit(_:)``; reports are delivered to a handler. Runs never overlap, and a
/// change during a run is never lost: what it leads to is set by the ``BusyPolicy``.
///
/// After ``end()``, the queue stops the command and reports ``TaskReport/RunnerEvent/finished(_:)``. Then no process of
/// the command is left, except those with a session of their own. Until then it retains itself.
///
/// All methods may be called from any thread.
public final class ActionQueue: Sendable {
  /// The names by which reports refer to the command and its build.
  public static let taskNames = (build: "build", command: "command")

  let runner: TaskRunner

  /// Creates a queue that runs `command`. Nothing runs before ``start()`` or ``submit(_:)``.
  ///
  /// - Parameters:
  ///   - command: The command of each run.
  ///   - build: Runs first after every change. The command is started only if the build succeeds; if it
  ///     fails, a command that runs is left alone.
  ///   - policy: How the runs of the command follow each other. By default a change during a run leads to one
  ///     more run.
  ///   - options: The behaviour of the queue. ``TaskRunner/Options/reading`` has no effect.
  ///   - source: The source of the changes that are submitted, such as a `FileObserver`. It is flushed after
  ///     each run, and is not retained. Without a source, a command that writes watched files may run once
  ///     too often.
  ///   - output: Receives the output of the command, its build and its hooks. Without it, they write to the
  ///     descriptors of this process.
  ///   - report: Called with every report, in order, on a private serial queue. The queue does nothing else
  ///     until it returns.
  public init(
    _ command: Command, build: Command? = nil, policy: RunPolicy = RunPolicy(),
    options: TaskRunner.Options = TaskRunner.Options(), source: (any ChangeSource)? = nil,
    output: TaskOutput.Sink? = nil, report: @escaping @Sendable (TaskReport) -> Void
  ) {
    var options = options
    options.reading = .always
    runner = TaskRunner(
      TaskGraph(
        TaskDefinition(Self.taskNames.command, alone: command, policy),
        build: build.map { (Self.taskNames.build, $0) }),
      options: options, source: source, output: output, report: report)
  }

  /// Requests a run.
  public func start() { runner.start() }

  /// Submits changes, which lead to a run.
  public func submit(_ batch: ChangeBatch) { runner.submit(batch) }

  /// Requests a run, even while the queue is paused. With ``BusyPolicy/ignore``, it follows the current one.
  public func submitKey() { runner.submitKey() }

  /// Pauses the queue: changes are collected, but start no run. A run that has begun continues.
  public func pause() { runner.pause() }

  /// Ends a pause. The collected changes lead to one run.
  public func resume() { runner.resume() }

  /// Stops the current run by the ``StopPlan``, without ending the queue. The next change or key starts the
  /// next run, which also receives the changes that were made meanwhile.
  public func stopCommand() { runner.stop() }

  /// Ends the queue: stops the current run, then reports ``TaskReport/RunnerEvent/finished(_:)``. A second call kills the
  /// run.
  public func end() { runner.end() }

  /// Sends a signal to the command, if it runs, and with `toAll` also to its build and its hook.
  public func send(_ signal: Signal, toAll: Bool = false) {
    runner.send(signal, to: toAll ? nil : Self.taskNames.command)
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
          build.name, build.command, triggers: task.triggers,
          policy: RunPolicy(busyPolicy: .restart, stopPlan: task.policy.stopPlan),
          isPostponed: task.isPostponed))
    }
    self.init(valid: tasks + [task], jobs: 1)
  }
}
