/// What a key asks for, while the terminal is ours.
enum Key: CaseIterable, Hashable, Sendable {
  case run
  case stop
  case pause
  case clear
  case explain
  case help
  case quit

  /// The characters that ask for it, the first of which is shown.
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

  /// What is meant by bytes that have come at once. More than a few are no keys, but a text that was
  /// pasted; and what begins with an escape character is a key that has no letter.
  static func keys(in bytes: [UInt8]) -> [Key] {
    let escape: UInt8 = 0x1B
    if bytes.first == escape || bytes.count > longestTyping { return [] }
    return bytes.compactMap(Key.init)
  }

  private static let longestTyping = 8

  /// The keys and what they do, a line each.
  static let listing = [
    "r, Enter  run now", "s         stop the command", "p         pause, and go on",
    "c         clear the screen", "e         why the last run was started, and what it saw",
    "h, ?      this list", "q         quit, as does Ctrl-C",
  ]
}
