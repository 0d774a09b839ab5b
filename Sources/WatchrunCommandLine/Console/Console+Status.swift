import ActionRunning
import SystemCalls

// The status line, and the terminal while another program has it.

extension Console {
  func setStatus(_ text: StatusText?) {
    status.withLock { $0.text = text }
    drawStatus()
  }

  /// Hides the status line until this process was resumed, or for good.
  func hideStatus(_ isHidden: Bool) {
    status.withLock { $0.isHidden = isHidden }
    drawStatus()
    if isHidden { messages.drain() }
  }

  func drawStatus() {
    let columns = Terminal(STDERR_FILENO).columns ?? 80
    // At once, so that no older text replaces a newer one.
    let isChanged = status.withLock { status in
      let text = status.isHidden || status.holder != .own ? nil : status.text
      let drawn = text.map { text in
        let line =
          status.typed.map { StatusText.prompt($0, columns: columns) }
          ?? text.text(columns: columns, isColored: isColored)
        return StatusRow.title(text.title) + Array(line.utf8)
      }
      return exchange(&row.text, with: drawn) != drawn
    }
    if isChanged { messages.enqueue([]) }
  }

  /// The terminal has another holder. While it is lent, messages and output are kept; with `isShared`, only while an
  /// editor has it.
  func setHolder(_ holder: TerminalController.Holder, isShared: Bool) {
    let (former, holder) = status.withLock { status in
      let isKept = holder != .borrower || !isShared || status.editors > 0
      let holder = isKept ? holder : .own
      return (exchange(&status.holder, with: holder), holder)
    }
    if former == .borrower {
      commandEnds()
      output.release()
      messages.release()
    }
    drawStatus()
    if holder == .borrower {
      output.hold()
      messages.hold()
      commandBegins()
    }
  }

  /// Shows a line that is being typed, in place of the status line where there is one; `nil` at its end.
  func showTyped(_ text: String?) {
    let isInRow = status.withLock { status in
      status.typed = text
      return status.text != nil
    }
    if isInRow { drawStatus() }
    // At the end, also a line that was begun before there was a row.
    if !isInRow || text == nil { showTypedAmongLines(text) }
  }

  private func showTypedAmongLines(_ text: String?) {
    // No task has this name.
    let typing = " "
    lines.withLock { lines in
      let line = text.map { Array("watchrun: \($0)".utf8) }
      let shown =
        line.map { lines.add($0, isFinished: false, of: typing, prefix: [], end: Self.end) }
        ?? lines.finish(typing)
      if !shown.isEmpty { output.enqueue(shown) }
    }
  }

  /// Writes the latest output of a task again.
  func write(_ lines: [String], of task: TaskLabel?) {
    let prefix = task.map { isOutputColored ? $0.coloredPrefix : $0.prefix } ?? []
    let end = Array((isOutputColored ? "\u{1B}[0m\n" : "\n").utf8)
    let text = lines.flatMap { prefix + Array($0.utf8) + end }
    output.enqueue(self.lines.withLock { $0.interrupt() } + text)
  }
}
