import FileObservation

// What is wanted begins as soon as it can.

extension TaskStateMachine {
  /// Takes what has happened, and does what follows from it.
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

  /// One step of what is wanted; nil if it has to wait.
  private mutating func advance(_ name: String) -> [Action]? {
    let stops = stopPointless(below: name)
    if !stops.isEmpty { return stops }
    guard let task = tasks[name], let wanted = task.wanted, !task.runs else { return nil }
    let above = order.filter { ancestors[name, default: []].contains($0) }
    if above.contains(where: { tasks[$0]?.isUnsettled ?? false }) { return nil }
    if let because = above.compactMap(failure).first {
      return skip(name, because: because)
    }
    // A run needs them all, also those that nobody has wanted for themselves.
    let missing = above.filter { tasks[$0]?.outcome != .succeeded }
    if !missing.isEmpty {
      let actions = missing.flatMap { want($0, RunTrigger(wanted.reason)) }
      let isWanted = missing.contains { tasks[$0]?.wanted != nil }
      return isWanted ? actions : nil
    }
    return isBlocked(name) || !hasPlace(for: task) ? nil : begin(name, wanted)
  }

  private func failure(of name: String) -> String? {
    switch tasks[name]?.outcome {
    case .failed: name
    case .skipped(let because): because
    case .pending, .ready, .running, .succeeded, .cancelled, nil: nil
    }
  }

  /// True if what is there must have ended before it begins.
  func isBlocked(_ name: String) -> Bool {
    retiring.contains { $0.name == name }
      || descendants[name, default: []].contains { tasks[$0]?.runs ?? false }
  }

  private func hasPlace(for task: Task) -> Bool {
    task.rules.runsOn || placesHeld < jobs
  }

  /// What runs after something that is to run again does work for nothing.
  private mutating func stopPointless(below name: String) -> [Action] {
    var actions: [Action] = []
    for below in order where descendants[name, default: []].contains(below) {
      guard let task = tasks[below], isPointless(below, under: name),
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

  /// What is restarted by a change has what stands after it restarted as well: else it would have to wait
  /// for that to begin.
  private func isPointless(_ below: String, under name: String) -> Bool {
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

  /// A service goes on as it is, though it is wanted.
  private mutating func again(_ name: String, _ task: Task) -> [Action] {
    switch task.service {
    case .ready: return conclude(name, .succeeded)
    case .late: return conclude(name, .failed)
    case .starting, .down, .crashed:
      update(name) { $0.isFresh = true }
      return []
    }
  }

  /// When nothing is unsettled any more, the round is over.
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
  /// It has come to something, and nothing newer is wanted of it.
  mutating func conclude(_ name: String, _ result: Result) -> [Action] {
    update(name) { $0.outcome = result.state }
    switch result {
    case .succeeded:
      let reason = tasks[name]?.reason ?? .change
      return dependents(of: name).flatMap { dependent in
        // Somebody postponed is not run for the sake of it.
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
