// Starts requested tasks as soon as possible.

extension TaskStateMachine {
  /// Starts what can start, and ends the round if nothing is unsettled, after these actions.
  mutating func proceed(_ actions: [Action]) -> [Action] {
    if isEnding { return actions + endNext() }
    for name in order where tasks[name]?.judging == .held && !heldTasks.contains(name) {
      tasks[name]?.judging = .notAsked
    }
    var actions = actions + requestChangedRestarts() + startHeldBack()
    var hasMoved = true
    while hasMoved {
      hasMoved = false
      var hasJob = hasFreeJob
      for name in order where tasks[name]?.isRequested == true {
        guard let more = stepTowardStart(of: name, hasJob) else { continue }
        actions += more
        hasMoved = true
        hasJob = hasFreeJob
      }
    }
    return actions + startDueRestarts() + endRound()
  }

  /// Starts the services that were held back before, with the results that there are, before an ancestor runs
  /// again. Holds others back, once.
  private mutating func startHeldBack() -> [Action] {
    order.flatMap { name -> [Action] in
      guard let task = tasks[name], let reason = task.request?.reason, task.hasNewResult,
        waits(name), hasResults(above: name)
      else { return [] }
      if task.wasHeldBack && !isBlocked(name) {
        return begin(name, task, reason, isUpToDate: false)
      }
      update(name) { ($0.hasNewResult, $0.wasHeldBack) = (false, true) }
      return []
    }
  }

  /// Whether all ancestors have succeeded, and none runs again yet.
  private func hasResults(above name: String) -> Bool {
    ancestors[name, default: []].allSatisfy { above in
      let task = self[above]
      return task.outcome == .succeeded && !task.phase.isRun
        && task.phase != .starting(isFresh: true)
    }
  }

  /// The next step toward a requested run, or its start; `nil` if it must wait.
  private mutating func stepTowardStart(of name: String, _ hasJob: Bool) -> [Action]? {
    let above = waits(name) ? [] : inOrder(ancestors[name, default: []])
    let failed = above.compactMap(failure).first
    // Otherwise it is skipped.
    let stops = failed == nil ? stopOutdated(below: name) : []
    if !stops.isEmpty { return stops }
    guard let task = tasks[name], let reason = task.request?.reason, !task.phase.isRun,
      task.judging != .held
    else { return nil }
    if waits(name) {
      tasks[name]?.judging = .notAsked
      return nil
    }
    if let failed { return skip(name, because: failed) }
    // A run needs all its ancestors, even those that were not requested.
    let missing = above.filter { self[$0].outcome != .succeeded }
    if !missing.isEmpty {
      let actions = missing.flatMap { request($0, reason) }
      return missing.contains { self[$0].isRequested } ? actions : nil
    }
    if isBlocked(name) || !hasJob && !task.rules.isService { return nil }
    switch task.judging {
    case .notAsked where needsJudgment(task, above):
      tasks[name]?.judging = .asked
      return [.judgeChanges(before: name)]
    case .asked, .held:
      return nil
    case .notAsked, .done:
      if reason != .start || task.freshness == .none { return begin(name, task, reason) }
      if task.freshness == .asked { return nil }
      update(name) { $0.freshness = .asked }
      return [.examine(name, mayBeFresh: above.allSatisfy { self[$0].freshness == .fresh })]
    }
  }

  /// Whether a direct or indirect dependency is unsettled.
  func waits(_ name: String) -> Bool {
    ancestors[name, default: []].contains(where: isUnsettled)
  }

  private func failure(of name: String) -> String? {
    switch self[name].outcome {
    case .failed: name
    case .skipped(let because): because
    case .pending, .running, .succeeded, .cancelled: nil
    }
  }

  /// Whether a run must end before this task begins.
  func isBlocked(_ name: String) -> Bool {
    hasNoRoom(name) || descendants[name, default: []].contains(where: runs)
  }

  /// Whether a retired task, or a process that has the terminal, must end before this task begins.
  func hasNoRoom(_ name: String) -> Bool {
    self[name].awaitsTerminal || !retired(before: name).isEmpty
  }

  /// The retired tasks that must be gone before this one begins.
  func retired(before name: String) -> [Retired] {
    // A new task may be another one with a new name: it needs the port of that, or writes the same files.
    let (isNew, isService) = (self[name].outcome == .pending, self[name].rules.isService)
    return retiring.filter { retired in
      let phase = retired.task.phase
      return retired.name == name || phase.isRun && retired.ancestors.contains(name)
        || isNew && (isService ? phase.isUp : phase.isRun && tasks[retired.name] == nil)
    }
  }

  /// Whether fewer runs are active than may be. Services do not count.
  var hasFreeJob: Bool {
    tasks.values.count { $0.phase.isRun } + retiring.count { $0.task.phase.isRun } < jobs
  }

  /// These tasks, each after its ancestors.
  func inOrder(_ names: Set<String>) -> [String] {
    names.isEmpty ? [] : order.filter(names.contains)
  }

  /// Stops runs that would have to be repeated, because an ancestor runs again.
  private mutating func stopOutdated(below name: String) -> [Action] {
    var actions: [Action] = []
    let isByKey = tasks[name]?.request?.reason == .key && !owedTasks.contains(name)
    let running = descendants[name, default: []].filter { tasks[$0]?.phase == .running }
    for below in inOrder(running) {
      guard let task = tasks[below], isOutdated(below, under: name, isByKey: isByKey),
        isByKey || task.mayBeStopped
      else { continue }
      update(below) { task in
        task.phase = .stopping
        if !isByKey && !task.isAttempted { task.stops += 1 }
        if !task.isRequested { task.request = .made(task.reason) }
      }
      actions.append(.stop(below))
    }
    return actions
  }

  /// A task with the policy `restart` stops its descendants, for otherwise it would have to wait
  /// for them. No task waits for what has not been started, as a program that is being written. By a key, nothing is
  /// stopped because a build works in it.
  func isOutdated(_ below: String, under name: String, isByKey: Bool = false) -> Bool {
    guard let task = tasks[below], let above = tasks[name]?.rules else { return false }
    let isCarriedAlong =
      above.busyPolicy == .restart && !above.isService && task.rules.policy == nil
      && !task.rules.isService
    let policy = isByKey ? task.rules.busyPolicy : task.busyPolicy
    return policy == .restart || task.isAttempted || isCarriedAlong
  }

  private mutating func begin(
    _ name: String, _ task: Task, _ reason: RunTrigger.Reason, isUpToDate: Bool = true
  ) -> [Action] {
    update(name) { task in
      (task.request, task.reason, task.hasNewResult) = (nil, reason, false)
      if isUpToDate { task.wasHeldBack = false }
      (task.isBuilding, task.freshness, task.isAfterDependency) = (false, .none, false)
    }
    if task.rules.isService { return beginService(name, task, reason) }
    // A service waits for the second success, and not for as many stops again.
    let isAwaited = descendants[name, default: []].contains { self[$0].wasHeldBack }
    update(name) { task in
      task.phase = .running
      if task.outcome != .cancelled && !isAwaited { task.stops = 0 }
    }
    return [.start(name, reason, afterDependency: task.isAfterDependency)]
  }

  private mutating func beginService(
    _ name: String, _ task: Task, _ reason: RunTrigger.Reason
  ) -> [Action] {
    switch task.rules.busyPolicy {
    case .ignore where task.phase.isUp && reason != .key:
      update(name) { $0.hasKeptRunning = true }
      return keepRunning(name, task)
    case .signal(let signal) where task.phase.isUp:
      return [.signal(name, signal, reason)] + keepRunning(name, task)
    case .queue, .ignore, .restart, .overlap, .signal:
      return startService(name, reason)
    }
  }

  /// Starts a service. If it runs, it is stopped first; one that is ready may go on until the new process is.
  mutating func startService(_ name: String, _ reason: RunTrigger.Reason) -> [Action] {
    roundMembers.insert(name)
    var actions = [Action.giveUpReadiness(name)]
    update(name) { task in
      if task.rules.overlaps && task.phase == .ready && task.former == .absent {
        task.former = .serving
        actions.append(.keepFormer(name))
      }
      (task.phase, task.hasKeptRunning) = (.starting(isFresh: true), false)
    }
    return actions + [.start(name, reason)]
  }

  /// A service keeps running, though a run is requested.
  private mutating func keepRunning(_ name: String, _ task: Task) -> [Action] {
    roundMembers.insert(name)
    switch task.phase {
    case .ready: return conclude(name, .succeeded)
    case .late: return conclude(name, .failed)
    case .starting:
      update(name) { $0.phase = .starting(isFresh: true) }
      return []
    case .atRest, .running, .stopping, .crashed, .backingOff, .restartDue:
      return reject("to keep it running", of: name)
    }
  }

  private mutating func endRound() -> [Action] {
    if roundMembers.isEmpty && !hasLostMembers { return [] }
    if hasUnsettled { return [] }
    defer { (roundMembers, hasLostMembers) = ([], false) }
    return [
      .endRound(
        order.filter(roundMembers.contains).compactMap { name in
          tasks[name].map { RoundMember(name: name, state: $0.outcome, isUp: $0.phase.isUp) }
        })
    ]
  }
}

// MARK: - Changes of ancestors

extension TaskStateMachine {
  /// Whether it is asked before a run whether an ancestor must run again, by rule 4. The run receives what its
  /// ancestors have changed in this round, or another one would follow for that.
  private func needsJudgment(_ task: Task, _ above: [String]) -> Bool {
    let mayReceive = task.rules.isService || task.rules.watches
    return above.contains(where: owedTasks.contains)
      || mayReceive
        && above.contains { roundMembers.contains($0) && self[$0].freshness != .fresh }
  }

  /// The changes are judged that were made while these tasks ran. Those that are owed a run were requested before.
  package mutating func changesAreJudged(_ names: Set<String>) -> [Action] {
    for name in names where tasks[name]?.judging == .asked {
      tasks[name]?.judging = .done
    }
    return proceed([])
  }
}

// MARK: - The terminal

extension TaskStateMachine {
  /// What takes the terminal was not started, since another process has that: it is requested as before, until
  /// `terminalIsFree` is called.
  package mutating func awaitsTerminal(
    _ name: String, _ reason: RunTrigger.Reason
  ) -> [Action] {
    guard let task = tasks[name], task.phase == .running || task.phase.isStarting, !isEnding else {
      return []
    }
    update(name) { task in
      task.awaitsTerminal = true
      task.phase =
        reason == .restart ? .restartDue : task.former == .serving ? .ready : .atRest
      if reason != .restart { task.request(reason) }
    }
    return proceed([])
  }

  package mutating func terminalIsFree(_ name: String) -> [Action] {
    tasks[name]?.awaitsTerminal = false
    return proceed([])
  }
}

// MARK: - Fresh tasks

extension TaskStateMachine {
  /// It is known whether a task is fresh. One that has changed meanwhile is not.
  package mutating func examined(_ name: String, isFresh: Bool) -> [Action] {
    guard let task = tasks[name], task.freshness == .asked else { return [] }
    let isFresh =
      isFresh && task.request?.reason == .start && !owedTasks.contains(name) && !waits(name)
    update(name) { $0.freshness = isFresh ? .fresh : .none }
    if !isFresh { return proceed([]) }
    roundMembers.insert(name)
    update(name) { ($0.request, $0.reason) = (nil, .start) }
    return proceed([.reportFresh(name)] + conclude(name, .succeeded))
  }
}

// MARK: - Passing on

extension TaskStateMachine {
  /// A task has a result, and no newer run is requested.
  mutating func conclude(_ name: String, _ result: Result) -> [Action] {
    tasks[name]?.outcome = result
    switch result {
    case .succeeded:
      let actions = dependents(of: name).flatMap { passOn(to: $0, self[name].reason) }
      // One that a postponed task keeps from running is not skipped because of this one any more.
      for below in order where isAsleep(below) && !isUp(below) {
        if self[below].outcome == .skipped(because: name) { tasks[below]?.outcome = .pending }
      }
      return actions
    case .failed:
      return order.filter { descendants[name, default: []].contains($0) && !isUnasked($0) }
        .flatMap { skip($0, because: name) }
    default:
      for below in descendants[name, default: []] where self[below].outcome == .succeeded {
        update(below) { if !$0.rules.isService { $0.outcome = .cancelled } }
      }
      return []
    }
  }

  mutating func passOn(to dependent: String, _ reason: RunTrigger.Reason) -> [Action] {
    update(dependent) { $0.isAfterDependency = true }
    // A dependency that is postponed is not run for this.
    if isAsleep(dependent) || isUnasked(dependent) { return [] }
    let actions = request(dependent, reason)
    update(dependent) { $0.hasNewResult = $0.rules.isService }
    return actions
  }

  /// Whether a task is manual, and not requested.
  private func isUnasked(_ name: String) -> Bool {
    self[name].rules.isManual && !self[name].isRequested
  }

  func isDormant(_ name: String) -> Bool { self[name].isDormant }

  /// Whether it does not run before an ancestor is requested, as a postponed one.
  private func isAsleep(_ name: String) -> Bool {
    ancestors[name, default: []].contains(where: isDormant)
  }

  mutating func skip(_ name: String, because: String) -> [Action] {
    let isKnown = roundMembers.contains(name) && tasks[name]?.outcome == .skipped(because: because)
    roundMembers.insert(name)
    update(name) { task in
      (task.request, task.hasNewResult) = (nil, false)
      if task.phase == .starting(isFresh: true) { task.phase = .starting(isFresh: false) }
      task.outcome = .skipped(because: because)
    }
    // Once in a round is enough.
    if isKnown { return [] }
    return [isUp(name) ? .keep(name, because: because) : .skip(name, because: because)]
  }
}
