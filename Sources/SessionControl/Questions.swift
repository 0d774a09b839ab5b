import Support

/// The questions of `--wait` that have not been answered: a pure state machine. Questions, the ends of flushes
/// and the condition of the tasks go in, answers come out.
///
/// ```
///   ask ─▶ flush ─▶ flushed ─▶ at rest ─▶ runs that are delayed ─▶ at rest ─▶ answer
///              └── blocked, or the time is over ─▶ answer
/// ```
///
/// A change for which the run is delayed may be a person's, and the answer includes it: the run is requested, once
/// for each question.
///
/// A flush delivers all changes made before it, so that what they lead to is under way, or nothing is. It is
/// not repeated: later changes belong to later questions.
struct Questions {
  /// The answer to a question.
  struct Answer: Hashable {
    let number: Int
    /// Whether its time was over before the tasks came to rest.
    let isLate: Bool
  }

  private struct Question {
    let tasks: [String]
    let deadline: Instant?
    var isFlushed = false
    var hasRequestedDelayed = false
  }

  private var open: [Int: Question] = [:]

  /// Whether nothing is asked.
  var isEmpty: Bool { open.isEmpty }

  /// The tasks that questions are about.
  var subjects: Set<[String]> { Set(open.values.map(\.tasks)) }

  /// Adds a question. The caller flushes the source of changes, then calls `flushed`.
  mutating func ask(_ number: Int, about tasks: [String], until deadline: Instant?) {
    open[number] = Question(tasks: tasks, deadline: deadline)
  }

  /// All changes made before the question have been delivered.
  mutating func flushed(_ number: Int) {
    open[number]?.isFlushed = true
  }

  /// The client does not wait any more.
  mutating func drop(_ number: Int) {
    open[number] = nil
  }

  /// What follows from a review.
  struct Review {
    var answers: [Answer] = []
    /// The delayed tasks to run now.
    var due: Set<String> = []
    /// When to review the other questions again if nothing happens before.
    var next: Instant?
  }

  /// Answers the questions that can be answered.
  ///
  /// - Parameter conditions: Those of the `subjects`.
  mutating func review(at now: Instant, _ conditions: [[String]: SessionCondition]) -> Review {
    var review = Review()
    for (number, question) in open.sorted(by: { $0.key < $1.key }) {
      let condition = conditions[question.tasks] ?? SessionCondition()
      let settles = condition.settlesAfter.flatMap { $0 > .zero ? now.advanced(by: $0) : nil }
      let isAtRest = question.isFlushed && !condition.isBusy && settles == nil
      let isLate = question.deadline.map { $0 <= now } ?? false
      let runsDelayed = isAtRest && !condition.delayed.isEmpty && !question.hasRequestedDelayed
      if condition.isBlocked || isLate || isAtRest && !runsDelayed {
        open[number] = nil
        review.answers.append(
          Answer(number: number, isLate: isLate && !condition.isBlocked && !isAtRest))
        continue
      }
      if runsDelayed {
        open[number]?.hasRequestedDelayed = true
        review.due.formUnion(condition.delayed)
      }
      review.next = ([review.next, question.deadline, settles].compactMap(\.self)).min()
    }
    return review
  }
}
