import SystemCalls

// MARK: - What it does

extension TaskRunner {
  /// What the tasks of a component do: the first of these that any of them does.
  enum Activity: Int {
    case stopping
    /// A run is requested or active. One that waits for the terminal may do so for long.
    case running
    /// A service runs, or the hook after it.
    case serving
    case none

    /// Whether the end of work is awaited.
    var isBusy: Bool { self == .stopping || self == .running }
  }

  /// What these tasks do: what was decided for them, and what their processes do yet.
  func activity(of names: Set<String>) -> Activity {
    let all = names.map { name -> Activity in
      let (task, phase) = (machine[name], worker(name)?.phase ?? .idle)
      if phase.isStopping { return .stopping }
      if task.isRequestedOrRuns && !task.awaitsTerminal { return .running }
      return task.phase.isUp || phase.isHooking && task.rules.isService ? .serving : .none
    }
    return all.min { $0.rawValue < $1.rawValue } ?? .none
  }
}

// MARK: - The components of a graph

extension TaskGraph {
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

extension TaskRunner {
  /// Creates rounds for the components of a graph, or keeps those of components that are the same as before. The others
  /// go on where those were that had their tasks.
  ///
  /// - Parameter kept: The tasks whose definitions are the same.
  /// - Returns: Those that go on when `goOn` is called.
  @discardableResult
  func makeComponents(
    of graph: TaskGraph, keeping kept: Set<String> = []
  ) -> [TaskComponent] {
    let (source, before) = (state.access { $0.source }, components)
    var made: [TaskComponent] = []
    let components = graph.components.map { names in
      if let same = before.first(where: { $0.names == names }), names.isSubset(of: kept) {
        return same
      }
      let formers = before.map { ($0, count: $0.names.intersection(names).count) }
        .filter { $0.count > 0 }.sorted { $0.count > $1.count }.map(\.0)
      let component = TaskComponent(
        graph.order.filter(names.contains),
        hasInterruptibleService: names.contains {
          graph[$0]?.rules.isInterruptibleService ?? false
        }, replacing: formers, keeping: kept, on: queue, scheduler: scheduler, source: source
      ) { [weak self] in
        self?.inquiry(of: $0, $1) ?? ([], [:], true)
      } isBuilding: { [weak self] in
        self?.areBuilding($0) ?? false
      } deliver: { [weak self] in
        self?.perform($1, of: $0)
      }
      made.append(component)
      return component
    }
    state.access { $0.components = components }
    for component in before where !components.contains(where: { $0 === component }) {
      component.end()
    }
    return made
  }

  /// What a component asks before it judges.
  private func inquiry(
    of component: TaskComponent, _ paths: [Path]
  ) -> (owed: Set<Path>, results: [String: ExitStatus], hasOneWriter: Bool) {
    let (owed, requested) = (owed, component.awaitingBurstEnd?.paths ?? [])
    let open = paths.filter { path in
      !requested.contains(path) && component.names.contains { owed.owes($0, path) }
    }
    return (Set(open), results(of: component.names), haveRunInTurn(component))
  }

  /// How the latest runs of these tasks have ended, except services.
  private func results(of names: Set<String>) -> [String: ExitStatus] {
    let workers = names.compactMap(worker).filter { !$0.definition.isService }
    return Dictionary(uniqueKeysWithValues: workers.map { ($0.name, $0.state.access(\.status)) })
  }

  /// Whether the tasks of the present round ran one after the other, each depending on the one before.
  private func haveRunInTurn(_ component: TaskComponent) -> Bool {
    let ran = component.order.filter(component.ran.contains)
    let machine = machine
    return zip(ran, ran.dropFirst()).allSatisfy {
      machine.ancestors[$1, default: []].contains($0)
    }
  }
}
