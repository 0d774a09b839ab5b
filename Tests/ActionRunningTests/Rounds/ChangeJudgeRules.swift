@testable import ActionRunning

/// The delays that are promised.
enum ChangeJudgeRules {
  private static let delays: [Duration] =
    [.zero, .zero, .zero] + Array(repeating: .milliseconds(250), count: 7)
    + [.seconds(1), .seconds(40), .seconds(160)]

  /// The delay of what follows from a key that has changed so many times in a row, counted from 1.
  static func delay(_ repetitions: Int) -> Duration {
    let index = repetitions - 1
    if index < 0 { return .zero }
    return index < delays.count ? delays[index] : .seconds(600)
  }
}

extension ChangeJudgeBench.FollowUp {
  /// The follow-ups of a key that changes in so many runs.
  static func law(_ count: Int) -> [Self] {
    (1...count).map { number in
      let delay = ChangeJudgeRules.delay(number)
      return delay == .zero ? .now : .after(delay)
    }
  }
}
