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
  /// The readiness check of a service, for which its dependents wait; `nil` if it is ready at its
  /// start.
  public var readiness: TaskDefinition.Readiness?
  /// How its runs follow each other, and how they end.
  public var policy: RunPolicy
  /// Whether the task does not run at the start, but on the first change. Its dependents wait for
  /// it.
  public var isPostponed: Bool
  /// Whether only requests for this task and for its dependents start it, and none for all tasks. A manual task is
  /// postponed as well.
  public var isManual = false
  /// Variables that the graph gives to the commands of all tasks: that there is one more, or one less, does not make
  /// another task of this one.
  package var sharedVariables: [Command.EnvironmentVariable] = []
  /// Whether it need not run at the start if nothing has changed since its last success; see ``mayBeFresh``.
  package var isFreshAllowed = false

  /// Creates a task. By default it runs at the start, and when a file that it watches changes. A
  /// service is kept alive.
  public init(
    _ name: String, _ command: Command, triggers: TaskTriggers = TaskTriggers(),
    dependencies: [String] = [], isService: Bool = false,
    readiness: TaskDefinition.Readiness? = nil, policy: RunPolicy = RunPolicy(),
    isPostponed: Bool = false
  ) {
    self.name = name
    self.command = command
    self.triggers = triggers
    self.dependencies = dependencies
    self.isService = isService
    self.readiness = readiness
    self.policy = policy
    if isService { self.policy.keepsAlive = true }
    self.isPostponed = isPostponed
  }

  /// Creates the task of a command that each change starts; a service if a change restarts or signals it.
  package init(_ name: String, alone command: Command, _ policy: RunPolicy) {
    self.init(
      name, command, triggers: .all, isService: policy.busyPolicy?.interruptsRuns ?? false)
    self.policy = policy
    self.policy.busyPolicy = policy.busyPolicy ?? .queue
  }

  /// Whether it can be known that a run would change nothing. A hook is to follow each run.
  package var mayBeFresh: Bool {
    isFreshAllowed && !keepsRunning && policy.onSuccess == nil
      && !triggers.writes.patterns.isEmpty && !(triggers.watched.isEmpty && dependencies.isEmpty)
  }

  /// Whether its command is meant to keep running, though it may end by itself.
  package var keepsRunning: Bool { isService || policy.keepsAlive }

  /// Whether a run of the command that has ended so has failed. One that is kept alive was to go on.
  package func hasFailed(_ status: ExitStatus, _ ending: TaskReport.Ending) -> Bool {
    switch ending {
    case .byItself: policy.keepsAlive || !status.isSuccess
    case .timedOut: true
    case .stopped: false
    }
  }

  /// Whether a restart starts another process beside the present one.
  var overlaps: Bool { isService && policy.busyPolicy == .overlap }

  /// Whether it is reported when it is ready. Otherwise it is ready at its start.
  package var reportsReadiness: Bool { readiness != nil || overlaps }

  /// Whether the readiness check cannot tell which of two processes answers.
  var isReadyAlone: Bool { readiness?.condition.anyPort != nil }

  var isReadyByLine: Bool {
    if case .line? = readiness?.condition { true } else { false }
  }

  /// Whether a process that passes the readiness check before the start would be taken for the service.
  var mayHaveConflict: Bool {
    guard isService, let readiness, !overlaps else { return false }
    switch readiness.condition {
    case .port, .url:
      // The socket of this process would be found.
      let isHeld = command.socket != nil && readiness.condition.anyPort == command.socket?.port
      return readiness.detectsConflicts && !isHeld
    // What a command examines may remain from the run before.
    case .line, .command: return false
    }
  }

  /// The part of the definition that the state machine of the runner needs.
  @inline(never) var rules: TaskStateMachine.Rules {
    var rules = TaskStateMachine.Rules(name, dependencies: dependencies)
    rules.policy = policy.busyPolicy
    rules.isService = isService
    rules.keepsAlive = policy.keepsAlive
    rules.hasReadiness = reportsReadiness
    rules.isReadyAlone = isReadyAlone
    rules.watches = !triggers.watched.isEmpty
    rules.isPostponed = isPostponed || isManual
    rules.isManual = isManual
    rules.mayBeFresh = mayBeFresh
    return rules
  }
}

extension TaskGraph {
  var rules: [TaskStateMachine.Rules] {
    order.compactMap { self[$0]?.rules }
  }
}

// MARK: - Another definition of the same task

extension TaskDefinition {
  /// Whether its runs go on with the other definition, which later ones follow.
  func isSame(as other: TaskDefinition) -> Bool {
    var task = self
    task.sharedVariables = other.sharedVariables
    return task == other
      && sharedVariables.allSatisfy { variable in
        other.sharedVariables.allSatisfy { $0.name != variable.name || $0 == variable }
      }
  }
}
