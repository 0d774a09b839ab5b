import SystemCalls
import Testing

@testable import WatchrunCommandLine

@Suite struct LocalTimeTests {
  @Test(arguments: [(80, 60), (60, 60), (24, 24), (5, 12)])
  func `it has the time of day, and wraps in no terminal that holds that`(
    _ columns: Int, _ width: Int
  ) {
    var parts = tm()
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (9, 5, 30)
    let text = LocalTime(parts: parts).rule(columns: columns)
    #expect(text.hasPrefix("── 09:05:30 "))
    #expect(text.count == width)
    #expect(text.dropFirst(12).allSatisfy { $0 == "─" })
  }

  @Test func `a line of output has milliseconds, and a log the day`() {
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday, parts.tm_hour) = (126, 0, 31, 14)
    let time = LocalTime(parts: parts, milliseconds: 7)
    #expect(String(decoding: time.prefix, as: UTF8.self) == "14:00:00.007 ")
    #expect(time.date == "2026-01-31 14:00:00")
  }
}
