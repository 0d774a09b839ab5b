import FileObservation

// Decides which changes begin a round of which tasks.

/// A connected component of the graph. Its work is one round, beside the rounds of other
/// components.
struct TaskComponent: Sendable {
  let names: Set<String>
  let rounds: RoundController
  /// Whether work was active after the latest step of the machine.
  var isBusy = false
}

extension TaskRunner {
  /// Creates new rounds for the components of a graph.
  func makeComponents(of graph: TaskGraph) {
    let source = state.access { $0.source }
    let components = graph.components.map { names in
      let rounds = RoundController(on: queue, scheduler: scheduler, source: source)
      rounds.deliver(to: { [weak self] in self?.take($0, for: names) })
      return TaskComponent(names: names, rounds: rounds)
    }
    state.access { $0.components = components }
  }

  func component(of name: String) -> TaskComponent? {
    state.access { $0.components.first { $0.names.contains(name) } }
  }

  /// `submit` for callers on the queue.
  package func accept(_ batch: ChangeBatch) {
    reportIgnored(batch)
    reportUnwatched(batch)
    for component in state.access({ $0.components }) {
      let watching = state.access { state in
        state.graph.tasks.filter {
          component.names.contains($0.name) && !state.machine.ignoresChanges(of: $0.name)
        }
      }
      var part = batch
      part.changes.removeAll { change in !watching.contains { $0.triggers.isTriggered(by: change) }
      }
      if part.changes.isEmpty { continue }
      let trigger = RunTrigger(part)
      let situation = situation(of: component, part, watching)
      let isOwnOutput = component.rounds.mayBeOwnOutput(trigger)
      component.rounds.changed(trigger, situation)
      if situation == .running && !isOwnOutput {
        reportQueued(trigger, of: watching, in: component)
      }
    }
  }

  /// Whether any of the tasks waits or runs, or is a service that is not ready or is being stopped.
  private func isBusy(_ names: Set<String>) -> Bool {
    state.access { state in
      state.machine.isUnsettled(names)
        || state.workers.contains { name, worker in
          names.contains(name) && worker.actions.state.access { $0.machine.work == .finite }
        }
    }
  }

  private func situation(
    of component: TaskComponent, _ batch: ChangeBatch, _ watching: [TaskDefinition]
  ) -> Rounds.Situation {
    let (machine, components) = state.access { ($0.machine, $0.components) }
    if isBusy(component.names) {
      let isLive = watching.contains { task in
        machine.isLive(task.name)
          && batch.changes.contains { task.triggers.isTriggered(by: $0) }
      }
      return isLive ? .live : .running
    }
    let others = components.filter { $0.names != component.names }
      .filter { isBusy($0.names) || $0.rounds.isReading }
    if let depth = others.map(\.rounds.depth).max() { return .beside(depth: depth) }
    return machine.hasService(component.names) ? .live : .idle
  }

  /// Takes a decision of a component's rounds.
  private func take(_ event: RoundController.Event, for names: Set<String>) {
    switch event {
    case .run(let trigger):
      let component = state.access { $0.components.first { $0.names == names } }
      guard let component else { return }
      let all = isBusy(names) ? trigger : component.rounds.began(trigger)
      let triggers = triggers(by: all, of: names)
      advance { $0.changed(triggers) }
    case .keep(let trigger):
      let triggers = triggers(by: trigger, of: names)
      advance { $0.remember(triggers) }
    case .found(let loop):
      report(.foundLoop(loop))
    case .judged:
      reportUnsettled()
    }
  }

  /// Reports the unsettled tasks, if they have changed.
  func reportUnsettled() {
    let reading = state.access { $0.components }.filter(\.rounds.isReading).flatMap(\.names)
    let (names, isNews) = state.access { state in
      let names = Set(state.machine.order.filter { state.machine.isUnsettled([$0]) } + reading)
      defer { state.unsettled = names }
      return (names, state.unsettled != names)
    }
    if isNews && options.reportsSettling { report(.unsettled(names)) }
    reportIdle(unsettled: names)
  }

  /// The part of a trigger for each task of a component that watches any of its changes.
  private func triggers(by trigger: RunTrigger, of names: Set<String>) -> [String: RunTrigger] {
    let tasks = state.access { $0.graph.tasks.filter { names.contains($0.name) } }
    let pairs = tasks.compactMap { task in
      task.triggers.trigger(by: ChangeBatch(trigger)).map { (task.name, $0) }
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// Begins a round in each idle component, with the changes that are owed a run.
  func beginRounds(
    _ reason: RunTrigger.Reason,
    _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) {
    for component in state.access({ $0.components }) {
      if isBusy(component.names) {
        component.rounds.resumed()
        continue
      }
      let triggers = triggers(by: component.rounds.began(RunTrigger(reason)), of: component.names)
      state.access { _ = $0.machine.remember(triggers) }
    }
    advance(step)
  }

  /// Judges the changes of each component whose work has ended.
  func endRounds() {
    for (index, component) in state.access({ $0.components }).enumerated() {
      let isBusy = isBusy(component.names)
      let isLive = state.access { state in
        state.components[index].isBusy = isBusy
        return state.machine.hasService(component.names)
      }
      if component.isBusy && !isBusy { component.rounds.workEnded(isLive: isLive) }
    }
  }

  /// `stop` for callers on the queue.
  func stopNow() {
    for component in state.access({ $0.components }) { component.rounds.stopped() }
    advance { $0.stop() }
  }
}

extension ChangeBatch {
  init(_ trigger: RunTrigger) {
    self.init(number: 0, changes: trigger.changes, overflow: trigger.reason == .overflow)
  }
}

extension TaskStateMachine {
  /// Whether any of the tasks waits or runs, or is a service that is not ready.
  func isUnsettled(_ names: Set<String>) -> Bool {
    names.contains { tasks[$0]?.isUnsettled ?? false }
  }

  func hasService(_ names: Set<String>) -> Bool {
    names.contains { tasks[$0]?.isUp ?? false }
  }

  /// Whether a change to the task's files stops or signals an active run, of the task or of a
  /// dependent.
  func isLive(_ name: String) -> Bool {
    guard let task = tasks[name] else { return false }
    let dependents = descendants[name, default: []].compactMap { tasks[$0] }
    if task.rules.policy.isLive { return task.runs || dependents.contains(where: \.runs) }
    return dependents.contains { $0.runs && $0.rules.policy.isLive }
  }

  /// Whether a change to the task's files is ignored, because the task runs.
  func ignoresChanges(of name: String) -> Bool {
    guard let task = tasks[name] else { return true }
    return task.rules.policy == .ignore && task.runs
  }

  /// Adds changes to the next runs of these tasks, without requesting one.
  mutating func remember(_ triggers: [String: RunTrigger]) -> [Action] {
    for (name, trigger) in triggers {
      update(name) { $0.unseen = $0.unseen.merged(with: trigger) }
    }
    return []
  }
}

extension TaskGraph {
  /// The connected components of the graph.
  var components: [Set<String>] {
    var components: [Set<String>] = []
    for name in order {
      let joined = Set(self[name]?.dependencies ?? []).union([name])
      let touching = components.filter { !$0.isDisjoint(with: joined) }
      components.removeAll { !$0.isDisjoint(with: joined) }
      components.append(touching.reduce(joined) { $0.union($1) })
    }
    return components
  }
}
