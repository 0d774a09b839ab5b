import Support
import SystemCalls

/// What was decided about a change during a run, and why.
public struct ChangeExplanation: Sendable, Hashable {
  /// What the change leads to.
  public enum Decision: Sendable, Hashable {
    /// A run, now or after a delay.
    case run
    /// No run of its own: it is an output of the run, and the next run receives it.
    case waits
    /// Nothing: the path holds what it held when the run began, which goes on.
    case unchanged
  }

  /// Who has made the change, as far as that is proved.
  public enum Writer: Sendable, Hashable {
    /// Not the run: none of its processes has done anything meanwhile.
    case others
    /// A process of a run has the path open for writing.
    case run
    /// It is not known.
    case unknown
  }

  /// The path.
  public let path: Path
  /// What the change leads to.
  public let decision: Decision
  /// Who has made it.
  public let writer: Writer
  /// How long the run waits, because the changes look like those of the runs.
  public let delay: Duration

  init(path: Path, decision: Decision, verdict: Verdict, delay: Duration) {
    (self.path, self.decision, self.delay) = (path, decision, delay)
    writer =
      switch verdict {
      case .others: .others
      case .run: .run
      case .unknown: .unknown
      }
  }
}
