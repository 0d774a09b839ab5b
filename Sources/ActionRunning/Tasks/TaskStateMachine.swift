import FileObservation
import SystemCalls

/// Which task of a graph runs next. Inputs in, actions out: no process, no clock, no queue.
///
/// ```
///   change ─▶ pending ──▶ ready ──▶ running ──▶ succeeded ─▶ pending, for what stands after it
///                │ ▲                  │ │
///                │ └── newer change ◀─┘ ├──▶ failed ────▶ skipped, for what stands after it
///                │                      └──▶ cancelled
///                └─▶ skipped: what it stands after has failed
/// ```
///
/// A task is unsettled while it is wanted or runs, and a service until it is ready. Three rules make
/// the rest:
///
/// 1. A task begins when nothing that it stands after, directly or not, is unsettled, and all of it
///    has succeeded. So what stands after others waits for the newest.
/// 2. It does not begin while something runs that stands after it, and whose work it would undo. By its
///    policy that is stopped, or waited for. A service is neither: it keeps running as it was.
/// 3. What it has come to is passed on once nothing newer is wanted of it: what stands after it is
///    wanted, or skipped.
package struct TaskStateMachine: Sendable {
  package enum State: Hashable, Sendable {
    /// It has not run yet, or waits for what it stands after.
    case pending
    /// It could run, and waits for a place.
    case ready
    /// It runs; a service, until it is ready.
    case running
    /// What stands after it may run. A service is ready.
    case succeeded
    case failed
    case cancelled
    /// It was not run, because this one has failed.
    case skipped(because: String)
  }

  package enum Result: Hashable, Sendable {
    case succeeded
    case failed
    /// It was stopped.
    case cancelled
  }

  package enum Action: Hashable, Sendable {
    /// Run it. A service that runs is stopped before, of which nothing need be told.
    case start(String, RunTrigger)
    /// Stop it. Of a run, `ended` is to follow.
    case stop(String)
    /// Send it a signal, on this occasion.
    case signal(String, Signal, RunTrigger)
    /// Say that it is not run, or keeps running as it was, because the other has failed.
    case skip(String, because: String)
    case keep(String, because: String)
    /// Find out whether the service is ready, and call `serviceIsReady` or `serviceIsLate` with this
    /// generation. What is under way for an earlier one is of no interest any more.
    case awaitReadiness(String, generation: Int)
    case giveUpReadiness(String)
    /// Say that the service is ready, or is not in time.
    case tellReady(String)
    case tellLate(String)
    /// Say what the round has come to.
    case endRound([Reached])
    /// End it for good; `isGone` is to follow. When it is retired, another of its name may follow.
    case end(String)
    case retire(String)
    /// Kill all that is being ended, and end all else at once.
    case killAll
    /// Nothing is left.
    case finish
  }

  /// A task that a round has reached, and what it has come to.
  package struct Reached: Hashable, Sendable {
    package let name: String
    package let state: State
    /// True for a service that runs, whatever else is said of it.
    package let isUp: Bool
  }

  /// What a task is made for, as far as it decides what comes next.
  package struct Rules: Hashable, Sendable {
    package var name: String
    package var dependencies: [String] = []
    package var policy = BusyPolicy.queue
    package var runsOn = false
    package var hasReadiness = false
    package var isPostponed = false

    package init(_ name: String, dependencies: [String] = []) {
      self.name = name
      self.dependencies = dependencies
    }
  }

  enum Activity: Hashable, Sendable {
    case none
    case running(RunTrigger)
    case stopping
  }

  enum Service: Hashable, Sendable {
    case down
    /// It is being started, or runs and is not ready.
    case starting
    case ready
    /// It runs, and was not ready in time.
    case late
    /// It has ended by itself, and is started again without our doing.
    case crashed
  }

  struct Task: Sendable {
    let rules: Rules
    /// What it has come to; `pending` if to nothing yet.
    var outcome = State.pending
    /// Why it is to run, as soon as it can.
    var wanted: RunTrigger?
    /// Why it is to run when the pause is over.
    var held: RunTrigger?
    /// What no run has been given, though none is wanted for it alone. The next one is told of it.
    var unseen: RunTrigger?
    var activity = Activity.none
    var service = Service.down
    /// True for a service if what stands after it is to run when it is ready.
    var isFresh = false
    /// Why it was started last.
    var reason = RunTrigger.Reason.start
    var generation = 0

    init(_ rules: Rules) {
      self.rules = rules
    }

    /// True for a run that is there, even if it is on its way out.
    var runs: Bool { activity != .none }

    /// True for a service of which a process may be there.
    var isUp: Bool { service == .starting || service == .ready || service == .late }

    var isUnsettled: Bool { wanted != nil || runs || service == .starting && isFresh }

    /// True if it has not run, and nobody wants it to.
    var isDormant: Bool { outcome == .pending && held == nil && !isUnsettled && service == .down }
  }

  var tasks: [String: Task] = [:]
  /// The names, each behind all that it stands after.
  var order: [String] = []
  /// For each, all that it stands after, and all that stands after it, directly or not.
  var ancestors: [String: Set<String>] = [:]
  var descendants: [String: Set<String>] = [:]
  var jobs: Int
  /// What is being ended and belongs to the graph no more.
  var retiring: [(name: String, holdsPlace: Bool)] = []
  /// What the present round has reached.
  var reached: Set<String> = []
  var hasStarted = false
  var isPaused = false
  var isEnding = false
  var hasFinished = false
  var ended: Set<String> = []
  var asked: Set<String> = []

  /// - Parameter rules: Each behind all that it stands after.
  package init(_ rules: [Rules], jobs: Int) {
    self.jobs = jobs
    take(rules, keeping: [])
  }

  /// The state of a task; nil if there is none of that name.
  package func state(of name: String) -> State? {
    guard let task = tasks[name] else { return nil }
    if task.runs || task.service == .starting && task.isFresh { return .running }
    let waits = ancestors[name, default: []].contains { tasks[$0]?.isUnsettled ?? false }
    if task.wanted != nil { return waits || isBlocked(name) ? .pending : .ready }
    if task.held != nil || waits && task.outcome == .succeeded { return .pending }
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
      var above = Set(rule.dependencies)
      for name in rule.dependencies { above.formUnion(ancestors[name, default: []]) }
      ancestors[rule.name] = above
      for name in above { descendants[name, default: []].insert(rule.name) }
    }
  }

  /// Those that stand directly after it, in order.
  func dependents(of name: String) -> [String] {
    order.filter { tasks[$0]?.rules.dependencies.contains(name) ?? false }
  }

  /// How many runs are there, each of which holds a place.
  var placesHeld: Int {
    tasks.values.count { $0.runs } + retiring.count { $0.holdsPlace }
  }

  mutating func update(_ name: String, _ change: (inout Task) -> Void) {
    guard var task = tasks[name] else { return }
    change(&task)
    tasks[name] = task
  }
}
