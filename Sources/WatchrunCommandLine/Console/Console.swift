import ActionRunning
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Writes messages to standard error, each a whole line that begins with `watchrun: `, and forwards the
/// output of tasks to standard output.
final class Console: Sendable {
  enum Level: Comparable, Sendable {
    /// The answer to a key.
    case answer
    /// Something is wrong.
    case problem
    /// The start and the end of each run.
    case news
    /// The reasons (`--verbose`).
    case detail
  }

  enum Style: String, Sendable {
    case plain = ""
    case faint = "\u{1B}[2m"
    case good = "\u{1B}[32m"
    case bad = "\u{1B}[31m"
    case warning = "\u{1B}[33m"
    /// White on black, whatever the colors of the terminal are.
    case picture = "\u{1B}[38;5;231;48;5;16m"

    func applied(to text: String, _ isColored: Bool) -> String {
      isColored && self != .plain ? "\(rawValue)\(text)\u{1B}[0m" : text
    }
  }

  /// The status line.
  struct Status {
    var text: StatusText?
    /// What is being typed there.
    var typed: String?
    /// Whether this process is about to be suspended or to end.
    var isHidden = false
    /// Who has the terminal. Others have no use for a status line.
    var holder = TerminalController.Holder.own
    /// The number of editors that have the terminal or wait for it.
    var editors = 0
  }

  static let end = Array("\n".utf8)
  private static let styledEnd = Array("\u{1B}[0m\n".utf8)

  private let shown: Level
  let isColored: Bool
  let isOutputColored: Bool
  let showsTimes: Bool
  let isTerminal: Bool
  let readers: OutputReaders
  let lines: Mutex<OutputLines>
  private let freshLine = Mutex(FreshLine())
  private let echo = Mutex(ChangeEcho())
  /// Whether the terminal of messages understands control sequences.
  private let wrapsLines: Bool
  /// Whether output goes to a terminal that understands control sequences.
  private let showsLines: Bool
  let output: OutputWriter
  let messages: OutputWriter
  let row: StatusRow
  let status = Mutex(Status())

  init(shown: Level, isColored: Bool, isOutputColored: Bool = false, showsTimes: Bool = false) {
    self.shown = shown
    self.showsTimes = showsTimes
    self.isColored = isColored
    self.isOutputColored = isOutputColored
    isTerminal = Terminal.isTerminal(STDERR_FILENO)
    wrapsLines = isTerminal && Self.obeysSequences
    showsLines = Terminal.isTerminal(STDOUT_FILENO) && Self.obeysSequences
    lines = Mutex(OutputLines(showsUnfinished: showsLines))
    let readers = OutputReaders()
    self.readers = readers
    let row = StatusRow()
    self.row = row
    let messages = OutputWriter(STDERR_FILENO, above: isTerminal ? row : nil) {
      readers.note($0, of: STDERR_FILENO)
    }
    self.messages = messages
    output = OutputWriter(STDOUT_FILENO, above: showsLines ? row : nil) { error in
      guard readers.note(error, of: STDOUT_FILENO) else { return }
      // Not by `say`, which waits for this writer.
      let line = Style.bad.applied(to: "watchrun: \(lostOutputMessage(error))", isColored)
      messages.enqueue(Array("\(line)\n".utf8))
    }
  }

  convenience init(_ settings: Settings) {
    self.init(
      shown: settings.isQuiet ? .problem : settings.isVerbose ? .detail : .news,
      isColored: Self.isColored(settings.colorMode, STDERR_FILENO),
      isOutputColored: Self.isColored(settings.colorMode, STDOUT_FILENO),
      showsTimes: settings.showsTimes)
  }

  /// Writes a message, if its level is shown. Otherwise the text is not evaluated.
  func say(_ level: Level, _ text: @autoclosure () -> String, style: Style = .plain) {
    guard level <= shown else { return }
    write(style.applied(to: "watchrun: \(text())", isColored) + "\n")
  }

  /// Writes a line for each change, unless their reader has made them by writing the last ones.
  func say(changes: @autoclosure () -> [String]) {
    guard .detail <= shown else { return }
    let lines = changes()
    if !isTerminal, echo.withLock({ $0.isEcho(lines, at: .now) }) { return }
    for line in lines {
      write(Style.faint.applied(to: "watchrun: \(line)", isColored) + "\n", isAboutChanges: true)
    }
  }

  func say(_ level: Level, of task: TaskLabel, _ text: String, style: Style = .plain) {
    guard level <= shown else { return }
    let label = isColored ? "\(task.color)\(task.name)\u{1B}[0m" : task.name
    write("watchrun: \(label): \(style.applied(to: text, isColored))\n")
  }

  /// Writes a message of a page, with its name in front of each line.
  func say(_ level: Level, ofPage label: TaskLabel, _ lines: [String], style: Style) {
    guard level <= shown else { return }
    let prefix = String(decoding: isColored ? label.coloredPrefix : label.prefix, as: UTF8.self)
    write(lines.map { prefix + style.applied(to: $0, isColored) + "\n" }.joined())
  }

  /// Writes a message that is only of interest to someone at the terminal.
  func sayAtTerminal(_ text: String) {
    if isTerminal { say(.news, text, style: .faint) }
  }

  /// Writes lines that are light on dark to a terminal that is wide enough for them.
  func draw(_ lines: [String], columns: Int) {
    let width = wrapsLines ? Terminal(STDERR_FILENO).columns ?? 0 : 0
    guard .news <= shown, columns <= width else { return }
    let (start, end) = isColored ? (Style.picture.rawValue, "\u{1B}[0m\n") : ("", "\n")
    write(lines.map { start + $0 + end }.joined())
  }

  /// Sets a round apart from the one before, for someone at the terminal.
  func separateRounds() {
    guard .news <= shown, wrapsLines, let columns = Terminal(STDERR_FILENO).columns else { return }
    write(Style.faint.applied(to: LocalTime.now.rule(columns: columns), isColored) + "\n")
  }

  /// Writes a line for a program that reads messages.
  func writeLine(_ line: String) { write(line + "\n") }

  /// Writes control sequences, if messages go to a terminal.
  func writeToTerminal(_ sequences: [UInt8]) {
    if isTerminal { messages.write(message: sequences) }
  }

  func ringBell() { writeToTerminal([0x07]) }

  /// Writes a line after all output that was forwarded before.
  private func write(_ line: String, isAboutChanges: Bool = false) {
    if !isAboutChanges { echo.withLock { $0.reset() } }
    lines.withLock { lines in
      let end = lines.interrupt()
      if !end.isEmpty { output.enqueue(end) }
    }
    output.drain()
    let start = freshLine.withLock { freshLine in
      freshLine.beginMessage(columns: wrapsLines ? Terminal(STDERR_FILENO).columns : nil)
    }
    messages.write(message: start + Array(line.utf8))
  }

  /// A command begins to write to the terminal by itself, and not through this process.
  func commandBegins() { freshLine.withLock { $0.commandBegins() } }

  func commandEnds() { freshLine.withLock { $0.commandEnds() } }

  /// Forwards a line of output, or the beginning of one. With several tasks, the name of the task stands
  /// in front. Does not wait: see ``OutputWriter/hasRoom(_:)``.
  func write(
    _ line: [UInt8], _ isFinished: Bool = true, isSplit: Bool = false, of task: TaskLabel?
  ) {
    let label = task.map { isOutputColored ? $0.coloredPrefix : $0.prefix } ?? []
    let prefix = showsTimes ? LocalTime.now.prefix + label : label
    var line = line
    // A colour that the line leaves on must not affect the next line.
    var isStyled = task != nil && isOutputColored && line.contains(0x1B)
    if task != nil && showsLines && TerminalLine.mayHaveControls(line) {
      let shown = TerminalLine(line, keepsStyles: isOutputColored)
      (line, isStyled) = (shown.text, shown.isStyled)
    }
    lines.withLock { [line, isStyled] lines in
      let text = lines.add(
        line, isFinished: isFinished, isSplit: isSplit, of: task?.name ?? "", prefix: prefix,
        end: isStyled ? Self.styledEnd : Self.end)
      if !text.isEmpty { self.output.enqueue(text) }
    }
  }

  func write(lines: ArraySlice<UInt8>, of task: TaskLabel?) {
    let all = lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for line in all.dropLast() { write(Array(line), of: task) }
  }

  /// Waits until everything is written; after `stopWaiting`, only while a reader reads.
  func flush() {
    output.release()
    messages.release()
    output.flush()
    messages.flush()
  }

  /// Ends all waiting for readers that do not read, now and later.
  func stopWaiting() {
    output.stopWaiting()
    messages.stopWaiting()
  }

  func problem(_ text: String) { say(.problem, text, style: .bad) }

  func report(_ failure: Failure) { failure.messages.forEach(problem) }

  func warn(_ text: String) { say(.problem, text, style: .warning) }

  /// Clears the screen of a terminal, but not its scrollback.
  func clearScreen() {
    guard Terminal.isTerminal(STDOUT_FILENO) else { return }
    // What follows begins a line.
    let end = lines.withLock { $0.interrupt() }
    output.write(message: end + Array("\u{1B}[H\u{1B}[2J".utf8))
  }

  /// Whether the consoles of pages are shown unless the user says otherwise: where messages go to a
  /// terminal.
  static var showsPageConsoles: Bool { Terminal.isTerminal(STDERR_FILENO) }

  /// Whether the terminal, if there is one, understands control sequences.
  static var obeysSequences: Bool {
    environmentVariable("TERM").map { $0 != "dumb" } ?? false
  }

  static func isColored(_ mode: ColorMode, _ descriptor: Int32) -> Bool {
    mode.isColored(isTerminal: Terminal.isTerminal(descriptor), environmentVariable)
  }

  /// The size of the terminal to which output goes, or else messages.
  static var terminalSize: Terminal.Size? {
    Terminal(STDOUT_FILENO).size ?? Terminal(STDERR_FILENO).size
  }
}

extension ColorMode {
  func isColored(isTerminal: Bool, _ variable: (String) -> String?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto:
      isTerminal && variable("NO_COLOR") ?? "" == "" && variable("TERM") != "dumb"
    }
  }
}
