import Support
import SystemCalls

/// How many runs in a row were answered: others have changed something at the same time after the end. A watcher of
/// another tool does that for ever, and tests tell it from a person who saves at an even pace.
struct AnswerCount: Sendable {
  /// How many there were before they count.
  private var number = 0
  /// What has changed in the row.
  private var keys: Set<Path> = []
  private var latest: (time: Duration, round: Int)?
  private var count = RepetitionCount()

  /// The delay of a run for what others have changed so long after the end of the latest run, of this round. An answer
  /// in several batches is one, and what has never changed in an answer is not delayed.
  mutating func delay(
    for keys: Set<Path>, after time: Duration, at now: Instant, round: Int, isTested: Bool
  ) -> Duration {
    if latest?.round != round {
      let isSame = latest.map { RepetitionCount.isNear(time, to: $0.time) } ?? false
      latest = (time, round)
      number = isSame ? number + 1 : 0
      if number <= RepetitionCount.Rules.answers {
        count.reset()
      } else {
        count.began(after: time)
        count.changed(.unknown, at: now, after: time, isInFinite: false)
      }
      if !isSame { self.keys = [] }
    }
    let isKnown = !self.keys.isDisjoint(with: keys)
    if self.keys.count < ChangeJudge.mostKinds { self.keys.formUnion(keys) }
    return isKnown ? count.delay(isTested: isTested) : .zero
  }
}
