import SystemCalls
import Testing

struct UTCTextTests {
  private static let format = "%d %b %Y %H:%M:%S"

  @Test func `a time is formatted in UTC, and parsed again`() {
    let text = UTCText.string(secondsSince1970: 784_111_777, format: Self.format)
    #expect(text == "06 Nov 1994 08:49:37")
    #expect(UTCText.seconds(in: Array(text.utf8), format: Self.format) == 784_111_777)
  }

  @Test(arguments: [
    "6 Nov 1994 08:49:37", "06 Nov 1994 08:49:37 ", "31 Nov 1994 08:49:37", "", "06 Nov 1994\0",
  ])
  func `another spelling, or no day of the month, is refused`(text: String) {
    #expect(UTCText.seconds(in: Array(text.utf8), format: Self.format) == nil)
  }
}
