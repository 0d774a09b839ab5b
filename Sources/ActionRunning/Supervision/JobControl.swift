import Dispatch
import Support
import Synchronization
import SystemCalls

/// Suspends and resumes the command together with this process, as a shell's job control requires, and passes
/// the terminal between them.
///
/// The shell knows the process group of watchrun, but not the command's. When Ctrl-Z suspends watchrun, the
/// command is suspended first. When it suspends a command that has the terminal, watchrun suspends itself, so
/// that the shell prints its prompt. When watchrun is resumed, the command is as well.
package final class JobControl: Sendable {
  private struct State {
    /// Those of the launcher. Others start programs that are left alone, such as a browser.
    var groups: [pid_t: ProcessGroup] = [:]
    /// What starts the processes that want the terminal meanwhile, in order.
    var waiting: [@Sendable () -> Void] = []
    /// Has the times of the commands, which stand still while these are suspended.
    var scheduler: DispatchScheduler?
  }

  private let state = Mutex(State())
  let controller: TerminalController?
  private let ignoredSignals: Set<Signal>
  private let wantsTerminal: @Sendable () -> Void
  private let suspending: @Sendable (Bool) -> Void

  /// - Parameters:
  ///   - controller: Controls the terminal, if there is one.
  ///   - ignoredSignals: The signals that this process was started to ignore.
  ///   - wantsTerminal: Called on the queue when a command was suspended because it used the terminal,
  ///     which it does not have.
  ///   - suspending: Called before this process is suspended, with `true`, and after it was resumed, with `false`.
  package init(
    _ controller: TerminalController?, ignoredSignals: Set<Signal>,
    wantsTerminal: @escaping @Sendable () -> Void,
    suspending: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    self.controller = controller
    self.ignoredSignals = ignoredSignals
    self.wantsTerminal = wantsTerminal
    self.suspending = suspending
  }

  /// Handles signals, on this queue. Call this once, when all signals are blocked in all threads but those of Dispatch.
  func begin(on queue: DispatchQueue, _ scheduler: DispatchScheduler?) {
    state.withLock { $0.scheduler = scheduler }
    if !ignoredSignals.contains(.terminalStop) {
      // If this fails, neither watchrun nor the command is suspended.
      try? whenPending(.terminalStop, on: queue) { [self] in
        // The terminal sends its signals to the foreground group. If that is the command's, this signal came
        // from elsewhere, and the rest of this process's group has not received one.
        suspend(.terminalStop, withOwnGroup: controller?.isLent ?? false)
      }
    }
    whenSignaled([.continue, Signal(rawValue: SIGCHLD)], on: queue) { [self] signal in
      if signal != .continue { return childrenChanged() }
      // After SIGSTOP as well. The command may have been suspended because it used the terminal.
      controller?.continued()
      // One that has the terminal may have been stopped again by now.
      if controller?.isInBackground == true { controller?.borrower?.send(.continue) }
    }
  }
}

// MARK: - Called by the launcher

extension JobControl {
  /// Whether the terminal is free for a process. Otherwise `retry` is called when the one that has it has ended.
  func hasTerminal(orCall retry: @escaping @Sendable () -> Void) -> Bool {
    guard let controller, controller.borrower != nil else { return true }
    state.withLock { $0.waiting.append(retry) }
    return false
  }

  /// The process was started. An interactive one is meant for the terminal, even if that could not be lent.
  func launched(_ group: ProcessGroup, isInteractive: Bool) {
    state.withLock { $0.groups[group.leader] = group }
    if isInteractive { controller?.lend(to: group) }
    controller?.take()
  }

  func ended(_ group: ProcessGroup) {
    state.withLock { $0.groups[group.leader] = nil }
    if controller?.reclaim(from: group) != true { return }
    // The first one takes the terminal, and the others wait for that.
    for retry in state.withLock({ exchange(&$0.waiting, with: []) }) { retry() }
  }
}

// MARK: - Suspending

extension JobControl {
  private var groups: [ProcessGroup] { state.withLock { Array($0.groups.values) } }

  /// Suspends the commands, and then this process by a signal that is pending, or that `withOwnGroup` makes
  /// pending. Returns after this process was resumed.
  ///
  /// It may be resumed before it was suspended, by a shell that has seen a command suspended.
  private func suspend(_ signal: Signal, withOwnGroup suspendsOwnGroup: Bool) {
    let groups = groups
    // Before the shell sees a suspended process and takes the terminal.
    suspending(true)
    controller?.restore()
    // The group may include a script that started watchrun, and other programs of a pipeline.
    if suspendsOwnGroup { ProcessGroup.own.send(signal) }
    for group in groups { group.send(.stop) }
    let began = Instant.now
    signal.stopIfPending()
    state.withLock(\.scheduler)?.stoodStill(for: began.duration(to: .now))
    controller?.resume()
    suspending(false)
    // What used the terminal is resumed by that of this process, which does not follow in an orphaned group.
    let waiting = signal == .terminalStop ? nil : controller?.borrower
    for group in groups where group != waiting { group.send(.continue) }
  }

  private func childrenChanged() {
    SystemLauncher.reapOrphans()
    for group in groups {
      guard let signal = try? group.leaderStop() else { continue }
      let isForTerminal = signal.rawValue == SIGTTIN || signal.rawValue == SIGTTOU
      if let controller, group == controller.borrower, isForTerminal || controller.isLent {
        // This process may have been brought to the foreground since, without a signal.
        if isForTerminal { controller.take() }
        if isForTerminal && controller.terminal.foregroundGroup == group.leader {
          group.send(.continue)
        } else {
          suspend(isForTerminal ? signal : .terminalStop, withOwnGroup: true)
        }
      } else if isForTerminal {
        wantsTerminal()
      }
    }
  }
}
