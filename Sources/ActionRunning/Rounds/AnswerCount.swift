import Support

/// How many runs in a row were answered: others have changed something, whatever it was, at the same time after the
/// end. A watcher of another tool does that for ever.
struct AnswerCount: Sendable {
  private var number = 0
  private var latest: (time: Duration, round: Int)?

  /// Others have changed something so long after the end of the latest run, of this round. An answer in several
  /// batches is one.
  mutating func add(_ time: Duration, round: Int) {
    if latest?.round == round { return }
    let isSame = latest.map { RepetitionCount.isNear(time, to: $0.time) } ?? false
    number = isSame ? number + 1 : 0
    latest = (time, round)
  }

  /// The delay of the next run.
  var delay: Duration {
    let excess = number - RepetitionCount.Rules.answers
    return excess > 0 ? RepetitionCount.bearablePause(excess) : .zero
  }
}
