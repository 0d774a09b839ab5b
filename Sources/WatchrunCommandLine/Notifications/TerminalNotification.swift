/// The control sequence by which a terminal shows a desktop notification.
enum TerminalNotification: Hashable, Sendable {
  /// A text: iTerm2, kitty.
  case osc9
  /// A title and a text: foot, ghostty, rxvt-unicode, Warp, WezTerm.
  case osc777

  /// Detects the terminal; `nil` for one that shows no notifications, as far as is known.
  ///
  /// tmux hides the terminal's name, but not the other variables that it sets. screen passes nothing on.
  init?(_ variable: (String) -> String?) {
    if variable("STY") != nil { return nil }
    let program = variable("TERM_PROGRAM") ?? ""
    let isNamed = !program.isEmpty && program != "tmux" && variable("TMUX") == nil
    let known = Self.signs.first { sign in
      variable(sign.variable)?.hasPrefix(sign.prefix) == true && !(isNamed && sign.prefix.isEmpty)
    }
    guard let known else { return nil }
    self = known.sequence
  }

  /// Variables that terminals set, with the beginnings of their values. Any value is a trace of a terminal that may
  /// be around the one that is named.
  private static let signs: [(variable: String, prefix: String, sequence: TerminalNotification)] = [
    ("TERM_PROGRAM", "iTerm.app", .osc9), ("TERM_PROGRAM", "WezTerm", .osc777),
    ("TERM_PROGRAM", "ghostty", .osc777), ("TERM_PROGRAM", "WarpTerminal", .osc777),
    ("TERM", "xterm-kitty", .osc9), ("TERM", "xterm-ghostty", .osc777), ("TERM", "foot", .osc777),
    ("TERM", "rxvt-unicode", .osc777), ("KITTY_WINDOW_ID", "", .osc9),
    ("ITERM_SESSION_ID", "", .osc9), ("WEZTERM_PANE", "", .osc777),
    ("GHOSTTY_RESOURCES_DIR", "", .osc777),
  ]

  /// The sequence, for tmux in one that it passes on to its terminal.
  func bytes(for notification: Notification, isInTmux: Bool) -> [UInt8] {
    let (title, body) = (notification.title, notification.body)
    let (start, end) = ("\u{1B}]", "\u{1B}\\")
    let sequence =
      switch self {
      case .osc9: "9;\(title): \(body)"
      // A semicolon ends the title.
      case .osc777: "777;notify;\(String(title.map { $0 == ";" ? "," : $0 }));\(body)"
      }
    let bytes = Array("\(start)\(sequence)\(end)".utf8)
    return isInTmux ? Self.passedThroughTmux(bytes) : bytes
  }

  private static func passedThroughTmux(_ bytes: [UInt8]) -> [UInt8] {
    let escape: UInt8 = 0x1B
    return Array("\u{1B}Ptmux;".utf8) + bytes.flatMap { $0 == escape ? [escape, escape] : [$0] }
      + Array("\u{1B}\\".utf8)
  }
}
