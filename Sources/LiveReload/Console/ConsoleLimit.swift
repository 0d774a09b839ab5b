/// The limit of the messages of a page's console. All times are in milliseconds.
///
/// A page that fails in a loop must not flood the terminal. Beyond the limit, messages are counted.
struct ConsoleLimit: Sendable {
  /// The length of a period, and the most lines in it.
  static let period = 5_000
  static let mostLines = 100

  /// The end of the period, after which `begin` must be called if messages were left out.
  private(set) var end = 0
  /// How many messages of the period were left out, here or by the script.
  private(set) var omitted = 0
  /// Whether a message of this period did not fit. None is reported after it.
  private var isFull = false
  private var lineCount = 0

  /// Whether a message with so many lines is reported.
  mutating func admits(lines: Int, at now: Int) -> Bool {
    omit(0, at: now)
    isFull = isFull || lineCount + lines > Self.mostLines
    if isFull { omitted += 1 } else { lineCount += lines }
    return !isFull
  }

  /// Counts messages that are left out.
  mutating func omit(_ count: Int, at now: Int) {
    if now >= end && omitted == 0 { begin(at: now) }
    omitted += count
  }

  /// Begins a new period.
  mutating func begin(at now: Int) {
    (end, lineCount, omitted, isFull) = (now + Self.period, 0, 0, false)
  }
}
