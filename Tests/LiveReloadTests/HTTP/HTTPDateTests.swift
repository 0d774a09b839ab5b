import TestSupport
import Testing

@testable import LiveReload

/// Formatting and parsing of HTTP dates.
struct HTTPDateTests {
  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
  ])
  func `seconds are formatted as a date, and parsed again`(seconds: Int, text: String) {
    #expect(HTTPDate.string(secondsSince1970: seconds) == text)
    #expect(HTTPDate.seconds(in: text.utf8) == seconds)
  }

  @Test func `times outside of the range of dates are clamped`() {
    #expect(HTTPDate.string(secondsSince1970: .max) == "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(HTTPDate.string(secondsSince1970: .min) == "Thu, 01 Jan 1970 00:00:00 GMT")
  }

  @Test func `random seconds survive formatting and parsing`() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<2_000 {
      let seconds = Int.random(in: 0...253_402_300_799, using: &random)
      let text = HTTPDate.string(secondsSince1970: seconds)
      #expect(HTTPDate.seconds(in: text.utf8) == seconds)
    }
  }

  @Test(arguments: [
    ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
    ("Wed Nov 16 08:49:37 1994", 784_975_777), ("Thursday, 01-Jan-70 00:00:00 GMT", 0),
    ("Monday, 01-Jan-68 00:00:00 GMT", 3_092_601_600),
    ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
  ])
  func `the older formats are parsed`(text: String, seconds: Int) {
    #expect(HTTPDate.seconds(in: text.utf8) == seconds)
  }

  @Test(arguments: [
    "", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
    "Sun, 06 nov 1994 08:49:37 GMT",
    "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Foo, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
    "784111777", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov -994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT\0",
  ])
  func `anything else is not a date`(text: String) {
    #expect(HTTPDate.seconds(in: text.utf8) == nil)
  }
}
