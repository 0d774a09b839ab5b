import FileObservation
import Synchronization
import SystemCalls

/// Looks after one process group at a time: starts it, stops it as planned, and tells what became
/// of it.
package final class Supervisor: Sendable {
  package enum Event: Sendable, Hashable {
    /// The process has ended. `leftovers` if there are others in its group still.
    case ended(ExitStatus, leftovers: Bool)
    /// It is being asked to end.
    case stopping(Signal)
    /// It is being killed.
    case killing
    /// Nothing is left of the group that was to be stopped.
    case groupIsGone
  }

  private struct State {
    var group: (any LaunchedGroup)?
    var leaderIsAlive = false
    var stopping: StopSequence?
    var timer: (any ScheduledWork)?
    var report: (@Sendable (Event) -> Void)?
  }

  private let state = Mutex(State())
  private let launcher: any ProcessLauncher
  private let scheduler: any Scheduler
  private let plan: StopPlan

  package init(plan: StopPlan, launcher: any ProcessLauncher, scheduler: any Scheduler) {
    self.plan = plan
    self.launcher = launcher
    self.scheduler = scheduler
  }

  /// Starts a process, and tells `report` what becomes of it. What was there before must be gone.
  package func launch(
    _ request: SpawnRequest, report: @escaping @Sendable (Event) -> Void
  ) throws(SystemError) {
    state.withLock { $0 = State(leaderIsAlive: true, report: report) }
    do throws(SystemError) {
      let group = try launcher.launch(request) { [self] status in leaderEnded(status) }
      state.withLock { $0.group = group }
    } catch {
      state.withLock { $0 = State() }
      throw error
    }
  }

  /// Sends the group a signal; nothing if it has ended, since its number may be another's by then.
  package func send(_ signal: Signal) {
    let (group, leaderIsAlive) = state.withLock { ($0.group, $0.leaderIsAlive) }
    guard let group, leaderIsAlive || group.isAlive else { return }
    group.send(signal)
  }

  /// Begins to stop the group as planned; `groupIsGone` follows.
  package func stop() {
    // Once the leader has been waited for, its number may be another's: only a group that is still
    // there is sent anything.
    let isGone = !state.withLock { $0.leaderIsAlive } && !groupIsAlive()
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
    step { state, now in state.stopping?.kill(at: now) ?? [] }
  }

  private func look() {
    let isAlive = groupIsAlive()
    step { state, now in state.stopping?.looked(groupIsAlive: isAlive, at: now) ?? [] }
  }

  /// Asks the system, and so outside of the lock.
  private func groupIsAlive() -> Bool {
    state.withLock { $0.group }?.isAlive ?? false
  }

  private func leaderEnded(_ status: ExitStatus) {
    let (isStopping, group, report) = state.withLock { state in
      state.leaderIsAlive = false
      return (state.stopping != nil, state.group, state.report)
    }
    let hasLeftovers = group?.isAlive ?? false
    if !isStopping && !hasLeftovers { state.withLock { $0 = State() } }
    report?(.ended(status, leftovers: hasLeftovers))
    if isStopping {
      step { state, now in state.stopping?.leaderEnded(at: now) ?? [] }
    }
  }

  /// Takes one step under the lock, and does outside of it what follows.
  private func step(_ decide: (inout State, Instant) -> [StopSequence.Action]) {
    let now = scheduler.now
    let (group, report, actions) = state.withLock { state in
      (state.group, state.report, decide(&state, now))
    }
    for action in actions {
      switch action {
      case .send(let signal):
        if signal == .kill {
          report?(.killing)
        } else if signal == plan.signal {
          report?(.stopping(signal))
        }
        group?.send(signal)
      case .look(let time):
        lookAgain(at: time, now)
      case .finish:
        let timer = state.withLock { state in
          defer { state = State() }
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
