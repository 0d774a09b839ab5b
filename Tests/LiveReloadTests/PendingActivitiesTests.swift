import Testing

@testable import LiveReload

struct PendingActivitiesTests {
  private static func text(_ activities: [Activity]) -> [String] {
    activities.map { activity in
      switch activity {
      case .output(let task, let line): "\(task) \(String(decoding: line, as: UTF8.self))"
      case .started(let task): "start \(task)"
      default: "other"
      }
    }
  }

  private static func output(_ text: String, of task: String = "a") -> Activity {
    .output(task: task, line: Array(text.utf8))
  }

  @Test func `output of a task that prints without end is bounded: its first and last lines`() {
    var pending = PendingActivities()
    for number in 0..<100_000 {
      for task in ["a", "b"] { _ = pending.add(Self.output("\(number)", of: task)) }
    }
    let lines = Self.text(pending.take())
    #expect(lines.count < 2 * 1_100)
    for task in ["a", "b"] {
      let own = lines.filter { $0.hasPrefix(task) }
      #expect(own.prefix(40) == (0..<40).map { "\(task) \($0)" }[...])
      #expect(own.suffix(400) == (99_600..<100_000).map { "\(task) \($0)" }[...])
    }
  }

  @Test func `output stays between the starts of its runs`() {
    var pending = PendingActivities()
    for activity: Activity in [
      Self.output("1"), .started(task: "b"), Self.output("2"), Self.output("3"),
      .started(task: "a"), Self.output("4"),
    ] { _ = pending.add(activity) }
    #expect(Self.text(pending.take()) == ["a 1", "start b", "a 2", "a 3", "start a", "a 4"])
    #expect(pending.take().isEmpty)
  }

  @Test func `output waits for more, and everything else for nothing`() {
    var pending = PendingActivities()
    #expect(pending.add(Self.output("1")) == .later)
    #expect(pending.add(Self.output("2")) == nil)
    #expect(pending.add(.started(task: "a")) == .now)
    #expect(pending.add(.started(task: "b")) == nil)
    #expect(pending.add(Self.output("3")) == nil)
    _ = pending.take()
    #expect(pending.add(.started(task: "a")) == .now)
  }

  @Test func `a line is not longer than pages need`() {
    var pending = PendingActivities()
    _ = pending.add(.output(task: "a", line: [UInt8](repeating: 120, count: 10_000_000)))
    #expect(Self.text(pending.take())[0].utf8.count < 20_000)
  }
}
