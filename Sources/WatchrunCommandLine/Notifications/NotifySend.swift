import Support
import SystemCalls

/// The program that shows desktop notifications.
enum NotifySend {
  static let name = "notify-send"

  /// Whether it is installed, and there is a desktop to show them on: over ssh, for example, it would wait for a
  /// service that is not there.
  static func isUsable(_ variable: (String) -> String?, in programs: [Path]) -> Bool {
    let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { variable($0)?.isEmpty == false }
    return hasDisplay && findProgram(Array(name.utf8), in: programs) != nil
  }

  /// The words of the command. Notification servers interpret tags and entities in the body.
  static func arguments(for notification: Notification) -> [[UInt8]] {
    let urgency = "--urgency=\(notification.isSuccess ? "low" : "normal")"
    let body = notification.body.escapedForMarkup(quotes: false)
    return [name, "--app-name=watchrun", urgency, "--", notification.title, body].map {
      Array($0.utf8)
    }
  }
}
