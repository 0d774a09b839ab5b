import FileObservation

/// A reason for a run, with the changes that the run receives.
public struct RunTrigger: Sendable, Hashable {
  /// A reason for a run.
  public enum Reason: String, Sendable, Hashable {
    /// The start of the program.
    case start
    /// Files changed.
    case change
    /// A user pressed a key.
    case key
    /// The command ended by itself and is kept alive.
    case restart
  }

  /// The reason.
  public var reason: Reason
  /// The changes that the run receives.
  public var batch: ChangeBatch

  /// Creates a trigger.
  public init(_ reason: Reason, _ batch: ChangeBatch) {
    self.reason = reason
    self.batch = batch
  }

  /// Creates a trigger, by default without changes.
  public init(_ reason: Reason, changes: [ChangeBatch.Change] = []) {
    self.init(reason, ChangeBatch(number: 0, changes: changes))
  }

  /// The changes, at most one for each path.
  public var changes: [ChangeBatch.Change] { batch.changes }

  /// The reason as commands and pages receive it: also whether the changes were found by a scan after
  /// an overflow.
  package var reasonName: String { batch.overflow ? "overflow" : reason.rawValue }
}
