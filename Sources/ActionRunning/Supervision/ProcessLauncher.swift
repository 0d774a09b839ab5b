import Dispatch
import SystemCalls

/// Starts processes: the system's do, or a test's.
package protocol ProcessLauncher: Sendable {
  /// Starts a process in a group of its own. `ended` is called once, when it has ended and its
  /// number is free again.
  func launch(
    _ request: SpawnRequest, ended: @escaping @Sendable (ExitStatus) -> Void
  ) throws(SystemError) -> any LaunchedGroup
}

/// The group of a process that was started.
package protocol LaunchedGroup: Sendable {
  /// Sends a signal to all its members.
  func send(_ signal: Signal)
  /// True while a member of it is alive.
  var isAlive: Bool { get }
}

/// Starts processes with `posix_spawn`, and learns of their ends from the kernel, on a queue.
package struct SystemLauncher: ProcessLauncher {
  private let queue: DispatchQueue
  /// What we were started to ignore, our commands ignore as well.
  private let ignoredSignals: Set<Signal>

  package init(queue: DispatchQueue, ignoredSignals: Set<Signal>) {
    self.queue = queue
    self.ignoredSignals = ignoredSignals
  }

  package func launch(
    _ request: SpawnRequest, ended: @escaping @Sendable (ExitStatus) -> Void
  ) throws(SystemError) -> any LaunchedGroup {
    let group = ProcessGroup(leader: try request.spawn(ignoring: ignoredSignals))
    do throws(SystemError) {
      try whenProcessEnds(group.leader, on: queue) {
        // If its status was taken by somebody else, all that is known is that it has ended.
        let status = (try? group.leaderStatus()) ?? .exited(0)
        try? group.reap()
        ended(status)
      }
    } catch {
      // Without a way to learn of its end it cannot be looked after.
      group.send(.kill)
      throw error
    }
    return SystemGroup(group: group)
  }

  private struct SystemGroup: LaunchedGroup {
    let group: ProcessGroup

    func send(_ signal: Signal) {
      group.send(signal)
    }

    var isAlive: Bool { group.hasLivingMember }
  }
}
