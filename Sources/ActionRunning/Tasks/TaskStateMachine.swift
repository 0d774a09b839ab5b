/// The state machine of a task runner: inputs in, actions out, without processes, clocks, queues and
/// changes. `StateMachines.md` has its tables.
///
/// It decides when a task runs. What a run receives is in the ledger (`OwedChanges`), and which
/// changes lead to a request is decided by `ChangeJudge`.
///
/// A task is unsettled while it is requested or runs, and a service until it is ready. Ancestors are
/// direct and indirect dependencies. There are four rules:
///
/// 1. A task begins when all its ancestors are settled and have succeeded. So it runs with their newest
///    results.
/// 2. A task does not begin while a descendant runs, whose input it would change. By its policy the
///    descendant is stopped, or runs to its end. A service keeps running, and is started again after a crash.
/// 3. The result of a task is passed on when no newer run of it is requested: its dependents are requested,
///    or its descendants skipped.
/// 4. A service does not begin before the changes that were made while its ancestors ran are judged: it
///    is not restarted with results that are out of date. Neither is a task with an ancestor that is
///    known to have changed. But a service is held back only once in a row: if its ancestors have all
///    succeeded again, it begins, whatever is requested by then, or else it might never begin.
package struct TaskStateMachine: Sendable {
  package enum State: Hashable, Sendable {
    /// It has not run yet, or waits for its ancestors, the end of others, or a job.
    case pending
    /// It runs; for a service, until it is ready.
    case running
    /// Its dependents may run. A service is ready.
    case succeeded
    case failed
    case cancelled
    /// It did not run, because this ancestor failed.
    case skipped(because: String)
  }

  /// The end of a run: it succeeded, failed or was cancelled.
  package typealias Result = State

  package enum Action: Equatable, Sendable {
    /// Start a run. A service that runs is stopped first, without a report to the machine.
    case start(String, RunTrigger.Reason, afterDependency: Bool = false)
    /// Stop it. For a run, `ended` must follow.
    case stop(String)
    /// Send it a signal, for this reason.
    case signal(String, Signal, RunTrigger.Reason)
    /// Report that it is not run, or keeps running, because the other task failed.
    case skip(String, because: String)
    case keep(String, because: String)
    /// Find out whether it is fresh, and call `examined`. It is not if its dependencies are not.
    case examine(String, mayBeFresh: Bool)
    case reportFresh(String)
    /// Judge the changes that were made so far, and call `changesAreJudged`.
    case judgeChanges(before: String)
    /// Keep the process of the service, the former one from now on, until `retire`; another one is started.
    case keepFormer(String)
    /// Start a readiness check in place of an earlier one, and call `serviceIsReady` or `serviceIsLate`.
    case awaitReadiness(String, generation: Int)
    case giveUpReadiness(String)
    case reportReady(String)
    case reportLate(String)
    /// Call `backOffIsOver` with this generation after a pause, or at once if the restart is given up.
    case backOff(String, generation: Int)
    case endRound([RoundMember])
    /// End it for good; `isGone` must follow. A task of the same name may follow one that is retired.
    case end(String)
    case retire(String)
    /// Kill the tasks that are being stopped, and stop the others.
    case killAll
    /// Report that nothing is left.
    case finish
    /// Report an input that the state of the task rules out.
    case reportRejection(String, of: String)
  }

  /// A task of a round, and its state.
  package struct RoundMember: Equatable, Sendable {
    package let name: String
    package let state: State
    /// Whether it is a service that runs, in whatever state.
    package let isUp: Bool
  }

  /// The part of a task's definition that the machine needs.
  package struct Rules: Equatable, Sendable {
    package var name: String
    package var dependencies: [String] = []
    /// `nil` for the default.
    package var policy: BusyPolicy?
    package var isService = false
    package var keepsAlive = false
    package var hasReadiness = false
    /// Whether the readiness check is made when no former process is left that would answer.
    package var isReadyAlone = false
    package var isPostponed = false
    /// Whether it is started by changes of its own, which its ancestors may make.
    package var watches = false
    /// Whether a request for all tasks leaves it out.
    package var isManual = false
    /// Whether it need not run at the start if nothing has changed.
    package var mayBeFresh = false

    package init(_ name: String, dependencies: [String] = []) {
      self.name = name
      self.dependencies = dependencies
    }

    /// What a change during a run leads to.
    var busyPolicy: BusyPolicy {
      switch policy {
      case nil, .queue: isService ? .restart : .queue
      case .overlap: .restart
      case let policy?: policy
      }
    }

    /// Whether a restart starts another process beside the present one.
    var overlaps: Bool { isService && policy == .overlap }

    /// Whether it is a service that a change restarts or signals.
    var isInterruptibleService: Bool { isService && busyPolicy.interruptsRuns }
  }

  /// What a task does, as far as the machine decides it. Its processes may take longer to follow.
  enum Phase: Equatable, Sendable {
    /// It does nothing, and is not started again by itself.
    case atRest
    /// A run is active that ends by itself.
    case running
    /// The same, and it is being stopped.
    case stopping
    /// A service is being started, or is not ready yet. If it is fresh, its dependents run when it is ready.
    case starting(isFresh: Bool)
    case ready
    /// A service runs, but was not ready in time.
    case late
    /// A service has ended by itself. Its hook may run.
    case crashed
    /// What has ended by itself is started again after a pause.
    case backingOff
    case restartDue

    /// Whether a run is active, even if it is being stopped. A service is no run.
    var isRun: Bool { self == .running || self == .stopping }

    /// Whether it is a service whose process may exist.
    var isUp: Bool {
      switch self {
      case .starting, .ready, .late: true
      case .atRest, .running, .stopping, .crashed, .backingOff, .restartDue: false
      }
    }

    var isStarting: Bool { self == .starting(isFresh: true) || self == .starting(isFresh: false) }

    /// Whether it is started again, unless that is given up.
    var isRestarted: Bool { self == .crashed || self == .backingOff || self == .restartDue }
  }

  /// A run that is wanted and has not begun.
  enum Request: Equatable, Sendable {
    /// For this reason.
    case made(RunTrigger.Reason)
    /// It is made when the pause ends.
    case paused(RunTrigger.Reason)

    /// The reason, unless it is paused.
    var reason: RunTrigger.Reason? {
      if case .made(let reason) = self { reason } else { nil }
    }
  }

  /// The progress of a request by rule 4: whether the changes that were made while the ancestors ran are judged.
  enum Judging: Equatable, Sendable {
    /// The run does not begin yet: until it is requested again, or the task is not in `heldTasks`.
    case held
    case notAsked
    case asked
    case done
  }

  /// The process of a service beside which another one is started, and whose place that takes when it is ready.
  enum Former: Sendable {
    case absent
    /// It goes on, also if the other one has failed. The phase is that of the other one then, or `ready`.
    case serving
    /// The other process is ready, or seems so, and this one is being stopped.
    case stopping
    /// It has ended by itself, and the other process is not checked yet.
    case ended
  }

  /// Whether the result of a task is from an earlier session.
  enum Freshness: Equatable, Sendable {
    /// It has run, or is about to.
    case none
    case possible
    case asked
    case fresh
  }

  struct Task: Sendable {
    let rules: Rules
    var phase = Phase.atRest
    var former = Former.absent
    var request: Request? { didSet { judging = .notAsked } }
    var judging = Judging.notAsked
    /// Its latest result; `pending` if there is none.
    var outcome = State.pending
    /// The reason for its latest start.
    var reason = RunTrigger.Reason.start
    /// The number of checks and pauses, by which late answers are recognised.
    var generation = 0
    /// Whether a program works in the active run that compares the times of files.
    var isBuilding = false
    /// Whether the process of the active run cannot be started yet, so that nothing is lost with the run.
    var isAttempted = false
    /// Whether it begins when the process has ended that has the terminal.
    var awaitsTerminal = false
    /// How often in a row changes have stopped its run before the end, or while a service was held back.
    var stops = 0
    /// Whether a request has left the service running, as its policy says.
    var hasKeptRunning = false
    /// Whether a dependency of the service has succeeded since, and the service was not held back then.
    var hasNewResult = false
    /// Whether a dependency has succeeded since the latest start.
    var isAfterDependency = false
    /// Whether the service did not begin after a success, as a dependency was requested again, nor with newer results.
    var wasHeldBack = false
    var freshness = Freshness.none

    init(_ rules: Rules) {
      self.rules = rules
    }

    /// What a change during the active run leads to. One that waited for the end of a build would be taken for
    /// up to date then.
    var busyPolicy: BusyPolicy {
      isBuilding && rules.busyPolicy == .queue ? .restart : rules.busyPolicy
    }

    /// Whether a change may stop its run. Whatever is known of who changes what, not every run is stopped.
    var mayBeStopped: Bool { isAttempted || stops < TaskStateMachine.mostStops }

    /// Whether a run is requested, unless it is paused.
    var isRequested: Bool { request?.reason != nil }

    /// Whether a run is requested or active.
    var isRequestedOrRuns: Bool { isRequested || phase.isRun }

    var isUnsettled: Bool { isRequestedOrRuns || phase == .starting(isFresh: true) }

    /// Whether it has never run, and no run is requested.
    var isDormant: Bool { outcome == .pending && request == nil && phase == .atRest }
  }

  /// A task that is being ended and no longer belongs to the graph, as it was.
  struct Retired: Sendable {
    let task: Task
    let ancestors: Set<String>

    var name: String { task.rules.name }
  }

  /// So many runs of a task in a row are stopped by changes; the next one reaches its end.
  static let mostStops = 10

  var tasks: [String: Task] = [:]
  /// The names, each after its ancestors.
  var order: [String] = []
  /// The direct and indirect dependencies, and dependents, of each task.
  var ancestors: [String: Set<String>] = [:]
  var descendants: [String: Set<String>] = [:]
  var jobs: Int
  /// Tasks that are being ended and no longer belong to the graph.
  var retiring: [Retired] = []
  /// The tasks of the present round.
  var roundMembers: Set<String> = []
  /// Whether tasks that were replaced have worked in the present round, which ends without them.
  var hasLostMembers = false
  /// The tasks that are owed changes, whether or not these lead to a run.
  package var owedTasks: Set<String> = []
  /// The tasks whose changes lead to a run when a burst or a delay has ended.
  package var heldTasks: Set<String> = []
  var hasStarted = false
  var isPaused = false
  var isEnding = false
  var hasFinished = false
  var ended: Set<String> = []
  var endRequested: Set<String> = []

  /// - Parameter rules: Each after its dependencies.
  package init(_ rules: [Rules], jobs: Int) {
    self.jobs = jobs
    setTasks(rules, keeping: [])
  }

  /// The state of a task; `nil` if there is no such task.
  package func state(of name: String) -> State? {
    guard let task = tasks[name] else { return nil }
    if task.phase.isRun || task.phase == .starting(isFresh: true) { return .running }
    let waits = waits(name)
    return task.request != nil || waits && task.outcome == .succeeded ? .pending : task.outcome
  }
}

// MARK: - The graph

extension TaskStateMachine {
  mutating func setTasks(_ rules: [Rules], keeping kept: Set<String>) {
    let before = tasks
    tasks = [:]
    (ancestors, descendants) = ([:], [:])
    order = rules.map(\.name)
    for rule in rules {
      let old = kept.contains(rule.name) ? before[rule.name] : nil
      tasks[rule.name] = old ?? Task(rule)
      // What was asked about the former graph is not answered.
      if old?.judging != .held { tasks[rule.name]?.judging = .notAsked }
      var above = Set(rule.dependencies)
      for name in rule.dependencies { above.formUnion(ancestors[name, default: []]) }
      ancestors[rule.name] = above
      for name in above { descendants[name, default: []].insert(rule.name) }
    }
  }

  func dependents(of name: String) -> [String] {
    order.filter { tasks[$0]?.rules.dependencies.contains(name) ?? false }
  }

  mutating func update(_ name: String, _ change: (inout Task) -> Void) {
    guard var task = tasks[name] else { return }
    change(&task)
    tasks[name] = task
  }

  /// An input that the phase of the task rules out, a mistake in this module. A release reports it, and goes on.
  func reject(_ input: String, of name: String) -> [Action] {
    let rejection = "\(input) while it is \(tasks[name].map { "\($0.phase)" } ?? "unknown")"
    assertionFailure("\(name): \(rejection)")
    return [.reportRejection(rejection, of: name)]
  }
}

// MARK: - Questions of the runner

extension TaskStateMachine {
  /// A task; one that does nothing if there is none of this name.
  subscript(name: String) -> Task { tasks[name] ?? Task(Rules(name)) }

  func runs(_ name: String) -> Bool { tasks[name]?.phase.isRun ?? false }

  /// Whether the task must run before one that depends on it: it has not succeeded, and no run is active that may.
  func lacksResult(_ name: String) -> Bool {
    ([name] + ancestors[name, default: []]).contains { name in
      // What a pause has delayed is no part of the active run.
      if waitsForResumption(name) { return true }
      if self[name].isAfterDependency { return true }
      return ![.succeeded, .running].contains(state(of: name))
    }
  }

  func ignores(_ name: String) -> Bool {
    runs(name) && tasks[name]?.rules.busyPolicy == .ignore
  }

  func isUp(_ name: String) -> Bool { tasks[name]?.phase.isUp ?? false }

  /// Whether a run is requested when the pause ends.
  func waitsForResumption(_ name: String) -> Bool {
    if case .paused = tasks[name]?.request { true } else { false }
  }

  func isUnsettled(_ name: String) -> Bool { self[name].isUnsettled }

  /// Whether a run is active or requested.
  var hasRuns: Bool { tasks.values.contains(where: \.isRequestedOrRuns) }

  var hasUnsettled: Bool { tasks.values.contains(where: \.isUnsettled) }

  /// Whether the latest result of any task is no success.
  var hasFailures: Bool {
    tasks.values.contains { $0.outcome != .succeeded && $0.outcome != .pending }
  }

  /// Whether a change to the task's files stops a service at once, or signals an active run. A service that
  /// is about to be started again, after its ancestors, is not stopped for it.
  func changeInterruptsRun(of name: String) -> Bool {
    let task = self[name]
    if !task.rules.busyPolicy.interruptsRuns { return false }
    if task.rules.isService && (waits(name) || task.judging == .asked) { return false }
    return task.phase.isRun || task.phase.isUp
  }

  /// The tasks of which it must be known, when something changes, whether they build.
  var possibleBuilds: [String] {
    order.filter { tasks[$0]?.phase == .running || changeRestartsService($0) }
  }

  /// Whether a change to the task's files restarts a service at once.
  private func changeRestartsService(_ name: String) -> Bool {
    let task = self[name]
    let serves = task.rules.overlaps && task.phase == .ready
    return task.rules.isService && task.rules.busyPolicy == .restart && !serves
      && changeInterruptsRun(of: name)
  }

  /// The tasks whose active runs a change makes worthless if they build.
  var runsOutdatedIfBuilding: [String] {
    if isPaused { return [] }
    return possibleBuilds.filter { name in
      // What a run misses that ignores changes must be known.
      self[name].mayBeStopped
        && [.queue, .restart, .ignore].contains(self[name].rules.busyPolicy)
    }
  }

  /// The tasks whose runs build, and are not stopped by a save.
  var buildsThatMissSaves: [String] {
    order.filter { name in
      let task = self[name]
      return task.phase == .running && task.isBuilding
        && (task.busyPolicy == .ignore || !task.mayBeStopped)
    }
  }

  /// The same, for changes of these tasks' files.
  func runsOutdatedIfBuilding(whenChanged changed: Set<String>) -> [String] {
    runsOutdatedIfBuilding.filter { name in
      changed.contains(name) || !changed.isDisjoint(with: ancestors[name, default: []])
    }
  }

  /// Whether it is a service that is about to build, as with `-r make`, and a change to its files restarts it.
  func isBuildingService(_ name: String) -> Bool {
    self[name].isBuilding && changeRestartsService(name) && !isBlocked(name)
  }

  /// The active runs of these tasks build, and no others do.
  mutating func setBuilding(_ names: Set<String>) {
    for name in order { tasks[name]?.isBuilding = names.contains(name) }
  }

  /// Whether a program that compares times works in the run of the task, or of a dependent.
  func hasBuild(_ name: String) -> Bool {
    ([name] + descendants[name, default: []]).contains { self[$0].isBuilding }
  }

  /// Whether the task or a dependent has a run that ends by itself, and a change to the task's files stops it.
  func isBuilding(_ name: String) -> Bool {
    ([name] + descendants[name, default: []]).contains { running in
      let task = self[running]
      if task.phase != .running || !task.mayBeStopped { return false }
      return running == name
        ? task.busyPolicy == .restart : isOutdated(running, under: name)
    }
  }
}
