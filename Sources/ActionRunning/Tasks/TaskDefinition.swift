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
  /// Whether the task is a service, such as a server: it succeeds when it is started, or ready if a
  /// readiness check is defined, and keeps running. Services do not count toward
  /// ``TaskGraph/jobs``.
  public var isService: Bool
  /// Whether the command is started again, after a pause, when it ends by itself.
  public var keepsAlive: Bool
  /// How often in a row it is started again without success, which is to become ready by its readiness
  /// check, or to run for ten seconds. Then it waits for a change. `nil` for any number.
  public var restartLimit: Int?
  /// The readiness check of a service, for which its dependents wait; `nil` if it is ready at its
  /// start.
  public var readiness: TaskDefinition.Readiness?
  /// What a change during a run leads to.
  ///
  /// With `nil` it leads to one more run, except that a run is stopped if one of its dependencies
  /// is restarted. A service is restarted with `nil` and with ``BusyPolicy/queue``, which would
  /// wait for its end.
  public var busyPolicy: BusyPolicy?
  /// How the command and its hooks are stopped.
  public var stopPlan: StopPlan
  /// The time after which a run of the command is stopped and counts as failed.
  public var timeout: Duration?
  /// Runs after a run of the command that succeeded and was not stopped.
  public var onSuccess: Command?
  /// Runs after a run of the command that failed, or exceeded its timeout.
  public var onFailure: Command?
  /// Whether the task does not run at the start, but on the first change. Its dependents wait for
  /// it.
  public var isPostponed: Bool

  /// Creates a task. By default it runs at the start, and when a file that it watches changes. A
  /// service is kept alive.
  public init(
    _ name: String, _ command: Command, triggers: TaskTriggers = TaskTriggers(),
    dependencies: [String] = [], isService: Bool = false,
    readiness: TaskDefinition.Readiness? = nil, busyPolicy: BusyPolicy? = nil,
    stopPlan: StopPlan = StopPlan(), isPostponed: Bool = false
  ) {
    self.name = name
    self.command = command
    self.triggers = triggers
    self.dependencies = dependencies
    self.isService = isService
    keepsAlive = isService
    self.readiness = readiness
    self.busyPolicy = busyPolicy
    self.stopPlan = stopPlan
    self.isPostponed = isPostponed
  }

  /// Whether the readiness check examines the output.
  var isReadyByLine: Bool {
    if case .line? = readiness?.condition { true } else { false }
  }

  /// Whether a process that answers the readiness check before the start would be taken for the
  /// service.
  var mayHaveConflict: Bool {
    guard isService, let readiness else { return false }
    return !isReadyByLine && readiness.detectsConflicts
  }

  /// The part of the definition that the state machine of the runner needs.
  var rules: TaskStateMachine.Rules {
    var rules = TaskStateMachine.Rules(name, dependencies: dependencies)
    rules.policy = busyPolicy
    rules.isService = isService
    rules.keepsAlive = keepsAlive
    rules.hasReadiness = readiness != nil
    rules.isPostponed = isPostponed
    return rules
  }

  /// The part of the definition that the state machine of its processes needs.
  var runRules: RunStateMachine.Rules {
    RunStateMachine.Rules(
      hasSuccessHook: onSuccess != nil, hasFailureHook: onFailure != nil,
      statusAtTimeout: .signaled(stopPlan.signal))
  }
}

extension TaskGraph {
  /// The rules of all tasks, each after its dependencies.
  var rules: [TaskStateMachine.Rules] {
    order.compactMap { self[$0]?.rules }
  }
}
