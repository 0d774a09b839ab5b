/// The limit of the messages of a page's console. All times are in milliseconds.
///
/// A page that fails in a loop must not flood the terminal. Beyond the limit, messages are counted.
struct ConsoleLimit: Sendable {
  /// What becomes of a message.
  enum Decision: Hashable, Sendable {
    case report
    /// It is left out. `elapsed` must be called after this time.
    case omit(callAfter: Int)
    /// It is left out, as others before it.
    case omitMore
  }

  /// The length of a period, and the most lines in it.
  static let period = 5_000
  static let mostLines = 100

  private var end = 0
  /// Whether a message of this period did not fit. None is reported after it.
  private var isFull = false
  private var lineCount = 0
  private var omitted = 0

  /// Decides on a message with so many lines.
  mutating func add(lines: Int, at now: Int) -> Decision {
    if now >= end && omitted == 0 { begin(at: now) }
    isFull = isFull || lineCount + lines > Self.mostLines
    if isFull { return omit(1, at: now) }
    lineCount += lines
    return .report
  }

  /// Counts messages that are left out.
  mutating func omit(_ count: Int, at now: Int) -> Decision {
    if now >= end && omitted == 0 { begin(at: now) }
    defer { omitted += count }
    return omitted == 0 ? .omit(callAfter: end - now) : .omitMore
  }

  /// Begins a new period after messages were left out, and returns their number.
  mutating func elapsed(at now: Int) -> Int {
    defer { begin(at: now) }
    return omitted
  }

  private mutating func begin(at now: Int) {
    (end, lineCount, omitted, isFull) = (now + Self.period, 0, 0, false)
  }
}
