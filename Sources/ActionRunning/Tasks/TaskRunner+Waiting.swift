import FileObservation

// What waits, and what is reported when it changes.

extension TaskRunner {
  /// A task that is owed a run which has not begun.
  public struct Waiting: Sendable, Hashable {
    /// What a task waits for.
    public enum Cause: Sendable, Hashable {
      /// The end of these runs, possibly its own. Then its changes are compared with what it knows.
      case runs([String])
      /// The end of the hook after its own run.
      case hook
      /// One of the ``TaskGraph/jobs``, which these tasks use.
      case job(usedBy: [String])
      /// These of its direct or indirect dependencies.
      case dependencies([String])
      /// The end of these runs, which depend on it.
      case dependents([String])
      /// The end of a retired task of the same name.
      case predecessor
      /// The end of the pause.
      case pause
      /// The end of a delay, since each run changes it.
      case delay
      /// The next run, since they are outputs of the runs.
      case nextRun
    }

    /// The name of the task.
    public let name: String
    /// Why it is owed a run, with the changes that the run will receive.
    public let trigger: RunTrigger
    /// What it waits for.
    public let cause: Cause

    /// Creates a waiting task.
    public init(_ name: String, _ trigger: RunTrigger, for cause: Cause) {
      self.name = name
      self.trigger = trigger
      self.cause = cause
    }
  }
}

extension TaskStateMachine {
  /// A run that is requested and has not begun.
  struct Request: Hashable {
    let name: String
    let reason: RunTrigger.Reason
    let cause: TaskRunner.Waiting.Cause
  }

  /// The requests, in the order in which the runs will begin.
  var requests: [Request] {
    if isEnding { return [] }
    return order.compactMap { name in
      guard let task = tasks[name], let reason = task.request ?? task.pausedRequest else {
        return nil
      }
      let cause = task.request == nil ? .pause : cause(of: name, task)
      return Request(name: name, reason: reason, cause: cause)
    }
  }

  private func cause(of name: String, _ task: Task) -> TaskRunner.Waiting.Cause {
    if task.runs { return .runs([name]) }
    let above = order.filter { other in
      ancestors[name, default: []].contains(other) && tasks[other]?.isUnsettled ?? false
    }
    if !above.isEmpty { return .dependencies(above) }
    let below = running.filter { descendants[name, default: []].contains($0) }
    if !below.isEmpty { return .dependents(below) }
    if retiring.contains(where: { $0.name == name }) { return .predecessor }
    return .job(usedBy: running + retiring.filter(\.isActive).map(\.name))
  }

  /// The tasks that run, without services.
  private var running: [String] { order.filter { tasks[$0]?.runs ?? false } }

  /// The tasks among these that run.
  func running(among names: Set<String>) -> [String] { running.filter(names.contains) }
}

extension TaskRunner {
  /// What waits, in the order in which it will run.
  var waiting: [Waiting] {
    let requested = state.access { Self.requested(in: $0) }
    let names = Set(requested.filter { $0.trigger.reason != .key }.map(\.name))
    let judged = requested + unjudged.filter { !names.contains($0.name) }
    let known = Set(judged.map(\.name))
    return judged + deferred.filter { !known.contains($0.name) }
  }

  /// The tasks with changes that are known to lead to a run later, or to none of their own.
  private var deferred: [Waiting] {
    state.access { $0.components }.flatMap { component -> [Waiting] in
      let delayed = component.rounds.delayedPaths
      return state.access { state in
        state.machine.order.filter(component.names.contains).compactMap { name in
          let trigger = state.owed.trigger(of: name)
          if trigger.changes.isEmpty { return nil }
          if state.owed.owes(name, anyOf: delayed) { return Waiting(name, trigger, for: .delay) }
          let outputs = state.owed.waitingOutputs(of: name)
          if outputs.count < trigger.changes.count { return nil }
          return Waiting(name, RunTrigger(.change, changes: outputs), for: .nextRun)
        }
      }
    }
  }

  private static func requested(in state: State) -> [Waiting] {
    state.machine.requests.map { request in
      let isKey = request.reason == .key
      let trigger =
        isKey ? RunTrigger(.key) : state.owed.trigger(of: request.name, request.reason)
      return Waiting(
        request.name, trigger, for: cause(request.cause, of: request.name, in: state))
    }
  }

  /// The tasks with changes that are judged when the present runs have ended. They may lead to
  /// nothing, if the runs themselves have made them.
  private var unjudged: [Waiting] {
    state.access { $0.components }.flatMap { component -> [Waiting] in
      let (running, order) = state.access { state in
        let isOver = state.machine.isPaused || state.machine.isEnding
        return (
          isOver ? [] : state.machine.running(among: component.names),
          state.machine.order.filter(component.names.contains)
        )
      }
      if running.isEmpty { return [] }
      return order.compactMap { name in
        let (trigger, isOwed) = state.access { ($0.owed.trigger(of: name), $0.owed.owes(name)) }
        if !isOwed || component.rounds.mayBeOutputs(trigger.changes) { return nil }
        let cause = state.access { Self.cause(.runs(running), of: name, in: $0) }
        return Waiting(name, trigger, for: cause)
      }
    }
  }

  private static func cause(
    _ cause: Waiting.Cause, of name: String, in state: State
  ) -> Waiting.Cause {
    guard cause == .runs([name]), let worker = state.workers[name] else { return cause }
    return worker.state.access { $0.machine.isHooking } ? .hook : cause
  }

  /// Reports what has changed: which tasks are unsettled, what waits, and whether nothing does.
  func reportChanges() {
    let isSettled = reportUnsettled()
    let waiting = waiting
    let hasChanged = state.access { state in
      defer { state.waiting = waiting }
      return waiting != state.waiting
    }
    if hasChanged { report(.waiting(waiting)) }
    reportIdle(isSettled)
    options.stepTaken?()
  }

  /// The tasks that are not at rest: they are unsettled, a hook runs, or processes are being stopped.
  package var restlessTasks: [String] {
    state.access { state in
      let active = state.workers.values.filter { $0.state.access(\.isActive) }
      return (active + state.retiring).map(\.name)
    } + unsettled + restartedSoon
  }

  /// What waits, for callers on the queue.
  package var waitingTasks: [Waiting] { waiting }

  /// Whether the task is a service whose process may exist.
  package func isUp(_ name: String) -> Bool { state.access { $0.machine.isUp(name) } }

  /// A restart that is due within this time counts as under way: a page is not reloaded from the old
  /// service. A later one brings a reload of its own.
  private static let shortDelay = Duration.milliseconds(300)

  /// The tasks that wait or run, or whose changes are being judged.
  private var unsettled: Set<String> {
    let components = state.access { $0.components }
    let judged = components.filter { $0.rounds.isReading || $0.held != nil }.flatMap(\.names)
    return state.access { state in
      Set(state.machine.order.filter(state.machine.isUnsettled) + judged)
    }
  }

  /// The tasks of components with a service that is restarted soon.
  private var restartedSoon: [String] {
    state.access { $0.components }.filter { $0.rounds.owesRestart(within: Self.shortDelay) }
      .flatMap(\.names)
  }

  /// Reports which tasks are unsettled. Returns whether none is, but for services that are restarted
  /// soon.
  private func reportUnsettled() -> Bool {
    let unsettled = unsettled
    let names = unsettled.union(restartedSoon)
    let hasChanged = state.access { state in
      defer { state.unsettled = names }
      return state.unsettled != names
    }
    if hasChanged && options.reportsSettling { report(.unsettled(names)) }
    return unsettled.isEmpty
  }

  /// Reports that no task runs or is due, unless that was so before. A change during the delay before a
  /// follow-up starts a run at once, so the delay is no reason to stay silent.
  private func reportIdle(_ isSettled: Bool) {
    let becameIdle = state.access { state in
      let isIdle =
        isSettled && !state.isInLastRound && !state.machine.isEnding
        && !state.machine.awaitsEnd
        && !state.workers.values.contains { $0.state.access(\.isActive) }
      defer { state.isIdle = isIdle }
      return isIdle && !state.isIdle
    }
    if becameIdle { report(.idle) }
  }

  /// Reports the changes that start no task.
  func reportUnwatched(_ batch: ChangeBatch) {
    if !options.reportsUnwatched { return }
    let tasks = state.access { $0.graph.tasks }
    let changes = batch.changes.filter { change in
      !tasks.contains { $0.triggers.isTriggered(by: change) }
    }
    if !changes.isEmpty { report(.unwatched(changes)) }
  }
}

extension TaskStateMachine {
  /// Whether a command runs that may end by itself, or is about to be started again.
  fileprivate var awaitsEnd: Bool {
    tasks.values.contains { task in
      task.restart != .none || task.service == .crashed || task.isUp && !task.rules.keepsAlive
    }
  }
}
