import Support
import SystemCalls

/// The changes that are usually followed up by another one soon: a formatter rewrites what was
/// saved, or a temporary file is renamed. A burst with such a change waits for the follow-up.
///
/// A wait is an experiment. A follow-up that comes during the wait proves the habit; without a wait
/// it was perhaps made by what the burst has led to. So each wait in vain counts against the habit,
/// and one that was never proved needs twice the evidence next time. A follow-up that comes too late
/// makes the next wait at least twice as long, which happens a few times until it is the longest.
struct FollowUpHabits: Sendable {
  private struct Habit {
    /// The longest pause before the follow-up.
    var gap: Duration
    /// The number of follow-ups in a row that were not waited for.
    var evidence = 0
    var evidenceNeeded = FollowUpHabits.firstEvidence
    /// The number of waits in vain after which there is no waiting any more.
    var credit = 0
    /// Whether more changes came after the last follow-up.
    var isRepeated = false
    /// When it was used last.
    var age = 0

    /// Counts a stream that did not wait.
    mutating func observe(_ followUp: ChangeStream.FollowUp?) {
      evidence = followUp == nil ? 0 : evidence + 1
      if evidence < evidenceNeeded { return }
      (evidence, credit) = (0, 1)
    }
  }

  /// A coincidence happens once; the third time, a burst waits.
  private static let firstEvidence = 2
  /// A proved habit survives a few changes without a follow-up, as of a file that needed no
  /// formatting.
  private static let largestCredit = 3
  /// More files than a person works on. The habit that was not used for longest is forgotten.
  private static let largestCount = 128

  private var habits: [ChangeStream.Subject: Habit] = [:]
  private var age = 0

  /// The longest pause before the follow-ups that are due in a stream; `nil` if none is.
  func awaitedGap(in stream: ChangeStream) -> Duration? {
    if habits.isEmpty { return nil }
    return stream.subjects.compactMap { subject in
      guard stream.followUps[subject] == nil, let habit = habits[subject], habit.credit > 0
      else { return nil }
      return habit.gap
    }.max()
  }

  /// Whether the follow-ups of a stream have come and are usually its last changes.
  func isComplete(_ stream: ChangeStream) -> Bool {
    !stream.followUps.isEmpty
      && stream.followUps.keys.allSatisfy { subject in
        habits[subject].map { $0.credit > 0 && !$0.isRepeated } ?? false
      }
  }

  /// Learns from a stream that is over.
  mutating func learn(from stream: ChangeStream) {
    if stream.followUps.isEmpty && habits.isEmpty { return }
    age += 1
    for subject in stream.subjects {
      let followUp = stream.followUps[subject]
      guard var habit = habits[subject] ?? followUp.map({ Habit(gap: $0.gap) }) else { continue }
      if let followUp {
        habit.gap = max(habit.gap, followUp.gap)
        habit.isRepeated = followUp.isRepeated
      }
      if habit.credit == 0 {
        habit.observe(followUp)
      } else if let followUp, followUp.isAwaited {
        habit.credit = min(habit.credit + 1, Self.largestCredit)
        habit.evidenceNeeded = Self.firstEvidence
      } else if stream.hasWaited && followUp == nil {
        habit.credit -= 1
        if habit.credit == 0 { habit.evidenceNeeded *= 2 }
      }
      habit.age = age
      habits[subject] = habit
    }
    while habits.count > Self.largestCount,
      let oldest = habits.min(by: { $0.value.age < $1.value.age })
    {
      habits[oldest.key] = nil
    }
  }
}
