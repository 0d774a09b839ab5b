import FileObservation
import SystemCalls

// What is known of the writers of changes, beyond one component.

extension TaskRunner {
  func updateFrequentPaths() {
    let declared = state.access { $0.declaredPaths }
    let paths = declared.union(components.flatMap(\.frequentPaths))
    if state.access({ exchange(&$0.frequentPaths, with: paths) }) != paths {
      options.frequentPathsChanged?(paths)
    }
  }

  /// Looks at the processes often while runs are suspected to change a path, but not only at one that ends by
  /// itself, which would be slowed down: at services, and at what runs have left behind.
  func watchClosely() {
    let isNeeded = { @Sendable [weak self] in
      guard let self else { return false }
      return components.contains { component in
        // Processes may be there that are none of a finite run of the component.
        component.suspectsRuns
          && (component.hasInterruptibleService
            || self.activity(of: component.names) == .none || self.monitor.hasOrphans
            || self.isServing(beside: component))
      }
    }
    if isNeeded() { monitor.watchClosely(while: isNeeded) }
  }

  func isServing(beside component: TaskComponent) -> Bool {
    components.contains { other in
      other.names != component.names && activity(of: other.names) == .serving
    }
  }
}
