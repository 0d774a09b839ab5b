// Start, requests, pause, stop and end.

extension TaskStateMachine {
  /// Requests all tasks, except postponed ones and their descendants.
  package mutating func start() -> [Action] {
    hasStarted = true
    for name in order where tasks[name]?.rules.mayBeFresh == true {
      update(name) { $0.freshness = .possible }
    }
    return proceed(requestNew(order))
  }

  package mutating func changed(_ names: Set<String>) -> [Action] {
    proceed(order.flatMap { names.contains($0) ? request($0, .change) : [] })
  }

  /// Stops the runs that changes of these tasks make worthless, while these are in `heldTasks`.
  package mutating func changedWhileHeld(_ names: Set<String>) -> [Action] {
    if isPaused || isEnding { return [] }
    var actions: [Action] = []
    for name in order where names.contains(name) {
      let isService = isBuildingService(name)
      if !isService && !isBuilding(name) { continue }
      if isService {
        update(name) { $0.phase = .atRest }
        actions += [.giveUpReadiness(name), .stop(name)]
      }
      actions += request(name, .change)
      tasks[name]?.judging = .held
    }
    return proceed(actions)
  }

  /// Requests these tasks, or all but manual ones, even while paused.
  package mutating func keyPressed(_ names: Set<String>? = nil) -> [Action] {
    hasStarted = true
    return proceed(
      order.flatMap { name -> [Action] in
        names?.contains(name) ?? !self[name].rules.isManual ? request(name, .key) : []
      })
  }

  /// Pauses: only a key starts runs. Active runs continue.
  package mutating func pause() -> [Action] {
    isPaused = true
    for name in order {
      update(name) { task in
        if let reason = task.request?.reason, reason != .key { task.request = .paused(reason) }
      }
    }
    return proceed([])
  }

  /// Ends a pause and requests the tasks that changed during it.
  package mutating func resume() -> [Action] {
    isPaused = false
    return proceed(
      order.flatMap { name -> [Action] in
        guard case .paused(let reason) = tasks[name]?.request else { return [] }
        update(name) { $0.request = nil }
        return request(name, reason)
      })
  }

  /// Stops all runs. The next change or key requests tasks again. A task that has changed runs again
  /// before its dependents do.
  package mutating func stop() -> [Action] {
    if isEnding { return [] }
    for name in owedTasks {
      update(name) { if $0.outcome == .succeeded { $0.outcome = .cancelled } }
    }
    var actions: [Action] = []
    for name in order.reversed() {
      guard let task = tasks[name] else { continue }
      update(name) { $0.dropRequests() }
      actions += endFormer(name)
      switch task.phase {
      case .running:
        update(name) { $0.phase = .stopping }
        actions.append(.stop(name))
      case .starting, .ready, .late, .crashed, .backingOff, .restartDue:
        update(name) { $0.phase = .atRest }
        guard task.rules.isService else { continue }
        update(name) { $0.outcome = .cancelled }
        roundMembers.insert(name)
        actions += [.giveUpReadiness(name), .stop(name)]
      case .atRest, .stopping:
        break
      }
    }
    return proceed(actions)
  }

  /// Requests a run of a task. If it runs already, its policy decides.
  mutating func request(_ name: String, _ reason: RunTrigger.Reason) -> [Action] {
    guard let task = tasks[name], !isEnding else { return [] }
    let isKey = reason == .key
    if isPaused && !isKey {
      update(name) { task in
        // The run that a key has requested receives all changes.
        if !task.isRequested { task.request = .paused(reason) }
        // Its dependency may have succeeded by the time it begins.
        if case .skipped = task.outcome { task.outcome = .pending }
      }
      return []
    }
    if task.phase == .running {
      // A key has saved nothing that a build would miss.
      switch isKey ? task.rules.busyPolicy : task.busyPolicy {
      case .ignore where !isKey:
        return []
      case .signal(let signal):
        return [.signal(name, signal, reason)]
      case .restart where isKey || task.mayBeStopped:
        update(name) { task in
          task.request(reason)
          task.phase = .stopping
          if !isKey { task.stops += 1 }
        }
        return [.stop(name)]
      case .queue, .ignore, .restart, .overlap:
        break
      }
    }
    update(name) { $0.request(reason) }
    return []
  }

  /// The command of a run has ended, or is being stopped, so that no signal reaches it: it runs again.
  package mutating func signalIsLate(_ name: String, _ reason: RunTrigger.Reason) -> [Action] {
    if isUp(name) && !isEnding { return proceed(startService(name, reason)) }
    guard tasks[name]?.phase == .running else { return [] }
    update(name) { $0.request(reason) }
    return proceed([])
  }

  /// Requests these tasks, except dormant postponed ones and their descendants.
  private mutating func requestNew(_ names: [String]) -> [Action] {
    names.flatMap { name -> [Action] in
      let isAsleep = ([name] + ancestors[name, default: []]).contains {
        self[$0].isDormant && self[$0].rules.isPostponed
      }
      return isAsleep ? [] : request(name, .start)
    }
  }
}

extension TaskStateMachine.Task {
  mutating func request(_ reason: RunTrigger.Reason) {
    // A run that was requested by a key is not affected by a pause.
    request = .made(request?.reason == .key ? .key : reason)
    // The restart of a service is still due when the request is dropped.
    if !rules.isService && phase.isRestarted { phase = .atRest }
  }

  fileprivate mutating func dropRequests() {
    if request != nil { outcome = .cancelled }
    (request, hasNewResult) = (nil, false)
  }
}

// MARK: - Another graph, and the end

extension TaskStateMachine {
  /// Replaces the graph by rules, each after its dependencies. The tasks in `kept` keep their state, and those in
  /// `owing` are owed changes, with which they run in any case.
  package mutating func replace(
    _ rules: [Rules], jobs: Int, keeping kept: Set<String>, owing: Set<String> = []
  ) -> [Action] {
    if isEnding { return [] }
    var actions: [Action] = []
    let serving = order.filter { name in
      self[name].rules.isPostponed && !kept.contains(name)
        && (isUp(name) || self[name].phase.isRestarted)
    }
    for name in order.reversed() where !kept.contains(name) {
      guard let task = tasks[name] else { continue }
      actions += endFormer(name)
      retiring.append(Retired(task: task, ancestors: ancestors[name, default: []]))
      hasLostMembers = hasLostMembers || roundMembers.contains(name) || task.isUnsettled
      actions.append(.retire(name))
    }
    self.jobs = jobs
    setTasks(rules, keeping: kept)
    roundMembers.formIntersection(order)
    if hasStarted { actions += requestNew(order.filter { !kept.contains($0) }) }
    for name in order where self[name].request == nil {
      if owing.contains(name) { actions += request(name, .change) }
      // A change or a person has started it.
      if serving.contains(name) && self[name].rules.isService { actions += request(name, .start) }
    }
    return proceed(actions)
  }

  /// Ends all tasks, each before its dependencies. A second call kills them.
  package mutating func end() -> [Action] {
    if isEnding { return [.killAll] }
    isEnding = true
    var actions: [Action] = []
    for name in order {
      update(name) { $0.dropRequests() }
      actions += endFormer(name)
      if isUp(name) { actions.append(.giveUpReadiness(name)) }
    }
    return proceed(actions)
  }

  package mutating func isGone(_ name: String) -> [Action] {
    // Of several retired tasks with this name, only the first can have run.
    if let index = retiring.lastIndex(where: { $0.name == name }) {
      retiring.remove(at: index)
      guard let task = tasks[name], task.former == .stopping else { return proceed([]) }
      // The process that takes its place is left alone.
      tasks[name]?.former = .absent
      return proceed(task.rules.isReadyAlone ? check(name) : isReady(name))
    }
    ended.insert(name)
    return proceed([])
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
