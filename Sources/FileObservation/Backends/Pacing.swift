import Support
import SystemCalls

/// Decides how often the kernel's event queue is read.
///
/// A few events are read as they arrive. A stream of events is read after pauses that grow while
/// the stream lasts, so that one read returns many events. The longest pause is short compared with
/// the time in which the queue fills.
struct ReadPacing {
  private static let streamGap = Duration.milliseconds(2)
  private static let streamLength = 8
  private static let firstPause = Duration.milliseconds(5)
  private static let longestPause = Duration.milliseconds(20)

  private var lastRead: Instant?
  private var streak = 0
  /// The last pause during a stream.
  private var pause: Duration?

  /// Returns how long to pause after a read; `nil` for no pause.
  mutating func pauseAfterRead(at now: Instant) -> Duration? {
    let gap = lastRead?.duration(to: now) ?? .seconds(1)
    lastRead = now
    // A pause of our own is not a gap in the stream.
    let isStream = gap <= (pause.map { $0 * 2 } ?? Self.streamGap)
    streak = isStream ? streak + 1 : 0
    if streak <= Self.streamLength {
      pause = nil
    } else {
      pause = min(pause.map { $0 * 5 / 4 } ?? Self.firstPause, Self.longestPause)
    }
    return pause
  }
}

/// Decides when to poll: soon after a poll that found changes, and at growing intervals while
/// nothing changes. Expensive polls are made less often.
struct PollPacing {
  /// Polls use at most one part in this many of a processor's time, not counting waits.
  private static let share = 5

  private let bounds: ClosedRange<Duration>
  /// How long to wait before the next poll.
  private(set) var interval: Duration

  init(bounds: ClosedRange<Duration>) {
    self.bounds = bounds
    interval = bounds.lowerBound
  }

  /// Notes the end of a poll.
  mutating func ended(foundSomething: Bool, took duration: Duration) {
    let quiet = min(interval * 5 / 4, bounds.upperBound)
    interval = max(foundSomething ? bounds.lowerBound : quiet, duration * Self.share)
  }
}
