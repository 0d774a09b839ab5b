import SessionControl
import Testing

@testable import WatchrunCommandLine

struct StatusTextTests {
  private let status = StatusText(
    tasks: [
      task("build", "succeeded", after: 1200), task("test", "failed", after: 2000),
      task("server", "ready"), task("lint", "running", after: 3900), task("docs", "pending"),
    ], errors: ["test": 2])

  private static func task(
    _ name: String, _ state: String, after milliseconds: Int? = nil
  ) -> SessionAnswer.Task {
    var task = SessionAnswer.Task(name)
    (task.state, task.startedAt, task.milliseconds) = (state, 1000, milliseconds)
    return task
  }

  @Test func `the tasks stand in a row with their states, and the key for help at its end`() {
    #expect(
      status.text(columns: 90, isColored: false)
        == "build ✓ 1.2 s · test ✗ 2 errors · server ● ready · lint … 3.0 s · docs"
        + "            h: keys")
    var status = status
    status.hasKeys = false
    #expect(!status.text(columns: 90, isColored: false).contains("keys"))
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
    status.tasks[3].state = "skipped"
    #expect(status.title == "✗ 2 errors · watchrun")
    status.errors = [:]
    #expect(status.title == "✗ test · watchrun")
    status.tasks[1].state = "succeeded"
    #expect(status.title == "watchrun" && !status.isRunning)
    status.tasks[3].state = "succeeded"
    #expect(status.title == "✓ watchrun")
    for index in status.tasks.indices { status.tasks[index].state = "pending" }
    #expect(status.title == "watchrun")
  }
}
