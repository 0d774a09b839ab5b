import ActionRunning
import Support

/// The output of a run that is printed only if the run fails: its first and its last part, so that memory is bounded.
/// A pure value.
struct HeldOutput {
  /// The bytes that are kept of the beginning and of the end.
  static let mostFirst = 256 * 1024
  static let mostLast = 768 * 1024

  /// What was left out between the two parts.
  struct Gap: Hashable {
    var lines = 0
    var bytes = 0

    /// `1,234 lines of output (56 KB) are left out here`.
    var text: String {
      let size = bytes < 1_000_000 ? "\(max(1, bytes / 1_000)) KB" : "\(bytes / 1_000_000) MB"
      return lines == 1
        ? "1 line of output (\(size)) is left out here"
        : "\(lines) lines of output (\(size)) are left out here"
    }
  }

  private(set) var first: [TaskOutput] = []
  private var rest: [TaskOutput] = []
  /// Where the kept part of `rest` begins.
  private var start = 0
  private(set) var gap = Gap()
  private var firstSize = 0
  private var lastSize = 0

  var last: ArraySlice<TaskOutput> { rest[start...] }

  mutating func add(_ output: TaskOutput) {
    // A part of a line comes again as a whole.
    guard output.isFinished else { return }
    let size = output.line.count + 1
    if rest.isEmpty && firstSize + size <= Self.mostFirst {
      first.append(output)
      firstSize += size
      return
    }
    rest.append(output)
    lastSize += size
    while lastSize > Self.mostLast {
      let oldest = rest[start]
      lastSize -= oldest.line.count + 1
      gap.bytes += oldest.line.count + 1
      if !oldest.isSplit { gap.lines += 1 }
      start += 1
    }
    // Rarely, so that a line costs no copy of what is kept.
    if start > 1024 && start > rest.count / 2 {
      rest.removeFirst(start)
      start = 0
    }
  }
}

/// The outputs of the runs that are printed only if they fail, by task. A pure value.
struct HeldOutputs {
  private enum State {
    case holding(HeldOutput)
    /// The run has failed, or a service is not ready: what follows is printed at once.
    case printing
    /// The run has not failed.
    case dropping
  }

  var tasks: Set<String> = []
  private var states: [String: (run: Int, state: State)] = [:]

  /// Returns false for an output that is printed at once.
  mutating func hold(_ output: TaskOutput) -> Bool {
    let run = output.run
    guard tasks.contains(run.task), run.job == .command else { return false }
    guard var entry = states.removeValue(forKey: run.task) else { return false }
    defer { states[run.task] = entry }
    // Of a process that a former run has left behind.
    if entry.run != run.number { return true }
    switch entry.state {
    case .holding(var held):
      // The only reference, so that nothing is copied.
      entry.state = .dropping
      held.add(output)
      entry.state = .holding(held)
      return true
    case .printing: return false
    case .dropping: return true
    }
  }

  mutating func began(_ run: TaskReport.Run) {
    guard tasks.contains(run.task), run.job == .command else { return }
    states[run.task] = (run.number, .holding(HeldOutput()))
  }

  /// The latest run of a task has ended, or its service is not ready. Returns what is printed, if anything.
  mutating func decide(_ task: String, hasFailed: Bool) -> HeldOutput? {
    guard let entry = states[task], case .holding(let held) = entry.state else { return nil }
    states[task] = (entry.run, hasFailed ? .printing : .dropping)
    return hasFailed ? held : nil
  }
}
