import SystemCalls

/// What to do with a change that comes while the command runs.
public enum BusyPolicy: Sendable, Hashable {
  /// Run once more when it has ended, however many changes there were.
  case queue
  /// Nothing.
  case ignore
  /// Stop it, and run again.
  case restart
  /// Send it this signal, and leave the rest to it.
  case signal(Signal)
}

extension BusyPolicy {
  /// Whether a change during a run stops or signals it.
  var isLive: Bool {
    switch self {
    case .restart, .signal: true
    case .queue, .ignore: false
    }
  }
}

/// When the queue has done what it was made for.
public enum Completion: Sendable, Hashable {
  /// Never; it is ended from outside.
  case never
  /// After the first run that ends by itself.
  case firstRun
  /// After the first run that fails.
  case firstFailure
  /// After the first run that succeeds.
  case firstSuccess

  /// True if a run that ended by itself like this is the last.
  func isReached(by status: ExitStatus) -> Bool {
    switch self {
    case .never: false
    case .firstRun: true
    case .firstFailure: !status.isSuccess
    case .firstSuccess: status.isSuccess
    }
  }
}

// What policies and reports speak of belongs to the module's public face.
@_exported import enum SystemCalls.ExitStatus
@_exported import struct SystemCalls.Signal
