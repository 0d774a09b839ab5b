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

/// Starts processes of the system, and learns of their ends from the kernel, on a queue.
package struct SystemLauncher: ProcessLauncher {
  private let queue: DispatchQueue
  /// What we were started to ignore, our commands ignore as well.
  private let ignoredSignals: Set<Signal>
  private let guardian: GuardianProcess?
  private let jobControl: JobControl?

  package init(queue: DispatchQueue, _ options: ActionQueue.Options) {
    self.queue = queue
    ignoredSignals = options.ignoredSignals
    guardian = options.guardian?.process
    jobControl = options.jobControl
    jobControl?.begin(on: queue)
  }

  package func launch(
    _ request: SpawnRequest, ended: @escaping @Sendable (ExitStatus) -> Void
  ) throws(SystemError) -> any LaunchedGroup {
    let group = try spawn(request)
    do throws(SystemError) {
      try whenProcessEnds(group.group.leader, on: queue) { [jobControl] in
        jobControl?.ended(group.group)
        ended(group.leaderEnded())
      }
    } catch {
      // Without a way to learn of its end it cannot be looked after.
      group.send(.kill)
      throw error
    }
    return group
  }

  private func spawn(_ request: SpawnRequest) throws(SystemError) -> SystemGroup {
    let terminal = request.takesTerminal ? jobControl?.lendTerminal() : nil
    let context = SpawnRequest.LaunchContext(
      ignored: ignoredSignals, guardian: guardian, terminal: terminal)
    do throws(SystemError) {
      let group = ProcessGroup(leader: try request.spawn(in: context))
      jobControl?.launched(group, isInteractive: request.takesTerminal)
      return SystemGroup(group: group, guardian: guardian)
    } catch {
      jobControl?.launchFailed()
      throw error
    }
  }

  private struct SystemGroup: LaunchedGroup {
    let group: ProcessGroup
    let guardian: GuardianProcess?

    func send(_ signal: Signal) {
      group.send(signal)
    }

    var isAlive: Bool {
      if group.hasLivingMember { return true }
      guardian?.forget(group)
      return false
    }

    /// Lets go of the leader. How it ended.
    func leaderEnded() -> ExitStatus {
      // If its status was taken by somebody else, all that is known is that it has ended.
      let status = (try? group.leaderStatus()) ?? .exited(0)
      guardian?.leaderIsReaped(of: group)
      try? group.reap()
      if group.isEmpty { guardian?.forget(group) }
      return status
    }
  }
}
