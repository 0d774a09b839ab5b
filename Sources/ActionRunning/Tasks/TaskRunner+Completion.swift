import Support
import SystemCalls

// The end of the runner by itself: after a round, after a run of a command that a change restarts, and after
// a start that will not succeed later.

extension TaskRunner {
  /// How long a service without a readiness check must run before its start counts as a success by
  /// the completion rule.
  private static let startTime = Duration.seconds(1)

  /// A run could not be started. The runner may end with its round.
  func endIfHopeless(_ run: TaskReport.Run, _ error: SystemError) {
    if options.endsAfterFailedStart(run, error) { state.access { $0.isInLastRound = true } }
  }

  /// A round has ended. The start of a command that may end by itself is not the end of its run.
  func endIfComplete(_ round: TaskRound, _ members: [TaskStateMachine.RoundMember]) {
    guard isLast(round.status) else { return }
    let services = members.filter(\.isUp).compactMap { worker($0.name)?.definition }
    if services.contains(where: { !$0.policy.keepsAlive }) { return }
    if services.allSatisfy({ $0.readiness != nil }) { return end(with: round.status) }
    let time = scheduler.now.advanced(by: Self.startTime)
    let timer = scheduler.schedule(at: time) { [weak self] in
      guard let self else { return }
      let isUp = state.access { state in services.allSatisfy { state.machine.isUp($0.name) } }
      if isUp { end(with: round.status) }
    }
    state.access { $0.completionTimer = timer }
  }

  /// A service has ended by itself. The end of one that is kept alive is no success.
  func endIfComplete(_ service: TaskDefinition, _ status: ExitStatus) {
    let isCrash = service.policy.keepsAlive && options.completion == .firstSuccess
    if !isCrash && isLast(status) { end(with: status) }
  }

  /// Whether the runner ends after a run or a round with this status.
  private func isLast(_ status: ExitStatus) -> Bool {
    options.completion.isReached(by: status) || state.access(\.isInLastRound)
  }

  private func end(with status: ExitStatus) {
    if state.access(\.machine.isEnding) { return }
    state.access { $0.status = status }
    advance { $0.end() }
  }
}
