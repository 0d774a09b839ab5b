@testable import ActionRunning

/// The delays that are promised.
enum ChangeJudgeRules {
  /// The delay of what follows from a key that has changed in so many runs in a row that end by themselves, counted
  /// from 1.
  static func delay(_ repetitions: Int) -> Duration {
    switch repetitions {
    case ...3: .zero
    case ...10: .milliseconds(250)
    case 11: .seconds(1)
    case 12: .seconds(4)
    case ...32: .seconds(8)
    case ...38: .seconds(8 << (repetitions - 32))
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
