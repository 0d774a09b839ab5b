import FileObservation

// A run has come to its end, or a service to something.

extension TaskStateMachine {
  /// The task's run is over. Its dependents hear of it unless the task is to run once more.
  package mutating func ended(_ name: String, _ result: Result) -> [Action] {
    guard let task = tasks[name], task.runs else { return [] }
    reached.insert(name)
    update(name) { task in
      task.activity = .none
      task.outcome = result.state
    }
    return after(task.wanted == nil ? conclude(name, result) : [])
  }

  /// A process of the service was started, by us or because the one before had ended.
  package mutating func serviceStarted(_ name: String) -> [Action] {
    guard let task = tasks[name], task.service != .down, !isEnding else { return [] }
    update(name) { task in
      task.service = .starting
      task.generation += 1
    }
    if !task.rules.hasReadiness { return after(isReady(name)) }
    return [.awaitReadiness(name, generation: task.generation + 1)]
  }

  /// The service is ready.
  package mutating func serviceIsReady(_ name: String, generation: Int) -> [Action] {
    isAwaited(name, generation) ? after(isReady(name)) : []
  }

  /// The service is not ready, and it was waited for long enough.
  package mutating func serviceIsLate(_ name: String, generation: Int) -> [Action] {
    guard isAwaited(name, generation) else { return [] }
    update(name) { $0.service = .late }
    return after([.tellLate(name)] + serviceFailed(name))
  }

  /// The service has ended by itself, or could not be started. It is started again without our doing.
  package mutating func serviceCrashed(_ name: String) -> [Action] {
    guard let task = tasks[name], task.service != .down, !isEnding else { return [] }
    update(name) { $0.service = .crashed }
    return after([.giveUpReadiness(name)] + serviceFailed(name))
  }

  private func isAwaited(_ name: String, _ generation: Int) -> Bool {
    guard let task = tasks[name], !isEnding else { return false }
    return task.service == .starting && task.generation == generation
  }

  private mutating func isReady(_ name: String) -> [Action] {
    guard let task = tasks[name] else { return [] }
    let tells: [Action] = task.rules.hasReadiness ? [.tellReady(name)] : []
    update(name) { task in
      task.service = .ready
      task.isFresh = false
    }
    if task.isFresh { return tells + conclude(name, .succeeded) }
    // It was left running as it was, and is back again as it was.
    if case .skipped = task.outcome { return tells }
    update(name) { $0.outcome = .succeeded }
    let skipped = order.filter { tasks[$0]?.outcome == .skipped(because: name) }
    return tells + skipped.flatMap { want($0, RunTrigger(task.reason)) }
  }

  private mutating func serviceFailed(_ name: String) -> [Action] {
    guard let task = tasks[name] else { return [] }
    update(name) { $0.isFresh = false }
    if task.isFresh { return conclude(name, .failed) }
    if case .skipped = task.outcome { return [] }
    update(name) { $0.outcome = .failed }
    return []
  }
}
