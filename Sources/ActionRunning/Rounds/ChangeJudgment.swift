import SystemCalls

/// What was decided about a change during a run, and by which evidence.
public struct ChangeJudgment: Sendable, Hashable {
  /// The evidence of a decision.
  public enum Reason: Sendable, Hashable {
    /// The path holds what it held when the run began: it requires no run.
    case unchanged
    /// The path is an output of the run: it requires no run.
    case output
    /// No process of the run has written anything since before the change, so others have made it.
    case innocent
    /// The path changes at another time than before, or again although the run has written, so
    /// others have made it.
    case moved
    /// A process of the run has the path open for writing.
    case open
    /// The path changes at the same time after the start of each run, or whenever the run writes.
    case repeated
    /// It is not known who has made the change: it requires a run.
    case unknown
  }

  /// The path.
  public let path: Path
  /// The evidence.
  public let reason: Reason

  init(_ path: Path, _ reason: Reason) {
    self.path = path
    self.reason = reason
  }
}
