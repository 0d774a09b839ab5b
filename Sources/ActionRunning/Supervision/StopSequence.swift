import Support
import SystemCalls

/// The state machine that carries out a ``StopPlan``: inputs in, actions out, without processes and clocks.
///
/// The kernel reports the end of the leader, but not the end of its group. After the leader has ended, the
/// group is polled, after 1 ms and then at growing intervals.
package struct StopSequence: Sendable {
  package enum Action: Equatable, Sendable {
    /// Run the stop command, and call `commandEnded`.
    case runCommand
    case killCommand
    /// Send the signal to the group and to the groups of descendants.
    case send(Signal)
    case kill
    /// Check at this time whether the group is alive, and call `checked`.
    case check(at: Instant)
    /// Report that the remaining processes cannot be stopped. `finish` follows once they are gone.
    case reportStuck
    /// Nothing is left of the group.
    case finish
  }

  private enum Phase: Equatable {
    case commanded
    /// It has ended, and what it has asked to end has a moment for that.
    case leaving
    case asked
    case killed
    /// Nothing can be done but wait.
    case stuck
  }

  private static let intervals = BackOff(.milliseconds(1) ... .milliseconds(20))
  private static let intervalsIfStuck = BackOff(.milliseconds(1) ... .seconds(2))
  /// The time that a killed group is given. A process that needs longer is stuck in the kernel.
  private static let timeAfterKill = Duration.seconds(2)
  /// The time that a group is given after the stop command has succeeded.
  private static let timeAfterCommand = Duration.seconds(1)

  private let plan: StopPlan
  private var leaderIsAlive: Bool
  private var phase = Phase.asked
  private var deadline: Instant
  private var interval = StopSequence.intervals

  /// Creates a sequence; call `begin` at once.
  package init(_ plan: StopPlan, leaderIsAlive: Bool, at now: Instant) {
    self.plan = plan
    self.leaderIsAlive = leaderIsAlive
    deadline = now.advanced(by: plan.timeout)
  }

  /// - Parameter hasCommand: Whether a stop command comes before the signals.
  package mutating func begin(hasCommand: Bool = false, at now: Instant) -> [Action] {
    if hasCommand && leaderIsAlive && plan.timeout > .zero {
      phase = .commanded
      return [.check(at: deadline), .runCommand]
    }
    return ask(at: now)
  }

  /// The stop command has ended, or could not be started.
  package mutating func commandEnded(isSuccess: Bool, at now: Instant) -> [Action] {
    if phase != .commanded { return [] }
    phase = .leaving
    deadline = now.advanced(by: isSuccess && leaderIsAlive ? Self.timeAfterCommand : .zero)
    return [.check(at: deadline)]
  }

  private mutating func ask(at now: Instant) -> [Action] {
    phase = .asked
    deadline = now.advanced(by: plan.timeout)
    if plan.signal == .kill || plan.timeout == .zero { return kill(at: now) }
    // A suspended process handles the signal only after it was continued.
    return [.send(plan.signal), .send(.continue), nextCheck(at: now)]
  }

  /// Whether the grace period is over and nothing was killed yet.
  package func isOverdue(at now: Instant) -> Bool { phase == .asked && now >= deadline }

  package var isStuck: Bool { phase == .stuck }

  package mutating func checked(groupIsAlive: Bool, at now: Instant) -> [Action] {
    if phase == .commanded {
      return now < deadline ? [] : [.killCommand] + commandEnded(isSuccess: false, at: now)
    }
    if !groupIsAlive && !leaderIsAlive { return [.finish] }
    switch phase {
    case .commanded, .leaving: return now < deadline ? [nextCheck(at: now)] : ask(at: now)
    case .stuck: return leaderIsAlive ? [] : [nextCheck(at: now)]
    case .asked: return now < deadline ? [nextCheck(at: now)] : kill(at: now)
    case .killed: return now < deadline ? [nextCheck(at: now)] : stuck(at: now)
    }
  }

  /// No process accepts signals from this one, as those of other users do.
  package mutating func refused(at now: Instant) -> [Action] {
    phase == .stuck ? [] : stuck(at: now)
  }

  private mutating func stuck(at now: Instant) -> [Action] {
    phase = .stuck
    interval = Self.intervalsIfStuck
    return [.reportStuck] + (leaderIsAlive ? [] : [nextCheck(at: now)])
  }

  /// Ends the grace period now.
  package mutating func kill(groupIsAlive: Bool = true, at now: Instant) -> [Action] {
    let first: [Action] = phase == .commanded ? [.killCommand] : []
    if !groupIsAlive && !leaderIsAlive { return first + [.finish] }
    if phase == .killed || phase == .stuck { return [] }
    phase = .killed
    deadline = now.advanced(by: Self.timeAfterKill)
    interval.reset()
    return first + [.kill, nextCheck(at: now)]
  }

  /// The leader has ended; the rest of the group may have ended as well.
  package mutating func leaderEnded(at now: Instant) -> [Action] {
    leaderIsAlive = false
    // The stop command is awaited.
    if phase == .commanded { return [] }
    interval.reset()
    return [.check(at: now)]
  }

  private mutating func nextCheck(at now: Instant) -> Action {
    let latest = max(deadline, now)
    if leaderIsAlive { return .check(at: latest) }
    let time = now.advanced(by: interval.next())
    return .check(at: phase == .stuck ? time : min(time, latest))
  }
}
