// Not an `InstantProtocol`, and no `ContinuousClock` is used: both are in the runtime of Swift
// concurrency, which would be linked into the program.

/// A moment on a monotonic clock: the system's, which stands still while the machine sleeps, or a
/// manual one in tests.
package struct Instant: Comparable, Hashable, Sendable {
  /// The time since the clock's origin.
  package let offset: Duration

  package init(offset: Duration) {
    self.offset = offset
  }

  /// The present moment on the system's clock.
  package static var now: Instant { Instant(offset: .nanoseconds(time(of: uptimeClock))) }

  package static func + (instant: Instant, duration: Duration) -> Instant {
    instant.advanced(by: duration)
  }

  package static func - (left: Instant, right: Instant) -> Duration {
    right.duration(to: left)
  }

  package static func < (left: Instant, right: Instant) -> Bool {
    left.offset < right.offset
  }

  package func advanced(by duration: Duration) -> Instant {
    Instant(offset: offset + duration)
  }

  package func duration(to other: Instant) -> Duration {
    other.offset - offset
  }
}

/// The time of a clock of the system, in nanoseconds.
func time(of clock: clockid_t) -> Int64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
