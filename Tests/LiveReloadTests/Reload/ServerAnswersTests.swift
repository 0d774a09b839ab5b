import Testing

@testable import LiveReload

struct ServerAnswersTests {
  /// Feeds the answers to a request that was made again, the document first; `nil` for none.
  ///
  /// - Returns: The number of answers after which the page reloads, and the pauses.
  private func judge(_ texts: String?...) -> (reload: Int?, pauses: [Int]) {
    var answers = ServerAnswers()
    answers.reloads(revision: 2)
    var pauses: [Int] = []
    for (number, text) in texts.enumerated() {
      let body = text.map { fingerprint($0) }
      let action =
        number == 0 ? answers.delivered(body ?? BodyFingerprint()) : answers.answered(body)
      switch action {
      case .ask(let milliseconds): pauses.append(milliseconds)
      case .reload: return (number, pauses)
      case nil: return (nil, pauses)
      }
    }
    Issue.record("it goes on asking")
    return (nil, pauses)
  }

  private func fingerprint(_ parts: String...) -> BodyFingerprint {
    var body = BodyFingerprint()
    for part in parts { body.add(Array(part.utf8)) }
    return body
  }

  @Test func `a page that stays the same is asked for four times`() {
    let (reload, pauses) = judge("one", "one", "one", "one", "one")
    #expect(reload == nil)
    #expect(pauses == [500, 500, 1_000, 2_000])
  }

  @Test func `another answer reloads the page when it has come twice`() {
    #expect(judge("one", "two", "two").reload == 2)
    let late = judge("one", "one", "one", "one", "two", "two")
    #expect(late.reload == 5)
    #expect(late.pauses == [500, 500, 1_000, 2_000, 500])
  }

  @Test func `the first answer after the server was gone reloads the page if it is another one`() {
    #expect(judge("one", nil, nil, "two").reload == 3)
    #expect(judge("one", nil, "one", "one", "one").reload == nil)
    #expect(judge("one", nil, nil, nil, nil, nil).reload == nil)
  }

  @Test func `an answer that does not stay does not reload the page`() {
    #expect(judge("one", "two", "one", "two", "one").reload == nil)
  }

  @Test func `tokens and times do not reload a page, and its other words do`() {
    let text = { (code: String, token: Int) in "<h1>\(code)</h1><input value=\"aB\(token)xZ\">" }
    let (reload, pauses) = judge(
      text("a", 1), text("a", 2), text("a", 3), text("a", 4), text("a", 5), text("a", 6))
    #expect(reload == nil)
    #expect(pauses == [500, 500, 1_000, 2_000])
    #expect(judge(text("a", 1), text("a", 2), text("b", 3), text("b", 4)).reload == 3)
    #expect(judge(text("a", 1), text("b", 2), text("b", 3)).reload == 2)
  }

  @Test func `a page that differs by itself does not reload`() {
    #expect(judge("one", "two", "three").reload == nil)
  }

  @Test func `a page that differs each time since it was the same reloads once`() {
    #expect(judge("one", "one", "two", "three").reload == 3)
  }

  @Test func `only a document of the awaited revision counts`() {
    var answers = ServerAnswers()
    #expect(!answers.awaitsDocument(of: 1))
    answers.reloads(revision: 2)
    #expect(!answers.awaitsDocument(of: 1))
    #expect(answers.awaitsDocument(of: 2))
    _ = answers.delivered(fingerprint("one"))
    #expect(!answers.awaitsDocument(of: 2))
  }

  @Test func `a fingerprint does not depend on the parts of a body`() {
    #expect(fingerprint("a1", "b c") == fingerprint("a1b", " c"))
    #expect(fingerprint("a b").all != fingerprint("a c").all)
    #expect(fingerprint("a x1y b").withoutNumbers == fingerprint("a 2 b").withoutNumbers)
    #expect(fingerprint("a x1y b").withoutNumbers != fingerprint("a x1y c").withoutNumbers)
    #expect(fingerprint("a 1").withoutNumbers == fingerprint("a 2x").withoutNumbers)
  }
}
