import Testing

@testable import LiveReload

struct ServerRestartsTests {
  private static let server = ServerAddress(port: 3000)

  /// Feeds the answers to a request that was made again, the document first; `nil` for none.
  ///
  /// - Returns: The number of answers after which the page reloads, and the pauses.
  private func judge(_ texts: String?...) -> (reload: Int?, pauses: [Int]) {
    var restarts = ServerRestarts()
    restarts.awaitDocuments(of: 2)
    var pauses: [Int] = []
    for (number, text) in texts.enumerated() {
      let body = text.map { fingerprint($0) }
      let action =
        number == 0
        ? restarts.delivered(body ?? BodyFingerprint(), from: Self.server)
        : restarts.answered(body, from: Self.server)
      switch action {
      case .ask(_, let milliseconds): pauses.append(milliseconds)
      case .reload: return (number, pauses)
      case .reloadLater, nil: return (nil, pauses)
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
    var restarts = ServerRestarts()
    #expect(!restarts.awaitsDocument(of: 1, from: Self.server))
    restarts.awaitDocuments(of: 2)
    #expect(!restarts.awaitsDocument(of: 1, from: Self.server))
    #expect(restarts.awaitsDocument(of: 2, from: Self.server))
    _ = restarts.delivered(fingerprint("one"), from: Self.server)
    #expect(!restarts.awaitsDocument(of: 2, from: Self.server))
    let other = ServerAddress(port: 4000)
    #expect(restarts.awaitsDocument(of: 3, from: other))
    #expect(restarts.delivered(fingerprint("one"), from: other) != nil)
    restarts.awaitDocuments(of: nil)
    #expect(!restarts.awaitsDocument(of: 3, from: ServerAddress(port: 5000)))
  }

  @Test func `another process reloads the page twice after a save, and never before one`() {
    var restarts = ServerRestarts()
    #expect(restarts.processChanged(at: 0) == nil)
    restarts.saved(["/p/a.py"], at: 10)
    #expect(restarts.processChanged(at: 60_000) == .reload)
    #expect(restarts.processChanged(at: 60_100) == .reloadLater(milliseconds: 500))
    #expect(restarts.processChanged(at: 60_200) == nil)
    restarts.saved(["/p/a.py"], at: 70_000)
    #expect(restarts.processChanged(at: 70_100) == .reload)
  }

  @Test func `a reload waits for as long as such a save has led to another process`() {
    var restarts = ServerRestarts()
    restarts.saved(["/p/a.py"], at: 0)
    #expect(restarts.wait(for: ["/p/a.py"]) == 0)
    _ = restarts.processChanged(at: 400)
    #expect(restarts.wait(for: ["/p/a.html", "/p/b.PY"]) == 1_100)
    #expect(restarts.wait(for: ["/p/a.html"]) == 0)
    restarts.waitedInVain(for: ["/p/b.py"])
    #expect(restarts.wait(for: ["/p/a.py"]) == 0)
    restarts.saved(["/p/a.go"], at: 1_000)
    _ = restarts.processChanged(at: 3_500)
    #expect(restarts.wait(for: ["/p/a.go"]) == 3_000, "the most")
    restarts.saved(["/p/a.c"], at: 4_000)
    _ = restarts.processChanged(at: 7_001)
    #expect(restarts.wait(for: ["/p/a.c"]) == 0, "too long to wait for")
  }

  @Test func `a fingerprint does not depend on the parts of a body`() {
    #expect(fingerprint("a1", "b c") == fingerprint("a1b", " c"))
    #expect(fingerprint("a b").all != fingerprint("a c").all)
    #expect(fingerprint("a x1y b").withoutNumbers == fingerprint("a 2 b").withoutNumbers)
    #expect(fingerprint("a x1y b").withoutNumbers != fingerprint("a x1y c").withoutNumbers)
    #expect(fingerprint("a 1").withoutNumbers == fingerprint("a 2x").withoutNumbers)
  }
}
