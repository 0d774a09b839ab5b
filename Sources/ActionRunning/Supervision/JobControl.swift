import Dispatch
import Synchronization
import SystemCalls

/// Stops and continues the command with us, as a shell's job control asks, and passes the terminal to
/// and fro.
///
/// The shell that started us knows our group, and not the command's. When Ctrl-Z stops us, we stop the
/// command first; when it stops the command, which has the terminal, we stop as well, so that the shell
/// gets its prompt back. When we are continued, so is the command.
package final class JobControl: Sendable {
  private struct State {
    var groups: [pid_t: ProcessGroup] = [:]
    /// The group that the terminal is meant for, until its leader has ended.
    var borrower: ProcessGroup?
  }

  private let state = Mutex(State())
  private let controller: TerminalController?
  private let ignoredSignals: Set<Signal>
  private let wantsTerminal: @Sendable () -> Void

  /// - Parameters:
  ///   - controller: The terminal's, if we have one.
  ///   - ignoredSignals: Those that we were started to ignore, and do.
  ///   - wantsTerminal: Is called when a command was stopped because it wants the terminal, which is
  ///     not meant for it.
  package init(
    _ controller: TerminalController?, ignoredSignals: Set<Signal>,
    wantsTerminal: @escaping @Sendable () -> Void
  ) {
    self.controller = controller
    self.ignoredSignals = ignoredSignals
    self.wantsTerminal = wantsTerminal
  }

  /// To be called once, when all signals are blocked in all threads but Dispatch's. All that is done from here
  /// on is done on this queue.
  func begin(on queue: DispatchQueue) {
    if !ignoredSignals.contains(.terminalStop) {
      // If we cannot be told, we are at least stopped no more than the command is.
      try? whenPending(.terminalStop, on: queue) { [self] in
        // The terminal's signals go to a whole group. If that is the command's, others have sent us this
        // one, and those who are with us have had none.
        suspend(.terminalStop, andOurGroup: controller?.isLent ?? false)
      }
    }
    whenSignaled(.continue, on: queue) { [self] in continued() }
    whenSignaled(Signal(rawValue: SIGCHLD), on: queue) { [self] in childrenChanged() }
  }
}

extension JobControl: Hashable {
  package static func == (left: JobControl, right: JobControl) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

// MARK: - What the launcher tells

extension JobControl {
  /// The terminal for a process that is about to be started; nil if it cannot have it.
  func lendTerminal() -> Terminal? {
    controller?.lend()
  }

  /// It could not be started.
  func launchFailed() {
    controller?.reclaim()
    controller?.prepareForKeys()
  }

  /// - Parameter isInteractive: True if the terminal is meant for it, though it may not have been ours
  ///   to lend.
  func launched(_ group: ProcessGroup, isInteractive: Bool) {
    state.withLock { state in
      state.groups[group.leader] = group
      if isInteractive && controller?.use == .lending { state.borrower = group }
    }
    // We may have come to the foreground since; a shell does not tell one who runs.
    controller?.prepareForKeys()
  }

  /// Its leader has ended.
  func ended(_ group: ProcessGroup) {
    let isBorrower = state.withLock { state in
      state.groups[group.leader] = nil
      defer { if state.borrower == group { state.borrower = nil } }
      return state.borrower == group
    }
    if isBorrower { controller?.reclaim() }
    controller?.prepareForKeys()
  }
}

// MARK: - Stopping

extension JobControl {
  /// We are to stop, by a signal that is pending, or comes to be with `andOurGroup`: the command first.
  /// Returns when we have been continued.
  ///
  /// That may be before we have stopped: whoever sees somebody stopped may continue us all at once.
  private func suspend(_ signal: Signal, andOurGroup stopsOurGroup: Bool) {
    let (groups, borrower) = state.withLock { (Array($0.groups.values), $0.borrower) }
    // Before the shell sees that anybody has stopped, and takes the terminal.
    controller?.restore()
    // A script that has started us, the other programs of a pipeline.
    if stopsOurGroup { ProcessGroup.ours.send(signal) }
    for group in groups { group.send(.stop) }
    signal.stopIfPending()
    controller?.resume(lendingTo: borrower)
    for group in groups { group.send(.continue) }
  }

  /// Perhaps we were stopped without having been asked. The command may have been stopped as well, since
  /// somebody else has had its terminal.
  private func continued() {
    let borrower = state.withLock { $0.borrower }
    controller?.continued()
    if let borrower, controller?.lendAgain(to: borrower) ?? false { borrower.send(.continue) }
  }

  private func childrenChanged() {
    let (groups, borrower) = state.withLock { (Array($0.groups.values), $0.borrower) }
    for group in groups {
      guard let signal = try? group.leaderStop() else { continue }
      let isForTerminal = signal.rawValue == SIGTTIN || signal.rawValue == SIGTTOU
      if group == borrower && (isForTerminal || controller?.isLent ?? false) {
        suspend(isForTerminal ? signal : .terminalStop, andOurGroup: true)
      } else if isForTerminal {
        wantsTerminal()
      }
    }
  }
}
