import FileObservation

// Start, changes, pause, stop and end.

extension TaskStateMachine {
  /// Requests all tasks, except postponed ones and their descendants.
  package mutating func start() -> [Action] {
    hasStarted = true
    return after(wantNew(order, RunTrigger(.start)))
  }

  /// Requests the tasks whose files changed.
  package mutating func changed(_ triggers: [String: RunTrigger]) -> [Action] {
    after(order.flatMap { name in triggers[name].map { want(name, $0) } ?? [] })
  }

  /// Requests all tasks, even while paused.
  package mutating func keyPressed() -> [Action] {
    hasStarted = true
    return after(order.flatMap { want($0, RunTrigger(.key)) })
  }

  /// Pauses: only a key starts runs. Active runs continue.
  package mutating func pause() -> [Action] {
    isPaused = true
    for name in order {
      update(name) { task in
        guard let wanted = task.wanted, wanted.reason != .key else { return }
        task.held = task.held.merged(with: wanted)
        task.wanted = nil
      }
    }
    return after([])
  }

  /// Ends a pause and requests the tasks that changed during it.
  package mutating func resume() -> [Action] {
    isPaused = false
    return after(
      order.flatMap { name -> [Action] in
        guard let held = tasks[name]?.held else { return [] }
        update(name) { $0.held = nil }
        return want(name, held)
      })
  }

  /// Stops all runs. The next change or key requests tasks again; their runs receive all changes
  /// that were queued.
  package mutating func stop() -> [Action] {
    if isEnding { return [] }
    var actions: [Action] = []
    for name in order.reversed() {
      guard let task = tasks[name] else { continue }
      update(name) { $0.dropRequests() }
      if case .running(let trigger) = task.activity {
        update(name) { task in
          task.activity = .stopping
          task.unseen = task.unseen.map(trigger.merged) ?? trigger
        }
        actions.append(.stop(name))
      }
      if task.service != .down {
        update(name) { task in
          (task.service, task.isFresh) = (.down, false)
          task.outcome = .cancelled
        }
        reached.insert(name)
        actions += [.giveUpReadiness(name), .stop(name)]
      }
    }
    return after(actions)
  }

  /// Requests a run of a task. If it runs already, its policy decides.
  mutating func want(_ name: String, _ trigger: RunTrigger) -> [Action] {
    guard let task = tasks[name], !isEnding else { return [] }
    let isKey = trigger.reason == .key
    if isPaused && !isKey {
      update(name) { task in
        task.held = task.held.merged(with: trigger)
        // Its dependency may have succeeded by the time it begins.
        if case .skipped = task.outcome { task.outcome = .pending }
      }
      return []
    }
    if case .running(let now) = task.activity {
      switch task.rules.policy {
      case .ignore where !isKey:
        return []
      case .signal(let signal):
        return [.signal(name, signal, trigger)]
      case .restart:
        update(name) { task in
          task.want(trigger)
          task.wanted = task.wanted.map(now.merged)
          task.activity = .stopping
        }
        return [.stop(name)]
      case .queue, .ignore:
        break
      }
    }
    update(name) { $0.want(trigger) }
    return []
  }

  /// Requests these tasks, except dormant postponed ones and their descendants.
  private mutating func wantNew(_ names: [String], _ trigger: RunTrigger) -> [Action] {
    names.flatMap { name -> [Action] in
      let isAsleep = ([name] + ancestors[name, default: []]).contains { name in
        isDormant(name) && tasks[name]?.rules.isPostponed ?? false
      }
      return isAsleep ? [] : want(name, trigger)
    }
  }
}

extension TaskStateMachine.Task {
  fileprivate mutating func want(_ trigger: RunTrigger) {
    let isKey = wanted?.reason == .key
    wanted = wanted.merged(with: held.merged(with: trigger))
    // A run that was requested by a key is not affected by a pause.
    if isKey { wanted?.reason = .key }
    held = nil
  }

  fileprivate mutating func dropRequests() {
    for trigger in [wanted, held] {
      guard let trigger else { continue }
      unseen = unseen.merged(with: trigger)
      outcome = .cancelled
    }
    (wanted, held) = (nil, nil)
  }
}

// MARK: - Another graph, and the end

extension TaskStateMachine {
  /// Replaces the graph. The tasks in `kept` keep their state.
  /// - Parameter rules: Each after its dependencies.
  package mutating func replace(
    _ rules: [Rules], jobs: Int, keeping kept: Set<String>
  ) -> [Action] {
    if isEnding { return [] }
    var actions: [Action] = []
    for name in order.reversed() where !kept.contains(name) {
      guard let task = tasks[name] else { continue }
      retiring.append((name, isActive: task.runs))
      if task.rules.runsOn { actions.append(.giveUpReadiness(name)) }
      actions.append(.retire(name))
    }
    self.jobs = jobs
    take(rules, keeping: kept)
    reached.formIntersection(order)
    if hasStarted { actions += wantNew(order.filter { !kept.contains($0) }, RunTrigger(.start)) }
    return after(actions)
  }

  /// Ends all tasks, each before its dependencies. A second call kills them.
  package mutating func end() -> [Action] {
    if isEnding { return [.killAll] }
    isEnding = true
    var actions: [Action] = []
    for name in order {
      update(name) { $0.dropRequests() }
      if tasks[name]?.isUp ?? false { actions.append(.giveUpReadiness(name)) }
    }
    return after(actions)
  }

  /// A task that was ended or retired is gone.
  package mutating func isGone(_ name: String) -> [Action] {
    // Of several retired tasks with this name, only the first can have run.
    if let index = retiring.lastIndex(where: { $0.name == name }) {
      retiring.remove(at: index)
    } else {
      ended.insert(name)
    }
    return after([])
  }

  mutating func endNext() -> [Action] {
    var actions: [Action] = []
    for name in order.reversed() where !endRequested.contains(name) {
      guard dependents(of: name).allSatisfy(ended.contains) else { continue }
      endRequested.insert(name)
      actions.append(.end(name))
    }
    if ended.isSuperset(of: order) && retiring.isEmpty && !hasFinished {
      hasFinished = true
      actions.append(.finish)
    }
    return actions
  }
}
