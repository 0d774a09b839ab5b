import SystemCalls

/// The result of a round: of all work that was caused by one batch of changes.
public struct TaskRound: Sendable, Hashable {
  /// The outcome of one task.
  public enum Outcome: Sendable, Hashable {
    /// It succeeded, in this time.
    case succeeded(Duration)
    /// It was not run, since nothing has changed since its last success.
    case fresh
    /// It failed with this status, in this time.
    case failed(ExitStatus, Duration)
    /// A service became ready, in this time.
    case ready(Duration)
    /// A service was not ready in time, or ended before.
    case notReady
    /// It was stopped.
    case cancelled
    /// It did not run, because this dependency failed or is not ready.
    case skipped(because: String)
    /// A service was not restarted, for the same reason. It keeps running.
    case kept(because: String)
  }

  /// A task and its outcome.
  public struct Entry: Sendable, Hashable {
    /// The task's name.
    public let name: String
    /// Its outcome.
    public let outcome: Outcome
  }

  /// The tasks of the round, each after its dependencies.
  public let entries: [Entry]

  /// The status of the first task that failed, or 0 if none did; `nil` if one was stopped, or none has come to an
  /// end or become ready, because all were skipped or kept.
  public var status: ExitStatus? {
    var status: ExitStatus?
    var wasStopped = false
    for entry in entries {
      switch entry.outcome {
      case .failed(let status, _): return status
      case .notReady: return .exited(1)
      case .succeeded, .fresh, .ready: status = .exited(0)
      case .cancelled: wasStopped = true
      case .skipped, .kept: continue
      }
    }
    return wasStopped ? nil : status
  }
}
