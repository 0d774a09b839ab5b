/// Puts the output of tasks together to lines. At a terminal, an unfinished line is shown as well; it
/// is continued, or interrupted by a line of another task and continued on a line of its own.
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
  ///   - isFinished: Whether more of it may follow.
  ///   - prefix: What stands in front of each line of the task.
  ///   - end: The line feed, and what must come before it.
  mutating func add(
    _ line: [UInt8], isFinished: Bool, of task: String, prefix: [UInt8], end: [UInt8]
  ) -> [UInt8] {
    guard showsUnfinished else { return isFinished ? prefix + line + end : [] }
    let start = min(shown[task] ?? 0, line.count)
    var rest = line[start...]
    // It may belong to a line feed.
    if !isFinished && rest.last == UInt8(ascii: "\r") { rest.removeLast() }
    shown[task] = isFinished ? nil : rest.endIndex
    let continues = open?.task == task
    if rest.isEmpty && !(isFinished && (continues || start == 0)) { return [] }
    var text = continues ? [] : interrupt() + prefix
    for index in rest.indices {
      text.append(rest[index])
      // What follows overwrites the line, and with it the prefix.
      if rest[index] == UInt8(ascii: "\r") && index < rest.endIndex - 1 { text += prefix }
    }
    open = isFinished ? nil : (task, end)
    return isFinished ? text + end : text
  }

  /// Returns what ends the unfinished line before something else is written.
  mutating func interrupt() -> [UInt8] {
    defer { open = nil }
    return open?.end ?? []
  }
}
