import FileObservation
import Support
import SystemCalls

// Decides which changes begin a round of which tasks.

extension TaskRunner {
  func component(of name: String) -> TaskComponent? {
    components.first { $0.names.contains(name) }
  }

  /// `submit` for callers on the queue.
  package func accept(_ batch: ChangeBatch) {
    options.freshness?.changed(batch.changes, of: graph.tasks)
    if machine.isEnding { return }
    if batch.isPartial { awaitBurstEnd() }
    let time = monitor.takeBurst()
    let count = batch.changes.count
    let batch = withoutDeclaredWrites(batch)
    if batch.changes.isEmpty { return updateFrequentPaths() }
    let leaving = Set(allWorkers.filter { $0.hadLeftovers() }.map(\.name))
    // What they do is known only of those that this process adopts.
    let isAdopting = adoption.withLock(\.isOn)
    let hadOrphans = monitor.hadOrphans()
    let areAll = time != nil && batch.changes.count == count
    let evidence = monitor.evidence(about: batch.changes, areAll: areAll)
    let builds = findBuilds()
    let parts = BatchParts(batch, graph.audiences)
    noteSaves(parts, evidence, in: builds)
    let received = components.map { ($0, divide(parts, in: $0)) }.filter { !$0.1.isEmpty }
    let missed = missed(parts, evidence)
    // Before anything begins: tasks that watch the same are owed one list.
    state.access { $0.owed.add(received.flatMap(\.1), overflow: batch.overflow) }
    for (name, changes) in missed { miss(changes, by: name) }
    // The first round begins runs that cannot have made these changes, so the situations are those before.
    let situations = received.map { component, watching in
      let hasLeftovers = hadOrphans || !leaving.isDisjoint(with: component.names)
      return (
        situation(of: component, watching.map(\.name), besideLeftovers: hasLeftovers),
        isKnown: !hasLeftovers || isAdopting
      )
    }
    for ((component, watching), (situation, isKnown)) in zip(received, situations) {
      // A run that waits for the end of a pause receives all changes.
      if watching.map(\.name).allSatisfy(machine.waitsForResumption) { continue }
      let changes = parts.union(of: watching.map(\.changes))
      let evidence = isKnown ? evidence : [:]
      component.changed(changes, evidence, situation, burst: time)
      // Also while services are stopped, whose end is no end of work.
      if component.awaitsJudgment && activity(of: component.names).isBusy {
        component.hasWorked = true
      }
    }
    reportChanges()
    watchClosely()
    updateFrequentPaths()
  }

  /// The batch without the changes that start no task, as tasks declare what they write.
  private func withoutDeclaredWrites(_ batch: ChangeBatch) -> ChangeBatch {
    let audiences = graph.audiences
    if audiences.allSatisfy(\.triggers.writes.patterns.isEmpty) { return batch }
    var (rest, declared) = (batch, Set<Path>())
    rest.changes.removeAll { change in
      if audiences.contains(where: { $0.triggers.isTriggered(by: change) }) { return false }
      if audiences.contains(where: { $0.triggers.isWatched(change) }) {
        declared.insert(change.path)
      }
      return true
    }
    state.access { state in
      if state.declaredPaths.count > Self.mostDeclaredPaths { state.declaredPaths = [] }
      state.declaredPaths.formUnion(declared)
    }
    return rest
  }

  /// Beyond so many paths, what is known of them is dropped: most have names of their own each time.
  private static let mostDeclaredPaths = 1000

  /// What others have saved in builds that a save does not stop, by task.
  private func missed(
    _ parts: BatchParts, _ evidence: [Path: Verdict]
  ) -> [(name: String, changes: [ChangeBatch.Change])] {
    machine.buildsThatMissSaves.compactMap { name in
      guard let component = component(of: name) else { return nil }
      // No build takes what is gone for up to date.
      let saved = parts[name].filter { change in
        change.kind != .removed && component.isSaved(change.path, evidence)
      }
      return saved.isEmpty ? nil : (name, saved)
    }
  }

  /// What the tasks of a component receive of a batch, without what they ignore.
  private func divide(
    _ parts: BatchParts, in component: TaskComponent
  ) -> [(name: String, changes: [ChangeBatch.Change])] {
    let names = graph.tasks.map(\.name).filter(component.names.contains)
    let ignoring = Set(names.filter { ignoresChanges($0, in: component) })
    return names.compactMap { task in
      var own = parts[task]
      // Nor does a dependency begin because of what a task that depends on it ignores.
      for name in [task] + machine.descendants[task, default: []] where ignoring.contains(name) {
        let ignored = own.filter { ignores($0, by: name) }
        if ignored.isEmpty { continue }
        own.removeAll(where: Set(ignored).contains)
        state.access { $0.owed.ignore(by: task) }
        if name == task { report(.task(name, .ignored(RunTrigger(.change, changes: ignored)))) }
      }
      return own.isEmpty ? nil : (task, own)
    }
  }

  /// Whether the policy of a task is to ignore changes, and it runs or has just ended.
  private func ignoresChanges(_ name: String, in component: TaskComponent) -> Bool {
    guard let task = worker(name)?.definition, task.policy.busyPolicy == .ignore, !task.isService
    else { return false }
    return component.ignoring.contains(name) || machine.runs(name)
  }

  /// Whether a task watches what has changed, and the entry has not changed after the end of its run, by the timestamp
  /// or, if it is gone, that of its directory. One in the future is of another machine's clock, and tells nothing.
  private func ignores(_ change: ChangeBatch.Change, by name: String) -> Bool {
    guard let worker = worker(name), worker.definition.triggers.isWatched(change) else {
      return false
    }
    guard let end = worker.state.access(\.ended),
      let status = change.path.lineage.firstResult({ try? FileStatus(of: $0) })
    else { return true }
    return status.changed <= end || status.changed > .latest()
  }

  private func situation(
    of component: TaskComponent, _ watching: [String], besideLeftovers hasLeftovers: Bool
  ) -> ChangeJudge.Situation {
    let machine = machine
    let service: ChangeJudge.Situation =
      watching.contains(where: machine.isBuildingService) ? .buildingService : .interruptible
    switch activity(of: component.names) {
    case .stopping:
      // Another task of the component may run, and have read what was there before.
      return component.names.contains { machine[$0].phase == .running } ? .running : .stopping
    case .running:
      if watching.contains(where: machine.isBuilding) { return .building }
      return watching.contains(where: machine.changeInterruptsRun) ? service : .running
    case .serving:
      return service
    case .none:
      if hasLeftovers || isServing(beside: component) { return .leftovers }
      let others = components.filter { other in
        other.names != component.names
          && (activity(of: other.names).isBusy || other.isFlushing)
      }
      if others.isEmpty { return .idle }
      let latest = component.lastLaunch?.time
      let haveBegun = others.compactMap { $0.lastLaunch?.time }.contains { time in
        latest.map { time >= $0 } ?? true
      }
      return haveBegun ? .othersRunning : .leftovers
    }
  }

  // MARK: - Decisions

  func perform(_ decision: ChangeJudge.Action, of component: TaskComponent) {
    let names = component.names
    switch decision {
    case .run(let paths):
      state.access { $0.owed.require(names, for: paths) }
      let machine = machine
      let isBuilding = names.contains { machine.isBuilding($0) || machine.isBuildingService($0) }
      if isBuilding { noteSaves(paths, in: component, isBuilding: true) }
      if state.access({ $0.isBurstUnderWay }) {
        component.awaitingBurstEnd = component.awaitingBurstEnd ?? .init()
        component.awaitingBurstEnd?.paths.formUnion(paths)
        // What builds finish before the end of the burst would be newer than a save.
        let changed = owing(names, anyOf: paths)
        advance { $0.changedWhileHeld(changed) }
      } else {
        requestRuns(of: component, for: paths)
      }
    case .settle(let paths):
      // A run that is requested receives them: another run may have begun with them, but not the last one
      // of the task.
      state.access { state in
        state.owed.settle(paths, to: names.filter { !state.machine[$0].isRequested })
      }
    case .setAside(let paths):
      setAside(paths, component)
    case .leave(let paths):
      state.access { $0.owed.setAside(paths, for: names) }
    case .stopBuilds(let paths):
      noteSaves(paths, in: component, isBuilding: true)
      let machine = machine
      // A service goes on that does not end with the build.
      let building = owing(names, anyOf: paths).filter { name in
        machine.hasBuild(name) && (component.endsByItself || !machine[name].rules.isService)
      }
      advance { $0.changedWhileHeld(building) }
    case .announce(let loop):
      report(.changes(.foundLoop(loop)))
    case .announceOutputs(let paths):
      report(.changes(.foundOutputs(paths)))
    case .announceOwed(let list):
      let paths = Set(list)
      let changes = NetChanges(names.sorted().flatMap { owed.trigger(of: $0).changes }).changes
        .filter { paths.contains($0.path) || $0.from.map(paths.contains) ?? false }
      if !changes.isEmpty { report(.changes(.owed(RunTrigger(.change, changes: changes)))) }
    case .explain(let judgments):
      report(.changes(.explained(judgments)))
    case .tested(let delay):
      for other in components where other !== component {
        // Their changes are compared with those that followed starts without that.
        other.advance { judge in
          judge.testedElsewhere += delay
          return []
        }
      }
    case .judged:
      (component.ignoring, component.haveIgnored) = (names.filter(machine.ignores), [])
      component.awaitingBurstEnd?.isJudged = true
      // A dependent task must not start before the run that is requested.
      if component.awaitingBurstEnd == nil { advance { $0.changesAreJudged(names) } }
    case .flush, .wait:
      break
    }
  }

  /// Requests runs of the tasks that are owed the changes of these paths.
  private func requestRuns(of component: TaskComponent, for paths: [Path]) {
    let requested = owing(component.names, anyOf: paths)
    let delayed = activity(of: component.names).isBusy ? [] : beginRound(of: component)
    advance { $0.changed(requested.union(delayed)) }
  }

  private func owing(_ names: Set<String>, anyOf paths: [Path]) -> Set<String> {
    let owed = owed
    return names.filter { owed.owes($0, anyOf: paths) }
  }

  /// Keeps decisions until the burst that is under way has ended.
  private func awaitBurstEnd() {
    let source = state.access { state -> (any ChangeSource)? in
      guard !state.isBurstUnderWay, let source = state.source else { return nil }
      state.isBurstUnderWay = true
      return source
    }
    source?.awaitBurstEnd { [weak self, queue] in
      queue.async { [weak self] in self?.burstHasEnded() }
    }
  }

  private func burstHasEnded() {
    state.access { $0.isBurstUnderWay = false }
    for component in components {
      // One after the other: a request that is held would begin without the decision, and be made again by it.
      guard let decisions = exchange(&component.awaitingBurstEnd, with: nil) else { continue }
      let paths = Array(decisions.paths)
      // Where a component was divided, one part may be owed none of it.
      if !owing(component.names, anyOf: paths).isEmpty { requestRuns(of: component, for: paths) }
      if decisions.isJudged { advance { $0.changesAreJudged(component.names) } }
    }
    advance { $0.proceed([]) }
  }

  /// These outputs request no run of the tasks that have run in this round. Others that watch them run.
  private func setAside(_ paths: [Path], _ component: TaskComponent) {
    let gone = paths.filter { (try? FileStatus(of: $0)) == nil }
    let ran = component.ran
    state.access { state in
      // What is gone need not be told.
      state.owed.settle(gone, to: ran)
      state.owed.setAside(paths, for: ran)
    }
    let others = owing(component.names.subtracting(ran), anyOf: paths)
    if !others.isEmpty { advance { $0.changed(others) } }
  }

  /// Begins a round, which receives all changes. Returns the tasks whose runs were due later.
  ///
  /// - Parameter isComplete: Whether what the runs before have changed has been received.
  private func beginRound(of component: TaskComponent, isComplete: Bool = true) -> Set<String> {
    component.ran = []
    let paths = component.duePaths
    component.dropRequest()
    component.began(isComplete: isComplete)
    return owing(component.names, anyOf: paths)
  }

  /// Begins a round in each idle component, or those of these tasks, because of a start, a key or another graph.
  ///
  /// - Parameter kept: The tasks that stay. While one of them runs, or a run of it is delayed, no round begins.
  func beginRounds(
    of names: Set<String>? = nil, keeping kept: Set<String>? = nil,
    _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) {
    var delayed: Set<String> = []
    for component in components {
      if names?.isDisjoint(with: component.names) == true { continue }
      let staying = kept?.intersection(component.names)
      if activity(of: staying ?? component.names).isBusy
        || staying.map({ !owing($0, anyOf: component.duePaths).isEmpty }) == true
      {
        component.advance { $0.resumed() }
      } else {
        let due = beginRound(of: component, isComplete: kept == nil)
        delayed.formUnion(due.subtracting(names ?? component.names))
      }
    }
    advance { [delayed] in step(&$0) + (delayed.isEmpty ? [] : $0.changed(delayed)) }
  }

  /// Judges the changes of each component whose runs have ended.
  func endWork() {
    for component in components {
      let (names, machine) = (component.names, machine)
      let activity = activity(of: names)
      let (runs, ignoring) = (names.contains(where: machine.runs), names.filter(machine.ignores))
      let hasWorked = activity.isBusy && (component.hasWorked || runs)
      let hadWorked = exchange(&component.hasWorked, with: hasWorked)
      component.ignoring.formUnion(ignoring)
      if hadWorked { endWork(of: component) }
      if !activity.isBusy { continue }
      let ended = component.ignoring.subtracting(ignoring)
      // What a task has ignored must be known before later changes count.
      if !ended.isSubset(of: exchange(&component.haveIgnored, with: ended)) {
        component.advance { $0.ignoringEnded() }
      }
    }
  }

  /// Judges the changes of a component, unless something is busy there, whose end is awaited.
  func endWork(of component: TaskComponent) {
    let activity = activity(of: component.names)
    if activity.isBusy { return }
    let services = component.names.compactMap(worker).filter(\.definition.isService)
    let hasSucceeded = services.allSatisfy { $0.state.access(\.status).isSuccess }
    component.advance {
      $0.workEnded(isServing: activity == .serving, hasSucceeded: hasSucceeded)
    }
  }

  func hasStarted(_ name: String) {
    guard let component = component(of: name) else { return }
    component.launched(isOnlyReader: component.names.count == 1)
    component.hasWorked = component.hasWorked || !machine[name].rules.isService
    component.ran.insert(name)
    state.access { $0.isIdle = false }
  }

  /// `stop` for callers on the queue.
  func stopNow() {
    if machine.isEnding { return }
    let waiting = waiting
    for component in components {
      component.dropRequest()
      let awaitsEnd = activity(of: component.names) != .none
      component.advance { $0.stopped(awaitsEnd: awaitsEnd) }
    }
    advance { $0.stop() }
    // Hooks of services, and leftover processes.
    for worker in allWorkers { worker.stop() }
    let owed = NetChanges(waiting.flatMap(\.trigger.changes)).changes
    if !owed.isEmpty { report(.changes(.owed(RunTrigger(.change, changes: owed)))) }
  }
}
