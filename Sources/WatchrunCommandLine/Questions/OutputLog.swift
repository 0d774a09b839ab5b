import ActionRunning
import Support

/// The output of the latest runs of each task, as much as fits.
struct OutputLog {
  /// The bytes that are kept of the beginning of a task's latest run, and of the end of its output.
  private static let mostFirst = 256 * 1024
  private static let mostLast = 1024 * 1024

  /// What is left out of a long output.
  struct Gap: Hashable {
    var lines = 0
    var bytes = 0

    mutating func add(_ text: some Collection<UInt8>) {
      bytes += text.count
      lines += text.count { $0 == UInt8(ascii: "\n") }
    }

    /// `1234 lines of output (56 KB) are left out here`.
    var text: String {
      let size = bytes < 1_000_000 ? "\(max(1, bytes / 1_000)) KB" : "\(bytes / 1_000_000) MB"
      if lines == 0 { return "a part of a line of output (\(size)) is left out here" }
      let verb = lines == 1 ? "is" : "are"
      return "\(counted(lines, "line")) of output (\(size)) \(verb) left out here"
    }
  }

  private struct Text {
    var bytes: [UInt8] = []
    /// Where the output of the latest run begins in `bytes`.
    var latest = 0
    /// The first part of the latest run, once `bytes` no longer begins with it.
    var head: [UInt8] = []
    /// What is left out after `head`.
    var gap = Gap()
    /// The number of the latest run.
    var number = 0

    mutating func add(_ output: TaskOutput) {
      bytes += output.line
      if !output.isSplit { bytes.append(UInt8(ascii: "\n")) }
      // Rarely, so that a line costs no copy of what is kept.
      let excess = bytes.count - OutputLog.mostLast
      guard excess > OutputLog.mostLast / 4 else { return }
      let cut = bytes[min(latest, excess)..<excess]
      let kept = cut.prefix(OutputLog.mostFirst - head.count)
      head += kept
      gap.add(cut.dropFirst(kept.count))
      bytes.removeFirst(excess)
      latest = max(0, latest - excess)
    }
  }

  private var texts: [String: Text] = [:]

  /// A run of the command begins.
  mutating func began(_ run: TaskReport.Run) {
    var text = texts.removeValue(forKey: run.task) ?? Text()
    (text.latest, text.head, text.gap) = (text.bytes.count, [], Gap())
    text.number = run.number
    texts[run.task] = text
  }

  mutating func handle(_ output: TaskOutput) {
    // What a process writes beside the next one is none of the output of that.
    guard output.isFinished, output.run.number >= texts[output.run.task]?.number ?? 0 else {
      return
    }
    texts[output.run.task, default: Text()].add(output)
  }

  /// The process that ran beside the latest run, which has failed, goes on: what it writes is kept from now on.
  mutating func formerGoesOn(of task: String) { texts[task]?.number = 0 }

  /// Whether what is kept is the output of this run.
  func isLatest(_ run: TaskReport.Run) -> Bool { texts[run.task]?.number == run.number }

  /// The output of the latest run, as far as it is kept: whole lines before and after what is left out.
  func parts(of task: String) -> (first: ArraySlice<UInt8>, gap: Gap, last: ArraySlice<UInt8>) {
    guard let text = texts[task] else { return ([], Gap(), []) }
    let (head, rest, isEnd) = (text.head[...], text.bytes[text.latest...], { $0 == 0x0A as UInt8 })
    guard text.gap.bytes > 0 else { return (head + rest, Gap(), []) }
    // Lines that are cut say nothing.
    let first = head[..<(head.lastIndex(where: isEnd).map { $0 + 1 } ?? 0)]
    let last = rest[(rest.firstIndex(where: isEnd).map { $0 + 1 } ?? rest.endIndex)...]
    var gap = text.gap
    gap.add(head[first.endIndex...])
    gap.add(rest[..<last.startIndex])
    return (first, gap, last)
  }

  /// The same in one piece. A blank line stands for what is left out.
  func latest(of task: String) -> [UInt8] {
    let (first, gap, last) = parts(of: task)
    return Array(first) + (gap.bytes > 0 ? [UInt8(ascii: "\n")] : []) + last
  }

  /// The last lines of the latest run, as a terminal shows them.
  func end(of task: String, lines: Int) -> [String] {
    guard lines > 0, let text = texts[task] else { return [] }
    let all = text.bytes[text.latest...].split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return all.dropLast().suffix(lines).map { TerminalLine.shown($0) }
  }
}

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
    guard run.job == .command, let entry = states[run.task] else { return false }
    // Another number is that of a process that a former run has left behind.
    return entry.run != run.number || entry.state != .printing
  }

  mutating func began(_ run: TaskReport.Run) {
    guard run.job == .command else { return }
    states[run.task] = tasks.contains(run.task) ? (run.number, .holding) : nil
  }

  /// The process that ran beside the latest run, which has failed, goes on: what it writes is printed from now on.
  mutating func formerGoesOn(of task: String) { states[task] = nil }

  /// The latest run of a task has ended, or its service is not ready. Returns whether its output is printed now.
  mutating func decide(_ task: String, hasFailed: Bool) -> Bool {
    guard let entry = states[task], entry.state == .holding else { return false }
    states[task] = (entry.run, hasFailed ? .printing : .dropping)
    return hasFailed
  }
}
