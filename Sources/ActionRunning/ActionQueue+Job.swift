extension ActionQueue {
  /// The part that a process plays in a run of the queue. At most one process of each kind exists.
  public enum Job: String, Sendable, Hashable, CaseIterable {
    /// Runs first after every change; the command starts only if it succeeds.
    case build
    /// The command itself.
    case command
    /// Runs after the command: ``Options/onSuccess`` or ``Options/onFailure``.
    case hook
  }
}
