import Testing

@testable import WatchrunCommandLine

struct StatusTextTests {
  private let status = StatusText(entries: [
    .init(name: "build", state: .succeeded, duration: .milliseconds(1200)),
    .init(name: "test", state: .failed, duration: .seconds(2), errors: 2),
    .init(name: "server", state: .ready),
    .init(name: "lint", state: .running, duration: .seconds(3)),
    .init(name: "docs", state: .pending),
  ])

  @Test func `the tasks stand in a row with their states, and the key for help at its end`() {
    #expect(
      status.text(columns: 90, isColored: false)
        == "build ✓ 1.2 s · test ✗ 2 errors · server ● ready · lint … 3.0 s · docs"
        + "            h: keys")
  }

  @Test func `without room for all, what has failed and what runs come first`() {
    #expect(
      status.text(columns: 50, isColored: false)
        == "test ✗ 2 errors · lint … 3.0 s · build ✓ 1.2 s …")
  }

  @Test func `a pause is said first`() {
    var status = status
    status.block = "paused, 1 change"
    #expect(status.text(columns: 40, isColored: false) == "paused, 1 change · test ✗ 2 errors …")
  }

  @Test(arguments: 1...90) func `the text is shorter than the terminal is wide`(_ columns: Int) {
    let text = status.text(columns: columns, isColored: false)
    #expect(text.count < columns)
    let colored = status.text(columns: columns, isColored: true)
    #expect(colored.replacing(/\u{1B}\[\d*m/, with: "") == text)
  }

  @Test(arguments: 1...30) func `of a line that is being typed, the end is shown`(_ columns: Int) {
    let text = StatusText.prompt("task: build", columns: columns)
    #expect(text.count < columns)
    #expect(columns < 6 || text.hasSuffix("ld▏"))
    #expect(text.hasPrefix("watchrun: ") == (columns > 22))
    #expect(StatusText.prompt("task: \u{65E5}\u{672C}\u{8A9E}", columns: columns).columns < columns)
  }

  @Test func `the title says what has failed`() {
    var status = status
    #expect(status.title == "… watchrun")
    status.entries[3].state = .skipped
    #expect(status.title == "✗ 2 errors · watchrun")
    status.entries[1].errors = 0
    #expect(status.title == "✗ test · watchrun")
    status.entries[1].state = .succeeded
    #expect(status.title == "✓ watchrun" && !status.isRunning)
  }
}
