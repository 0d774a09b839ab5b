/// A process that outlives this one to stop the registered process groups.
///
/// Groups are registered in a page of memory that both processes share. A child registers itself before
/// it executes its program, so there is no moment in which this process could be killed and a group be
/// missed. Groups that descendants of runs have made are found by their ``RunMark``. The guardian sleeps until
/// this process has ended.
package struct GuardianProcess: Sendable, Hashable {
  // Points to the shared page, which is never unmapped; all its fields that change are atomic.
  nonisolated(unsafe) let page: OpaquePointer
  /// The beginning of the marks of the runs that it stops.
  let mark: String

  /// Starts a guardian. Call this before threads exist and much memory is in use: it is a fork.
  ///
  /// - Parameters:
  ///   - signal: The signal that asks the groups to stop.
  ///   - gracePeriod: The time between that signal and SIGKILL.
  package static func start(
    signal: Signal, gracePeriod: Duration
  ) throws(SystemError) -> GuardianProcess {
    let milliseconds = Int32((gracePeriod / .milliseconds(1)).rounded())
    let mark = RunMark.makeCommonPart()
    guard let page = csystem_guardian_start(signal.rawValue, milliseconds, mark) else {
      throw .last("fork")
    }
    return GuardianProcess(page: page, mark: mark)
  }

  /// Makes it stop the registered groups now, and waits until it has ended, for at most a second. Call
  /// this once.
  package func end() {
    csystem_guardian_end(page)
  }

  /// Registers a group. A child that is started with this guardian registers itself.
  package func add(_ group: ProcessGroup) {
    csystem_guardian_add(page, group.leader)
  }

  /// Notes that the group's leader is about to be reaped: from then on, only its other members keep its
  /// ID in use.
  package func leaderIsReaped(of group: ProcessGroup) {
    csystem_guardian_leader_is_reaped(page, group.leader)
  }

  /// Removes a group that is gone: its ID may be reused.
  package func forget(_ group: ProcessGroup) {
    csystem_guardian_forget(page, group.leader)
  }

  /// Saves the modes of a terminal that is about to be changed. The guardian restores them if this process does
  /// not, and the terminal has those that are `set`; with `nil`, whatever it has, since it is lent.
  package func keep(_ modes: TerminalModes, of terminal: Terminal, insteadOf set: TerminalModes?) {
    var (modes, others) = (modes.raw, set?.raw ?? modes.raw)
    csystem_guardian_keep_modes(page, terminal.descriptor, &modes, &others, set == nil)
  }

  /// Notes that the terminal has its saved modes again.
  package func modesAreRestored() {
    csystem_guardian_modes_are_restored(page)
  }

  /// Notes on which terminal the last row is drawn; `nil` if it is not. The guardian erases it if this process does not.
  package func rowIsDrawn(on terminal: Terminal?) {
    csystem_guardian_row_is_drawn(page, terminal?.descriptor ?? -1)
  }
}
