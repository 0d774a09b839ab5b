/// Puts the output of tasks together to lines. At a terminal, an unfinished line is shown as well; it
/// is continued or replaced, or interrupted by a line of another task and continued on a line of its own. So is
/// a line that is split because it is long, wherever it is written.
struct OutputLines {
  private let showsUnfinished: Bool
  /// What is shown of the unfinished line of each task.
  private var shown: [String: [UInt8]] = [:]
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
    if isFinished && !isSplit && open == nil && shown.isEmpty {
      // Nearly all lines.
      var text: [UInt8] = []
      text.reserveCapacity(prefix.count + line.count + end.count)
      text += prefix
      text += line
      text += end
      return text
    }
    if !isFinished && !showsUnfinished { return [] }
    // A carriage return at the end may belong to a line feed.
    let isReturning = !isFinished && line.last == UInt8(ascii: "\r")
    let line = isReturning ? line.dropLast() : line[...]
    let before = shown[task] ?? []
    shown[task] = isFinished ? nil : Array(line)
    let continues = open?.task == task
    let isLonger = line.starts(with: before)
    let rest = isLonger ? line.dropFirst(before.count) : line
    if rest.isEmpty && isLonger && !(isFinished && (continues || before.isEmpty)) { return [] }
    // What a part of the line needs at its end, the line needs.
    let end = [end, continues ? open?.end ?? [] : []].max { $0.count < $1.count } ?? end
    var text = continues ? [] : interrupt() + prefix
    if continues && !isLonger { text += Self.erasedLine + prefix }
    text += rest
    let isOpen = !isFinished || isSplit
    open = isOpen ? (task, end) : nil
    return isOpen ? text : text + end
  }

  private static let erasedLine = Array("\r\u{1B}[K".utf8)

  /// Returns what ends the unfinished line of a task, which is not continued.
  mutating func finish(_ task: String) -> [UInt8] {
    shown[task] = nil
    return open?.task == task ? interrupt() : []
  }

  /// Returns what ends the unfinished line before something else is written.
  mutating func interrupt() -> [UInt8] {
    defer { open = nil }
    return open?.end ?? []
  }
}
