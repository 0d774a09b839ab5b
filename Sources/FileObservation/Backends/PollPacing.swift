import SystemCalls

/// Decides when to poll: soon after a poll that found changes, and at growing intervals while
/// nothing changes. Expensive polls are made less often.
struct PollPacing {
  /// Polls use at most one part in this many of a processor's time, not counting waits.
  private static let share = 5

  private let bounds: ClosedRange<Duration>
  private(set) var isPlanned = false
  private var interval: Duration

  init(bounds: ClosedRange<Duration>) {
    self.bounds = bounds
    interval = bounds.lowerBound
  }

  /// How much the next poll may be delayed to save a wake-up.
  var leeway: Duration { interval / 10 }

  /// Returns how long to wait before the next poll; `nil` if one is planned already.
  mutating func plan() -> Duration? {
    if isPlanned { return nil }
    isPlanned = true
    return interval
  }

  /// Notes the end of a poll.
  mutating func ended(foundSomething: Bool, took duration: Duration) {
    isPlanned = false
    let quiet = min(interval * 5 / 4, bounds.upperBound)
    interval = max(foundSomething ? bounds.lowerBound : quiet, duration * Self.share)
  }
}
