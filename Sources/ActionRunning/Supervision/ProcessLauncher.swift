import Dispatch
import Support
import Synchronization
import SystemCalls

/// Starts processes. Tests use a fake.
package protocol ProcessLauncher: Sendable {
  /// Starts a process in a process group of its own. `ended` is called once, after the process has ended
  /// and was reaped.
  func launch(
    _ request: SpawnRequest, ended: @escaping @Sendable (ExitStatus) -> Void
  ) throws(SystemError) -> any LaunchedGroup
  /// Whether the terminal is free for a process. Otherwise `retry` is called on the queue when it may be.
  func hasTerminal(orCall retry: @escaping @Sendable () -> Void) -> Bool
  /// What the processes of these groups and their descendants have done; `nil` if the kernel does not tell.
  func activity(of groups: [any LaunchedGroup]) -> ProcessActivity?
  /// Whether descendants are there whose parents have ended, as daemons in sessions of their own. Not known of
  /// those that this process does not adopt.
  var hasOrphans: Bool { get }
  /// How many of them have ended.
  var endedOrphans: UInt64 { get }
  /// Those of the paths that a process which reads the output of this one has open for writing.
  func filesOfReaders(_ paths: [Path]) -> Set<Path>
}

/// The process group of a process that was started.
package protocol LaunchedGroup: Sendable {
  /// Sends a signal to all members.
  func send(_ signal: Signal)
  /// Sends a signal to all members, and to the groups that descendants have made within the session. Returns
  /// false if none of them accepts signals from this process.
  func sendToAll(_ signal: Signal) -> Bool
  /// Whether a member is alive, or a member of a group that descendants have made within the session. After
  /// ``sendToAll(_:)``, a group that is found later is sent the same signal.
  var isAlive: Bool { get }
  /// A member that is alive; see ``isAlive``.
  var survivor: Survivor? { get }
  var leader: pid_t { get }
  /// The current directory of the process or the descendant that is one of ``BuildPrograms``; `nil` if none is.
  var buildDirectory: Path? { get }
  /// Whether the leader has ended and was not reaped.
  var leaderHasEnded: Bool { get }
  /// Those of the paths that the process or a descendant has open for writing.
  func filesOpenForWriting(_ paths: [Path]) -> [Path: WriteMode]
}

/// The processes that launchers have started and not reaped. Spawning, reaping and the search for orphans
/// hold the lock, so that none is taken for an orphan.
let launchedProcesses = Mutex<Set<pid_t>>([])

/// Whether this process adopts orphans, which children are not those of commands, and how many were reaped.
let adoption = Mutex<(isOn: Bool, strangers: [pid_t], reaped: UInt64)>((false, [], 0))

/// Starts real processes. The kernel reports their ends, on a queue.
package struct SystemLauncher: ProcessLauncher {
  private let queue: DispatchQueue
  /// The signals that this process was started to ignore; commands ignore them as well.
  private let ignoredSignals: Set<Signal>
  private let descriptors: [Int32]
  private let guardian: GuardianProcess?
  private let jobControl: JobControl?
  /// The processes that read what this process prints, as in `watchrun make | tee log`. They are looked up once, when
  /// something has changed.
  private static let readers = outputReaders().map(ProcessGroup.init)

  /// - Parameters:
  ///   - scheduler: Has the times of the commands, on the queue. What is due is delayed while they are suspended.
  ///   - descriptors: Those that commands inherit besides the standard ones, in ascending order.
  package init(
    queue: DispatchQueue, _ scheduler: DispatchScheduler? = nil,
    ignoring ignoredSignals: Set<Signal> = [], inheriting descriptors: [Int32] = [],
    guardian: Guardian? = nil, jobControl: JobControl? = nil
  ) {
    self.queue = queue
    self.ignoredSignals = ignoredSignals
    self.descriptors = descriptors
    self.guardian = guardian?.process
    self.jobControl = jobControl
    jobControl?.begin(on: queue, scheduler)
  }

  package func launch(
    _ request: SpawnRequest, ended: @escaping @Sendable (ExitStatus) -> Void
  ) throws(SystemError) -> any LaunchedGroup {
    let group = try spawn(request)
    whenProcessEnds(group.leader, on: queue) { [jobControl] in
      jobControl?.ended(group.group)
      let status = group.leaderEnded()
      if jobControl != nil { Self.reapOrphans() }
      ended(status)
    }
    return group
  }

  package func hasTerminal(orCall retry: @escaping @Sendable () -> Void) -> Bool {
    guard let jobControl else { return true }
    return jobControl.hasTerminal { [queue] in queue.async { retry() } }
  }

  /// The descendants of these groups whose parents have ended count as well, if they were adopted.
  package func activity(of groups: [any LaunchedGroup]) -> ProcessActivity? {
    var activity = ProcessActivity(of: groups.map(\.leader), adoptingAllBut: Self.children)
    // What an orphan has done that was reaped is known of no process.
    activity?.writes.processes &+= endedOrphans
    return activity
  }

  /// The children that are no orphans; `nil` if orphans are not adopted.
  private static var children: [pid_t]? {
    let launched = launchedProcesses.withLock { Array($0) }
    return adoption.withLock { $0.isOn ? launched + $0.strangers : nil }
  }

  package var hasOrphans: Bool {
    ProcessActivity(of: [], adoptingAllBut: Self.children).map { $0 != ProcessActivity() } ?? false
  }

  package var endedOrphans: UInt64 { adoption.withLock(\.reaped) }

  package func filesOfReaders(_ paths: [Path]) -> Set<Path> {
    Set(Self.readers.flatMap { $0.filesOpenForWriting(paths).keys })
  }

  /// Makes this process adopt and reap the orphans of commands, so that what they do is known.
  package static func adoptOrphans() {
    guard let children = SystemCalls.adoptOrphans() else { return }
    adoption.withLock { $0 = (true, $0.strangers + children, $0.reaped) }
  }

  /// A process that this process has started is none of a command, nor are the members of its group.
  package static func exclude(_ stranger: pid_t) {
    adoption.withLock { adoption in
      // The IDs of others may be in use for descendants of commands by and by.
      adoption.strangers.removeAll { !processExists($0) && ProcessGroup(leader: $0).isEmpty }
      adoption.strangers.append(stranger)
    }
  }

  /// Reaps children that no launcher has started: a process with ID 1 inherits orphans.
  static func reapOrphans() {
    let count = launchedProcesses.withLock { SystemCalls.reapOrphans(keeping: $0) }
    if count > 0 { adoption.withLock { $0.reaped += UInt64(count) } }
  }

  private func spawn(_ request: SpawnRequest) throws(SystemError) -> SystemGroup {
    let mark = RunMark(guardedBy: guardian)
    var request = request
    mark.mark(&request.environment)
    let terminal = request.takesTerminal ? jobControl?.controller?.lend() : nil
    let context = SpawnRequest.LaunchContext(
      ignored: ignoredSignals, descriptors: descriptors, guardian: guardian, terminal: terminal)
    do throws(SystemError) {
      let leader = try launchedProcesses.withLock { [request] processes throws(SystemError) in
        let leader = try request.spawn(in: context)
        processes.insert(leader)
        return leader
      }
      let group = ProcessGroup(leader: leader)
      jobControl?.launched(group, isInteractive: request.takesTerminal)
      return SystemGroup(group, mark, guardian)
    } catch {
      if terminal != nil { jobControl?.controller?.reclaim(from: nil) }
      throw error
    }
  }
}
