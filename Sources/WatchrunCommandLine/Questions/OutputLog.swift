import ActionRunning
import Support

/// The output of the latest runs of each task, as much as fits. Nothing is parsed before a client asks.
struct OutputLog {
  /// The bytes that are kept of the beginning of a task's latest run, and of the end of its output.
  private static let mostFirst = 256 * 1024
  private static let mostLast = 1024 * 1024

  private struct Text {
    var bytes: [UInt8] = []
    /// Where the output of the latest run begins in `bytes`.
    var latest = 0
    /// The first part of the latest run, once `bytes` no longer begins with it.
    var head: [UInt8] = []
    /// Whether something is left out after `head`.
    var hasGap = false
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
      hasGap = hasGap || kept.count < cut.count
      bytes.removeFirst(excess)
      latest = max(0, latest - excess)
    }
  }

  private var texts: [String: Text] = [:]

  /// A run of the command begins.
  mutating func began(_ run: TaskReport.Run) {
    var text = texts.removeValue(forKey: run.task) ?? Text()
    (text.latest, text.head, text.hasGap) = (text.bytes.count, [], false)
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

  /// The output of the latest run, as far as it is kept. A blank line stands for what is left out.
  func latest(of task: String) -> [UInt8] {
    guard let text = texts[task] else { return [] }
    let (head, rest) = (text.head, text.bytes[text.latest...])
    guard text.hasGap else { return head + rest }
    // Lines that are cut say nothing.
    let isEnd = { (byte: UInt8) in byte == UInt8(ascii: "\n") }
    return Array(head[...(head.lastIndex(where: isEnd) ?? -1)]) + rest.drop { !isEnd($0) }
  }

  /// The last lines of the latest run, as a terminal shows them.
  func end(of task: String, lines: Int) -> [String] {
    guard let text = texts[task] else { return [] }
    let all = text.bytes[text.latest...].split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return all.dropLast().suffix(lines).map { TerminalLine.shown($0) }
  }
}
