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
  private let keeper: TerminalKeeper?
  private let ignoredSignals: Set<Signal>
  private let wantsTerminal: @Sendable () -> Void

  /// - Parameters:
  ///   - keeper: The terminal's, if we have one.
  ///   - ignoredSignals: Those that we were started to ignore, and do.
  ///   - wantsTerminal: Is called when a command was stopped because it wants the terminal, which is
  ///     not meant for it.
  package init(
    _ keeper: TerminalKeeper?, ignoredSignals: Set<Signal>,
    wantsTerminal: @escaping @Sendable () -> Void
  ) {
    self.keeper = keeper
    self.ignoredSignals = ignoredSignals
    self.wantsTerminal = wantsTerminal
  }

  /// To be called once. All that is done from here on is done on this queue.
  func begin(on queue: DispatchQueue) {
    if !ignoredSignals.contains(.terminalStop) {
      whenSignaled(.terminalStop, on: queue) { [self] in suspend(.terminalStop) }
    }
    whenSignaled(Signal(rawValue: SIGCHLD), on: queue) { [self] in childrenHaveChanged() }
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
    keeper?.lend()
  }

  /// It could not be started.
  func launchFailed() {
    keeper?.takeBack()
  }

  /// - Parameter isInteractive: True if the terminal is meant for it, though it may not have been ours
  ///   to lend.
  func launched(_ group: ProcessGroup, isInteractive: Bool) {
    state.withLock { state in
      state.groups[group.leader] = group
      if isInteractive && keeper?.use == .lending { state.borrower = group }
    }
    // We may have come to the foreground since; a shell does not tell one who runs.
    keeper?.prepareForKeys()
  }

  /// Its leader has ended.
  func ended(_ group: ProcessGroup) {
    let isBorrower = state.withLock { state in
      state.groups[group.leader] = nil
      defer { if state.borrower == group { state.borrower = nil } }
      return state.borrower == group
    }
    if isBorrower { keeper?.takeBack() }
    keeper?.prepareForKeys()
  }
}

// MARK: - Stopping

extension JobControl {
  /// We are to stop: the command first. Returns when we have been continued.
  private func suspend(_ signal: Signal) {
    let (groups, borrower) = state.withLock { (Array($0.groups.values), $0.borrower) }
    for group in groups { group.send(.stop) }
    // The terminal's signals go to a whole group. Where they went to the command's, the others of ours
    // have had none: a script that has started us, the other programs of a pipeline.
    let stopsOurGroup = signal != .terminalStop || keeper?.isLent ?? false
    keeper?.giveUp()
    signal.stopThisProcess(andItsGroup: stopsOurGroup)
    keeper?.resume(lendingTo: borrower)
    for group in groups { group.send(.continue) }
  }

  private func childrenHaveChanged() {
    let (groups, borrower) = state.withLock { (Array($0.groups.values), $0.borrower) }
    for group in groups {
      guard let signal = try? group.leaderStop() else { continue }
      let isForTerminal = signal.rawValue == SIGTTIN || signal.rawValue == SIGTTOU
      if group == borrower && (isForTerminal || keeper?.isLent ?? false) {
        suspend(isForTerminal ? signal : .terminalStop)
      } else if isForTerminal {
        wantsTerminal()
      }
    }
  }
}
