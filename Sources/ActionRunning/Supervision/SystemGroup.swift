import Synchronization
import SystemCalls

/// The process group of a run, and the groups that descendants of the run have made within the session.
///
/// A descendant whose parent has ended is a child of this process if it adopts orphans, and is recognised by its
/// group or by the mark in its environment.
final class SystemGroup: LaunchedGroup {
  fileprivate struct State {
    /// Whether the leader was reaped, so that its ID is in use only as long as the group has members.
    var leaderIsReaped = false
    /// Whether no member is left, so that its ID may be in use for another group.
    var isGone = false
    /// The groups that descendants have made, as far as they were found.
    var descendants: [ProcessGroup] = []
    /// The latest signal that asked all processes to end.
    var signal: Signal?
  }

  /// The status, no success, where other code in this process has taken it.
  private static let unknownStatus = ExitStatus.exited(255)

  /// The number of searches that may find groups which have ended meanwhile.
  private static let mostSearches = 16

  let group: ProcessGroup
  private let mark: RunMark
  private let guardian: GuardianProcess?
  private let state = Mutex(State())

  init(_ group: ProcessGroup, _ mark: RunMark, _ guardian: GuardianProcess?) {
    self.group = group
    self.mark = mark
    self.guardian = guardian
  }

  var leader: pid_t { group.leader }

  var buildDirectory: Path? { group.directory(ofProgramIn: BuildPrograms.names) }
  var leaderHasEnded: Bool { (try? group.leaderStatus()) != nil }

  func filesOpenForWriting(_ paths: [Path]) -> [Path: WriteMode] {
    group.filesOpenForWriting(paths)
  }

  func send(_ signal: Signal) {
    if knownGroups.contains(group) { group.send(signal) }
  }

  func sendToAll(_ signal: Signal) -> Bool {
    if signal != .continue { state.withLock { $0.signal = signal } }
    // Before the signal, because it may end a process and make its children orphans.
    let all = findGroups().all
    // After the others, programs have nothing to clean up.
    let cleansUp = signal != .continue && signal != .kill
    return ProcessGroup.send(signal, to: all, holding: cleansUp ? BuildPrograms.names : nil)
  }

  var isAlive: Bool {
    let known = knownGroups
    if known.contains(where: \.hasLivingMember) { return true }
    // A group that a search has found may have ended after its members started others, so only a search that
    // finds none is the last one.
    for _ in 1...Self.mostSearches {
      let (existing, all) = findGroups()
      let living = all.filter(\.hasLivingMember)
      if living.isEmpty && all.count > existing.count { continue }
      if living.isEmpty {
        guardian?.forget(group)
        state.withLock { $0.isGone = $0.leaderIsReaped }
        return false
      }
      // They were made while the groups were searched that have received the signal.
      if let signal = state.withLock({ $0.signal }) {
        for group in living where !known.contains(group) {
          group.send(signal)
          group.send(.continue)
        }
      }
      return true
    }
    return true
  }

  var survivor: Survivor? {
    let survivors = knownGroups.compactMap(\.survivor)
    return survivors.first { $0.owner != nil } ?? survivors.first
  }

  /// Reaps the leader and returns how it ended.
  func leaderEnded() -> ExitStatus {
    let status = (try? group.leaderStatus()) ?? Self.unknownStatus
    guardian?.leaderIsReaped(of: group)
    state.withLock { $0.leaderIsReaped = true }
    launchedProcesses.withLock { processes in
      try? group.reap()
      processes.remove(group.leader)
    }
    if group.isEmpty {
      guardian?.forget(group)
      state.withLock { $0.isGone = true }
    }
    return status
  }

  /// The group, unless it has gone, and those that descendants have made.
  private var knownGroups: [ProcessGroup] {
    state.withLock { state in
      // Only the group's members keep its ID from being reused.
      if state.leaderIsReaped && processExists(leader) { state.isGone = true }
      state.descendants.removeAll(where: \.isEmpty)
      return (state.isGone ? [] : [group]) + state.descendants
    }
  }

  /// Searches the groups of the run. Returns those that were known, and all.
  private func findGroups() -> (existing: [ProcessGroup], all: [ProcessGroup]) {
    let (isReaped, known) = (state.withLock(\.leaderIsReaped), knownGroups)
    // The ID of a group without members may be in use for another one.
    let existing = known.filter { ($0 == group && !isReaped) || $0.hasLivingMember }
    let groups = ProcessGroup.withDescendants(existing, orphans)
    state.withLock { $0.descendants = groups.filter { $0 != group } }
    return (existing, groups)
  }

  /// Which children of this process are of the run; `nil` if it does not adopt orphans.
  private var orphans: ProcessGroup.Orphans? {
    let (isOn, strangers, _) = adoption.withLock { $0 }
    guard isOn else { return nil }
    let others = launchedProcesses.withLock { $0.filter { $0 != group.leader } }
    return ProcessGroup.Orphans(
      of: mark, except: Array(others) + strangers, countingUnmarked: others.isEmpty)
  }
}
