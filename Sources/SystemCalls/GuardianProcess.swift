/// A process that outlives this one just long enough to end the process groups entrusted to it.
///
/// It learns of a group from a page of memory that it shares with us, into which a child of ours
/// writes itself before it executes its program. So there is no moment, however short, in which we
/// could be killed and a group be missed; and the guardian sleeps until we have ended.
package struct GuardianProcess: Sendable, Hashable {
  // Points to the shared page, which is never unmapped; all its fields that change are atomic.
  nonisolated(unsafe) let page: OpaquePointer

  /// Starts it. Best before there are threads and much memory, of which it keeps a copy.
  ///
  /// - Parameters:
  ///   - signal: What the groups are asked with.
  ///   - patience: How long they may take before they are killed.
  package static func start(
    signal: Signal, patience: Duration
  ) throws(SystemError) -> GuardianProcess {
    let milliseconds = Int32((patience / .milliseconds(1)).rounded())
    guard let page = csystem_guardian_start(signal.rawValue, milliseconds) else {
      throw .last("fork")
    }
    return GuardianProcess(page: page)
  }

  /// Lets it do what it does when we have ended. To be called once.
  package func dismiss() {
    csystem_guardian_dismiss(page)
  }

  /// Entrusts a group to it. A child that is started with this guardian has done so itself.
  package func add(_ group: ProcessGroup) {
    csystem_guardian_add(page, group.leader)
  }

  /// The group's leader is about to be waited for: from then on, what keeps its number from others is
  /// its other members, if it has any.
  package func leaderIsReaped(of group: ProcessGroup) {
    csystem_guardian_leader_is_reaped(page, group.leader)
  }

  /// The group is gone; its number is not ours any more.
  package func forget(_ group: ProcessGroup) {
    csystem_guardian_forget(page, group.leader)
  }

  /// A terminal is going to be changed: if we end without restoring it, the guardian does.
  package func keep(_ modes: TerminalModes, of terminal: Terminal) {
    var modes = modes.raw
    csystem_guardian_keep_modes(page, terminal.descriptor, &modes)
  }

  /// The terminal has these modes again.
  package func modesAreRestored() {
    csystem_guardian_modes_are_restored(page)
  }
}
