import Support

/// The questions of `--wait` that have not been answered: a pure state machine. Questions, the ends of flushes
/// and the condition of the tasks go in, answers come out.
///
/// ```
///   ask ─▶ flush ─▶ flushed ─▶ at rest ─▶ runs of what is behind ─▶ at rest ─▶ answer
///              └── blocked, or the time is over ─▶ answer
/// ```
///
/// A change for which the run is delayed, or which was ignored, may be a person's, and the answer includes it: the
/// run is requested, once for each question.
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
    var requests = Requests.none
  }

  /// The runs that are requested for a question.
  private enum Requests {
    case none
    /// Their request is on its way: the condition does not show it yet.
    case made
    case received
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

  /// The session has received all requests of runs made so far.
  mutating func requestsAreReceived() {
    for number in open.keys where open[number]?.requests == .made {
      open[number]?.requests = .received
    }
  }

  /// The client does not wait any more.
  mutating func drop(_ number: Int) {
    open[number] = nil
  }

  /// What follows from a review.
  struct Review {
    var answers: [Answer] = []
    /// The tasks to run now, since they are behind.
    var due: Set<String> = []
    /// When to review the other questions again if nothing happens before.
    var next: Instant?
  }

  /// Answers the questions that can be answered.
  ///
  /// - Parameter conditions: Those of the `subjects`.
  mutating func review(at now: Instant, _ conditions: [[String]: SessionCondition]) -> Review {
    var review = Review()
    // One set of requests at a time: others may be about the same tasks.
    let isRequesting = open.values.contains { $0.requests == .made }
    for (number, question) in open.sorted(by: { $0.key < $1.key }) {
      let condition = conditions[question.tasks] ?? SessionCondition()
      let settles = condition.settlesAfter.flatMap { $0 > .zero ? now.advanced(by: $0) : nil }
      let isAtRest =
        question.isFlushed && !condition.isBusy && settles == nil && !isRequesting
      let isLate = question.deadline.map { $0 <= now } ?? false
      let requestsRuns = isAtRest && !condition.behind.isEmpty && question.requests == .none
      let isDone = isAtRest && !requestsRuns
      if condition.isBlocked || isLate || isDone {
        open[number] = nil
        review.answers.append(
          Answer(number: number, isLate: isLate && !condition.isBlocked && !isDone))
        continue
      }
      if requestsRuns {
        open[number]?.requests = .made
        review.due.formUnion(condition.behind)
      }
      review.next = ([review.next, question.deadline, settles].compactMap(\.self)).min()
    }
    return review
  }
}
