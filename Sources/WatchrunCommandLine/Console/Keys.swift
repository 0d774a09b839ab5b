/// A key that watchrun reads while its process group is in the foreground of the terminal.
enum Key: CaseIterable, Hashable, Sendable {
  case run
  case stop
  case pause
  case clear
  case explain
  case help
  case quit

  /// The characters of the key. The first one is shown.
  private var characters: String {
    switch self {
    case .run: "r\r\n"
    case .stop: "s"
    case .pause: "p"
    case .clear: "c"
    case .explain: "e"
    case .help: "h?"
    case .quit: "q"
    }
  }

  init?(_ byte: UInt8) {
    guard let key = Self.allCases.first(where: { $0.characters.utf8.contains(byte) }) else {
      return nil
    }
    self = key
  }

  /// The keys in bytes that were read at once. More than a few bytes are pasted text, and an escape
  /// character begins a function key.
  static func keys(in bytes: [UInt8]) -> [Key] {
    let escape: UInt8 = 0x1B
    if bytes.first == escape || bytes.count > maximumTyped { return [] }
    return bytes.compactMap(Key.init)
  }

  private static let maximumTyped = 8

  /// The keys and what they do, one per line.
  static let listing = [
    "r, Enter  run now", "s         stop the command", "p         pause or resume",
    "c         clear the screen", "e         explain why the last run started",
    "h, ?      list the keys", "q         quit, like Ctrl-C",
  ]
}
