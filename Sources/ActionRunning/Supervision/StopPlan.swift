import SystemCalls

/// How a command is stopped: a signal, a grace period, and then SIGKILL.
public struct StopPlan: Sendable, Hashable {
  /// The signal that asks the command to stop.
  public var signal: Signal
  /// The grace period between that signal and SIGKILL.
  public var timeout: Duration

  /// Creates a plan. By default SIGTERM is sent, and SIGKILL ten seconds later.
  public init(signal: Signal = .terminate, timeout: Duration = .seconds(10)) {
    self.signal = signal
    self.timeout = timeout
  }
}
