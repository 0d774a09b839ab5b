/// How often changes start something, whatever is known of who makes them: the bound that holds where all evidence
/// errs.
///
/// It demands a time between two starts, which grows with the number of starts, and not a delay after a change: what
/// changes after a while waits for nothing.
package struct StartLimit: Equatable, Sendable {
  /// The numbers of the limit.
  package enum Rules {
    /// After so many starts, there is so much time between two.
    package static let steps: [(number: Double, pause: Duration)] = [
      (30, .seconds(1)), (40, .seconds(2)), (60, .seconds(4)), (97, .seconds(30)),
    ]
    /// How long a key with fewer starts than `few` waits at most because of others: as long as the first step demands, and
    /// from the last one on as long as the one before.
    package static let (few, shortest) = (
      6.0, (first: Duration.seconds(1), last: Duration.seconds(4))
    )
    /// After more starts than this, it is said what leads to them.
    package static let named = 9.0
    /// The highest level.
    package static let most = 130.0
    /// The time that takes one start back.
    package static let recovery = Duration.seconds(30)
  }

  /// What is known of who has made a change.
  package enum Origin {
    /// Others, while nothing ran: it may answer to a run.
    case atRest
    /// Others, beside a run.
    case others
    case unknown

    /// From this number of starts on there is a limit for what they make, and the longest time that it demands.
    fileprivate var bounds: (number: Double, longest: Duration) {
      switch self {
      case .atRest: (120, .seconds(4))
      case .others: (60, .seconds(4))
      case .unknown: (0, .seconds(30))
      }
    }
  }

  /// The number of starts, less what was taken back, at the latest one.
  private var level = 0.0
  private var latest: Instant?

  /// How many starts count as one.
  private let share: Double

  /// - Parameter share: How many starts count as one: different keys may share a limit.
  package init(share: Double) {
    self.share = share
  }

  /// Whether it matters that it is remembered.
  package var matters: Bool { level > 1.5 }

  /// Whether the key has led to some starts.
  package func isFrequent(at now: Instant) -> Bool { level(at: now) >= Rules.few }

  /// Whether the key has led to so many starts that it is named.
  package func isNamed(at now: Instant) -> Bool { level(at: now) >= Rules.named }

  /// A change has started something.
  package mutating func started(at now: Instant) {
    level = min(level(at: now) + 1 / share, Rules.most)
    latest = now
  }

  /// Two keys are one from now on, which has led to as many starts as either had.
  package mutating func formMaximum(_ other: StartLimit) {
    guard let now = [latest, other.latest].compactMap(\.self).max() else { return }
    (level, latest) = (max(level(at: now), other.level(at: now)), now)
  }

  /// How long a key that has hardly led to starts waits at most.
  package func shortest(at now: Instant) -> Duration {
    level(at: now) < Rules.steps.last?.number ?? 0 ? Rules.shortest.first : Rules.shortest.last
  }

  /// How long a start for a change waits.
  package func delay(of origin: Origin, at now: Instant) -> Duration {
    guard let latest else { return .zero }
    let level = level(at: now)
    let bounds = origin.bounds
    guard level >= bounds.number, let step = Rules.steps.last(where: { level >= $0.number }) else {
      return .zero
    }
    return max(min(step.pause, bounds.longest) - latest.duration(to: now), .zero)
  }

  private func level(at now: Instant) -> Double {
    max(level - (latest?.duration(to: now) ?? .zero) / Rules.recovery, 0)
  }
}
