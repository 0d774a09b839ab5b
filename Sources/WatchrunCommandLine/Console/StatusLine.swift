import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Keeps the status line up to date: after each report and each step, and each second while something runs.
final class StatusLine: Sendable {
  /// With fewer rows, the line would take too much of the terminal.
  private static let leastRows = 20

  private let console: Console
  private let current: @Sendable () -> StatusText
  private let scheduler = DispatchScheduler(queue: .separate())
  private let state = Mutex(State())

  private struct State {
    var mode = StatusLineMode.never
    var next: (any ScheduledWork)?
  }

  /// - Parameter current: Returns the present state. Called on any queue.
  init(_ console: Console, _ current: @escaping @Sendable () -> StatusText) {
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

  /// - Parameter mode: When it is shown.
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
