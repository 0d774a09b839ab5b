import Testing

@testable import WatchrunCommandLine
@testable import WatchrunSettings

struct NotificationRuleTests {
  /// The runs after which a notification is due, of those that succeed (`+`) or fail (`-`).
  private func due(_ runs: String, _ mode: NotifyMode) -> String {
    var rule = NotificationRule()
    return String(runs.map { rule.isDue(afterSuccess: $0 == "+", mode) ? $0 : "." })
  }

  @Test(
    arguments: [
      (NotifyMode.failure, "++--+++-+", "..--+..-+"), (.change, "++--+++-+", "..-.+..-+"),
      (.always, "++--+", "++--+"), (.never, "+-+", "..."), (.failure, "-+", "-+"),
      (.change, "-+", "-+"),
    ])
  func `each mode has its runs`(mode: NotifyMode, runs: String, expected: String) {
    #expect(due(runs, mode) == expected)
  }

  @Test func `a success while another task is red mends nothing`() {
    for (mode, isDue) in [(NotifyMode.failure, false), (.change, false), (.always, true)] {
      var rule = NotificationRule()
      let dues = [
        rule.isDue(afterSuccess: false, mode),
        rule.isDue(afterSuccess: true, whileOthersAreRed: true, mode),
        rule.isDue(afterSuccess: true, mode),
      ]
      #expect(dues == [true, isDue, true])
    }
  }
}
