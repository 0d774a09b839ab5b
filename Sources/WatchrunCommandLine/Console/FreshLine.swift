/// Begins messages on lines of their own, although commands write to the same terminal by themselves: where they
/// have left the cursor is not known. A pure state machine.
struct FreshLine: Sendable {
  /// How many commands run that write to the terminal.
  private var writers = 0
  /// Whether a command may have written since the last message.
  private var isCursorMoved = false

  mutating func commandBegins() {
    writers += 1
    isCursorMoved = true
  }

  mutating func commandEnds() {
    writers = max(0, writers - 1)
  }

  /// Returns what must be written before a message to a terminal of this width.
  mutating func beginMessage(columns: Int?) -> [UInt8] {
    defer { isCursorMoved = writers > 0 }
    guard isCursorMoved, let columns else { return [] }
    return Self.sequence(columns: columns)
  }

  /// Moves the cursor to the next line unless it is at the beginning of a line, as shells do before their
  /// prompts: a line of spaces wraps only from elsewhere. Then the line is cleared.
  static func sequence(columns: Int) -> [UInt8] {
    Array(repeating: UInt8(ascii: " "), count: columns) + Array("\r\u{1B}[K".utf8)
  }
}
