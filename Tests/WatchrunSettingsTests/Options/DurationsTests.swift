import Testing

@testable import WatchrunSettings

struct DurationsTests {
  @Test(
    arguments: [
      ("0", .zero), ("0ms", .zero), ("0.0", .zero), ("50ms", .milliseconds(50)),
      ("500us", .microseconds(500)), ("1s", .seconds(1)), ("1.5s", .milliseconds(1500)),
      (".5s", .milliseconds(500)), ("2m", .seconds(120)), ("2min", .seconds(120)),
      ("1h", .seconds(3600)), ("0.05s", .milliseconds(50)),
    ] as [(String, Duration)])
  func `a duration is parsed from a number and a unit`(text: String, duration: Duration) throws {
    let read = try #require(Duration(parsing: text))
    // Fractions are parsed as binary numbers.
    #expect(abs((read - duration) / .nanoseconds(1)) < 1)
  }

  @Test(arguments: [
    "", "50", "1", "ms", "-1s", "+1s", "1 s", "1S", "1.2.3s", ".", ".s", "1e3s", "0x10s", "inf",
    "nan", "\u{663}ms", "1s ", "1d",
  ])
  func `anything else is not a duration`(text: String) {
    #expect(Duration(parsing: text) == nil)
  }

  @Test func `a duration is at most a century`() throws {
    let long = try #require(Duration(parsing: String(repeating: "9", count: 400) + "h"))
    #expect(long == Duration(parsing: "99999999999999h"))
    #expect(long > .seconds(100 * 365 * 24 * 3600))
  }
}
