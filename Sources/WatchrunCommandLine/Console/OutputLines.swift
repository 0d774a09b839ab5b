/// Puts the output of tasks together to lines. At a terminal, an unfinished line is shown as well; it
/// is continued, or interrupted by a line of another task and continued on a line of its own. So is a line
/// that is split because it is long, wherever it is written.
struct OutputLines {
  /// Whether unfinished lines are shown.
  private let showsUnfinished: Bool
  /// How much is shown of the unfinished line of each task.
  private var shown: [String: Int] = [:]
  /// The task in whose line the cursor is, and what ends that line.
  private var open: (task: String, end: [UInt8])?

  init(showsUnfinished: Bool) {
    self.showsUnfinished = showsUnfinished
  }

  /// Returns what to write for a line, of which a part may be shown.
  ///
  /// - Parameters:
  ///   - line: The whole line from its beginning, without the line feed.
  ///   - isFinished: False if the line is delivered again when there is more of it.
  ///   - isSplit: Whether the next line of the task continues this one.
  ///   - prefix: What stands in front of each line of the task.
  ///   - end: The line feed, and what must come before it.
  mutating func add(
    _ line: [UInt8], isFinished: Bool, isSplit: Bool = false, of task: String, prefix: [UInt8],
    end: [UInt8]
  ) -> [UInt8] {
    let isReturning = showsUnfinished && line.contains(UInt8(ascii: "\r"))
    if isFinished && !isSplit && !isReturning && open == nil && shown.isEmpty {
      // Nearly all lines.
      var text: [UInt8] = []
      text.reserveCapacity(prefix.count + line.count + end.count)
      text += prefix
      text += line
      text += end
      return text
    }
    if !isFinished && !showsUnfinished { return [] }
    let start = min(shown[task] ?? 0, line.count)
    var rest = line[start...]
    // It may belong to a line feed.
    if !isFinished && rest.last == UInt8(ascii: "\r") { rest.removeLast() }
    shown[task] = isFinished ? nil : rest.endIndex
    let continues = open?.task == task
    if rest.isEmpty && !(isFinished && (continues || start == 0)) { return [] }
    // What a part of the line needs at its end, the line needs.
    let end = [end, continues ? open?.end ?? [] : []].max { $0.count < $1.count } ?? end
    var text = continues ? [] : interrupt() + prefix
    if showsUnfinished {
      for index in rest.indices {
        text.append(rest[index])
        // What follows overwrites the line, and with it the prefix.
        let isReturn = rest[index] == UInt8(ascii: "\r")
        if isReturn && index < rest.endIndex - 1 { text += prefix }
      }
    } else {
      text += rest
    }
    let isOpen = !isFinished || isSplit
    open = isOpen ? (task, end) : nil
    return isOpen ? text : text + end
  }

  /// Returns what ends the unfinished line before something else is written.
  mutating func interrupt() -> [UInt8] {
    defer { open = nil }
    return open?.end ?? []
  }
}
