import FileObservation

// Starts requested tasks as soon as possible.

extension TaskStateMachine {
  /// Starts requested tasks and ends the round, after these actions.
  mutating func after(_ actions: [Action]) -> [Action] {
    var actions = actions
    if isEnding { return actions + endNext() }
    var hasMoved = true
    while hasMoved {
      hasMoved = false
      for name in order where tasks[name]?.wanted != nil {
        guard let more = advance(name) else { continue }
        actions += more
        hasMoved = true
      }
    }
    return actions + endRound()
  }

  /// One step toward a requested run; `nil` if it must wait.
  private mutating func advance(_ name: String) -> [Action]? {
    let stops = stopOutdated(below: name)
    if !stops.isEmpty { return stops }
    guard let task = tasks[name], let wanted = task.wanted, !task.runs else { return nil }
    let above = order.filter { ancestors[name, default: []].contains($0) }
    if above.contains(where: { tasks[$0]?.isUnsettled ?? false }) { return nil }
    if let because = above.compactMap(failure).first {
      return skip(name, because: because)
    }
    // A run needs all its ancestors, even those that were not requested.
    let missing = above.filter { tasks[$0]?.outcome != .succeeded }
    if !missing.isEmpty {
      let actions = missing.flatMap { want($0, RunTrigger(wanted.reason)) }
      let isWanted = missing.contains { tasks[$0]?.wanted != nil }
      return isWanted ? actions : nil
    }
    return isBlocked(name) || !hasCapacity(for: task) ? nil : begin(name, wanted)
  }

  private func failure(of name: String) -> String? {
    switch tasks[name]?.outcome {
    case .failed: name
    case .skipped(let because): because
    case .pending, .ready, .running, .succeeded, .cancelled, nil: nil
    }
  }

  /// Whether a run must end before this task begins.
  func isBlocked(_ name: String) -> Bool {
    retiring.contains { $0.name == name }
      || descendants[name, default: []].contains { tasks[$0]?.runs ?? false }
  }

  private func hasCapacity(for task: Task) -> Bool {
    task.rules.runsOn || activeRuns < jobs
  }

  /// Stops runs that would have to be repeated, because an ancestor runs again.
  private mutating func stopOutdated(below name: String) -> [Action] {
    var actions: [Action] = []
    for below in order where descendants[name, default: []].contains(below) {
      guard let task = tasks[below], isOutdated(below, under: name),
        case .running(let trigger) = task.activity
      else { continue }
      update(below) { task in
        task.activity = .stopping
        task.wanted = task.wanted.map(trigger.merged) ?? trigger
      }
      actions.append(.stop(below))
    }
    return actions
  }

  /// A task with the policy `restart` stops its descendants, for otherwise it would have to wait
  /// for them.
  private func isOutdated(_ below: String, under name: String) -> Bool {
    guard let task = tasks[below]?.rules, let above = tasks[name]?.rules else { return false }
    let isCarriedAlong = above.policy == .restart && !above.runsOn && task.policy == .queue
    return task.policy == .restart || isCarriedAlong
  }

  private mutating func begin(_ name: String, _ wanted: RunTrigger) -> [Action] {
    guard let task = tasks[name] else { return [] }
    let trigger = task.unseen.merged(with: wanted)
    update(name) { task in
      (task.wanted, task.unseen) = (nil, nil)
      task.reason = trigger.reason
    }
    if task.rules.runsOn { return beginService(name, task, trigger) }
    update(name) { $0.activity = .running(trigger) }
    return [.start(name, trigger)]
  }

  private mutating func beginService(
    _ name: String, _ task: Task, _ trigger: RunTrigger
  ) -> [Action] {
    reached.insert(name)
    switch task.rules.policy {
    case .ignore where task.isUp && trigger.reason != .key:
      return again(name, task)
    case .signal(let signal) where task.isUp:
      return [.signal(name, signal, trigger)] + again(name, task)
    case .queue, .ignore, .restart, .signal:
      update(name) { task in
        task.service = .starting
        task.isFresh = true
      }
      return [.giveUpReadiness(name), .start(name, trigger)]
    }
  }

  /// A service keeps running, though a run is requested.
  private mutating func again(_ name: String, _ task: Task) -> [Action] {
    switch task.service {
    case .ready: return conclude(name, .succeeded)
    case .late: return conclude(name, .failed)
    case .starting, .down, .crashed:
      update(name) { $0.isFresh = true }
      return []
    }
  }

  /// Ends the round when no task is unsettled.
  private mutating func endRound() -> [Action] {
    if reached.isEmpty || tasks.values.contains(where: \.isUnsettled) { return [] }
    defer { reached = [] }
    return [
      .endRound(
        order.filter(reached.contains).compactMap { name in
          tasks[name].map { Reached(name: name, state: $0.outcome, isUp: $0.isUp) }
        })
    ]
  }
}

// MARK: - Passing on

extension TaskStateMachine {
  /// A task has a result, and no newer run is requested.
  mutating func conclude(_ name: String, _ result: Result) -> [Action] {
    update(name) { $0.outcome = result.state }
    switch result {
    case .succeeded:
      let reason = tasks[name]?.reason ?? .change
      return dependents(of: name).flatMap { dependent in
        // A dependency that is postponed is not run for this.
        let isAwake = ancestors[dependent, default: []].allSatisfy { !isDormant($0) }
        return isAwake ? want(dependent, RunTrigger(reason)) : []
      }
    case .failed:
      return order.filter { descendants[name, default: []].contains($0) }.flatMap {
        skip($0, because: name)
      }
    case .cancelled:
      for below in descendants[name, default: []] where tasks[below]?.outcome == .succeeded {
        update(below) { if !$0.rules.runsOn { $0.outcome = .cancelled } }
      }
      return []
    }
  }

  func isDormant(_ name: String) -> Bool { tasks[name]?.isDormant ?? false }

  mutating func skip(_ name: String, because: String) -> [Action] {
    reached.insert(name)
    update(name) { task in
      if let wanted = task.wanted { task.unseen = task.unseen.merged(with: wanted) }
      (task.wanted, task.isFresh) = (nil, false)
      task.outcome = .skipped(because: because)
    }
    let isUp = tasks[name]?.isUp ?? false
    return [isUp ? .keep(name, because: because) : .skip(name, because: because)]
  }
}

extension TaskStateMachine.Result {
  var state: TaskStateMachine.State {
    switch self {
    case .succeeded: .succeeded
    case .failed: .failed
    case .cancelled: .cancelled
    }
  }
}
