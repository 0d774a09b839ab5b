/// A process and all its descendants that have not left its group.
package struct ProcessGroup: Hashable, Sendable {
  /// The leader's process id, which is the group's number.
  package let leader: pid_t

  package init(leader: pid_t) {
    self.leader = leader
  }

  /// The one that this process belongs to.
  package static var ours: ProcessGroup { ProcessGroup(leader: getpgrp()) }

  /// Sends a signal to all its members. False if it has none.
  @discardableResult
  package func send(_ signal: Signal) -> Bool {
    kill(-leader, signal.rawValue) == 0
  }

  /// True if it has no member left, not even one that nobody has waited for.
  package var isEmpty: Bool {
    kill(-leader, 0) == -1 && errno == ESRCH
  }

  /// How the leader has ended; nil if it has not. It is not waited for, so that its number cannot
  /// be another's as long as signals may be sent to it.
  package func leaderStatus() throws(SystemError) -> ExitStatus? {
    try wait(WEXITED | WNOHANG | WNOWAIT)
  }

  /// Lets go of the leader, which has ended.
  package func reap() throws(SystemError) {
    _ = try wait(WEXITED | WNOHANG)
  }

  /// The signal that has stopped the leader, told once each time it stops; nil if it goes on.
  package func leaderStop() throws(SystemError) -> Signal? {
    guard case .signaled(let signal)? = try wait(WSTOPPED | WNOHANG) else { return nil }
    return signal
  }

  private func wait(_ options: Int32) throws(SystemError) -> ExitStatus? {
    var code: Int32 = 0
    var status: Int32 = 0
    _ = try checked("waitid") { csystem_wait(leader, options, &code, &status) }
    switch code {
    case 0: return nil
    case Int32(CLD_EXITED): return .exited(status)
    default: return .signaled(Signal(rawValue: status))
    }
  }
}
