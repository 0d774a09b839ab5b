/// The state machine of a task runner: inputs in, actions out, without processes, clocks, queues and
/// changes.
///
/// ```
///   request ─▶ pending ──▶ ready ──▶ running ──▶ succeeded ─▶ dependents are requested
///                 │ ▲                  │ │
///                 │ └── newer request ◀┘ ├──▶ failed ────▶ dependents are skipped
///                 │                      └──▶ cancelled
///                 └─▶ skipped: a dependency failed
/// ```
///
/// It decides when a task runs. What a run receives is in the ledger (`OwedChanges`), and which
/// changes lead to a request is decided by `Rounds`.
///
/// A task is unsettled while it is requested or runs, and a service until it is ready. Ancestors are
/// direct and indirect dependencies. There are four rules:
///
/// 1. A task begins when all its ancestors are settled and have succeeded. So it runs with their newest
///    results.
/// 2. A task does not begin while a descendant runs, whose input it would change. By its policy the
///    descendant is stopped, or runs to its end. A service keeps running.
/// 3. The result of a task is passed on when no newer run of it is requested: its dependents are requested,
///    or its descendants skipped.
/// 4. A service does not begin before the changes that were made while its ancestors ran are judged: it
///    is not restarted with results that are out of date. Neither is a task with an ancestor that is
///    known to have changed.
package struct TaskStateMachine: Sendable {
  package enum State: Hashable, Sendable {
    /// It has not run yet, or waits for its ancestors.
    case pending
    /// It could run, but too many tasks are running.
    case ready
    /// It runs; for a service, until it is ready.
    case running
    /// Its dependents may run. A service is ready.
    case succeeded
    case failed
    case cancelled
    /// It did not run, because this ancestor failed.
    case skipped(because: String)
  }

  package enum Result: Hashable, Sendable {
    case succeeded
    case failed
    /// It was stopped.
    case cancelled
  }

  package enum Action: Hashable, Sendable {
    /// Start a run. A service that runs is stopped first, without a report to the machine.
    case start(String, RunTrigger.Reason)
    /// Stop it. For a run, `ended` must follow.
    case stop(String)
    /// Send it a signal, for this reason.
    case signal(String, Signal, RunTrigger.Reason)
    /// Report that it is not run, or keeps running, because the other task failed.
    case skip(String, because: String)
    case keep(String, because: String)
    /// Judge the changes that were made so far, and call `changesAreJudged`.
    case judgeChanges(before: String)
    /// Start a readiness check, and call `serviceIsReady` or `serviceIsLate` with this generation.
    /// It replaces an earlier check.
    case awaitReadiness(String, generation: Int)
    case giveUpReadiness(String)
    /// Report that the service is ready, or is not ready in time.
    case reportReady(String)
    case reportLate(String)
    /// Call `backOffIsOver` with this generation after a pause, or `restartIsGivenUp` at once.
    case backOff(String, generation: Int)
    /// Report the results of the round.
    case endRound([RoundMember])
    /// End it for good; `isGone` must follow. When it is retired, a successor of the same name may
    /// follow.
    case end(String)
    case retire(String)
    /// Kill the tasks that are being stopped, and stop the others.
    case killAll
    /// Report that nothing is left.
    case finish
  }

  /// A task of a round, and its state.
  package struct RoundMember: Hashable, Sendable {
    package let name: String
    package let state: State
    /// Whether it is a service that runs, in whatever state.
    package let isUp: Bool
  }

  /// The part of a task's definition that the machine needs.
  package struct Rules: Hashable, Sendable {
    package var name: String
    package var dependencies: [String] = []
    /// `nil` for the default.
    package var policy: BusyPolicy?
    package var isService = false
    package var keepsAlive = false
    package var hasReadiness = false
    package var isPostponed = false

    package init(_ name: String, dependencies: [String] = []) {
      self.name = name
      self.dependencies = dependencies
    }

    /// What a change during a run leads to.
    var busyPolicy: BusyPolicy {
      switch policy {
      case nil, .queue: isService ? .restart : .queue
      case let policy?: policy
      }
    }
  }

  enum Activity: Hashable, Sendable {
    case none
    case running
    case stopping
  }

  enum Service: Hashable, Sendable {
    case down
    /// It is being started, or is not ready yet.
    case starting
    case ready
    /// It runs, but was not ready in time.
    case late
    /// It has ended by itself, and is started again unless that is given up.
    case crashed
  }

  /// The restart of a command that has ended by itself.
  enum Restart: Hashable, Sendable {
    case none
    /// It follows after a pause.
    case backingOff
    /// The pause is over.
    case due
  }

  struct Task: Sendable {
    let rules: Rules
    /// Its latest result; `pending` if there is none.
    var outcome = State.pending
    /// The reason for the run that is requested.
    var request: RunTrigger.Reason?
    /// The reason for the run that is requested when the pause ends.
    var pausedRequest: RunTrigger.Reason?
    var activity = Activity.none
    var service = Service.down
    var restart = Restart.none
    /// Whether the dependents of a service run when it is ready.
    var isFresh = false
    /// The progress of rule 4 for the run that is requested.
    var judging = Judging.notAsked
    /// The reason for its latest start.
    var reason = RunTrigger.Reason.start
    var generation = 0

    init(_ rules: Rules) {
      self.rules = rules
    }

    /// Whether a run is active, even if it is being stopped.
    var runs: Bool { activity != .none }

    /// Whether it is a service whose process may exist.
    var isUp: Bool { service == .starting || service == .ready || service == .late }

    var isUnsettled: Bool { request != nil || runs || service == .starting && isFresh }

    /// Whether it has never run, and no run is requested.
    var isDormant: Bool {
      outcome == .pending && pausedRequest == nil && !isUnsettled && service == .down
    }
  }

  /// Whether the changes that were made while the ancestors ran are judged.
  enum Judging: Hashable, Sendable {
    case notAsked
    case asked
    case done
  }

  var tasks: [String: Task] = [:]
  /// The names, each after its ancestors.
  var order: [String] = []
  /// The direct and indirect dependencies, and dependents, of each task.
  var ancestors: [String: Set<String>] = [:]
  var descendants: [String: Set<String>] = [:]
  var jobs: Int
  /// Tasks that are being ended and no longer belong to the graph.
  var retiring: [(name: String, isActive: Bool)] = []
  /// The tasks of the present round.
  var roundMembers: Set<String> = []
  /// The tasks that have changed, without a decision whether they must run again.
  package var unjudged: Set<String> = []
  var hasStarted = false
  var isPaused = false
  var isEnding = false
  var hasFinished = false
  var ended: Set<String> = []
  var endRequested: Set<String> = []

  /// - Parameter rules: Each after its dependencies.
  package init(_ rules: [Rules], jobs: Int) {
    self.jobs = jobs
    take(rules, keeping: [])
  }

  /// The state of a task; `nil` if there is no such task.
  package func state(of name: String) -> State? {
    guard let task = tasks[name] else { return nil }
    if task.runs || task.service == .starting && task.isFresh { return .running }
    let waits = ancestors[name, default: []].contains { tasks[$0]?.isUnsettled ?? false }
    if task.request != nil { return waits || isBlocked(name) ? .pending : .ready }
    if task.pausedRequest != nil || waits && task.outcome == .succeeded { return .pending }
    return task.outcome
  }
}

// MARK: - The graph

extension TaskStateMachine {
  mutating func take(_ rules: [Rules], keeping kept: Set<String>) {
    let before = tasks
    tasks = [:]
    (ancestors, descendants) = ([:], [:])
    order = rules.map(\.name)
    for rule in rules {
      let old = kept.contains(rule.name) ? before[rule.name] : nil
      tasks[rule.name] = old ?? Task(rule)
      // What was asked about the former graph is not answered.
      tasks[rule.name]?.judging = .notAsked
      var above = Set(rule.dependencies)
      for name in rule.dependencies { above.formUnion(ancestors[name, default: []]) }
      ancestors[rule.name] = above
      for name in above { descendants[name, default: []].insert(rule.name) }
    }
  }

  /// The direct dependents, in order.
  func dependents(of name: String) -> [String] {
    order.filter { tasks[$0]?.rules.dependencies.contains(name) ?? false }
  }

  /// The number of active runs, which is limited by `jobs`.
  var activeRuns: Int {
    tasks.values.count { $0.runs } + retiring.count { $0.isActive }
  }

  mutating func update(_ name: String, _ change: (inout Task) -> Void) {
    guard var task = tasks[name] else { return }
    change(&task)
    tasks[name] = task
  }
}
