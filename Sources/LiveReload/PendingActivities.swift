/// Activities that pages have not processed yet. Output that later output would replace anyway is left
/// out, so that a task that prints without end costs little.
struct PendingActivities: Sendable {
  /// When the activities must be taken.
  enum Due: Hashable, Sendable {
    case now
    /// After a pause, in which more output may come.
    case later
  }

  /// The first lines of a part of the output that are kept, and the last ones.
  static let firstLines = 40
  static let lastLines = 500
  /// The most bytes of a line. More than pages show.
  static let mostBytes = 16 * 1024

  private enum Entry {
    case activity(Activity)
    case output(task: String, lines: [[UInt8]])
  }

  private var entries: [Entry] = []
  /// The entries to which output of a task is added.
  private var open: [String: Int] = [:]
  private var isDueNow = false

  /// Adds an activity. Returns when the activities must be taken, unless that is known already.
  mutating func add(_ activity: Activity) -> Due? {
    let wasEmpty = entries.isEmpty
    if case .output(let task, let line) = activity {
      add(line.count > Self.mostBytes ? Array(line.prefix(Self.mostBytes)) : line, of: task)
      return wasEmpty ? .later : nil
    }
    entries.append(.activity(activity))
    open = [:]
    defer { isDueNow = true }
    return isDueNow ? nil : .now
  }

  private mutating func add(_ line: [UInt8], of task: String) {
    guard let index = open[task], case .output(_, var lines) = entries[index] else {
      open[task] = entries.count
      entries.append(.output(task: task, lines: [line]))
      return
    }
    // The only reference, so that nothing is copied.
    entries[index] = .output(task: task, lines: [])
    lines.append(line)
    if lines.count >= Self.firstLines + 2 * Self.lastLines {
      lines.removeSubrange(Self.firstLines..<(Self.firstLines + Self.lastLines))
    }
    entries[index] = .output(task: task, lines: lines)
  }

  /// Removes and returns the activities, in order.
  mutating func take() -> [Activity] {
    defer { self = PendingActivities() }
    return entries.flatMap { entry -> [Activity] in
      switch entry {
      case .activity(let activity): [activity]
      case .output(let task, let lines): lines.map { Activity.output(task: task, line: $0) }
      }
    }
  }
}
