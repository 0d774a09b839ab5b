import Testing

@testable import WatchrunCommandLine

@Suite struct RoundRuleTests {
  @Test(arguments: [(80, 60), (60, 60), (24, 24), (5, 12)])
  func `it has the time of day, and wraps in no terminal that holds that`(
    _ columns: Int, _ width: Int
  ) {
    let text = RoundRule(hour: 9, minute: 5, second: 30).text(columns: columns)
    #expect(text.hasPrefix("── 09:05:30 "))
    #expect(text.count == width)
    #expect(text.dropFirst(12).allSatisfy { $0 == "─" })
  }
}
