import Dispatch
import FileObservation
import Support
import SystemCalls

/// A task of a runner, with its queue and the result of its latest run.
final class TaskWorker: Sendable {
  struct State {
    var check: ReadinessCheck?
    /// The run that waits for the answer to its precondition. Its start is reported, and its readiness
    /// check begins, after that.
    var heldRun: RunReport.Run?
    /// Why the latest start was refused, until that was reported.
    var conflict: ReadinessConflict?
    /// The start and the number of the latest run.
    var began: Instant?
    var number = 0
    /// The result of the latest run; `nil` until it has ended.
    var result: TaskStateMachine.Result?
    var status = ExitStatus.exited(0)
    var duration = Duration.zero
    var isAskedToEnd = false
  }

  /// Distinguishes the worker from others of the same name, before or after it.
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

  /// Ends the queue. A second call kills the run.
  func end() {
    state.access { $0.isAskedToEnd = true }
    actions.advance { $0.end() }
  }

  /// Examines output of the latest run for the line that means it is ready.
  func examine(_ line: [UInt8], of run: RunReport.Run) {
    if run.job != .command { return }
    state.access { $0.number == run.number ? $0.check : nil }?.sees(line)
  }

  /// Records the result of a run.
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

  /// The outcome for the report of a round; `nil` if there is none.
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
  /// The options of the task's queue. The graph decides everything else.
  fileprivate var queueOptions: ActionQueue.Options {
    var options = options
    options.completion = .never
    options.build = nil
    options.keepsAlive = runsOn
    // A run begins only when none is active; a service that runs is stopped before it starts again.
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
  /// The rules of all tasks, each after its dependencies.
  var rules: [TaskStateMachine.Rules] {
    order.compactMap { self[$0]?.rules }
  }
}
