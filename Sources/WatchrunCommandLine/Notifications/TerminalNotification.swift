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
    let programs: [String: TerminalNotification] = [
      "iTerm.app": .osc9, "WezTerm": .osc777, "ghostty": .osc777, "WarpTerminal": .osc777,
    ]
    let names: [(prefix: String, sequence: TerminalNotification)] = [
      ("xterm-kitty", .osc9), ("xterm-ghostty", .osc777), ("foot", .osc777),
      ("rxvt-unicode", .osc777),
    ]
    let traces: [(name: String, sequence: TerminalNotification)] = [
      ("KITTY_WINDOW_ID", .osc9), ("ITERM_SESSION_ID", .osc9), ("WEZTERM_PANE", .osc777),
      ("GHOSTTY_RESOURCES_DIR", .osc777),
    ]
    let program = variable("TERM_PROGRAM") ?? ""
    let terminal = variable("TERM") ?? ""
    let isHidden = program == "tmux" || variable("TMUX") != nil
    if let known = programs[program] {
      self = known
    } else if let known = names.first(where: { terminal.hasPrefix($0.prefix) }) {
      self = known.sequence
    } else if isHidden || program.isEmpty,
      let known = traces.first(where: { variable($0.name) != nil })
    {
      self = known.sequence
    } else {
      return nil
    }
  }

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
