import FileObservation

// Somebody says what is to happen, or not to happen.

extension TaskStateMachine {
  /// The beginning: all that is not postponed, and does not stand after what is.
  package mutating func start() -> [Action] {
    hasStarted = true
    return after(wantNew(order, RunTrigger(.start)))
  }

  /// These have changed.
  package mutating func changed(_ triggers: [String: RunTrigger]) -> [Action] {
    after(order.flatMap { name in triggers[name].map { want(name, $0) } ?? [] })
  }

  /// All are to run, even while paused.
  package mutating func keyPressed() -> [Action] {
    hasStarted = true
    return after(order.flatMap { want($0, RunTrigger(.key)) })
  }

  /// From now on nothing begins but by a key; what runs goes on.
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

  /// No longer paused: what has come meanwhile is seen to.
  package mutating func resume() -> [Action] {
    isPaused = false
    return after(
      order.flatMap { name -> [Action] in
        guard let held = tasks[name]?.held else { return [] }
        update(name) { $0.held = nil }
        return want(name, held)
      })
  }

  /// Stops what runs. Nothing begins until the next change or key; what that starts is told of all
  /// that was to lead to a run.
  package mutating func stop() -> [Action] {
    if isEnding { return [] }
    var actions: [Action] = []
    for name in order.reversed() {
      guard let task = tasks[name] else { continue }
      update(name) { $0.forgetWishes() }
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

  /// A task is to run. If it runs already, its policy says what to do.
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

  /// Those of these that are to run by themselves.
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
    // What a key has begun, no pause holds up.
    if isKey { wanted?.reason = .key }
    held = nil
  }

  fileprivate mutating func forgetWishes() {
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
  /// The project has changed. Of the tasks that are there, `kept` stay as they are.
  ///
  /// - Parameter rules: Each behind all that it stands after.
  package mutating func replace(
    _ rules: [Rules], jobs: Int, keeping kept: Set<String>
  ) -> [Action] {
    if isEnding { return [] }
    var actions: [Action] = []
    for name in order.reversed() where !kept.contains(name) {
      guard let task = tasks[name] else { continue }
      retiring.append((name, holdsPlace: task.runs))
      if task.rules.runsOn { actions.append(.giveUpReadiness(name)) }
      actions.append(.retire(name))
    }
    self.jobs = jobs
    take(rules, keeping: kept)
    reached.formIntersection(order)
    if hasStarted { actions += wantNew(order.filter { !kept.contains($0) }, RunTrigger(.start)) }
    return after(actions)
  }

  /// All is to end: each task before those that it stands after. A second time, at once.
  package mutating func end() -> [Action] {
    if isEnding { return [.killAll] }
    isEnding = true
    var actions: [Action] = []
    for name in order {
      update(name) { $0.forgetWishes() }
      if tasks[name]?.service == .starting { actions.append(.giveUpReadiness(name)) }
    }
    return after(actions)
  }

  /// Nothing is left of what was to be ended, or was retired.
  package mutating func isGone(_ name: String) -> [Action] {
    // The last of its name to be retired has never run if another one has not gone.
    if let place = retiring.lastIndex(where: { $0.name == name }) {
      retiring.remove(at: place)
    } else {
      ended.insert(name)
    }
    return after([])
  }

  mutating func endNext() -> [Action] {
    var actions: [Action] = []
    for name in order.reversed() where !asked.contains(name) {
      guard dependents(of: name).allSatisfy(ended.contains) else { continue }
      asked.insert(name)
      actions.append(.end(name))
    }
    if ended.isSuperset(of: order) && retiring.isEmpty && !hasFinished {
      hasFinished = true
      actions.append(.finish)
    }
    return actions
  }
}
