/// The pause before a command that ended by itself is started again: half a second, doubled each time up to
/// eight seconds, and reset after a run of ten seconds. After a number of restarts in a row without success
/// there is none.
package struct BackOff: Hashable, Sendable {
  private static let shortest = Duration.milliseconds(500)
  private static let longest = Duration.seconds(8)
  private static let longRun = Duration.seconds(10)

  private let limit: Int?
  private var next = BackOff.shortest
  /// The number of restarts in a row without success.
  private var count = 0

  /// - Parameter limit: The maximum number of restarts in a row without success; `nil` for any number.
  package init(limit: Int? = nil) {
    self.limit = limit
  }

  /// The pause after a run of this duration; `nil` if the command is not started again.
  package mutating func pause(afterRunOf duration: Duration) -> Duration? {
    if duration >= Self.longRun { reset() }
    if count == limit { return nil }
    count += 1
    defer { next = min(next * 2, Self.longest) }
    return next
  }

  /// The run has become ready, which is a success.
  package mutating func becameReady() {
    count = 0
  }

  /// Resets the pause, when the command is started for another reason and may be another program now.
  package mutating func reset() {
    self = BackOff(limit: limit)
  }
}
