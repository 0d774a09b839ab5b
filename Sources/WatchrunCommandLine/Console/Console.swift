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
  private let brokenPipe: BrokenPipe
  private let output: Outlet
  private let messages: Outlet

  init(shown: Level, isColored: Bool, isOutputColored: Bool = false) {
    self.shown = shown
    self.isColored = isColored
    self.isOutputColored = isOutputColored
    let brokenPipe = BrokenPipe()
    self.brokenPipe = brokenPipe
    output = Outlet(STDOUT_FILENO) { brokenPipe.tell(of: $0) }
    messages = Outlet(STDERR_FILENO) { brokenPipe.tell(of: $0) }
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
    tell(styled)
  }

  /// Says something of one of several tasks.
  func say(_ level: Level, of task: TaskLabel, _ text: String, style: Style = .plain) {
    guard level <= shown else { return }
    let label = isColored ? "\(task.color)\(task.name)\u{1B}[0m" : task.name
    let said = isColored && style != .plain ? "\(style.rawValue)\(text)\u{1B}[0m" : text
    tell("watchrun: \(label): \(said)\n")
  }

  /// What was passed on before comes before it.
  private func tell(_ line: String) {
    output.settle()
    messages.tell(Array(line.utf8))
  }

  /// Passes on a line that one of several tasks has written, with its name in front.
  func pass(_ line: [UInt8], of task: TaskLabel) {
    let label = isOutputColored ? "\(task.color)\(task.padded)\u{1B}[0m" : task.padded
    // A colour that it leaves switched on is not to run into what others say.
    let end = isOutputColored && line.contains(0x1B) ? "\u{1B}[0m\n" : "\n"
    output.pass(Array("\(label) | ".utf8) + line + Array(end.utf8))
  }

  /// Passes on a line that the only task has written.
  func pass(_ line: [UInt8]) {
    output.pass(line + [UInt8(ascii: "\n")])
  }

  /// Calls `body`, once, when the reader of what is said has gone.
  func onBrokenPipe(_ body: @escaping @Sendable () -> Void) {
    brokenPipe.whenBroken(body)
  }

  /// Waits until all that was said can be read, unless `hurry` is called.
  func flush() {
    output.flush()
    messages.flush()
  }

  /// From now on nobody is waited for who reads slowly, or not at all.
  func hurry() {
    output.hurry()
    messages.hurry()
  }

  func problem(_ text: String) {
    say(.problem, text, style: .bad)
  }

  /// Clears the screen, if there is one, and keeps what has scrolled off it.
  func clearScreen() {
    guard Terminal.isTerminal(STDOUT_FILENO) else { return }
    output.tell(Array("\u{1B}[H\u{1B}[2J".utf8))
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

/// Somebody who is to know when nobody can read any more what is said.
private final class BrokenPipe: Sendable {
  private let body = Mutex<(@Sendable () -> Void)?>(nil)

  func whenBroken(_ body: @escaping @Sendable () -> Void) {
    self.body.withLock { $0 = body }
  }

  /// Only of that: if something else keeps us from saying anything, there is nobody to tell.
  func tell(of error: SystemError) {
    guard error.code == EPIPE else { return }
    let body = body.withLock { body in
      defer { body = nil }
      return body
    }
    body?()
  }
}
