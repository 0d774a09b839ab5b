import Synchronization
import SystemCalls

/// Controls the terminal: prepares it for keys, lends it to the command, and restores it.
///
/// A terminal has one foreground process group. It is changed here only while that is the group of this
/// process, or the command's.
package final class TerminalController: Sendable {
  private struct State {
    /// The modes to restore.
    var found: TerminalModes?
    /// Whether the modes may differ from these.
    var isChanged = false
    /// Whether the terminal is lent: then the command has it, or a group to which the command has given it.
    var isLent = false
    /// The modes that the command had set when it was suspended.
    var modesOfSuspended: TerminalModes?
    /// Whether the terminal must stay restored, because this process is about to be suspended or to end.
    var isReleased = false
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

  /// Prepares the terminal for keys, if this process is in its foreground group. Returns whether keys can be
  /// read.
  @discardableResult
  package func prepareForKeys() -> Bool {
    guard readsKeys, terminal.isForeground else { return false }
    return state.withLock { state in
      if state.isLent { return false }
      if state.isChanged { return true }
      guard !state.isReleased, change(&state), let found = state.found else { return false }
      return (try? terminal.setModes(found.forKeys)) != nil
    }
  }

  /// Whether the terminal is prepared for keys, or may have been changed by the command.
  package var isPrepared: Bool { state.withLock { $0.isChanged } }

  /// Reclaims the terminal, if it is lent, and restores its modes, until `resume`.
  package func restore() {
    state.withLock { state in
      state.isReleased = true
      state.modesOfSuspended = state.isLent ? try? terminal.modes() : nil
      reclaim(&state)
      restoreModes(&state)
    }
  }

  /// Takes control again after `restore`, and lends the terminal to `group`, which was suspended as well.
  func resume(lendingTo group: ProcessGroup?) {
    state.withLock { $0.isReleased = false }
    prepareForKeys()
    guard let group, lend() != nil else { return }
    state.withLock { state in
      if let modes = state.modesOfSuspended { try? terminal.setModes(modes) }
      try? terminal.give(to: group.leader)
    }
  }

  /// This process was resumed. If it was suspended by SIGSTOP, another process had the terminal and may have
  /// changed its modes.
  func continued() {
    guard readsKeys else { return }
    let isForeground = terminal.isForeground
    state.withLock { state in
      guard state.isChanged, !state.isLent, !state.isReleased, let found = state.found,
        let modes = try? terminal.modes()
      else { return }
      if modes == found.forKeys {
        if !isForeground { restoreModes(&state) }
      } else if isForeground {
        if change(&state) { try? terminal.setModes(modes.forKeys) }
      } else {
        state.isChanged = false
        guardian?.modesAreRestored()
      }
    }
  }

  // The terminal is changed under the lock, so that its modes and the state agree.

  private func change(_ state: inout State) -> Bool {
    guard let found = try? terminal.modes() else { return false }
    state.found = found
    state.isChanged = true
    guardian?.keep(found, of: terminal)
    return true
  }

  private func restoreModes(_ state: inout State) {
    guard state.isChanged, let found = state.found else { return }
    try? terminal.setModes(found)
    state.isChanged = false
    guardian?.modesAreRestored()
  }
}

// MARK: - Lending

extension TerminalController {
  /// The terminal for a command that is about to start; `nil` if it cannot be lent.
  func lend() -> Terminal? {
    guard lends, terminal.isForeground else { return nil }
    return state.withLock { state in
      if state.isReleased { return nil }
      if state.isChanged, !state.isLent, let found = state.found {
        // The command receives the modes that were found, not those for keys.
        try? terminal.setModes(found)
      } else if !state.isChanged && !change(&state) {
        return nil
      }
      state.isLent = true
      return terminal
    }
  }

  /// Lends the terminal again to a group that had it, if this process is in the foreground. Otherwise
  /// returns false.
  func lendAgain(to group: ProcessGroup) -> Bool {
    guard lends, terminal.isForeground else { return false }
    return state.withLock { state in
      state.isLent && (try? terminal.give(to: group.leader)) != nil
    }
  }

  /// Reclaims the terminal from a command that has ended.
  func reclaim() {
    state.withLock { state in
      guard state.isLent else { return }
      reclaim(&state)
      restoreModes(&state)
      // Input for the command is not a key.
      if readsKeys { terminal.discardInput() }
    }
  }

  private func reclaim(_ state: inout State) {
    guard state.isLent else { return }
    state.isLent = false
    try? terminal.give(to: getpgrp())
  }

  package var isLent: Bool { state.withLock { $0.isLent } }
}
