@_exported import struct SystemCalls.Instant

/// A monotonic clock, and a queue on which work is done at a time of that clock.
package protocol Scheduler: Sendable {
  var now: Instant { get }

  /// Does `work` on the scheduler's queue at a time, as exactly as the system can.
  ///
  /// Cancelling does not stop work that has begun: work must check itself whether it is still
  /// wanted.
  func schedule(
    at time: Instant, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork
}

/// Work that is done at its time unless it is cancelled before.
package protocol ScheduledWork: Sendable {
  /// Cancels the work. May be called on any thread, and more than once.
  func cancel()
}
