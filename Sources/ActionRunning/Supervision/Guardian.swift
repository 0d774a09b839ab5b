import SystemCalls

/// Sees to it that nothing of a command is left when this process ends without stopping it: when it
/// is killed, or crashes.
///
/// A process of its own that sleeps until then, and costs next to nothing. Where we end in order it
/// has nothing to do, and ends with us. To be started once, as early as can be, and given to the
/// `ActionQueue`.
public struct Guardian: Sendable, Hashable {
  /// The most that a command is given to end by itself; all is to be over within a second.
  static let longestPatience = Duration.milliseconds(500)

  package let process: GuardianProcess

  /// Starts a guardian that asks with the plan's signal, and waits as long as it says, but half a
  /// second at most.
  public static func start(_ plan: StopPlan = StopPlan()) throws(SystemError) -> Guardian {
    let patience = min(plan.timeout, longestPatience)
    return Guardian(process: try .start(signal: plan.signal, patience: patience))
  }
}
