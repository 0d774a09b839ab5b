import FileObservation
import SystemCalls

// Decides which changes begin a round of which tasks.

extension TaskRunner {
  func component(of name: String) -> TaskComponent? {
    state.access { $0.components.first { $0.names.contains(name) } }
  }

  private func update(_ names: Set<String>, _ change: (inout TaskComponent) -> Void) {
    state.access { state in
      guard let index = state.components.firstIndex(where: { $0.names == names }) else { return }
      change(&state.components[index])
    }
  }

  /// `submit` for callers on the queue.
  package func accept(_ batch: ChangeBatch) {
    if state.access({ $0.machine.isEnding }) { return }
    reportUnwatched(batch)
    if batch.isPartial { awaitBurstEnd() }
    let evidence = monitor.evidence(about: batch.changes)
    for component in state.access({ $0.components }) { accept(batch, evidence, in: component) }
    watchClosely()
    updateFrequentPaths()
  }

  private func updateFrequentPaths() {
    let paths = Set(state.access { $0.components }.flatMap(\.rounds.frequentPaths))
    let hasChanged = state.access { state in
      defer { state.frequentPaths = paths }
      return state.frequentPaths != paths
    }
    if hasChanged { options.frequentPathsChanged?(paths) }
  }

  /// Notes that the first change of a burst has been reported. May be called on any thread, as early as
  /// possible: what the tasks do after the change proves nothing.
  package func burstBegan() {
    monitor.look(beginsBurst: true)
  }

  /// Looks at the processes often while runs are suspected to change a path.
  private func watchClosely() {
    let isNeeded = { @Sendable [weak self] in
      self?.state.access { $0.components }.contains { $0.rounds.suspectsRuns } ?? false
    }
    if isNeeded() { monitor.watchClosely(while: isNeeded) }
  }

  private func accept(
    _ batch: ChangeBatch, _ evidence: [Path: Evidence], in component: TaskComponent
  ) {
    let tasks = state.access { $0.graph.tasks.filter { component.names.contains($0.name) } }
    let ignoring = tasksThatIgnore(in: component, tasks)
    var received: [(task: TaskDefinition, changes: [ChangeBatch.Change])] = []
    for task in tasks {
      var own = task.triggers.changes(in: batch.changes)
      if ignoring.contains(where: { $0.name == task.name }) {
        if !own.isEmpty { report(.ignored(task.name, RunTrigger(.change, changes: own))) }
        continue
      }
      // Nor does a dependency begin because of what a task that depends on it ignores.
      let dependents = ignoring.filter { below in
        state.access { $0.machine.descendants[task.name, default: []].contains(below.name) }
      }
      if !dependents.isEmpty {
        own.removeAll { change in dependents.contains { $0.triggers.isTriggered(by: change) } }
      }
      if own.isEmpty { continue }
      received.append((task, own))
      state.access { $0.owed.add(own, isIncomplete: batch.overflow, to: task.name) }
    }
    guard let first = received.first else { return }
    let changes =
      received.count == 1
      ? first.changes
      : batch.changes.filter { change in
        received.contains { $0.task.triggers.isTriggered(by: change) }
      }
    component.rounds.changed(
      changes, evidence, situation(of: component, received.map(\.task.name)))
    reportChanges()
  }

  /// The tasks whose policy is to ignore changes, and that run or have just ended.
  private func tasksThatIgnore(
    in component: TaskComponent, _ tasks: [TaskDefinition]
  ) -> [TaskDefinition] {
    state.access { state in
      tasks.filter { task in
        guard task.busyPolicy == .ignore, !task.isService else { return false }
        return state.machine.runs(task.name) || component.ignoring.contains(task.name)
      }
    }
  }

  // MARK: - The situation

  /// Whether any of the tasks is requested or runs, or is a service that is being stopped.
  private func isBusy(_ names: Set<String>) -> Bool {
    state.access { $0.machine }.isRequestedOrRuns(anyOf: names) || isStopping(names)
  }

  /// Whether processes of any of the tasks are being stopped.
  private func isStopping(_ names: Set<String>) -> Bool {
    state.access { state in
      names.contains { state.workers[$0]?.state.access { $0.machine.isStopping } ?? false }
    }
  }

  /// Whether a service of the component runs, or the hook after it.
  private func hasService(_ names: Set<String>) -> Bool {
    state.access { state in
      names.contains { name in
        state.machine.isUp(name)
          || state.workers[name]?.state.access {
            $0.machine.isHooking && state.graph[name]?.isService ?? false
          } ?? false
      }
    }
  }

  private func situation(
    of component: TaskComponent, _ watching: [String]
  ) -> Rounds.Situation {
    if isBusy(component.names) {
      // The next run has not started and will receive the changes.
      if isStopping(component.names) { return .running }
      let machine = state.access { $0.machine }
      if watching.contains(where: machine.isBuilding) { return .building }
      return watching.contains(where: machine.restartsOnChange) ? .live : .running
    }
    if hasService(component.names) { return .live }
    let isBesideOthers = state.access { $0.components }.contains { other in
      other.names != component.names && (isBusy(other.names) || other.rounds.isReading)
    }
    return isBesideOthers ? .othersRunning : .idle
  }

  // MARK: - Decisions

  /// Takes a decision of a component's rounds.
  func take(_ event: RoundController.Event, for names: Set<String>) {
    switch event {
    case .run(let paths):
      if state.access({ $0.isBurstUnderWay }) {
        update(names) { component in
          component.held = component.held ?? TaskComponent.HeldDecisions(paths: [])
          component.held?.paths.formUnion(paths)
        }
      } else {
        requestRuns(of: names, for: paths)
      }
    case .settle(let paths):
      state.access { $0.owed.settle(paths, to: names) }
    case .setAside(let paths):
      setAside(paths, names)
    case .found(let loop):
      report(.foundLoop(loop))
    case .foundOutputs(let paths):
      report(.foundOutputs(paths))
    case .judgments(let judgments):
      if options.reportsJudgments { report(.judged(judgments)) }
    case .judged:
      update(names) { component in
        component.ignoring = []
        component.held?.isJudged = true
      }
      let isHeld = state.access { state in
        state.components.contains { $0.names == names && $0.held != nil }
      }
      // A dependent task must not start before the run that is requested.
      if !isHeld { advance { $0.changesAreJudged(names) } }
    }
  }

  /// Requests runs of the tasks that are owed the changes of these paths.
  private func requestRuns(of names: Set<String>, for paths: [Path]) {
    let requested = state.access { state in
      names.filter { state.owed.owes($0, anyOf: paths) }
    }
    if !isBusy(names) { beginRound(of: names) }
    advance { $0.changed(requested) }
  }

  /// Holds requests until the burst that is under way has ended.
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
    let held = state.access { state in
      state.isBurstUnderWay = false
      return state.components.indices.compactMap { index in
        state.components[index].held.take().map { (state.components[index].names, $0) }
      }
    }
    for (names, decisions) in held {
      if !decisions.paths.isEmpty { requestRuns(of: names, for: Array(decisions.paths)) }
      if decisions.isJudged { advance { $0.changesAreJudged(names) } }
    }
  }

  /// These outputs request no run of the tasks that have run in this round. Others that watch them run.
  private func setAside(_ paths: [Path], _ names: Set<String>) {
    let others = state.access { state in
      let ran = state.components.first { $0.names == names }?.ran ?? []
      state.owed.setAside(paths, for: ran)
      return names.subtracting(ran).filter { state.owed.owes($0, anyOf: paths) }
    }
    if !others.isEmpty { advance { $0.changed(others) } }
  }

  private func beginRound(of names: Set<String>) {
    update(names) { $0.ran = [] }
    let component = state.access { $0.components.first { $0.names == names } }
    update(names) { $0.dropHeldRequest() }
    component?.rounds.began()
  }

  /// Begins a round in each idle component, because of a start or a key.
  ///
  /// - Parameter names: The tasks that are requested; `nil` for all.
  func beginRounds(
    of names: Set<String>? = nil, _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) {
    for component in state.access({ $0.components }) {
      if names?.isDisjoint(with: component.names) == true { continue }
      if isBusy(component.names) {
        component.rounds.resumed()
      } else {
        beginRound(of: component.names)
      }
    }
    advance(step)
  }

  /// Judges the changes of each component whose runs have ended.
  func endWork() {
    for component in state.access({ $0.components }) {
      let names = component.names
      let isBusy = isBusy(names)
      let (runs, ignoring) = state.access { state in
        (names.contains(where: state.machine.runs), names.filter(state.machine.ignores))
      }
      update(names) { component in
        component.hasWorked = isBusy && (component.hasWorked || runs)
        component.ignoring.formUnion(ignoring)
      }
      if component.hasWorked && !isBusy {
        component.rounds.workEnded(isLive: hasService(names))
      }
    }
  }

  /// A run of the task begins.
  func hasStarted(_ name: String) {
    state.access { $0.restartTimers.removeValue(forKey: name) }?.cancel()
    guard let component = component(of: name) else { return }
    component.rounds.launched()
    let isService = state.access { $0.graph[name]?.isService ?? false }
    update(component.names) { component in
      component.hasWorked = component.hasWorked || !isService
      component.ran.insert(name)
    }
    state.access { $0.isIdle = false }
  }

  /// A process of the task has ended, and probably the work of the round. An early flush shortens the
  /// time in which a change by others is attributed to the run.
  func runHasEnded(_ name: String) {
    guard let component = component(of: name) else { return }
    let isLast = state.access { state in
      state.machine.dependents(of: name).isEmpty
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
    let waiting = state.access { $0.waiting }
    for component in state.access({ $0.components }) {
      update(component.names) { $0.dropHeldRequest() }
      component.rounds.stopped()
    }
    advance { $0.stop() }
    // Hooks of services, and leftover processes.
    for worker in allWorkers where worker.state.access({ $0.machine.state != .ended }) {
      worker.stop()
    }
    var owed = OwedChanges()
    for entry in waiting { owed.add(entry.trigger.changes, isIncomplete: false, to: "") }
    let trigger = owed.trigger(of: "")
    if !trigger.changes.isEmpty { report(.owed(trigger)) }
  }
}

// MARK: - The state of tasks

extension TaskStateMachine {
  /// Whether a run is requested or active.
  func isRequestedOrRuns(_ name: String) -> Bool {
    tasks[name].map { $0.request != nil || $0.runs } ?? false
  }

  func isRequestedOrRuns(anyOf names: Set<String>) -> Bool {
    names.contains(where: isRequestedOrRuns)
  }

  /// Whether a run is active.
  func runs(_ name: String) -> Bool { tasks[name]?.runs ?? false }

  /// Whether a run is active that ignores changes.
  func ignores(_ name: String) -> Bool {
    tasks[name].map { $0.runs && $0.rules.busyPolicy == .ignore } ?? false
  }

  /// Whether it is a service that runs.
  func isUp(_ name: String) -> Bool { tasks[name]?.isUp ?? false }

  /// Whether it is unsettled, by itself.
  func isUnsettled(_ name: String) -> Bool { tasks[name]?.isUnsettled ?? false }

  /// Whether a change to the task's files stops or signals an active run, of the task or of a
  /// dependent.
  func restartsOnChange(_ name: String) -> Bool {
    guard let task = tasks[name] else { return false }
    if task.rules.busyPolicy.isLive && (task.runs || task.isUp) { return true }
    return descendants[name, default: []].contains { below in
      (tasks[below]?.runs ?? false) && isOutdated(below, under: name)
    }
  }

  /// Whether the task is running a build that a change makes worthless: other tasks depend on it.
  func isBuilding(_ name: String) -> Bool {
    guard let task = tasks[name], task.activity == .running, !task.rules.isService else {
      return false
    }
    return task.rules.busyPolicy == .restart && !dependents(of: name).isEmpty
  }
}

extension TaskStateMachine.Rules {
  /// Whether it is a command that a change restarts or signals.
  var restartsOnChange: Bool { isService && busyPolicy.isLive }
}
