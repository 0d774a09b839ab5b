import FileObservation
import SystemCalls

// What is known of the writers of changes, beyond one component.

extension TaskRunner {
  /// What the runs of one component change, they change for all others as well.
  func shareProofs() {
    let components = state.access { $0.components }
    if components.count == 1 { return }
    let proved = components.map(\.rounds.provedPaths)
    let all = proved.reduce(into: Set()) { $0.formUnion($1) }
    for (component, own) in zip(components, proved) where own != all {
      component.rounds.learn(all.subtracting(own))
    }
  }

  func updateFrequentPaths() {
    let paths = Set(state.access { $0.components }.flatMap(\.rounds.frequentPaths))
    if state.access({ exchange(&$0.frequentPaths, with: paths) }) != paths {
      options.frequentPathsChanged?(paths)
    }
  }

  /// Notes that changes have been reported, long before they are submitted. May be called on any thread, as early
  /// as possible: what the tasks do after the change proves nothing.
  ///
  /// - Parameters:
  ///   - isFirst: Whether a burst begins with them.
  ///   - isSave: Whether a file is among them that existed before.
  /// - Returns: Whether they are needed at once, since a program works that compares the times of files.
  package func changesArrived(isFirst: Bool, isSave: Bool) -> Bool {
    if isFirst { monitor.look(beginsBurst: true) }
    return isSave
      && monitor.findsBuild { [weak self] in
        self?.state.access { $0.source }?.flush {}
      }
  }

  /// Finds the runs in which programs work that compare the times of files, or have worked when the changes were
  /// reported.
  func findBuilds() {
    let found = monitor.takeBuilds()
    let runs = state.access { state in
      state.machine.finiteRuns.compactMap { state.workers[$0] }
    }
    if runs.isEmpty { return }
    let building = runs.filter { $0.isBuilding || $0.isLed(byAnyOf: found) }.map(\.name)
    state.access { $0.machine.setBuilding(Set(building)) }
  }

  /// Looks at the processes often while runs are suspected to change a path, but not only at one that ends by
  /// itself, which would be slowed down: at services, and at what runs have left behind.
  func watchClosely() {
    let isNeeded = { @Sendable [weak self] in
      guard let self else { return false }
      return state.access { $0.components }.contains { component in
        component.rounds.suspectsRuns
          && (component.rounds.hasInterruptibleService || self.hasWriters(beside: component))
      }
    }
    if isNeeded() { monitor.watchClosely(while: isNeeded) }
  }

  /// Whether processes may be there that are none of a finite run of the component.
  private func hasWriters(beside component: TaskComponent) -> Bool {
    activity(of: component.names) == .none || monitor.hasOrphans || isServing(beside: component)
  }

  func isServing(beside component: TaskComponent) -> Bool {
    state.access { $0.components }.contains { other in
      other.names != component.names && activity(of: other.names) == .serving
    }
  }
}
