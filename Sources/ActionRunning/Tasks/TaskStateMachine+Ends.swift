// Ends of runs, readiness of services, and restarts of what is kept alive.

extension TaskStateMachine {
  /// A run has ended, and its hook as well. Its result is passed on unless another run is requested.
  package mutating func ended(_ name: String, _ result: Result) -> [Action] {
    guard let task = tasks[name] else { return [] }
    switch task.phase {
    case .running, .stopping: break
    // The processes that a run has left behind were stopped.
    case .atRest, .backingOff, .restartDue: return []
    case .starting, .ready, .late, .crashed: return reject("the end", of: name)
    }
    // Its hook may have been stopped after the end of its command.
    let result = task.phase == .stopping ? .cancelled : result
    roundMembers.insert(name)
    update(name) { task in
      (task.phase, task.isAttempted) = (.atRest, false)
      task.outcome = result
    }
    if task.isRequested {
      // Only services may need the result before the newer one.
      let services = dependents(of: name).filter { self[$0].rules.isService }
      return proceed(
        result == .succeeded ? services.flatMap { passOn(to: $0, self[name].reason) } : [])
    }
    let isRestarted = task.rules.keepsAlive && result != .cancelled && !isEnding
    let restart = isRestarted ? backOff(name) : []
    // After the end of the round, which may be the last one.
    return proceed(conclude(name, result)) + restart
  }

  /// A process of the service was started, by request or after the previous one ended.
  package mutating func serviceStarted(_ name: String) -> [Action] {
    guard let task = tasks[name], !isEnding else { return [] }
    switch task.phase {
    case .starting: break
    // Of two starts that were decided before the first was performed, this is the second.
    case .ready where !task.rules.hasReadiness: return []
    case .atRest, .running, .stopping, .ready, .late, .crashed, .backingOff, .restartDue:
      return reject("the start", of: name)
    }
    if task.rules.hasReadiness { return check(name) }
    update(name) { $0.generation += 1 }
    return proceed(isReady(name))
  }

  mutating func check(_ name: String) -> [Action] {
    if self[name].former != .serving { tasks[name]?.former = .absent }
    tasks[name]?.generation += 1
    return [.awaitReadiness(name, generation: self[name].generation)]
  }

  package mutating func serviceIsReady(_ name: String, generation: Int) -> [Action] {
    guard isChecked(name, generation) else { return [] }
    switch self[name].former {
    case .serving: return proceed(endFormer(name, .stopping))
    case .ended: return check(name)
    case .absent, .stopping: return proceed(isReady(name))
    }
  }

  package mutating func serviceIsLate(_ name: String, generation: Int) -> [Action] {
    guard isChecked(name, generation), self[name].phase != .late else { return [] }
    return proceed([.reportLate(name)] + enter(.late, name, .failed))
  }

  /// The service has ended by itself or could not be started. If it is kept alive, that is a crash.
  package mutating func serviceEnded(_ name: String, _ result: Result) -> [Action] {
    guard let task = tasks[name], !isEnding else { return [] }
    switch task.phase {
    case .starting, .ready, .late: break
    // It was stopped meanwhile.
    case .atRest: return []
    case .running, .stopping, .crashed, .backingOff, .restartDue:
      return reject("the end of the service", of: name)
    }
    let isCrash = task.rules.keepsAlive
    if task.former == .serving {
      // What serves already is not started again before the next change.
      roundMembers.insert(name)
      return proceed(
        [.giveUpReadiness(name)] + enter(.ready, name, isCrash ? .failed : result)
          + [.keep(name, because: name)])
    }
    tasks[name]?.former = .absent
    let failures = enter(isCrash ? .crashed : .atRest, name, isCrash ? .failed : result)
    // What has ended did not see for itself what it was not restarted for.
    let again = !isCrash && task.hasKeptRunning ? request(name, .change) : []
    return proceed([.giveUpReadiness(name)] + failures + again)
  }

  /// The service that has ended by itself is at rest: its hook has ended as well.
  package mutating func serviceIsAtRest(_ name: String) -> [Action] {
    guard let task = tasks[name], task.phase == .crashed, !isEnding else { return [] }
    if !task.isRequested { return proceed(backOff(name)) }
    // If its request is dropped, it is started as it was.
    update(name) { $0.phase = .restartDue }
    return proceed([])
  }

  private func isChecked(_ name: String, _ generation: Int) -> Bool {
    let task = self[name]
    return !isEnding && task.generation == generation && task.phase.isUp && task.phase != .ready
  }

  mutating func isReady(_ name: String) -> [Action] {
    (self[name].rules.hasReadiness ? [.reportReady(name)] : []) + enter(.ready, name, .succeeded)
  }

  /// The service enters a phase, with this result.
  private mutating func enter(_ phase: Phase, _ name: String, _ result: Result) -> [Action] {
    guard let task = tasks[name] else { return [] }
    tasks[name]?.phase = phase
    if task.phase == .starting(isFresh: true) { return conclude(name, result) }
    // It keeps running through the failure of a dependency.
    if case .skipped = task.outcome { return [] }
    tasks[name]?.outcome = result
    // One that has ended, or whose former process serves on, is not ready by that.
    if result != .succeeded || phase != .ready || task.former == .serving { return [] }
    let skipped = order.filter { self[$0].outcome == .skipped(because: name) }
    return skipped.flatMap { request($0, task.reason) }
  }
}

// MARK: - Former processes

extension TaskStateMachine {
  /// Stops the former process of a service, if there is one, which is `next` then.
  mutating func endFormer(_ name: String, _ next: Former = .absent) -> [Action] {
    let serves = self[name].former == .serving
    tasks[name]?.former = serves ? next : .absent
    if !serves { return [] }
    // Whatever the other process does, this one may hold the port.
    var task = self[name]
    task.phase = .ready
    retiring.append(Retired(task: task, ancestors: []))
    return [.retire(name)]
  }

  /// The former process of a service has ended by itself, and its hook as well.
  package mutating func formerHasEnded(_ name: String, _ result: Result) -> [Action] {
    guard let rules = tasks[name]?.rules, !isEnding else { return [] }
    let isTried = self[name].phase != .ready
    let actions = endFormer(name, isTried && rules.isReadyAlone ? .ended : .absent)
    if isTried || actions.isEmpty { return proceed(actions) }
    // The other process has failed before.
    tasks[name]?.phase = rules.keepsAlive ? .crashed : .atRest
    if !rules.keepsAlive { tasks[name]?.outcome = result }
    return proceed(actions) + serviceIsAtRest(name)
  }
}

// MARK: - Restarts

extension TaskStateMachine {
  private mutating func backOff(_ name: String) -> [Action] {
    update(name) { ($0.phase, $0.generation) = (.backingOff, $0.generation + 1) }
    return [.backOff(name, generation: self[name].generation)]
  }

  /// The pause before a restart is over; or the restart is given up, and the command starts again on request.
  package mutating func backOffIsOver(
    _ name: String, generation: Int, isGivenUp: Bool = false
  ) -> [Action] {
    guard isBackingOff(name, generation) else { return [] }
    tasks[name]?.phase = isGivenUp ? .atRest : .restartDue
    return proceed([])
  }

  /// Whether the pause of this generation is still awaited: another run may have begun instead.
  package func isBackingOff(_ name: String, _ generation: Int) -> Bool {
    !isEnding && self[name].phase == .backingOff && self[name].generation == generation
  }

  /// Requests runs of commands that are due again and have ignored changes, which a restart would not receive.
  mutating func requestChangedRestarts() -> [Action] {
    if isPaused { return [] }
    return order.flatMap { name -> [Action] in
      guard let task = tasks[name], task.phase == .restartDue,
        task.rules.busyPolicy == .ignore, !task.rules.isService, owedTasks.contains(name)
      else { return [] }
      return request(name, .change)
    }
  }

  /// Starts the commands that are due again, as they were: also after the failure of a dependency.
  mutating func startDueRestarts() -> [Action] {
    if isPaused { return [] }
    return order.flatMap { name -> [Action] in
      guard let task = tasks[name], task.phase == .restartDue, !task.isRequested else { return [] }
      // A service waits for no dependent that runs, which may need it.
      let isBlocked =
        task.rules.isService ? hasNoRoom(name) : isBlocked(name) || !hasFreeJob
      if waits(name) || isBlocked { return [] }
      update(name) { $0.phase = task.rules.isService ? .starting(isFresh: false) : .running }
      return [.start(name, .restart)]
    }
  }
}
