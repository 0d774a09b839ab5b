/// When an observer polls instead of asking the kernel for events, and how often.
///
/// Polled trees have a queue of their own. While a file system does not answer, as when its server
/// is gone, changes on it are found later, and so do a ``FileObserver/flush(then:)`` and, at the
/// start, ``FileObserver/Readiness`` wait for it. What the kernel watches is reported all the same.
public struct Polling: Sendable, Hashable {
  /// When to poll.
  public enum Use: Sendable, Hashable {
    /// Where the kernel reports no events, as on network file systems, and beyond the watch limit.
    case whereNeeded
    /// Everywhere.
    case always
  }

  /// When to poll.
  public var use: Use
  /// The polling interval: the lower bound after a change, backing off to the upper bound while
  /// nothing changes. Polling uses at most a fifth of a processor, so a large tree may be polled
  /// less often.
  public var interval: ClosedRange<Duration>

  /// Creates a polling configuration; by default 0.2 s to 2 s, where needed.
  public init(
    _ use: Use = .whereNeeded,
    interval: ClosedRange<Duration> = .milliseconds(200) ... .seconds(2)
  ) {
    self.use = use
    self.interval = interval
  }
}
