import Support
import Testing

@testable import SessionControl

/// When questions are answered, in virtual time.
struct QuestionsTests {
  private var questions = Questions()
  private let start = Instant(offset: .seconds(100))

  private func later(_ milliseconds: Int) -> Instant {
    start.advanced(by: .milliseconds(milliseconds))
  }

  /// Reviews the questions with one condition for all tasks. Returns the answers, late ones with a `!`.
  private mutating func review(
    at milliseconds: Int = 0, isBusy: Bool = false, settlesAt: Int? = nil, isBlocked: Bool = false,
    delayed: [String] = []
  ) -> [String] {
    var condition = SessionCondition()
    (condition.isBusy, condition.isBlocked) = (isBusy, isBlocked)
    condition.settlesAfter = settlesAt.map { .milliseconds($0 - milliseconds) }
    condition.behind = delayed
    let all = Dictionary(uniqueKeysWithValues: questions.subjects.map { ($0, condition) })
    let review = questions.review(at: later(milliseconds), all)
    let wait = review.next.map { ["wait \(start.duration(to: $0).milliseconds)"] } ?? []
    return review.answers.map { "\($0.number)\($0.isLate ? "!" : "")" }
      + review.due.sorted().map { "run \($0)" } + wait
  }

  @Test mutating func `a question is answered when the flush has ended and nothing runs`() {
    questions.ask(1, about: [], until: nil)
    #expect(review() == [])
    questions.flushed(1)
    #expect(review(isBusy: true) == [])
    #expect(review() == ["1"])
    #expect(questions.isEmpty)
  }

  @Test mutating func `the end of one flush answers no other question`() {
    questions.ask(1, about: [], until: nil)
    questions.ask(2, about: ["a"], until: nil)
    questions.flushed(1)
    #expect(review() == ["1"])
    questions.flushed(2)
    #expect(review() == ["2"])
  }

  @Test mutating func `what may still happen is awaited`() {
    questions.ask(1, about: [], until: nil)
    questions.flushed(1)
    #expect(review(settlesAt: 1000) == ["wait 1000"])
    #expect(review(at: 999, settlesAt: 1000) == ["wait 1000"])
    #expect(review(at: 1000, settlesAt: 1000) == ["1"])
  }

  /// A run that is delayed again afterwards has changed the file itself.
  @Test mutating func `what is delayed runs once before the answer`() {
    questions.ask(1, about: [], until: later(500))
    #expect(review(delayed: ["a"]) == ["wait 500"])
    questions.flushed(1)
    #expect(review(settlesAt: 100, delayed: ["a"]) == ["wait 100"])
    #expect(review(at: 100, delayed: ["b", "a"]) == ["run a", "run b", "wait 500"])
    #expect(review(at: 110, delayed: ["a"]) == ["wait 500"], "the request is on its way")
    questions.requestsAreReceived()
    #expect(review(at: 200, isBusy: true) == ["wait 500"])
    #expect(review(at: 300, delayed: ["a"]) == ["1"])
    questions.ask(2, about: [], until: nil)
    questions.flushed(2)
    #expect(review(isBlocked: true, delayed: ["a"]) == ["2"])
  }

  @Test mutating func `requests of one question are received before those of another one`() {
    for number in 1...2 { questions.ask(number, about: ["\(number)"], until: nil) }
    questions.flushed(1)
    #expect(review(delayed: ["a"]) == ["run a"])
    questions.flushed(2)
    #expect(review(delayed: ["a"]) == [])
    questions.requestsAreReceived()
    #expect(review(isBusy: true) == [])
    #expect(review(delayed: ["b"]) == ["1", "run b"])
    #expect(review(delayed: ["b"]) == [])
    questions.requestsAreReceived()
    #expect(review() == ["2"])
  }

  @Test mutating func `an answer without what is behind is late`() {
    questions.ask(1, about: [], until: later(50))
    questions.flushed(1)
    #expect(review(at: 50, delayed: ["a"]) == ["1!"])
  }

  @Test mutating func `a session that does not come to rest by itself is reported at once`() {
    questions.ask(1, about: [], until: nil)
    #expect(review(isBusy: true, isBlocked: true) == ["1"])
  }

  @Test mutating func `the end of the time is an answer, also without a flush`() {
    questions.ask(1, about: [], until: later(50))
    questions.ask(2, about: [], until: nil)
    questions.flushed(2)
    #expect(review(isBusy: true) == ["wait 50"])
    #expect(review(at: 50, isBusy: true) == ["1!"])
    #expect(review(at: 60) == ["2"])
  }

  @Test mutating func `an answer at the end of the time is not late`() {
    questions.ask(1, about: [], until: later(50))
    questions.flushed(1)
    #expect(review(at: 50) == ["1"])
  }

  @Test mutating func `a client that has gone gets no answer`() {
    questions.ask(1, about: [], until: nil)
    questions.drop(1)
    questions.flushed(1)
    #expect(review() == [])
    #expect(questions.isEmpty)
  }

  @Test mutating func `each question has the condition of its tasks`() {
    questions.ask(1, about: ["a"], until: nil)
    questions.ask(2, about: ["b"], until: nil)
    questions.flushed(1)
    questions.flushed(2)
    var busy = SessionCondition()
    busy.isBusy = true
    let answers = questions.review(at: start, [["a"]: busy, ["b"]: SessionCondition()]).answers
    #expect(answers.map(\.number) == [2])
  }
}
