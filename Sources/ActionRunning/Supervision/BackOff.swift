/// How long to wait before a command that has ended by itself is started again: half a second, then
/// twice as long each time up to eight, and half a second again once it has lived for a while.
package struct BackOff: Hashable, Sendable {
  private static let shortest = Duration.milliseconds(500)
  private static let longest = Duration.seconds(8)
  private static let longLife = Duration.seconds(10)

  private var next = BackOff.shortest

  package init() {}

  /// The pause after a life of that length.
  package mutating func pause(afterLifeOf life: Duration) -> Duration {
    if life >= Self.longLife { reset() }
    defer { next = min(next * 2, Self.longest) }
    return next
  }

  /// It is started for another reason, and may be another program now.
  package mutating func reset() {
    next = Self.shortest
  }
}
