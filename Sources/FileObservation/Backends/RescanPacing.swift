import Support
import SystemCalls

/// Decides when the tree is rescanned after the kernel dropped events: at once the first time, and
/// then at most half of the time.
struct RescanPacing {
  private static let shortestPause = Duration.milliseconds(100)
  private static let longestPause = Duration.seconds(1)

  private(set) var isPlanned = false
  private var began: Instant?
  private var ended: Instant?

  /// Plans a rescan. Returns how long to wait before it.
  mutating func plan(at now: Instant) -> Duration {
    isPlanned = true
    guard let began, let ended else { return .zero }
    let pause = min(max(began.duration(to: ended), Self.shortestPause), Self.longestPause)
    return max(.zero, now.duration(to: ended.advanced(by: pause)))
  }

  mutating func begin(at now: Instant) {
    began = now
  }

  mutating func end(at now: Instant) {
    ended = now
    isPlanned = false
  }
}
