import FileObservation

/// One step of a project: a command, what starts it, and what must have succeeded before it.
public struct TaskDefinition: Sendable, Hashable {
  /// By which others name it, and reports do.
  public var name: String
  /// What is run.
  public var command: Command
  /// Which changes start it.
  public var triggers: TaskTriggers
  /// The names of the tasks that must have succeeded before it runs. It also runs whenever one of
  /// them has succeeded again.
  public var dependencies: [String]
  /// True for one that runs on: a server. It is started again when it ends, after a pause; a run of
  /// it holds none of the places for tasks that run side by side.
  public var isService: Bool
  /// When a service counts as ready, so that what stands after it may begin; nil for as soon as it
  /// was started.
  public var readiness: TaskDefinition.Readiness?
  /// How the task goes about its work.
  ///
  /// A service is always kept alive, and the policy `queue`, which would wait for its end, is
  /// `restart` there. What concerns the whole graph is not read here, but in ``TaskRunner/Options``:
  /// `completion`, `ignoredSignals`, `guardian` and `readsOutput`; and a `build` is a task of its own.
  public var options: ActionQueue.Options
  /// True if it does not run at the start, but on the first change. What stands after it waits, too.
  public var isPostponed: Bool

  /// A task that runs at the start, and when something has changed that it watches.
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

  /// True if it runs on, and is started again when it ends. One that is kept alive is a service.
  var runsOn: Bool { isService || options.keepsAlive }

  /// Whether it is ready when it has printed a text.
  var isReadyByLine: Bool {
    if case .line? = readiness?.condition { true } else { false }
  }
}
