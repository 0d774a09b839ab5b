import FileObservation
import Support
import Synchronization
import SystemCalls

/// Supervises one process group at a time: starts it, stops it by a ``StopPlan``, and reports its end.
///
/// Until the leader is reaped, its ID belongs to its group only. Afterwards a signal is sent only directly
/// after a member was found alive, because the ID may be reused.
package final class Supervisor: Sendable {
  package enum Event: Sendable, Hashable {
    /// The process has ended. `leftovers` is set if other members of its group are alive.
    case ended(ExitStatus, leftovers: Bool)
    /// The process could not be started, at a later attempt than the first.
    case notStarted(SystemError)
    /// The group was sent the stop signal.
    case stopping(Signal)
    /// The group is killed: after this grace period, or `nil` if the kill was requested.
    case killing(after: Duration?)
    /// The group cannot be stopped: this process is one that is left. `groupIsGone` follows once it has ended.
    case notStopped(Survivor?)
    /// Nothing is left of the group that was stopped.
    case groupIsGone
  }

  private struct State {
    /// The number of launches, by which late events of earlier ones are recognised.
    var launch = 0
    var group: (any LaunchedGroup)?
    var leaderIsAlive = false
    /// Whether the launch is delayed, because the program is being written.
    var isLaunchPending = false
    var stopping: StopSequence?
    var timer: (any ScheduledWork)?
    var report: (@Sendable (Event) -> Void)?

    mutating func clear() {
      self = State(launch: launch)
    }
  }

  /// The delays between attempts to start a program that another process is writing.
  private static let pausesForProgram = [10, 20, 40, 80, 160, 320, 400].map(Duration.milliseconds)

  private let state = Mutex(State())
  private let launcher: any ProcessLauncher
  private let scheduler: any Scheduler
  private let plan: StopPlan

  package init(plan: StopPlan, launcher: any ProcessLauncher, scheduler: any Scheduler) {
    self.plan = plan
    self.launcher = launcher
    self.scheduler = scheduler
  }
}

// MARK: - Starting

extension Supervisor {
  /// Starts a process and reports its events. The previous group must be gone.
  ///
  /// While another process writes the program, the start is attempted again for a second. If it still
  /// fails, `notStarted` is reported.
  package func launch(
    _ request: SpawnRequest, report: @escaping @Sendable (Event) -> Void
  ) throws(SystemError) {
    let launch = state.withLock { state in
      state = State(launch: state.launch + 1, report: report)
      return state.launch
    }
    try attempt(request, launch, pauses: Self.pausesForProgram[...])
  }

  private func attempt(
    _ request: SpawnRequest, _ launch: Int, pauses: ArraySlice<Duration>
  ) throws(SystemError) {
    do throws(SystemError) {
      state.withLock { $0.leaderIsAlive = true }
      let group = try launcher.launch(request) { [self] status in leaderEnded(status, of: launch) }
      state.withLock { $0.group = group }
    } catch {
      guard error.code == ETXTBSY, let pause = pauses.first else {
        state.withLock { $0.clear() }
        throw error
      }
      let timer = scheduler.schedule(at: scheduler.now.advanced(by: pause)) { [weak self] in
        self?.attemptAgain(request, launch, pauses: pauses.dropFirst())
      }
      state.withLock { state in
        state.leaderIsAlive = false
        state.isLaunchPending = true
        state.timer = timer
      }
    }
  }

  private func attemptAgain(
    _ request: SpawnRequest, _ launch: Int, pauses: ArraySlice<Duration>
  ) {
    let report = state.withLock { state -> (@Sendable (Event) -> Void)? in
      guard state.launch == launch, state.isLaunchPending else { return nil }
      state.isLaunchPending = false
      state.timer = nil
      return state.report
    }
    guard let report else { return }
    do throws(SystemError) {
      try attempt(request, launch, pauses: pauses)
    } catch {
      report(.notStarted(error))
    }
  }

  /// Cancels a launch that is pending. Returns false if none is.
  private func cancelLaunch() -> Bool {
    let waiting = state.withLock { state -> State? in
      guard state.isLaunchPending else { return nil }
      defer { state.clear() }
      return state
    }
    guard let waiting else { return false }
    waiting.timer?.cancel()
    waiting.report?(.ended(.signaled(plan.signal), leftovers: false))
    waiting.report?(.groupIsGone)
    return true
  }
}

// MARK: - Signals

extension Supervisor {
  /// Sends the group a signal, unless it has ended and its ID may have been reused.
  package func send(_ signal: Signal) {
    let group = state.withLock { $0.group }
    if let group, !isGone() { group.send(signal) }
  }

  /// The group whose leader is alive.
  package var activeGroup: (any LaunchedGroup)? {
    state.withLock { $0.leaderIsAlive ? $0.group : nil }
  }

  /// Stops the group by the plan; `groupIsGone` follows. A group that could not be stopped is sent the signals
  /// again.
  package func stop() {
    if cancelLaunch() { return }
    let isGone = isGone()
    step { state, now in
      if state.group == nil || state.stopping?.isStuck == false { return [] }
      if isGone { return [.finish] }
      var sequence = StopSequence(plan, leaderIsAlive: state.leaderIsAlive, at: now)
      let actions = sequence.begin(at: now)
      state.stopping = sequence
      return actions
    }
  }

  /// Kills the group that is being stopped, before its grace period is over.
  package func kill() {
    let isGone = isGone()
    step { state, now in
      if isGone && state.stopping != nil { return [.finish] }
      return state.stopping?.kill(at: now) ?? []
    }
  }

  private func check() {
    let isAlive = groupIsAlive()
    step { state, now in state.stopping?.checked(groupIsAlive: isAlive, at: now) ?? [] }
  }

  /// Whether the leader was reaped and no other member is alive.
  private func isGone() -> Bool {
    !state.withLock { $0.leaderIsAlive } && !groupIsAlive()
  }

  /// Makes system calls, so it is called without the lock.
  private func groupIsAlive() -> Bool {
    state.withLock { $0.group }?.isAlive ?? false
  }

  private func leaderEnded(_ status: ExitStatus, of launch: Int) {
    let found = state.withLock { state -> (isStopping: Bool, group: (any LaunchedGroup)?)? in
      guard state.launch == launch, state.leaderIsAlive else { return nil }
      state.leaderIsAlive = false
      return (state.stopping != nil, state.group)
    }
    guard let (isStopping, group) = found else { return }
    let hasLeftovers = group?.isAlive ?? false
    let report = state.withLock { state in
      defer { if !isStopping && !hasLeftovers { state.clear() } }
      return state.report
    }
    report?(.ended(status, leftovers: hasLeftovers))
    if isStopping {
      step { state, now in state.stopping?.leaderEnded(at: now) ?? [] }
    }
  }
}

// MARK: - Steps

extension Supervisor {
  /// Takes one step under the lock, and performs the actions without it.
  private func step(_ decide: (inout State, Instant) -> [StopSequence.Action]) {
    let now = scheduler.now
    let (group, report, isOverdue, actions) = state.withLock { state in
      let isOverdue = state.stopping?.isOverdue(at: now) ?? false
      return (state.group, state.report, isOverdue, decide(&state, now))
    }
    var isAccepted = true
    for action in actions {
      switch action {
      case .send(let signal):
        if signal == plan.signal { report?(.stopping(signal)) }
        let isSent = group?.sendToAll(signal) ?? true
        // A process of any user in the same session accepts SIGCONT.
        if signal != .continue { isAccepted = isSent }
      case .kill:
        report?(.killing(after: isOverdue ? plan.timeout : nil))
        isAccepted = group?.sendToAll(.kill) ?? true
      case .check(let time):
        checkAgain(at: time, now)
      case .reportStuck:
        report?(.notStopped(group?.survivor))
      case .finish:
        let timer = state.withLock { state in
          defer { state.clear() }
          return state.timer
        }
        timer?.cancel()
        report?(.groupIsGone)
      }
    }
    if !isAccepted { step { state, now in state.stopping?.refused(at: now) ?? [] } }
  }

  private func checkAgain(at time: Instant, _ now: Instant) {
    let outdated = state.withLock { state -> (any ScheduledWork)? in
      defer { state.timer = nil }
      return state.timer
    }
    outdated?.cancel()
    if time <= now { return check() }
    let timer = scheduler.schedule(at: time) { [weak self] in self?.check() }
    state.withLock { $0.timer = timer }
  }
}
