import ActionRunning

/// The runs whose output is printed only if they fail, by task: until then it is in the `OutputLog`. A pure value.
struct HeldOutputs {
  private enum State {
    case holding
    /// The run has failed, or a service is not ready: what follows is printed at once.
    case printing
    case dropping
  }

  private var tasks: Set<String> = []
  private var states: [String: (run: Int, state: State)] = [:]

  mutating func setHolds(_ isHeld: Bool, _ task: String) {
    if isHeld { tasks.insert(task) } else { tasks.remove(task) }
  }

  /// Whether an output of the run is not printed now.
  func holds(_ run: TaskReport.Run) -> Bool {
    guard tasks.contains(run.task), run.job == .command, let entry = states[run.task] else {
      return false
    }
    // Another number is that of a process that a former run has left behind.
    return entry.run != run.number || entry.state != .printing
  }

  mutating func began(_ run: TaskReport.Run) {
    guard tasks.contains(run.task), run.job == .command else { return }
    states[run.task] = (run.number, .holding)
  }

  /// The latest run of a task has ended, or its service is not ready. Returns whether its output is printed now.
  mutating func decide(_ task: String, hasFailed: Bool) -> Bool {
    guard let entry = states[task], entry.state == .holding else { return false }
    states[task] = (entry.run, hasFailed ? .printing : .dropping)
    return hasFailed
  }
}
