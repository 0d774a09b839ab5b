import Synchronization
import SystemCalls

/// Controls the terminal: prepares it for keys, lends it to the command, and restores it.
///
/// A terminal has one foreground process group. It is changed here only while that is the group of this
/// process, or the command's.
package final class TerminalController: Sendable {
  private struct State {
    /// The modes to restore; `nil` if they were not changed.
    var found: TerminalModes?
    /// Whether the terminal is lent: then the command has it, or a group to which the command has given it.
    var isLent = false
    /// The group that has the terminal or waits for it, until its leader has ended.
    var borrower: ProcessGroup?
    /// The modes that the borrower had set when it was suspended, until it has the terminal again.
    var modesOfSuspended: TerminalModes?
    /// Who had the terminal when that was last examined.
    var holder = Holder.own
    var actions: [@Sendable (Holder) -> Void] = []
    /// Whether the terminal must stay restored, because this process is about to be suspended or to end.
    var isReleased = false
  }

  /// Who has the terminal.
  package enum Holder: Sendable {
    /// This process, as far as it is known.
    case own
    /// The command to which it is lent, or a group to which that has given it.
    case borrower
    /// Another job of the shell, or the shell: this process is in the background.
    case others
  }

  package let terminal: Terminal
  /// Whether keys are read while the terminal is not lent.
  package let readsKeys: Bool
  /// Whether the terminal is lent to commands that take it.
  let lends: Bool
  private let guardian: GuardianProcess?
  private let state = Mutex(State())

  /// Creates a controller. If keys are not read and nothing is lent, only the hang-up of the terminal matters.
  package init(_ terminal: Terminal, readsKeys: Bool, lends: Bool, guardian: Guardian?) {
    self.terminal = terminal
    self.readsKeys = readsKeys
    self.lends = lends
    self.guardian = guardian?.process
  }

  /// Takes the terminal, if this process is in its foreground group: lends it to the group that waits for it, which
  /// may have been stopped for that, or else prepares it for keys. Returns whether these can be read.
  ///
  /// A shell does not signal a running job that it brings to the foreground. So this must be called when this
  /// process is resumed, when a command starts or ends, and in the background whenever the terminal is used.
  @discardableResult
  package func take() -> Bool {
    state.withLock { state in
      if state.isReleased { return false }
      let foreground = terminal.foregroundGroup
      guard foreground == getpgrp() else {
        setHolder(state.isLent ? .borrower : foreground == nil ? .own : .others, &state)
        return false
      }
      if let borrower = state.borrower {
        guard lend(&state) else { return false }
        if let modes = state.modesOfSuspended { try? terminal.setModes(modes) }
        state.modesOfSuspended = nil
        if (try? terminal.give(to: borrower.leader)) != nil { borrower.send(.continue) }
        return false
      }
      if state.isLent { return false }
      setHolder(.own, &state)
      if !readsKeys { return false }
      if state.found != nil { return true }
      guard let found = change(&state) else { return false }
      return (try? terminal.setModes(found.forKeys)) != nil
    }
  }

  /// Whether another group has the terminal, so that `take` must be called when the terminal is used.
  package var isInBackground: Bool { state.withLock { $0.holder == .others } }

  /// Calls `action`, under a lock, when the terminal has another holder: before a command starts that takes it, and not
  /// while this process is about to be suspended or to end.
  package func whenHolderChanges(_ action: @escaping @Sendable (Holder) -> Void) {
    state.withLock { state in
      state.actions.append(action)
      if state.holder != .own { action(state.holder) }
    }
  }

  /// Whether the terminal is prepared for keys, or may have been changed by the command.
  package var isPrepared: Bool { state.withLock { $0.found != nil } }

  /// Reclaims the terminal, if it is lent, and restores its modes, until `resume`.
  package func restore() {
    state.withLock { state in
      state.isReleased = true
      if reclaim(&state) { state.modesOfSuspended = try? terminal.modes() }
      restoreModes(&state)
    }
  }

  func resume() {
    state.withLock { $0.isReleased = false }
    take()
  }

  /// This process was resumed. Meanwhile another one may have had the terminal and changed its modes.
  func continued() {
    state.withLock { state in
      let isForeground = terminal.isForeground
      if isTaken(state) { forget(&state) }
      guard readsKeys, !state.isLent, !state.isReleased, let found = state.found,
        let modes = try? terminal.modes()
      else { return }
      if modes == found.forKeys {
        if !isForeground { restoreModes(&state) }
      } else if isForeground {
        if change(&state) != nil { try? terminal.setModes(modes.forKeys) }
      } else {
        forget(&state)
      }
    }
    take()
  }

  /// Whether the shell, or another job of it, has the terminal that was lent: not this process or a group of the
  /// command, of which the leader may have ended.
  private func isTaken(_ state: State) -> Bool {
    guard state.isLent, let group = terminal.foregroundGroup.map(ProcessGroup.init) else {
      return false
    }
    if [.own, state.borrower].contains(group) || group.isEmpty { return false }
    let roots = [state.borrower, ProcessGroup(leader: processIDs().own)].compactMap(\.self)
    return !ProcessGroup.withDescendants(roots).contains(group)
  }

  /// Leaves the terminal, with its modes, to the process that has taken it.
  private func forget(_ state: inout State) {
    (state.isLent, state.found) = (false, nil)
    guardian?.modesAreRestored()
  }

  private func setHolder(_ holder: Holder, _ state: inout State) {
    guard state.holder != holder else { return }
    state.holder = holder
    for action in state.actions { action(holder) }
  }

  // The terminal is changed under the lock, so that its modes and the state agree.

  private func change(_ state: inout State) -> TerminalModes? {
    guard let found = try? terminal.modes() else { return nil }
    state.found = found
    guardian?.keep(found, of: terminal, insteadOf: found.forKeys)
    return found
  }

  private func restoreModes(_ state: inout State) {
    guard let found = state.found.take() else { return }
    try? terminal.setModes(found)
    guardian?.modesAreRestored()
  }
}

// MARK: - Lending

extension TerminalController {
  /// The group that has the terminal or waits for it.
  var borrower: ProcessGroup? { state.withLock { $0.borrower } }

  /// The terminal for a command that is about to start; `nil` if it cannot be lent.
  func lend() -> Terminal? {
    guard lends else { return nil }
    return state.withLock { state in
      !state.isReleased && terminal.isForeground && lend(&state) ? terminal : nil
    }
  }

  /// The group of a command has the terminal, or waits for it, until its leader has ended.
  func lend(to group: ProcessGroup) {
    guard lends else { return }
    state.withLock { $0.borrower = group }
  }

  /// Reclaims the terminal from a group whose leader has ended; with `nil`, from a command that could not be started.
  /// Returns whether it was the borrower.
  @discardableResult
  func reclaim(from group: ProcessGroup?) -> Bool {
    defer { take() }
    return state.withLock { state in
      if state.borrower != group { return false }
      defer { (state.borrower, state.modesOfSuspended) = (nil, nil) }
      guard reclaim(&state) else { return true }
      restoreModes(&state)
      // Input for the command is not a key.
      if readsKeys { terminal.discardInput() }
      return true
    }
  }

  private func lend(_ state: inout State) -> Bool {
    guard let found = state.found ?? change(&state) else { return false }
    // The command receives the modes that were found, not those for keys.
    if !state.isLent { try? terminal.setModes(found) }
    state.isLent = true
    guardian?.keep(found, of: terminal, insteadOf: nil)
    setHolder(.borrower, &state)
    return true
  }

  /// Returns whether the terminal was lent, and not taken since.
  private func reclaim(_ state: inout State) -> Bool {
    if isTaken(state) { forget(&state) }
    if !state.isLent { return false }
    state.isLent = false
    try? terminal.give(to: getpgrp())
    terminal.makeBlocking()
    return true
  }

  package var isLent: Bool { state.withLock { $0.isLent } }
}
