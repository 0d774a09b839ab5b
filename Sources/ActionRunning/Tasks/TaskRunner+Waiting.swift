import FileObservation

extension TaskRunner {
  /// A task that is requested and has not begun.
  public struct Waiting: Sendable, Hashable {
    /// What a task waits for.
    public enum Cause: Sendable, Hashable {
      /// The end of its own run.
      case ownRun
      /// One of the ``TaskGraph/jobs``, which these tasks use.
      case job(heldBy: [String])
      /// These of its direct or indirect dependencies.
      case dependencies([String])
      /// The end of these runs, which depend on it.
      case dependents([String])
      /// The end of a retired task of the same name.
      case predecessor
      /// The end of the pause.
      case pause
    }

    /// The name of the task.
    public let name: String
    /// The reason for the request.
    public let reason: RunTrigger.Reason
    /// What it waits for.
    public let cause: Cause

    /// Creates a waiting task.
    public init(_ name: String, _ reason: RunTrigger.Reason, for cause: Cause) {
      self.name = name
      self.reason = reason
      self.cause = cause
    }
  }
}

extension TaskStateMachine {
  /// The tasks that are requested and have not begun, in the order in which they will begin.
  var waiting: [TaskRunner.Waiting] {
    if isEnding { return [] }
    return order.compactMap { name in
      guard let task = tasks[name], let trigger = task.wanted ?? task.held else { return nil }
      let cause = task.wanted == nil ? TaskRunner.Waiting.Cause.pause : cause(of: name, task)
      return TaskRunner.Waiting(name, trigger.reason, for: cause)
    }
  }

  private func cause(of name: String, _ task: Task) -> TaskRunner.Waiting.Cause {
    if task.runs { return .ownRun }
    let above = order.filter { other in
      ancestors[name, default: []].contains(other) && tasks[other]?.isUnsettled ?? false
    }
    if !above.isEmpty { return .dependencies(above) }
    let below = running.filter { descendants[name, default: []].contains($0) }
    if !below.isEmpty { return .dependents(below) }
    if retiring.contains(where: { $0.name == name }) { return .predecessor }
    return .job(heldBy: running + retiring.filter(\.isActive).map(\.name))
  }

  /// The tasks that run, without services.
  private var running: [String] { order.filter { tasks[$0]?.runs ?? false } }

  /// The tasks among these that run.
  func running(among names: Set<String>) -> [String] { running.filter(names.contains) }
}

extension TaskRunner {
  /// Reports which tasks wait, if that has changed.
  func reportWaiting() {
    let news = state.access { state -> [Waiting]? in
      let waiting = state.machine.waiting
      defer { state.waiting = waiting }
      return waiting == state.waiting ? nil : waiting
    }
    if let news { report(.waiting(news)) }
  }

  /// Reports that changes wait for the end of the component's runs.
  func reportQueued(
    _ trigger: RunTrigger, of tasks: [TaskDefinition], in component: TaskComponent
  ) {
    let running = state.access { state in
      state.machine.isPaused ? [] : state.machine.running(among: component.names)
    }
    if running.isEmpty { return }
    for task in tasks {
      guard let own = task.triggers.trigger(by: ChangeBatch(trigger)) else { continue }
      report(.queued(task.name, own, behind: running))
    }
  }

  /// Reports changes that are ignored by tasks that run.
  func reportIgnored(_ batch: ChangeBatch) {
    let tasks = state.access { state in
      state.graph.tasks.filter {
        $0.options.busyPolicy == .ignore && state.machine.ignoresChanges(of: $0.name)
      }
    }
    for task in tasks {
      if let own = task.triggers.trigger(by: batch) { report(.ignored(task.name, own)) }
    }
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

  /// Reports that no task runs or is due, unless that was so before.
  func reportIdle(unsettled names: Set<String>) {
    let isAtRest =
      names.isEmpty && !state.access { $0.components }.contains(where: \.rounds.owesRun)
    let isNews = state.access { state in
      let isIdle = isAtRest && !state.machine.isEnding
      defer { state.isIdle = isIdle }
      return isIdle && !state.isIdle
    }
    if isNews { report(.idle) }
  }
}
