import Support

/// A key that watchrun reads while its process group is in the foreground of the terminal.
package enum Key: Hashable, Sendable {
  case run
  case runFailed
  case stop
  case pause
  /// Shows the last output of the task with this number, counted from 1; 0 stands for all.
  case output(Int)
  case openError
  case nextError
  case previousError
  /// The name of a task is typed, of which this is known so far.
  case typed(String)
  /// Gives the terminal to the task with the name that was typed; `nil` if none is meant.
  case giveTerminal(String?)
  case clear
  case explain
  case help
  case quit

  /// The keys, the characters of each, how these are shown, and what the key does.
  private static let table: [(key: Key, characters: String, shown: String, effect: String)] = [
    (.run, "r\r\n ", "r, Enter, Space", "run now"),
    (.runFailed, "f", "f", "run what has failed"),
    (.stop, "s", "s", "stop the command"),
    (.pause, "p", "p", "pause or resume"),
    (.output(0), "", "0 to 9", "show the last output of a task, or of all"),
    (.openError, "o", "o", "open the first error in the editor"),
    (.nextError, "n", "n, N", "show the next or the previous error, for o"),
    (.previousError, "N", "", ""),
    (.typed(""), "t", "t NAME, Enter", "give the terminal to the next run of a task"),
    (.clear, "c", "c", "clear the screen"),
    (.explain, "e", "e", "explain why the last run started"),
    (.help, "h?", "h, ?", "list the keys"),
    (.quit, "q", "q", "quit, as when the terminal is closed"),
  ]

  package init?(_ byte: UInt8) {
    if byte.isDigitASCII {
      self = .output(Int(byte - UInt8(ascii: "0")))
    } else if let entry = Self.table.first(where: { $0.characters.utf8.contains(byte) }) {
      self = entry.key
    } else {
      return nil
    }
  }

  /// The keys and what they do, one per line.
  package static func listing(isAlone: Bool) -> [String] {
    let all = descriptions(isAlone: isAlone)
    let width = all.map(\.keys.count).max() ?? 0
    return all.map { keys, effect in
      keys + String(repeating: " ", count: width + 2 - keys.count) + effect
    }
  }

  /// - Parameter isAlone: Whether there are no tasks with numbers.
  static func descriptions(isAlone: Bool) -> [(keys: String, effect: String)] {
    table.filter { !$0.shown.isEmpty && !(isAlone && $0.key == .output(0)) }
      .map { (keys: $0.shown, effect: $0.effect) }
  }
}
