import FileObservation
import Support
import SystemCalls

/// How a command is stopped: asked by a signal, given time, and then killed.
public struct StopPlan: Sendable, Hashable {
  /// The signal that asks.
  public var signal: Signal
  /// How long the command may take after it.
  public var timeout: Duration

  /// A plan; by default SIGTERM and ten seconds.
  public init(signal: Signal = .terminate, timeout: Duration = .seconds(10)) {
    self.signal = signal
    self.timeout = timeout
  }
}

/// Carries out a stop plan: what to do, and when to look next. No process and no clock in it.
///
/// The leader's end is told. The group's is not: once the leader is gone, the group is looked at,
/// after 1 ms and then at growing intervals, so that no time is waited that is not needed.
package struct StopSequence: Sendable {
  package enum Action: Hashable, Sendable {
    case send(Signal)
    /// Look at the group at this time, and call `looked`.
    case look(at: Instant)
    /// Say that what is left cannot be done away with; `finish` follows.
    case abandon
    /// Nothing is left of the group, or nothing that can be done away with.
    case finish
  }

  private enum Phase: Hashable {
    case asked
    case killed
  }

  private static let shortestPause = Duration.milliseconds(1)
  private static let longestPause = Duration.milliseconds(20)
  /// How long a killed group may take. What the kernel cannot end in that time is stuck in it.
  private static let patienceAfterKill = Duration.seconds(2)

  private let plan: StopPlan
  private var leaderIsAlive: Bool
  private var phase = Phase.asked
  private var deadline: Instant
  private var pause = StopSequence.shortestPause

  /// To be begun at once.
  package init(_ plan: StopPlan, leaderIsAlive: Bool, at now: Instant) {
    self.plan = plan
    self.leaderIsAlive = leaderIsAlive
    deadline = now.advanced(by: plan.timeout)
  }

  package mutating func begin(at now: Instant) -> [Action] {
    if plan.signal == .kill || plan.timeout == .zero { return kill(at: now) }
    // A stopped process sees the signal only when it goes on.
    return [.send(plan.signal), .send(.continue), nextLook(at: now)]
  }

  /// Whether the grace period is over and nothing was killed yet.
  package func isOverdue(at now: Instant) -> Bool { phase == .asked && now >= deadline }

  /// What was found when the group was looked at.
  package mutating func looked(groupIsAlive: Bool, at now: Instant) -> [Action] {
    if !groupIsAlive && !leaderIsAlive { return [.finish] }
    if now < deadline { return [nextLook(at: now)] }
    return phase == .asked ? kill(at: now) : [.abandon, .finish]
  }

  /// No more asking.
  package mutating func kill(at now: Instant) -> [Action] {
    if phase == .killed { return [] }
    phase = .killed
    deadline = now.advanced(by: Self.patienceAfterKill)
    pause = Self.shortestPause
    return [.send(.kill), nextLook(at: now)]
  }

  /// The leader has ended: the rest may have ended with it.
  package mutating func leaderEnded(at now: Instant) -> [Action] {
    leaderIsAlive = false
    pause = Self.shortestPause
    return [.look(at: now)]
  }

  private mutating func nextLook(at now: Instant) -> Action {
    if leaderIsAlive { return .look(at: max(deadline, now)) }
    defer { pause = min(pause * 2, Self.longestPause) }
    return .look(at: min(now.advanced(by: pause), max(deadline, now)))
  }
}
