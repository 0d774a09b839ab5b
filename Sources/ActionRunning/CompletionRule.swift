import SystemCalls

/// The run after which a queue, or a task runner, ends by itself.
public enum CompletionRule: Sendable, Hashable {
  /// None: it runs until ``ActionQueue/end()`` is called.
  case never
  /// The first run that ends without having been stopped.
  case firstRun
  /// The first run that fails.
  case firstFailure
  /// The first run that succeeds. Of several tasks, the first round after which none has failed, was stopped or
  /// skipped, in that round or before.
  case firstSuccess

  /// Whether a run that ended with this status is the last one.
  func isReached(by status: ExitStatus) -> Bool {
    switch self {
    case .never: false
    case .firstRun: true
    case .firstFailure: !status.isSuccess
    case .firstSuccess: status.isSuccess
    }
  }
}
