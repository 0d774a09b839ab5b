import FileObservation

// Ends of runs, and readiness of services.

extension TaskStateMachine {
  /// A run has ended. Its result is passed on unless another run is requested.
  package mutating func ended(_ name: String, _ result: Result) -> [Action] {
    guard let task = tasks[name], task.runs else { return [] }
    reached.insert(name)
    update(name) { task in
      task.activity = .none
      task.outcome = result.state
    }
    return after(task.wanted == nil ? conclude(name, result) : [])
  }

  /// A process of the service was started, by request or after the previous one ended.
  package mutating func serviceStarted(_ name: String) -> [Action] {
    guard let task = tasks[name], task.service != .down, !isEnding else { return [] }
    update(name) { task in
      task.service = .starting
      task.generation += 1
    }
    if !task.rules.hasReadiness { return after(isReady(name)) }
    return [.awaitReadiness(name, generation: task.generation + 1)]
  }

  /// The service is ready, in time or later.
  package mutating func serviceIsReady(_ name: String, generation: Int) -> [Action] {
    isChecked(name, generation) ? after(isReady(name)) : []
  }

  /// The service was not ready in time.
  package mutating func serviceIsLate(_ name: String, generation: Int) -> [Action] {
    guard isChecked(name, generation), tasks[name]?.service == .starting else { return [] }
    update(name) { $0.service = .late }
    return after([.reportLate(name)] + serviceFailed(name))
  }

  /// The service has ended by itself or could not be started. Its queue starts it again.
  package mutating func serviceCrashed(_ name: String) -> [Action] {
    guard let task = tasks[name], task.service != .down, !isEnding else { return [] }
    update(name) { $0.service = .crashed }
    return after([.giveUpReadiness(name)] + serviceFailed(name))
  }

  private func isChecked(_ name: String, _ generation: Int) -> Bool {
    guard let task = tasks[name], !isEnding, task.generation == generation else { return false }
    return task.service == .starting || task.service == .late
  }

  /// Whether the service runs but was not ready in time.
  func isLate(_ name: String) -> Bool { tasks[name]?.service == .late }

  private mutating func isReady(_ name: String) -> [Action] {
    guard let task = tasks[name] else { return [] }
    let reports: [Action] = task.rules.hasReadiness ? [.reportReady(name)] : []
    update(name) { task in
      task.service = .ready
      task.isFresh = false
    }
    if task.isFresh { return reports + conclude(name, .succeeded) }
    // It kept running through the failure of a dependency, and is ready again.
    if case .skipped = task.outcome { return reports }
    update(name) { $0.outcome = .succeeded }
    let skipped = order.filter { tasks[$0]?.outcome == .skipped(because: name) }
    return reports + skipped.flatMap { want($0, RunTrigger(task.reason)) }
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
