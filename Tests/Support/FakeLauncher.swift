import ActionRunning
import Synchronization
import SystemCalls

/// A launcher that starts no process, and records launches and signals in order.
package final class FakeLauncher: ProcessLauncher {
  package enum Call: Hashable, Sendable {
    /// The words of the command.
    case launch([String])
    /// A signal to a group, which is counted from 1 in the order of the launches.
    case send(Signal, group: Int)
  }

  private struct State {
    var calls: [Call] = []
    var groups: [FakeGroup] = []
    var failure: SystemError?
    var activity: ProcessActivity?
    var lookCount = 0
  }

  private let state = Mutex(State())

  package init() {}

  package var calls: [Call] { state.withLock { $0.calls } }

  /// The groups that were launched, in order.
  package var groups: [FakeGroup] { state.withLock { $0.groups } }

  /// What the processes of any groups have done; `nil` if the kernel does not tell.
  package var activity: ProcessActivity? {
    get { state.withLock(\.activity) }
    set { state.withLock { $0.activity = newValue } }
  }

  /// How often the activity was asked for.
  package var lookCount: Int { state.withLock(\.lookCount) }

  package func activity(of groups: [any LaunchedGroup]) -> ProcessActivity? {
    state.withLock { state in
      state.lookCount += 1
      var activity = state.activity
      for group in groups { activity?.writes.processes += UInt64(group.leader) }
      return activity
    }
  }

  package func hasTerminal(orCall retry: @escaping @Sendable () -> Void) -> Bool { true }

  /// Makes every launch fail from now on; `nil` makes them succeed again.
  package func failLaunches(with error: SystemError?) {
    state.withLock { $0.failure = error }
  }

  package func launch(
    _ request: SpawnRequest, ended: @escaping @Sendable (ExitStatus) -> Void
  ) throws(SystemError) -> any LaunchedGroup {
    let words = request.arguments.map { String(decoding: $0, as: UTF8.self) }
    let (group, failure) = state.withLock { state -> (FakeGroup, SystemError?) in
      state.calls.append(.launch(words))
      let number = state.groups.count + 1
      let group = FakeGroup(leader: pid_t(number), ended: ended) { [weak self] signal in
        self?.state.withLock { $0.calls.append(.send(signal, group: number)) }
      }
      if state.failure == nil { state.groups.append(group) }
      return (group, state.failure)
    }
    if let failure { throw failure }
    return group
  }
}

// What most tests need not decide.

extension LaunchedGroup {
  package var leaderHasEnded: Bool { false }
}

extension ProcessLauncher {
  package var hasOrphans: Bool { false }
  package var endedOrphans: UInt64 { 0 }
  package func filesOfReaders(_ paths: [Path]) -> Set<Path> { [] }
}

/// A process group that a test controls.
package final class FakeGroup: LaunchedGroup {
  private struct State {
    var leaderIsAlive = true
    var othersAreAlive = false
    var refusesSignals = false
    var openFiles: [Path: WriteMode] = [:]
    var isBuilding = false
  }

  /// The number of the group, which is the ID of no process of the test.
  package let leader: pid_t

  private let state = Mutex(State())
  private let ended: @Sendable (ExitStatus) -> Void
  private let record: @Sendable (Signal) -> Void

  fileprivate init(
    leader: pid_t, ended: @escaping @Sendable (ExitStatus) -> Void,
    record: @escaping @Sendable (Signal) -> Void
  ) {
    self.leader = leader
    self.ended = ended
    self.record = record
  }

  package func send(_ signal: Signal) {
    record(signal)
  }

  package func sendToAll(_ signal: Signal) -> Bool {
    record(signal)
    // As the kernel does in the same session.
    return !refusesSignals || signal == .continue
  }

  /// Whether the processes belong to another user.
  package var refusesSignals: Bool {
    get { state.withLock(\.refusesSignals) }
    set { state.withLock { $0.refusesSignals = newValue } }
  }

  package var survivor: Survivor? {
    isAlive ? Survivor(process: 42, name: "fake", owner: refusesSignals ? "root" : nil) : nil
  }

  package var isAlive: Bool { state.withLock { $0.leaderIsAlive || $0.othersAreAlive } }

  /// Whether a program works that compares the times of files.
  package var isBuilding: Bool {
    get { state.withLock(\.isBuilding) }
    set { state.withLock { $0.isBuilding = newValue } }
  }

  package var buildDirectory: Path? { isBuilding ? "/nowhere" : nil }

  /// The files that the group has open for writing.
  package var openFiles: [Path: WriteMode] {
    get { state.withLock(\.openFiles) }
    set { state.withLock { $0.openFiles = newValue } }
  }

  package func filesOpenForWriting(_ paths: [Path]) -> [Path: WriteMode] {
    openFiles.filter { paths.contains($0.key) }
  }

  /// Ends the leader, with or without leftover processes.
  package func endLeader(_ status: ExitStatus, leavingOthers: Bool = false) {
    state.withLock { state in
      (state.leaderIsAlive, state.othersAreAlive) = (false, leavingOthers)
    }
    ended(status)
  }

  /// Ends the leftover processes, which causes no notification.
  package func endOthers() {
    state.withLock { $0.othersAreAlive = false }
  }
}
