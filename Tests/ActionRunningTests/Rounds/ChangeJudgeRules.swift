import Support

@testable import ActionRunning

/// The delays that are promised.
enum ChangeJudgeRules {
  /// The delay of what follows from a key that has changed in so many runs in a row, each time as long after the
  /// start, counted from 1.
  static func delay(_ repetitions: Int) -> Duration {
    switch repetitions {
    case 4: Suspicion.Rules.test.least
    case ...5: .zero
    case 6: .seconds(1)
    case 7: .seconds(4)
    case ...27: Suspicion.Rules.noticed
    case ...33: .seconds(8 << (repetitions - 27))
    default: .seconds(600)
    }
  }

  /// The longest delay of such a key.
  static func longestDelay(_ repetitions: Int) -> Duration {
    repetitions > 3 && repetitions < 6 ? .seconds(1) : delay(repetitions)
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
