/// A moment on a monotonic clock: the system's, which stands still while the machine sleeps, or a
/// manual one in tests.
package struct Instant: InstantProtocol, Hashable, Sendable {
  /// The time since the clock's origin.
  package let offset: Duration

  package init(offset: Duration) {
    self.offset = offset
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
