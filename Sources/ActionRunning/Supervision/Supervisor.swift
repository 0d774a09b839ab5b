import FileObservation
import Support
import Synchronization
import SystemCalls

/// Looks after one process group at a time: starts it, stops it as planned, and tells what became
/// of it.
///
/// As long as the process has not been waited for, its number is that of its group and of nobody else.
/// Afterwards a signal is only sent straight after a member has been seen alive, whose group it is.
package final class Supervisor: Sendable {
  package enum Event: Sendable, Hashable {
    /// The process has ended. `leftovers` if there are others in its group still.
    case ended(ExitStatus, leftovers: Bool)
    /// It could not be started after all.
    case notStarted(SystemError)
    /// It is being asked to end.
    case stopping(Signal)
    /// It is being killed: after this grace period, or `nil` if the caller did not wait for its end.
    case killing(after: Duration?)
    /// It has been killed, and the kernel does not let go of it. What follows is as if it had ended.
    case abandoned
    /// Nothing is left of the group that was to be stopped.
    case groupIsGone
  }

  private struct State {
    /// Counts the launches, so that what comes late from an earlier one is known as such.
    var launch = 0
    var group: (any LaunchedGroup)?
    var leaderIsAlive = false
    /// True while the program cannot be executed because somebody writes it.
    var isWaitingForProgram = false
    var stopping: StopSequence?
    var timer: (any ScheduledWork)?
    var report: (@Sendable (Event) -> Void)?

    mutating func clear() {
      self = State(launch: launch)
    }
  }

  /// How long it is waited for a program that somebody writes, from one attempt to the next.
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
  /// Starts a process, and tells `report` what becomes of it. What was there before must be gone.
  ///
  /// A program that somebody writes at this moment is tried again for a second; if it is not started
  /// then, `report` is told.
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
        state.isWaitingForProgram = true
        state.timer = timer
      }
    }
  }

  private func attemptAgain(_ request: SpawnRequest, _ launch: Int, pauses: ArraySlice<Duration>) {
    let report = state.withLock { state -> (@Sendable (Event) -> Void)? in
      guard state.launch == launch, state.isWaitingForProgram else { return nil }
      state.isWaitingForProgram = false
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

  /// If it is waited for a program that somebody writes: no longer.
  private func givesUpStarting() -> Bool {
    let waiting = state.withLock { state -> State? in
      guard state.isWaitingForProgram else { return nil }
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
  /// Sends the group a signal; nothing if it has ended, since its number may be another's by then.
  package func send(_ signal: Signal) {
    let group = state.withLock { $0.group }
    if let group, !isGone() { group.send(signal) }
  }

  /// Begins to stop the group as planned; `groupIsGone` follows.
  package func stop() {
    if givesUpStarting() { return }
    let isGone = isGone()
    step { state, now in
      if state.group == nil || state.stopping != nil { return [] }
      if isGone { return [.finish] }
      var sequence = StopSequence(plan, leaderIsAlive: state.leaderIsAlive, at: now)
      let actions = sequence.begin(at: now)
      state.stopping = sequence
      return actions
    }
  }

  /// Kills the group that is being stopped without waiting any longer.
  package func kill() {
    let isGone = isGone()
    step { state, now in
      if isGone && state.stopping != nil { return [.finish] }
      return state.stopping?.kill(at: now) ?? []
    }
  }

  private func look() {
    let isAlive = groupIsAlive()
    step { state, now in state.stopping?.looked(groupIsAlive: isAlive, at: now) ?? [] }
  }

  /// True if the leader has been waited for and no other member is there.
  private func isGone() -> Bool {
    !state.withLock { $0.leaderIsAlive } && !groupIsAlive()
  }

  /// Asks the system, and so outside of the lock.
  private func groupIsAlive() -> Bool {
    state.withLock { $0.group }?.isAlive ?? false
  }

  private func leaderEnded(_ status: ExitStatus, of launch: Int) {
    let found = state.withLock { state -> (isStopping: Bool, group: (any LaunchedGroup)?)? in
      guard state.launch == launch, state.leaderIsAlive else { return nil }
      state.leaderIsAlive = false
      return (state.stopping != nil, state.group)
    }
    // One that was given up has ended at last.
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
  /// Takes one step under the lock, and does outside of it what follows.
  private func step(_ decide: (inout State, Instant) -> [StopSequence.Action]) {
    let now = scheduler.now
    let (group, report, isOverdue, actions) = state.withLock { state in
      let isOverdue = state.stopping?.isOverdue(at: now) ?? false
      return (state.group, state.report, isOverdue, decide(&state, now))
    }
    for action in actions {
      switch action {
      case .send(let signal):
        if signal == .kill {
          report?(.killing(after: isOverdue ? plan.timeout : nil))
        } else if signal == plan.signal {
          report?(.stopping(signal))
        }
        group?.send(signal)
      case .look(let time):
        lookAgain(at: time, now)
      case .abandon:
        report?(.abandoned)
        let leaderWasAlive = state.withLock { $0.leaderIsAlive }
        if leaderWasAlive { report?(.ended(.signaled(.kill), leftovers: true)) }
      case .finish:
        let timer = state.withLock { state in
          defer { state.clear() }
          return state.timer
        }
        timer?.cancel()
        report?(.groupIsGone)
      }
    }
  }

  private func lookAgain(at time: Instant, _ now: Instant) {
    let outdated = state.withLock { state -> (any ScheduledWork)? in
      defer { state.timer = nil }
      return state.timer
    }
    outdated?.cancel()
    if time <= now { return look() }
    let timer = scheduler.schedule(at: time) { [weak self] in self?.look() }
    state.withLock { $0.timer = timer }
  }
}
