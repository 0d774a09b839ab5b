import Support
import SystemCalls

/// The runs in a row that others have answered with a change after their end. A watcher of another tool does that for
/// ever, and a program that saves and waits for the run for a while.
struct AnswerCount: Sendable {
  /// So many answers in a row are free, with what is free for others anyway.
  private static let free = 120.0 - Suspicion.Rules.proofs

  private var suspicion = Suspicion(free: Self.free)
  /// What has changed in the row.
  private var keys: Set<Path> = []
  private var round: Int?

  /// The delay of a run for what others have changed so long after the end of the latest run, of this round. An answer
  /// in several batches is one, and what has never changed in an answer is not delayed.
  ///
  /// - Parameter number: The number of the next start.
  mutating func delay(
    for keys: Set<Path>, after time: Duration, at now: Instant, round: Int, number: Int
  ) -> Duration {
    if self.round != round {
      self.round = round
      if !suspicion.isExpected(time) { (suspicion, self.keys) = (Suspicion(free: Self.free), []) }
      suspicion.began(after: time)
      suspicion.changed(.others, at: now, after: time)
    }
    let isKnown = !self.keys.isDisjoint(with: keys)
    if self.keys.count < ChangeJudge.mostKinds { self.keys.formUnion(keys) }
    return isKnown ? suspicion.delay(of: .others, number: number) : .zero
  }
}
