import SystemCalls

/// A program that shows a desktop notification.
enum NotificationProgram: String, CaseIterable, Sendable {
  case notifySend = "notify-send"
  case osascript

  /// The one that is installed; `nil` if there is none, or no desktop to show it on.
  ///
  /// Without a display, as over ssh, `notify-send` would wait for a service that is not there.
  init?(_ variable: (String) -> String?, in programs: [Path]) {
    let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { variable($0)?.isEmpty == false }
    let usable = Self.allCases.first { program in
      (program == .osascript || hasDisplay)
        && findProgram(Array(program.rawValue.utf8), in: programs) != nil
    }
    guard let usable else { return nil }
    self = usable
  }

  /// The words of the command. Texts are arguments of their own, which nothing interprets.
  func arguments(for notification: Notification) -> [[UInt8]] {
    let words =
      switch self {
      case .notifySend:
        [
          rawValue, "--app-name=watchrun",
          "--urgency=\(notification.isSuccess ? "low" : "normal")", "--", notification.title,
          Self.withoutMarkup(notification.body),
        ]
      case .osascript:
        [
          rawValue, "-e", "on run words", "-e",
          "display notification (item 2 of words) with title (item 1 of words)", "-e", "end run",
          notification.title, notification.body,
        ]
      }
    return words.map { Array($0.utf8) }
  }

  /// Notification servers interpret tags and entities in the body.
  private static func withoutMarkup(_ text: String) -> String {
    text.map { character in
      switch character {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      default: String(character)
      }
    }.joined()
  }
}
