import SystemCalls

/// A process that stops the commands if this process ends without doing so, because it was killed or
/// crashed.
///
/// The guardian sleeps until this process ends, and uses next to no memory. Start one as early as possible,
/// before the process has threads, and pass it to every ``ActionQueue`` or ``TaskRunner``.
public struct Guardian: Sendable, Hashable {
  /// The longest grace period: everything must have ended within a second.
  static let longestGracePeriod = Duration.milliseconds(500)

  package let process: GuardianProcess

  /// Starts a guardian that stops commands by the plan, with a grace period of at most half a second.
  ///
  /// - Throws: `SystemError` if no process can be created.
  public static func start(_ plan: StopPlan = StopPlan()) throws(SystemError) -> Guardian {
    let gracePeriod = max(.zero, min(plan.timeout, longestGracePeriod))
    return Guardian(process: try .start(signal: plan.signal, gracePeriod: gracePeriod))
  }

  /// Ends the guardian and reaps it. Call this last, before the process exits: a guardian that outlives
  /// its parent stays a zombie where the process with ID 1 does not reap orphans.
  package func end() {
    process.end()
  }
}
