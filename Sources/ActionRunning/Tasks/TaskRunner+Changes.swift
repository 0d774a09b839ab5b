import FileObservation
import Support
import SystemCalls

// Decides which changes begin a round of which tasks.

extension TaskRunner {
  func component(of name: String) -> TaskComponent? {
    state.access { $0.components.first { $0.names.contains(name) } }
  }

  func update(_ names: Set<String>, _ change: (inout TaskComponent) -> Void) {
    state.access { state in
      guard let index = state.components.firstIndex(where: { $0.names == names }) else { return }
      change(&state.components[index])
    }
  }

  /// `submit` for callers on the queue.
  ///
  /// - Parameter isOwed: Whether a task that watches a change is owed it; `nil` if each is.
  package func accept(
    _ batch: ChangeBatch, for isOwed: ((String, ChangeBatch.Change) -> Bool)? = nil
  ) {
    options.freshness?.changed(batch.changes, of: state.access { $0.graph.tasks })
    if state.access({ $0.machine.isEnding }) { return }
    if batch.isPartial { awaitBurstEnd() }
    let time = monitor.takeBurst()
    let batch = withoutDeclaredWrites(batch)
    if batch.changes.isEmpty { return updateFrequentPaths() }
    let leaving = Set(allWorkers.filter { $0.hadLeftovers() }.map(\.name))
    // What they do is known only of those that this process adopts.
    let isAdopting = adoption.withLock(\.isOn)
    let hadOrphans = monitor.hadOrphans()
    let evidence = monitor.evidence(about: batch.changes)
    let builds = findBuilds()
    let parts = BatchParts(batch, state.access { $0.graph.audiences })
    noteSaves(parts, evidence, in: builds)
    let received = state.access({ $0.components }).map { component in
      (component, divide(parts, in: component, for: isOwed))
    }
    let missed = missed(parts, evidence)
    // Before anything begins: tasks that watch the same are owed one list.
    for (part, names) in parts.groups(received.flatMap(\.1)) {
      state.access { $0.owed.add(part, to: names) }
    }
    for (name, changes) in missed { miss(changes, by: name) }
    // The first round begins runs that cannot have made these changes, so the situations are those before.
    let situations = received.map { component, watching in
      let hasLeftovers = hadOrphans || !leaving.isDisjoint(with: component.names)
      return (
        situation(of: component, watching.map(\.name), besideLeftovers: hasLeftovers),
        isKnown: !hasLeftovers || isAdopting
      )
    }
    for ((component, watching), (situation, isKnown)) in zip(received, situations)
    where !watching.isEmpty {
      let changes = parts.union(of: watching)
      let evidence = isKnown ? evidence : [:]
      component.rounds.changed(changes, evidence, situation, burst: time)
      // Also while services are stopped, whose end is no end of work.
      if component.rounds.awaitsJudgment && activity(of: component.names).isBusy {
        update(component.names) { $0.hasWorked = true }
      }
      if situation == .buildingService {
        let services = state.access { state in
          watching.map(\.name).filter(state.machine.isBuildingService)
        }
        missDelayed(changes, evidence, by: services, of: component)
      }
    }
    reportChanges()
    watchClosely()
    updateFrequentPaths()
  }

  /// The batch without the changes that start no task, if any task declares what it writes. Who made those is of no
  /// interest.
  private func withoutDeclaredWrites(_ batch: ChangeBatch) -> ChangeBatch {
    let audiences = state.access { $0.graph.audiences }
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
    let (names, components) = state.access { ($0.machine.buildsThatMissSaves, $0.components) }
    return names.compactMap { name in
      guard let component = components.first(where: { $0.names.contains(name) }) else { return nil }
      // No build takes what is gone for up to date.
      let saved = parts[name].changes.filter { change in
        change.kind != .removed && component.isSaved(change.path, evidence)
      }
      return saved.isEmpty ? nil : (name, saved)
    }
  }

  /// What the tasks of a component receive of a batch, without what they ignore.
  private func divide(
    _ parts: BatchParts, in component: TaskComponent,
    for isOwed: ((String, ChangeBatch.Change) -> Bool)?
  ) -> [BatchParts.Part] {
    let tasks = state.access { $0.graph.tasks.filter { component.names.contains($0.name) } }
    let ignoring = tasksThatIgnore(in: component, tasks)
    return tasks.compactMap { task in
      var own = parts[task.name]
      if let isOwed { own.filter { isOwed(task.name, $0) } }
      if let itself = ignoring.first(where: { $0.definition.name == task.name }) {
        let ignored = own.remove(where: itself.ignores)
        if !ignored.isEmpty {
          state.access { $0.owed.ignore(by: task.name) }
          report(.task(task.name, .ignored(RunTrigger(.change, changes: ignored))))
        }
      }
      // Nor does a dependency begin because of what a task that depends on it ignores.
      let dependents = ignoring.filter { below in
        let descendants = state.access { $0.machine.descendants[task.name, default: []] }
        return descendants.contains(below.definition.name)
      }
      if !dependents.isEmpty
        && !own.remove(where: { change in dependents.contains { $0.ignores(change) } }).isEmpty
      {
        state.access { $0.owed.ignore(by: task.name) }
      }
      return own.changes.isEmpty ? nil : own
    }
  }

  /// The tasks whose policy is to ignore changes, and that run or have just ended.
  private func tasksThatIgnore(
    in component: TaskComponent, _ tasks: [TaskDefinition]
  ) -> [IgnoringTask] {
    state.access { state in
      tasks.filter { task in
        guard task.policy.busyPolicy == .ignore, !task.isService else { return false }
        return state.machine.runs(task.name) || component.ignoring.contains(task.name)
      }.map { task in
        IgnoringTask(definition: task, end: state.workers[task.name]?.state.access(\.ended))
      }
    }
  }

  private func situation(
    of component: TaskComponent, _ watching: [String], besideLeftovers hasLeftovers: Bool
  ) -> ChangeJudge.Situation {
    let machine = state.access { $0.machine }
    let service: ChangeJudge.Situation =
      watching.contains(where: machine.isBuildingService) ? .buildingService : .interruptible
    switch activity(of: component.names) {
    case .stopping:
      // The next run has not started and will receive the changes.
      return .running
    case .running:
      if watching.contains(where: machine.isBuilding) { return .building }
      return watching.contains(where: machine.changeInterruptsRun) ? service : .running
    case .serving:
      return service
    case .none:
      if hasLeftovers || isServing(beside: component) { return .leftovers }
      let others = state.access { $0.components }.filter { other in
        other.names != component.names
          && (activity(of: other.names).isBusy || other.rounds.isFlushing)
      }
      if others.isEmpty { return .idle }
      let latest = component.rounds.lastLaunch?.time
      let haveBegun = others.compactMap(\.rounds.lastLaunch?.time).contains { time in
        latest.map { time >= $0 } ?? true
      }
      return haveBegun ? .othersRunning : .leftovers
    }
  }

  // MARK: - Decisions

  func handle(_ event: RoundController.Event, of names: Set<String>) {
    switch event {
    case .decision(let decision): perform(decision, of: names)
    case .tested(let delay):
      for component in state.access(\.components) where component.names != names {
        component.rounds.others(areDelayedBy: delay)
      }
    case .judged: changesAreJudged(of: names)
    }
  }

  /// Performs a decision of a component's rounds.
  private func perform(_ decision: ChangeJudge.Action, of names: Set<String>) {
    switch decision {
    case .run(let paths):
      state.access { $0.owed.require(names, for: paths) }
      if let component = names.first.flatMap(component(of:)),
        state.access({ state in
          names.contains { state.machine.isBuilding($0) || state.machine.isBuildingService($0) }
        })
      {
        noteSaves(paths, in: component, isBuilding: true)
      }
      if state.access({ $0.isBurstUnderWay }) {
        update(names) { component in
          component.awaitingBurstEnd =
            component.awaitingBurstEnd ?? TaskComponent.Decisions(paths: [])
          component.awaitingBurstEnd?.paths.formUnion(paths)
        }
        stopBuilds(of: names, for: paths)
      } else {
        requestRuns(of: names, for: paths)
      }
    case .settle(let paths):
      // A run that is requested receives them: another run may have begun with them, but not the last one
      // of the task.
      state.access { state in
        state.owed.settle(paths, to: names.filter { !state.machine.isRequested($0) })
      }
    case .setAside(let paths):
      setAside(paths, names)
    case .announce(let loop):
      report(.changes(.foundLoop(loop)))
    case .announceOutputs(let paths):
      report(.changes(.foundOutputs(paths)))
    case .announceOwed(let list):
      let paths = Set(list)
      let changes = state.access { state in
        NetChanges(names.sorted().flatMap { state.owed.trigger(of: $0).changes }).changes
      }.filter { paths.contains($0.path) || $0.from.map(paths.contains) ?? false }
      if !changes.isEmpty { report(.changes(.owed(RunTrigger(.change, changes: changes)))) }
    case .explain(let judgments):
      report(.changes(.explained(judgments)))
    case .flush, .wait:
      break
    }
  }

  private func changesAreJudged(of names: Set<String>) {
    let ignoring = state.access { state in names.filter(state.machine.ignores) }
    update(names) { component in
      component.ignoring = ignoring
      component.awaitingBurstEnd?.isJudged = true
    }
    let isAwaited = state.access { state in
      state.components.contains { $0.names == names && $0.awaitingBurstEnd != nil }
    }
    // A dependent task must not start before the run that is requested.
    if !isAwaited { advance { $0.changesAreJudged(names) } }
  }

  /// Requests runs of the tasks that are owed the changes of these paths.
  private func requestRuns(of names: Set<String>, for paths: [Path]) {
    let requested = state.access { state in
      names.filter { state.owed.owes($0, anyOf: paths) }
    }
    let delayed = activity(of: names).isBusy ? [] : beginRound(of: names)
    advance { $0.changed(requested.union(delayed)) }
  }

  /// Stops the runs that these changes make worthless, without waiting for the end of the burst: what they finish
  /// meanwhile would be newer than a save.
  private func stopBuilds(of names: Set<String>, for paths: [Path]) {
    let changed = state.access { state in names.filter { state.owed.owes($0, anyOf: paths) } }
    advance { $0.changedInBurst(changed) }
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
    let all = state.access { state in
      state.isBurstUnderWay = false
      return state.components.indices.compactMap { index in
        state.components[index].awaitingBurstEnd.take().map {
          (state.components[index].names, $0)
        }
      }
    }
    for (names, decisions) in all {
      if !decisions.paths.isEmpty { requestRuns(of: names, for: Array(decisions.paths)) }
      if decisions.isJudged { advance { $0.changesAreJudged(names) } }
    }
    advance { $0.burstHasEnded() }
  }

  /// These outputs request no run of the tasks that have run in this round. Others that watch them run.
  private func setAside(_ paths: [Path], _ names: Set<String>) {
    let gone = paths.filter { (try? FileStatus(of: $0)) == nil }
    let others = state.access { state in
      let ran = state.components.first { $0.names == names }?.ran ?? []
      // What is gone need not be told.
      state.owed.settle(gone, to: ran)
      state.owed.setAside(paths, for: ran)
      return names.subtracting(ran).filter { state.owed.owes($0, anyOf: paths) }
    }
    if !others.isEmpty { advance { $0.changed(others) } }
  }

  /// Begins a round, which receives all changes. Returns the tasks whose runs were due later.
  private func beginRound(of names: Set<String>) -> Set<String> {
    update(names) { $0.ran = [] }
    guard let component = state.access({ $0.components.first { $0.names == names } }) else {
      return []
    }
    let paths = component.rounds.delayedPaths + (component.awaitingBurstEnd?.paths ?? [])
    update(names) { $0.dropRequest() }
    component.rounds.began()
    return state.access { state in names.filter { state.owed.owes($0, anyOf: paths) } }
  }

  /// Begins a round in each idle component, because of a start or a key.
  ///
  /// - Parameter names: The tasks that are requested; `nil` for all.
  func beginRounds(
    of names: Set<String>? = nil, _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) {
    var delayed: Set<String> = []
    for component in state.access({ $0.components }) {
      if names?.isDisjoint(with: component.names) == true { continue }
      if activity(of: component.names).isBusy {
        component.rounds.resumed()
      } else {
        delayed.formUnion(beginRound(of: component.names).subtracting(names ?? component.names))
      }
    }
    advance { [delayed] in step(&$0) + (delayed.isEmpty ? [] : $0.changed(delayed)) }
  }

  /// Judges the changes of each component whose runs have ended.
  func endWork() {
    for component in state.access({ $0.components }) {
      let names = component.names
      let activity = activity(of: names)
      let (runs, ignoring) = state.access { state in
        (names.contains(where: state.machine.runs), names.filter(state.machine.ignores))
      }
      update(names) { component in
        component.hasWorked = activity.isBusy && (component.hasWorked || runs)
        component.ignoring.formUnion(ignoring)
      }
      if component.hasWorked {
        endWork(of: component)
      }
      if activity.isBusy && !component.ignoring.isSubset(of: ignoring) {
        // What the task has ignored must be known before later changes count.
        component.rounds.ignoringEnded()
      }
    }
  }

  /// Judges the changes of a component, unless something is busy there, whose end is awaited.
  func endWork(of component: TaskComponent) {
    let activity = activity(of: component.names)
    if !activity.isBusy { component.rounds.workEnded(isServing: activity == .serving) }
  }

  /// A run of the task begins.
  func hasStarted(_ name: String) {
    state.access { $0.restartTimers.removeValue(forKey: name) }?.cancel()
    guard let component = component(of: name) else { return }
    component.rounds.launched(isOnlyReader: component.names.count == 1)
    let isService = state.access { $0.graph[name]?.isService ?? false }
    update(component.names) { component in
      component.hasWorked = component.hasWorked || !isService
      component.ran.insert(name)
    }
    state.access { $0.isIdle = false }
  }

  /// A process of the task has ended, and probably the work of the round. An early flush shortens the
  /// time in which a change by others is attributed to the run.
  func runHasEnded(_ worker: TaskWorker) {
    let name = worker.name
    // Those that have ended before say nothing of what changes after the run.
    monitor.forgetEndedOrphans()
    // The next run begins before the answer.
    if worker.isAboutToLaunch { return }
    guard let component = component(of: name) else { return }
    let isLast = state.access { state in
      !state.machine.isEnding && state.machine.dependents(of: name).isEmpty
        && component.names.allSatisfy { $0 == name || !state.machine.isRequestedOrRuns($0) }
    }
    if isLast { component.rounds.runEnded() }
  }

  /// Judges the changes that were made while the ancestors of a task ran.
  func judgeChanges(before name: String) {
    guard let component = component(of: name) else { return }
    component.rounds.checkpoint()
  }

  /// `stop` for callers on the queue.
  func stopNow() {
    if state.access({ $0.machine.isEnding }) { return }
    let waiting = state.access { $0.waiting }
    for component in state.access({ $0.components }) {
      update(component.names) { $0.dropRequest() }
      component.rounds.stopped(awaitsEnd: activity(of: component.names) != .none)
    }
    advance { $0.stop() }
    // Hooks of services, and leftover processes.
    for worker in allWorkers { worker.stop() }
    let owed = NetChanges(waiting.flatMap(\.trigger.changes)).changes
    if !owed.isEmpty { report(.changes(.owed(RunTrigger(.change, changes: owed)))) }
  }
}
