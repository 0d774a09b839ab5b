/// A process group: a process and its descendants, except those that moved to another group.
package struct ProcessGroup: Hashable, Sendable {
  /// The leader's process ID, which is also the group's ID.
  package let leader: pid_t

  package init(leader: pid_t) {
    self.leader = leader
  }

  /// The group of this process.
  package static var own: ProcessGroup { ProcessGroup(leader: getpgrp()) }

  /// Sends a signal to all members. Returns false if there are none.
  @discardableResult
  package func send(_ signal: Signal) -> Bool {
    kill(-leader, signal.rawValue) == 0
  }

  /// Whether no member is left, not even a zombie.
  package var isEmpty: Bool {
    kill(-leader, 0) == -1 && errno == ESRCH
  }

  /// How the leader ended, or `nil` while it runs. It is not reaped, so that its ID is not reused while
  /// signals may still be sent to it.
  package func leaderStatus() throws(SystemError) -> ExitStatus? {
    try wait(WEXITED | WNOHANG | WNOWAIT)
  }

  /// Waits until the leader has ended, or was reaped.
  package func awaitLeader() { _ = try? wait(WEXITED | WNOWAIT) }

  /// Reaps the leader, which has ended.
  package func reap() throws(SystemError) {
    _ = try wait(WEXITED | WNOHANG)
  }

  /// The signal that stopped the leader, returned once for each stop; `nil` while it runs.
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

extension ProcessGroup {
  /// Which children of this process are descendants of a run whose parents have ended.
  package struct Orphans: Sendable {
    let mark: RunMark
    let known: RunMark.Known
    let others: [pid_t]
    let countsUnmarked: Bool

    /// - Parameters:
    ///   - mark: The mark of the run.
    ///   - others: Children that are not of the run, nor are the members of their groups.
    ///   - countsUnmarked: Whether children without the mark of any run are of this one.
    package init(of mark: RunMark, except others: [pid_t], countingUnmarked countsUnmarked: Bool) {
      self.mark = mark
      known = RunMark.known
      self.others = others
      self.countsUnmarked = countsUnmarked
    }
  }

  /// These groups, followed by the groups in a session that descendants of their leaders have made
  /// for themselves, as interactive shells do.
  ///
  /// - Parameter orphans: Tells which descendants have no parent among the processes of the groups. Without
  ///   it, they are not found.
  package static func withDescendants(
    _ groups: [ProcessGroup], _ orphans: Orphans? = nil, session: Int32 = getsid(0)
  ) -> [ProcessGroup] {
    var leaders = groups.map(\.leader)
    let capacity = leaders.count + maximumDescendants
    leaders += Array(repeating: 0, count: maximumDescendants)
    let count = withOrphans(orphans) { orphans in
      csystem_descendant_groups(
        session, getpgrp(), &leaders, Int32(groups.count), Int32(capacity), orphans)
    }
    return leaders.prefix(Int(count)).map(ProcessGroup.init)
  }

  private static let maximumDescendants = 1024

  private static func withOrphans<Result>(
    _ orphans: Orphans?, _ body: (UnsafePointer<csystem_orphans>?) -> Result
  ) -> Result {
    guard let orphans else { return body(nil) }
    return RunMark.common.withCString { mark in
      withExtendedLifetime(orphans.mark) {
        orphans.known.numbers.withUnsafeBufferPointer { known in
          orphans.others.withUnsafeBufferPointer { others in
            var raw = csystem_orphans(
              mark: mark, run: orphans.mark.number, latest: orphans.known.latest,
              known: known.baseAddress, known_count: Int32(known.count),
              others: others.baseAddress, other_count: Int32(others.count),
              counts_unmarked: orphans.countsUnmarked)
            return body(&raw)
          }
        }
      }
    }
  }
}
