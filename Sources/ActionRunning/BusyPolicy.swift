import SystemCalls

/// What a change that requires a run leads to while the command runs.
///
/// Not every change does: one that the run has made itself, for example, may require none.
public enum BusyPolicy: Sendable, Hashable {
  /// Queue one more run, however many changes arrive.
  case queue
  /// Ignore the change. One that is made after the command has ended is not ignored, as the timestamps of files
  /// tell: those within one tick of the kernel's clock, a few milliseconds, cannot be told apart.
  case ignore
  /// Stop the command and run it again. A task that is no service is stopped by what others have changed, and
  /// not by what it may have written itself: that is judged when it has ended.
  case restart
  /// Start the command again, and stop the former process when the new one is ready: by its readiness check, or when
  /// it has run for a second. If it ends before that, the former one goes on. For services; a check of a port or a URL
  /// follows when the former process has ended, since that would answer as well.
  case overlap
  /// Send the command this signal, and keep it running.
  case signal(Signal)
}

extension BusyPolicy {
  /// Whether a change during a run stops or signals the command.
  var interruptsRuns: Bool {
    switch self {
    case .restart, .overlap, .signal: true
    case .queue, .ignore: false
    }
  }
}

// The public API refers to these types.
@_exported import enum SystemCalls.ExitStatus
@_exported import struct SystemCalls.Signal
