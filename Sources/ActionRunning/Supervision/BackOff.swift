/// The pauses between attempts: each longer than the one before, up to the longest. By default those before
/// a command that ended by itself is started again, which a run of ten seconds resets. After a number of
/// attempts in a row without success there is none.
package struct BackOff: Hashable, Sendable {
  private static let longRun = Duration.seconds(10)

  private let range: ClosedRange<Duration>
  private let growth: Double
  private let limit: Int?
  private var nextPause: Duration
  /// The number of attempts in a row without success.
  private var count = 0

  /// - Parameter limit: The maximum number of attempts in a row without success; `nil` for any number.
  package init(
    _ range: ClosedRange<Duration> = .milliseconds(500) ... .seconds(8), growth: Double = 2,
    limit: Int? = nil
  ) {
    (self.range, self.growth, self.limit) = (range, growth, limit)
    nextPause = range.lowerBound
  }

  /// The pauses before a command is started again.
  init(first: Duration, limit: Int?) {
    self.init(first...max(first, .seconds(8)), limit: limit)
  }

  /// The next pause, whatever the limit.
  package mutating func next() -> Duration {
    defer { nextPause = min(nextPause * growth, range.upperBound) }
    return nextPause
  }

  /// The pause after an attempt that has lasted so long; `nil` if there is no other attempt.
  package mutating func pause(afterRunOf duration: Duration = .zero) -> Duration? {
    if duration >= Self.longRun { reset() }
    if count == limit { return nil }
    count += 1
    return next()
  }

  package mutating func becameReady() {
    count = 0
  }

  /// Begins anew: what is attempted may be something else now.
  package mutating func reset() {
    self = BackOff(range, growth: growth, limit: limit)
  }
}
