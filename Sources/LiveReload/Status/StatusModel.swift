import SystemCalls

/// The state of the tasks and of the last rounds. Activities in, JSON out; times are parameters.
package struct StatusModel: Sendable {
  package enum State: String, Sendable {
    case pending, running, ready, succeeded, failed, skipped, stopped
  }

  package struct Task: Sendable {
    package var description: Activity.TaskDescription
    package var state = State.pending
    package var status: Int?
    /// Milliseconds since 1970.
    package var startedAt: Int?
    package var duration: Duration?
    /// The process of the latest run.
    var process: Int32?
    /// The first and the last lines of the output of the latest run.
    var lines: [[Span]] = []
    /// Whether lines are missing after the first ones.
    var hasGap = false
    /// What the output of the latest run says about errors: their number, and a line for each.
    var errorCounts = ""
    var errorLines: [String] = []
    /// The number of lines that have been searched for links.
    fileprivate var linkedCount = 0
    fileprivate var terminal = TerminalText()
    /// Whether the next line or start belongs to another run.
    fileprivate var isOver = true
  }

  struct Round: Sendable {
    struct Entry: Sendable {
      var task: String
      var outcome: Activity.Outcome
      var status: Int?
      var duration: Duration
    }

    var number: Int
    var reason: String
    var changes: [Activity.Change]
    var startedAt: Int
    var durationMilliseconds: Int?
    var hasSucceeded: Bool?
    var entries: [Entry] = []
  }

  private static let mostLines = 400
  /// The first lines of a run, which say how it began, are kept.
  static let firstLines = 40
  private static let gap = [Span(text: "⋯ lines are left out here ⋯")]
  private static let mostRounds = 50
  private static let mostChanges = 100

  package private(set) var tasks: [Task] = []
  /// The tasks that are queued, running, or services that are not ready.
  package private(set) var unsettled: Set<String> = []
  /// The rounds, the latest first.
  private(set) var rounds: [Round] = []
  private var roundCount = 0

  package init() {}

  package func task(_ name: String) -> Task? {
    tasks.first { $0.description.name == name }
  }

  /// Processes an activity at a time in milliseconds since 1970.
  package mutating func note(_ activity: Activity, at time: Int) {
    switch activity {
    case .tasks(let descriptions):
      tasks = descriptions.map { description in
        var task = task(description.name) ?? Task(description: description)
        task.description = description
        return task
      }
    case .roundBegan(let reason, let changes):
      roundCount += 1
      rounds.insert(
        Round(
          number: roundCount, reason: reason, changes: Array(changes.prefix(Self.mostChanges)),
          startedAt: time), at: 0)
      if rounds.count > Self.mostRounds { rounds.removeLast() }
    case .started(let name):
      update(name) { task in
        if task.isOver {
          (task.lines, task.linkedCount, task.terminal) = ([], 0, TerminalText())
          task.hasGap = false
        }
        task.isOver = false
        (task.state, task.startedAt, task.status, task.duration) = (.running, time, nil, nil)
        (task.errorCounts, task.errorLines) = ("", [])
      }
    case .launched(let name, let process):
      update(name) { $0.process = process }
    case .output(let name, let line):
      update(name) { task in
        task.lines.append(task.terminal.line(line))
        if task.lines.count > Self.mostLines + 100 {
          let removed = Self.firstLines..<(Self.firstLines + 100)
          task.lines.removeSubrange(removed)
          task.linkedCount -= removed.clamped(to: 0..<task.linkedCount).count
          task.hasGap = true
        }
      }
    case .diagnosed(let name, let counts, let lines):
      update(name) { ($0.errorCounts, $0.errorLines) = (counts, lines) }
    case .ended(let name, let outcome, let status, let duration):
      update(name) { task in
        task.isOver = outcome != .ready && outcome != .kept
        (task.status, task.duration) = (status, duration)
        let state = outcome == .notReady ? State.failed.rawValue : outcome.rawValue
        task.state = State(rawValue: state) ?? task.state
      }
      if !rounds.isEmpty && rounds[0].hasSucceeded == nil {
        rounds[0].entries.removeAll { $0.task == name }
        rounds[0].entries.append(
          Round.Entry(task: name, outcome: outcome, status: status, duration: duration))
      }
    case .roundEnded(let succeeded):
      guard !rounds.isEmpty, rounds[0].hasSucceeded == nil else { return }
      rounds[0].hasSucceeded = succeeded
      rounds[0].durationMilliseconds = max(0, time - rounds[0].startedAt)
    case .unsettled(let names):
      unsettled = names
    case .stopping, .serving, .changed:
      break
    }
  }

  /// The lines of a task, with a mark where lines are missing.
  ///
  /// - Parameter lastLines: The number of lines after the first ones; `nil` for all that are kept.
  static func shownLines(of task: Task, lastLines: Int? = nil) -> [[Span]] {
    let rest = task.lines.dropFirst(firstLines)
    let last = rest.suffix(lastLines ?? rest.count)
    let hasGap = task.hasGap || last.count < rest.count
    return task.lines.prefix(firstLines) + (hasGap ? [gap] : []) + last
  }

  /// Adds links to the output of a task. `link` is called once for each line, however often this is
  /// called, so that links stay the same while the output is shown.
  mutating func linkOutput(of name: String, _ link: ([[Span]]) -> [[Span]]) {
    update(name) { task in
      let isNew = task.linkedCount..<task.lines.count
      task.lines.replaceSubrange(isNew, with: link(Array(task.lines[isNew])))
      task.linkedCount = task.lines.count
    }
  }

  private mutating func update(_ name: String, _ change: (inout Task) -> Void) {
    guard let index = tasks.firstIndex(where: { $0.description.name == name }) else { return }
    change(&tasks[index])
  }
}
