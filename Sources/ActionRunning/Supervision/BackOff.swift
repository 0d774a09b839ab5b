/// The pause before a command that ended by itself is started again: half a second, doubled each time up to
/// eight seconds, and reset after a run of ten seconds.
package struct BackOff: Hashable, Sendable {
  private static let shortest = Duration.milliseconds(500)
  private static let longest = Duration.seconds(8)
  private static let longRun = Duration.seconds(10)

  private var next = BackOff.shortest

  package init() {}

  /// The pause after a run of this duration.
  package mutating func pause(afterRunOf duration: Duration) -> Duration {
    if duration >= Self.longRun { reset() }
    defer { next = min(next * 2, Self.longest) }
    return next
  }

  /// Resets the pause, when the command is started for another reason and may be another program now.
  package mutating func reset() {
    next = Self.shortest
  }
}
