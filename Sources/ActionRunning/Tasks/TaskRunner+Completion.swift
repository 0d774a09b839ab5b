import Support
import SystemCalls

// The end of the runner by itself: after a round, or the run of a command that a change restarts.

extension TaskRunner {
  /// How long a service without a readiness check must run to count as started.
  static let startTime = Duration.seconds(1)

  /// A round has ended. The start of a command that may end by itself is not the end of its run.
  func endIfComplete(_ round: TaskRound, _ members: [TaskStateMachine.RoundMember]) {
    guard let status = round.status else {
      // The run that could not be started was stopped.
      return state.access { $0.isInLastRound = false }
    }
    guard isLast(status) else { return }
    if isDecidedByFailures(status) { return }
    // A later round has not all of them: what has been started again may end once more.
    let names =
      options.completion == .firstRun
      ? machine.order.filter(machine.isUp) : members.filter(\.isUp).map(\.name)
    let services = names.compactMap { worker($0)?.definition }
    if services.contains(where: { !$0.policy.keepsAlive }) { return }
    if services.allSatisfy({ $0.readiness != nil }) { return end(with: status) }
    endWhenStarted(services.map(\.name), with: status, after: Self.startTime)
  }

  /// The tasks that have failed. Not only in the latest round: a start after an end is none.
  private var failures: [String] { machine.order.filter { machine[$0].outcome == .failed } }

  /// Whether the end is decided by failures that are not those of the round, or not final.
  private func isDecidedByFailures(_ status: ExitStatus) -> Bool {
    let failures = failures
    if options.completion == .firstSuccess || failures.isEmpty { return false }
    // Those that are started again may succeed then, or are given up.
    let areRestarted = failures.allSatisfy { name in
      machine[name].phase.isRestarted && worker(name)?.definition.policy.restartLimit != nil
    }
    if !areRestarted && !status.isSuccess { return false }
    if !areRestarted {
      end(with: .exited(1))
    } else if options.completion == .firstRun {
      endWhenStarted(failures, with: .exited(0), after: Self.startTime)
    }
    return true
  }

  /// Ends when each of these services has run for the start time, also after it was started again.
  private func endWhenStarted(
    _ services: [String], with status: ExitStatus, after pause: Duration
  ) {
    let timer = scheduler.schedule(at: scheduler.now.advanced(by: pause)) { [weak self] in
      // The round of their dependents ends with a result of its own.
      guard let self, !machine.hasRuns else { return }
      let remaining = services.compactMap(remainingStartTime)
      // One that is not started again starts with a round of its own.
      guard remaining.count == services.count, let longest = remaining.max() else { return }
      if longest <= .zero {
        // One of them was not ready in time.
        return end(with: status.isSuccess && !failures.isEmpty ? .exited(1) : status)
      }
      endWhenStarted(services, with: status, after: longest)
    }
    state.access { $0.completionTimer = timer }
  }

  /// How long a service must still run until it has started; `nil` if it is not started again.
  private func remainingStartTime(of service: String) -> Duration? {
    let phase = machine[service].phase
    if phase.isStarting || phase.isRestarted { return Self.startTime }
    guard phase.isUp else { return nil }
    // The former process of one whose successor has failed goes on.
    guard let began = worker(service)?.began else { return .zero }
    return Self.startTime - began.duration(to: scheduler.now)
  }

  /// A service has ended by itself, or is not started again any more, which is the end of its round without other work.
  /// The end of one that is kept alive is no success, and a success while the round goes on is none with the newest
  /// changes.
  func endIfComplete(_ service: TaskDefinition, _ status: ExitStatus, isGivenUp: Bool = false) {
    let status = service.policy.keepsAlive && status.isSuccess ? .exited(1) : status
    if (status.isSuccess || isGivenUp) && machine.hasUnsettled { return }
    // It may succeed later; one with a limit of restarts is given up otherwise.
    let isAwaited =
      service.policy.restartLimit != nil && !isGivenUp || options.completion == .firstSuccess
    if !(service.policy.keepsAlive && isAwaited) && isLast(status) { end(with: status) }
  }

  /// Whether the runner ends after a run or a round with this status.
  private func isLast(_ status: ExitStatus) -> Bool {
    let isRed = options.completion == .firstSuccess && machine.hasFailures
    return state.access(\.isInLastRound) || options.completion.isReached(by: status) && !isRed
  }

  private func end(with status: ExitStatus) {
    if machine.isEnding { return }
    state.access { $0.status = status }
    advance { $0.end() }
  }
}
