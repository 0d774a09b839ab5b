import Dispatch
import FileObservation
import Support
import SystemCalls

/// A task of a runner, with the queue that runs it, and what is known of its latest run.
final class TaskWorker: Sendable {
  struct State {
    var check: ReadinessCheck?
    /// When the latest run began, and which it was.
    var began: Instant?
    var number = 0
    /// What the latest run has come to; nil as long as there was none since it was asked for one.
    var result: TaskStateMachine.Result?
    var status = ExitStatus.exited(0)
    var duration = Duration.zero
    var isAskedToEnd = false
  }

  /// Tells it from another one of its name, before or after it.
  let id: Int
  let definition: TaskDefinition
  let actions: ActionQueue
  let state: Confined<State>

  var name: String { definition.name }

  init(
    _ id: Int, _ definition: TaskDefinition, _ shared: ActionQueue.SharedContext,
    report: @escaping @Sendable (RunReport) -> Void
  ) {
    self.id = id
    self.definition = definition
    actions = ActionQueue(definition.command, definition.queueOptions, in: shared, report: report)
    state = Confined(State(), to: shared.queue)
  }

  /// Ends it, when asked a second time at once.
  func end() {
    state.access { $0.isAskedToEnd = true }
    actions.advance { $0.end() }
  }

  /// The run has come to this.
  func note(_ status: ExitStatus, _ ending: RunReport.Ending, _ duration: Duration) {
    var status = status
    if ending == .timedOut && status.isSuccess {
      status = .signaled(definition.options.stopPlan.signal)
    }
    state.access { state in
      (state.status, state.duration) = (status, duration)
      state.result = ending == .stopped ? .cancelled : status.isSuccess ? .succeeded : .failed
    }
  }

  /// The outcome that the summary of the round has for this task; `nil` if it has none.
  func outcome(_ reached: TaskStateMachine.Reached) -> TaskRound.Outcome? {
    let (status, duration, result) = state.access { ($0.status, $0.duration, $0.result) }
    switch reached.state {
    case .succeeded:
      if !definition.runsOn { return .succeeded(duration) }
      return .ready(definition.readiness == nil ? .zero : duration)
    case .failed:
      // A service that has not exited with a failure was only not ready in time.
      let isLate = definition.runsOn && result != .failed
      return isLate ? .notReady : .failed(status, duration)
    case .cancelled: return .cancelled
    case .skipped(let because):
      return reached.isUp ? .kept(because: because) : .skipped(because: because)
    case .pending, .ready, .running: return nil
    }
  }
}

extension TaskDefinition {
  /// What its queue is to decide; the graph decides the rest.
  fileprivate var queueOptions: ActionQueue.Options {
    var options = options
    options.completion = .never
    options.build = nil
    options.keepsAlive = runsOn
    // A run only begins when there is none; a service that runs is stopped before it starts again.
    options.busyPolicy = runsOn ? .restart : .queue
    return options
  }

  var rules: TaskStateMachine.Rules {
    var rules = TaskStateMachine.Rules(name, dependencies: dependencies)
    rules.policy = options.busyPolicy
    rules.runsOn = runsOn
    rules.hasReadiness = readiness != nil
    rules.isPostponed = isPostponed
    return rules
  }
}

extension TaskGraph {
  /// The rules of all, each behind all that it stands after.
  var rules: [TaskStateMachine.Rules] {
    order.compactMap { self[$0]?.rules }
  }
}
