import Testing

@testable import LiveReload

/// What a script may send, and what becomes of it.
struct ConsoleReportTests {
  private func read(_ json: String) -> ConsoleReport? { ConsoleReport(Array(json.utf8)) }

  private func lines(of text: String) -> [String]? {
    read(#"{"entries":[{"level":"error","text":"\#(text)"}]}"#)?.messages.first?.lines
  }

  @Test func `a report has messages, and a count of others`() {
    let report = read(
      #"{"entries":[{"level":"error","text":"a\nb"},{"level":"warning","text":"c"}],"omitted":7}"#)
    #expect(
      report?.messages == [
        ConsoleMessage(level: .error, lines: ["a", "b"]),
        ConsoleMessage(level: .warning, lines: ["c"]),
      ])
    #expect(report?.omitted == 7)
  }

  @Test(arguments: [
    "", "[]", "null", "{}", #"{"entries":{}}"#, #"{"entries":[1]}"#, "{", "\u{0}",
    #"{"entries":[{"level":"fatal","text":"a"}]}"#, #"{"entries":[{"level":"error"}]}"#,
    #"{"entries":[{"level":"error","text":1}]}"#,
  ])
  func `anything else is refused`(json: String) {
    #expect(read(json) == nil)
  }

  @Test(arguments: ["-1", "1e300", "NaN", "Infinity", #""9""#, "null"])
  func `a count that is none is not one`(count: String) {
    #expect(read("{entries: [], omitted: \(count)}")?.omitted == 0)
  }

  @Test(
    arguments: [
      (#"\u001b[31mred\u001b[0m"#, "red"), (#"\u001b]0;title\u0007text"#, "text"),
      (#"\u001b]52;c;aGk=\u001b\\text"#, "text"), (#"\u009b2Jtext\u0000\u007f"#, "text"),
      (#"a\rb"#, "b"), (#"admin\u202etxt"#, "admintxt"),
      (#"a\u200eb\u200fc\u061cd\u2028e\u2029f\ufeffg"#, "abcdefg"), (#"a\tb"#, "a\tb"),
      ("", ""),
    ])
  func `lines have no control characters`(text: String, line: String) {
    #expect(lines(of: text) == [line])
  }

  @Test func `messages, lines and texts are bounded`() throws {
    let many = Array(repeating: #"{"level":"error","text":"a"}"#, count: 50)
    let report = try #require(read(#"{"entries":[\#(many.joined(separator: ","))],"omitted":1}"#))
    #expect(report.messages.count == 20 && report.omitted == 31)
    let tall = try #require(lines(of: String(repeating: #"a\n"#, count: 100)))
    #expect(tall.count == 21 && tall.last == "…")
    let long = try #require(lines(of: String(repeating: "a", count: 50_000)))
    #expect(long.count == 1 && long[0].count <= 2_001)
  }
}

/// How much of it is shown.
struct ConsoleLimitTests {
  @Test func `lines up to a number are reported in each period`() {
    var limit = ConsoleLimit()
    for start in [0, 5_000, 60_000] {
      for number in 0..<10 { #expect(limit.admits(lines: 10, at: start + number) == true) }
    }
  }

  @Test func `further messages are counted until the period ends`() {
    var limit = ConsoleLimit()
    for _ in 0..<10 { _ = limit.admits(lines: 10, at: 1_000) }
    #expect(limit.admits(lines: 1, at: 2_000) == false)
    #expect(limit.end == 6_000)
    #expect(limit.admits(lines: 1, at: 3_000) == false)
    // The timer may be late.
    #expect(limit.admits(lines: 1, at: 6_500) == false)
    #expect(limit.omitted == 3)
    limit.begin(at: 6_500)
    // The script has left these out; the next message fits.
    limit.omit(2, at: 6_500)
    #expect(limit.admits(lines: 1, at: 7_500) == true)
    #expect(limit.end == 11_500 && limit.omitted == 2)
  }
}
