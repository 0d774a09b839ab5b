import Synchronization
import SystemCalls

/// Changes our terminal as long as we have it, lends it to the command, and leaves it as it was found.
///
/// A terminal belongs to one process group at a time, its foreground group. Ours is, from the shell,
/// and only then is it touched here.
package final class TerminalController: Sendable {
  /// What we want of it.
  package enum Use: Hashable, Sendable {
    /// To read single keys.
    case keys
    /// To lend it to the command.
    case lending
    /// Nothing but to know when it has gone.
    case none
  }

  private struct State {
    /// The modes that it had when it became ours.
    var found: TerminalModes?
    /// True while the modes may be other than these.
    var isChanged = false
    /// True from when it was lent until it is taken back: then nobody but the command, or
    /// who it has lent it to in turn, can have it.
    var isLent = false
    /// The modes that the command had set when it was stopped.
    var modesOfStopped: TerminalModes?
    /// True while it is to be left as it was found, though it may be ours: we are about to stop or to
    /// end.
    var isReleased = false
  }

  package let terminal: Terminal
  package let use: Use
  /// Whether keys are read; with `lending`, only while the terminal is not lent.
  package let readsKeys: Bool
  private let guardian: GuardianProcess?
  private let state = Mutex(State())

  package init(_ terminal: Terminal, for use: Use, readsKeys: Bool = true, guardian: Guardian?) {
    self.terminal = terminal
    self.use = use
    self.readsKeys = readsKeys && use != .none
    self.guardian = guardian?.process
  }

  /// Prepares it for keys, if it is ours. True if they can be read.
  @discardableResult
  package func prepareForKeys() -> Bool {
    guard readsKeys, terminal.isOurs else { return false }
    return state.withLock { state in
      if state.isLent { return false }
      if state.isChanged { return true }
      guard !state.isReleased, change(&state), let found = state.found else { return false }
      return (try? terminal.setModes(found.forKeys)) != nil
    }
  }

  /// True while it is prepared for keys, or may have been changed by the command.
  package var isPrepared: Bool { state.withLock { $0.isChanged } }

  /// Takes it back, if it was lent, and leaves it as it was found, until `resume`.
  package func restore() {
    state.withLock { state in
      state.isReleased = true
      if state.isLent { state.modesOfStopped = try? terminal.modes() }
      reclaim(&state)
      restoreModes(&state)
    }
  }

  /// Sees to it again; to `group`, which has been stopped with us, it is lent if it is ours.
  func resume(lendingTo group: ProcessGroup?) {
    state.withLock { $0.isReleased = false }
    prepareForKeys()
    guard let group, lend() != nil else { return }
    state.withLock { state in
      if let modes = state.modesOfStopped { try? terminal.setModes(modes) }
      try? terminal.give(to: group.leader)
    }
  }

  /// We have been continued. If we had not been asked to stop, but were stopped, somebody else has had the
  /// terminal meanwhile, and may have put it into modes of his own.
  func continued() {
    guard readsKeys else { return }
    let isOurs = terminal.isOurs
    state.withLock { state in
      guard state.isChanged, !state.isLent, !state.isReleased, let found = state.found,
        let modes = try? terminal.modes()
      else { return }
      if modes == found.forKeys {
        if !isOurs { restoreModes(&state) }
      } else if isOurs {
        if change(&state) { try? terminal.setModes(modes.forKeys) }
      } else {
        state.isChanged = false
        guardian?.modesAreRestored()
      }
    }
  }

  // The calls to the terminal are made under the lock: what has been done to it and what is known of
  // it must not come apart.

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
  /// The terminal for a command that is about to begin; nil if it is not ours to lend.
  func lend() -> Terminal? {
    guard use == .lending, terminal.isOurs else { return nil }
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

  /// Lends it to a group once more that had it, if it has come to us. False if it has not.
  func lendAgain(to group: ProcessGroup) -> Bool {
    guard use == .lending, terminal.isOurs else { return false }
    return state.withLock { state in
      state.isLent && (try? terminal.give(to: group.leader)) != nil
    }
  }

  /// Takes it back from a command that has ended.
  func reclaim() {
    state.withLock { state in
      guard state.isLent else { return }
      reclaim(&state)
      restoreModes(&state)
      // What was typed for the command is not a key.
      if readsKeys { terminal.discardInput() }
    }
  }

  private func reclaim(_ state: inout State) {
    guard state.isLent else { return }
    state.isLent = false
    try? terminal.give(to: getpgrp())
  }

  var isLent: Bool { state.withLock { $0.isLent } }
}
