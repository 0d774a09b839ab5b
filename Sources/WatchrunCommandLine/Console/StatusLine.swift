import SessionControl
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Keeps the status line up to date: after each report and each step, and each second while something runs.
final class StatusLine: Sendable {
  /// With fewer rows, the line would take too much of the terminal.
  private static let leastRows = 20

  private let console: Console
  private let current: @Sendable () -> StatusText?
  private let scheduler = DispatchScheduler(queue: .separate())
  private let state = Mutex(State())

  private struct State {
    var mode = StatusLineMode.never
    var next: (any ScheduledWork)?
  }

  /// - Parameter current: Returns the present state; `nil` to show nothing. Called on any queue.
  init(_ console: Console, _ current: @escaping @Sendable () -> StatusText?) {
    self.console = console
    self.current = current
  }

  /// Whether there is a terminal for it.
  static func isPossible(_ mode: StatusLineMode) -> Bool {
    guard mode != .never, Console.obeysSequences, let size = Terminal(STDERR_FILENO).size
    else { return false }
    // A task of another watchrun has a terminal of which only lines are shown.
    if mode == .always { return true }
    // What is written through a pipe, as to `tee`, may reach the same terminal at any time.
    return size.rows >= leastRows && !RunMark.isInherited && Terminal.isTerminal(STDOUT_FILENO)
  }

  func update(_ mode: StatusLineMode) {
    let text = Self.isPossible(mode) ? current() : nil
    console.setStatus(text)
    let work =
      text?.isRunning == true
      ? scheduler.schedule(at: scheduler.now.advanced(by: .seconds(1))) { [weak self] in
        self?.update(mode)
      } : nil
    let former = state.withLock { state in
      state.mode = mode
      return exchange(&state.next, with: work)
    }
    former?.cancel()
  }

  /// Shows the present state, where it is shown at all.
  func update() {
    let mode = state.withLock { $0.mode }
    if mode != .never { update(mode) }
  }
}

/// The text of the status line: the tasks with their states, and how long they have taken. A pure value.
struct StatusText: Hashable {
  var tasks: [SessionAnswer.Task]
  /// The numbers of errors in the tasks that have failed.
  var errors: [String: Int] = [:]
  /// The tasks whose readiness nothing checks.
  var unchecked: Set<String> = []
  /// Why changes start nothing; `nil` if they do.
  var block: String?
  /// Whether keys are read.
  var hasKeys = true

  /// Whether it changes with time.
  var isRunning: Bool { tasks.contains { $0.state == "running" } }

  private static let separator = " · "
  private static let hint = "h: keys"

  /// The text, of fewer than `columns` columns.
  func text(columns: Int, isColored: Bool) -> String {
    var text = ""
    var length = 0
    let block = block.map { ($0, Console.Style.warning.applied(to: $0, isColored)) }
    for (plain, styled) in [block].compactMap(\.self) + shown(columns).map({ shown($0, isColored) })
    {
      let gap = text.isEmpty ? "" : Self.separator
      // Room for the ellipsis.
      guard length + gap.count + plain.columns + 2 < columns else {
        return text + (length + 2 < columns ? " …" : "")
      }
      text += gap + styled
      length += gap.count + plain.columns
    }
    let room = columns - 1 - length - Self.hint.count
    if room < 3 || !hasKeys { return text }
    return text + String(repeating: " ", count: room)
      + Console.Style.faint.applied(to: Self.hint, isColored)
  }

  /// A line that is being typed, of fewer than `columns` columns: its end, if there is no room for all.
  static func prompt(_ typed: String, columns: Int) -> String {
    let text = "watchrun: \(typed)"
    if text.columns < columns - 1 { return text + "▏" }
    var end = Substring(text)
    while !end.isEmpty && String(end).columns > columns - 3 { end.removeFirst() }
    return columns < 4 ? "" : "…" + end + "▏"
  }

  /// The tasks in their order, or, if there is no room for all, first what has failed and what runs.
  private func shown(_ columns: Int) -> [SessionAnswer.Task] {
    let length = tasks.map { shown($0, false).plain.columns + Self.separator.count }.reduce(0, +)
    if length + (block?.columns ?? 0) < columns { return tasks }
    let first = ["failed", "running"].flatMap { state in tasks.filter { $0.state == state } }
    return first + tasks.filter { $0.state != "failed" && $0.state != "running" }
  }

  /// What has failed; without a mark if nothing has, and nothing is green.
  var title: String {
    let failed = tasks.filter { $0.state == "failed" }
    let errors = failed.map { self.errors[$0.name] ?? 0 }.reduce(0, +)
    if isRunning { return "… watchrun" }
    if failed.isEmpty { return tasks.areGreen ? "✓ watchrun" : "watchrun" }
    return errors > 0
      ? "✗ \(DiagnosticSummary.count(errors, "error")) · watchrun"
      : "✗ \(failed.map(\.name).joined(separator: ", ")) · watchrun"
  }

  private func shown(
    _ task: SessionAnswer.Task, _ isColored: Bool
  ) -> (plain: String, styled: String) {
    let (state, style) = words(for: task)
    let plain = state.isEmpty ? task.name : "\(task.name) \(state)"
    let styled = style.applied(to: state.isEmpty ? task.name : state, isColored)
    return (plain, state.isEmpty ? styled : "\(task.name) \(styled)")
  }

  private func words(for task: SessionAnswer.Task) -> (String, Console.Style) {
    // What was not started has taken no time.
    let duration = task.startedAt == nil ? nil : task.duration
    let time = duration?.shortDescription ?? ""
    switch task.state {
    case "running":
      let seconds = duration.map { Duration.seconds($0.milliseconds / 1000).shortDescription }
      return ("… \(seconds ?? "")", .warning)
    case "ready": return (unchecked.contains(task.name) ? "● started" : "● ready", .good)
    case "succeeded": return ("✓ " + (task.isFresh ? "fresh" : time), .good)
    case "failed":
      let errors = self.errors[task.name] ?? 0
      return ("✗ " + (errors > 0 ? DiagnosticSummary.count(errors, "error") : time), .bad)
    case "skipped": return ("– skipped", .faint)
    case "stopped": return ("■ stopped", .faint)
    default: return ("", .faint)
    }
  }
}

extension SessionAnswer.Task {
  /// Whether it was not run, as nothing has changed since its last success.
  var isFresh: Bool { state == "succeeded" && startedAt == nil && milliseconds ?? 0 == 0 }

  var duration: Duration? { milliseconds.map { .milliseconds($0) } }
}
