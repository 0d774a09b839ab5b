@testable import ActionRunning

/// The delays that are promised.
enum ChangeJudgeRules {
  /// The delay of what follows from a key that has changed in so many runs in a row that end by themselves, counted
  /// from 1.
  static func delay(_ repetitions: Int) -> Duration {
    switch repetitions {
    case ...3: .zero
    case ...10: .milliseconds(250)
    case ...14: .seconds(1 << (repetitions - 11))
    case ...27: .seconds(9)
    case ...33: .seconds(9 << (repetitions - 27))
    default: .seconds(600)
    }
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
