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
  private let isOutputColored: Bool
  private let lock = Mutex(())
  private let whenBroken = Mutex<(@Sendable () -> Void)?>(nil)

  init(shown: Level, isColored: Bool, isOutputColored: Bool = false) {
    self.shown = shown
    self.isColored = isColored
    self.isOutputColored = isOutputColored
  }

  convenience init(_ settings: Settings) {
    self.init(
      shown: settings.isQuiet ? .problem : settings.isVerbose ? .detail : .news,
      isColored: Self.isColored(settings.colorMode, STDERR_FILENO),
      isOutputColored: Self.isColored(settings.colorMode, STDOUT_FILENO))
  }

  /// The text is only put together if it is shown.
  func say(_ level: Level, _ text: @autoclosure () -> String, style: Style = .plain) {
    guard level <= shown else { return }
    let line = "watchrun: \(text())"
    let styled = isColored && style != .plain ? "\(style.rawValue)\(line)\u{1B}[0m\n" : line + "\n"
    write(Array(styled.utf8), to: STDERR_FILENO)
  }

  /// Says something of one of several tasks.
  func say(_ level: Level, of task: TaskLabel, _ text: String, style: Style = .plain) {
    guard level <= shown else { return }
    let label = isColored ? "\(task.color)\(task.name)\u{1B}[0m" : task.name
    let said = isColored && style != .plain ? "\(style.rawValue)\(text)\u{1B}[0m" : text
    write(Array("watchrun: \(label): \(said)\n".utf8), to: STDERR_FILENO)
  }

  /// Passes on a line that one of several tasks has written, with its name in front.
  func pass(_ line: [UInt8], of task: TaskLabel) {
    let label = isOutputColored ? "\(task.color)\(task.padded)\u{1B}[0m" : task.padded
    // A colour that it leaves switched on is not to run into what others say.
    let end = isOutputColored && line.contains(0x1B) ? "\u{1B}[0m\n" : "\n"
    write(Array("\(label) | ".utf8) + line + Array(end.utf8), to: STDOUT_FILENO)
  }

  /// Passes on a line that the only task has written.
  func pass(_ line: [UInt8]) {
    write(line + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32) {
    do throws(SystemError) {
      try lock.withLock { _ throws(SystemError) in
        try writeAll(bytes, to: descriptor)
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

  private static func isColored(_ mode: Settings.ColorMode, _ descriptor: Int32) -> Bool {
    switch mode {
    case .always: return true
    case .never: return false
    case .auto:
      let noColor = environmentVariable("NO_COLOR") ?? ""
      return noColor.isEmpty && environmentVariable("TERM") != "dumb"
        && Terminal.isTerminal(descriptor)
    }
  }
}
