import FileObservation

/// A task: a command, the changes that start it, and its dependencies.
public struct TaskDefinition: Sendable, Hashable {
  /// The name, by which dependents and reports refer to the task.
  public var name: String
  /// The command to run.
  public var command: Command
  /// The changes that start the task.
  public var triggers: TaskTriggers
  /// The names of the tasks that must have succeeded before this one runs. It also runs whenever
  /// one of them has succeeded again.
  public var dependencies: [String]
  /// Whether the task is a service, such as a server: it keeps running, and is started again, after
  /// a pause, when it ends. Services do not count toward ``TaskGraph/jobs``.
  public var isService: Bool
  /// The readiness check of a service, for which its dependents wait; `nil` if it is ready at its
  /// start.
  public var readiness: TaskDefinition.Readiness?
  /// The behaviour of the queue that runs the task.
  ///
  /// A service is always kept alive, and ``BusyPolicy/queue``, which would wait for its end, means
  /// ``BusyPolicy/restart``. Options of the whole graph are ignored here: `completion`,
  /// `ignoredSignals`, `guardian` and `readsOutput` are in ``TaskRunner/Options``. A `build` is
  /// ignored as well: make it a task.
  public var options: ActionQueue.Options
  /// Whether the task does not run at the start, but on the first change. Its dependents wait for
  /// it.
  public var isPostponed: Bool

  /// Creates a task. By default it runs at the start, and when a file that it watches changes.
  public init(
    _ name: String, _ command: Command, triggers: TaskTriggers = TaskTriggers(),
    dependencies: [String] = [], isService: Bool = false,
    readiness: TaskDefinition.Readiness? = nil,
    options: ActionQueue.Options = ActionQueue.Options(), isPostponed: Bool = false
  ) {
    self.name = name
    self.command = command
    self.triggers = triggers
    self.dependencies = dependencies
    self.isService = isService
    self.readiness = readiness
    self.options = options
    self.isPostponed = isPostponed
  }

  /// Whether the task keeps running: a service, or a task that is kept alive.
  var runsOn: Bool { isService || options.keepsAlive }

  /// Whether the readiness check examines the output.
  var isReadyByLine: Bool {
    if case .line? = readiness?.condition { true } else { false }
  }

  /// Whether the readiness check connects to the service.
  var isReadyByProbe: Bool { runsOn && readiness != nil && !isReadyByLine }
}
