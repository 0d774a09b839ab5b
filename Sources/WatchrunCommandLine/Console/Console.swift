import ActionRunning
import FileObservation
import Synchronization
import SystemCalls

/// What watchrun says to the person at the terminal: whole lines on standard error, each beginning
/// with `watchrun: `.
final class Console: Sendable {
  enum Level: Int, Comparable, Sendable {
    /// What was asked for by a key.
    case answer
    /// Something is wrong.
    case problem
    /// What happens, run by run.
    case news
    /// Why it happens.
    case detail

    static func < (left: Level, right: Level) -> Bool {
      left.rawValue < right.rawValue
    }
  }

  enum Style: String, Sendable {
    case plain = ""
    case faint = "\u{1B}[2m"
    case good = "\u{1B}[32m"
    case bad = "\u{1B}[31m"
    case warning = "\u{1B}[33m"
  }

  private let shown: Level
  private let isColored: Bool
  private let lock = Mutex(())
  private let whenBroken = Mutex<(@Sendable () -> Void)?>(nil)

  init(shown: Level, isColored: Bool) {
    self.shown = shown
    self.isColored = isColored
  }

  convenience init(_ settings: Settings) {
    self.init(
      shown: settings.isQuiet ? .problem : settings.isVerbose ? .detail : .news,
      isColored: Self.isColored(settings.colorMode))
  }

  /// The text is only put together if it is shown.
  func say(_ level: Level, _ text: @autoclosure () -> String, style: Style = .plain) {
    guard level <= shown else { return }
    let line = "watchrun: \(text())"
    let styled = isColored && style != .plain ? "\(style.rawValue)\(line)\u{1B}[0m\n" : line + "\n"
    do throws(SystemError) {
      try lock.withLock { _ throws(SystemError) in
        try writeAll(Array(styled.utf8), to: STDERR_FILENO)
      }
    } catch {
      // If nobody can read it any more, there is nobody to tell.
      if error.code == EPIPE { tellBroken() }
    }
  }

  /// Calls `body`, once, when the reader of what is said has gone.
  func onBrokenPipe(_ body: @escaping @Sendable () -> Void) {
    whenBroken.withLock { $0 = body }
  }

  private func tellBroken() {
    let body = whenBroken.withLock { body -> (@Sendable () -> Void)? in
      defer { body = nil }
      return body
    }
    body?()
  }

  func problem(_ text: String) {
    say(.problem, text, style: .bad)
  }

  /// Clears the screen, if there is one, and keeps what has scrolled off it.
  func clearScreen() {
    guard Terminal.isTerminal(STDOUT_FILENO) else { return }
    try? writeAll(Array("\u{1B}[H\u{1B}[2J".utf8), to: STDOUT_FILENO)
  }

  private static func isColored(_ mode: Settings.ColorMode) -> Bool {
    switch mode {
    case .always: return true
    case .never: return false
    case .auto:
      let noColor = environmentVariable("NO_COLOR") ?? ""
      return noColor.isEmpty && environmentVariable("TERM") != "dumb"
        && Terminal.isTerminal(STDERR_FILENO)
    }
  }
}
