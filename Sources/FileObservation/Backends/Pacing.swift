import Support
import SystemCalls

/// How often the kernel's queue is read. A few events are read as they come; a stream of them is
/// left to collect for some milliseconds, and the longer it lasts the longer, so that its price is a
/// few reads and not one for each. The longest pause is short beside the time in which the queue
/// fills up.
struct ReadPacing {
  private static let streamGap = Duration.milliseconds(2)
  private static let streamLength = 8
  private static let firstPause = Duration.milliseconds(5)
  private static let longestPause = Duration.milliseconds(20)

  private var lastRead: Instant?
  private var streak = 0
  /// The last pause, while there is a stream.
  private var pause: Duration?

  /// Events have been read. How long to leave the next alone; nil for not at all.
  mutating func pauseAfterRead(at now: Instant) -> Duration? {
    let gap = lastRead?.duration(to: now) ?? .seconds(1)
    lastRead = now
    // Once there are pauses, they count for no gap.
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

/// When the tree is read again after the kernel has dropped events: at once for the first time, and
/// then never for more than half of the time.
struct RescanPacing {
  private static let shortestPause = Duration.milliseconds(100)
  private static let longestPause = Duration.seconds(1)

  private(set) var isPlanned = false
  private var began: Instant?
  private var ended: Instant?

  /// A rescan is wanted. How long to wait before it.
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

/// When that which nobody tells of is looked at: soon after something was found, and less and less
/// often while nothing is. What takes long is done less often too.
struct LookPacing {
  /// A look is to take no more than one part in so many of a processor's time. Waiting for one, or for a
  /// disk, does not count.
  private static let share = 5

  private let bounds: ClosedRange<Duration>
  private(set) var isPlanned = false
  private var interval: Duration

  init(bounds: ClosedRange<Duration> = .milliseconds(500) ... .seconds(5)) {
    self.bounds = bounds
    interval = bounds.lowerBound
  }

  /// How much later the next look may be where that saves a wake-up: the longer it is waited for, the
  /// less it matters.
  var leeway: Duration { interval / 10 }

  /// How long to wait before the next look; nil if one is planned.
  mutating func plan() -> Duration? {
    if isPlanned { return nil }
    isPlanned = true
    return interval
  }

  /// A look is over.
  mutating func ended(foundSomething: Bool, took duration: Duration) {
    isPlanned = false
    let quiet = min(interval * 5 / 4, bounds.upperBound)
    interval = max(foundSomething ? bounds.lowerBound : quiet, duration * Self.share)
  }
}
