import ActionRunning
import Support

/// The output of the latest runs of each task, as much as fits. Nothing is parsed before a client asks.
struct OutputLog {
  /// The number of bytes that are kept of a task.
  static let most = 1024 * 1024

  private struct Text {
    var bytes: [UInt8] = []
    /// Where the output of the latest run begins.
    var latest = 0

    mutating func add(_ output: TaskOutput) {
      bytes += output.line
      if !output.isSplit { bytes.append(UInt8(ascii: "\n")) }
      // Rarely, so that a line costs no copy of what is kept.
      let excess = bytes.count - OutputLog.most
      guard excess > OutputLog.most / 4 else { return }
      bytes.removeFirst(excess)
      latest = max(0, latest - excess)
    }
  }

  private var texts: [String: Text] = [:]

  /// A run of the command begins.
  mutating func began(_ run: TaskReport.Run) {
    let length = texts[run.task]?.bytes.count ?? 0
    texts[run.task]?.latest = length
  }

  mutating func handle(_ output: TaskOutput) {
    if output.isFinished { texts[output.run.task, default: Text()].add(output) }
  }

  /// The output of the latest run, as far as it is kept.
  func latest(of task: String) -> [UInt8] {
    guard let text = texts[task] else { return [] }
    return Array(text.bytes[text.latest...])
  }

  /// The last lines of the latest run, as a terminal shows them.
  func end(of task: String, lines: Int) -> [String] {
    guard let text = texts[task] else { return [] }
    let all = text.bytes[text.latest...].split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return all.dropLast().suffix(lines).map { TerminalLine.shown($0) }
  }
}
