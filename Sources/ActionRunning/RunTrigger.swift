import FileObservation

/// A reason for a run, with the changes that the run receives.
public struct RunTrigger: Sendable, Hashable {
  /// The kind of a reason. Its raw value is passed to the command as `WATCHRUN_REASON`.
  public enum Reason: String, Sendable, Hashable {
    /// The start of the program.
    case start
    /// Files changed.
    case change
    /// Files changed, and the list may be incomplete, because the kernel dropped events.
    case overflow
    /// A user pressed a key.
    case key
    /// The command ended by itself and is kept alive.
    case restart
  }

  /// The kind of the reason.
  public var reason: Reason
  /// The changes, at most one for each path.
  public var changes: [ChangeBatch.Change]
  /// Whether the burst of the changes goes on.
  var isPartial = false

  /// Creates a trigger, by default without changes.
  public init(_ reason: Reason, changes: [ChangeBatch.Change] = []) {
    self.reason = reason
    self.changes = changes
  }

  /// Creates a trigger from a batch of an observer.
  public init(_ batch: ChangeBatch) {
    self.init(batch.overflow ? .overflow : .change, changes: batch.changes)
    isPartial = batch.isPartial
  }
}
