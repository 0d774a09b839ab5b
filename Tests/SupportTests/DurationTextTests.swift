import Support
import Testing

struct DurationTextTests {
  @Test(
    arguments: [
      (.zero, "0 ms"), (.microseconds(999), "0 ms"), (.milliseconds(12), "12 ms"),
      (.milliseconds(999), "999 ms"), (.seconds(1), "1.0 s"), (.milliseconds(1299), "1.2 s"),
      (.milliseconds(59_999), "59.9 s"), (.seconds(60), "1 min 0 s"), (.seconds(200), "3 min 20 s"),
      (.seconds(3600), "1 h 0 min"), (.seconds(7384), "2 h 3 min"),
    ] as [(Duration, String)])
  func `a duration is shown in at most two units`(duration: Duration, text: String) {
    #expect(duration.shortDescription == text)
  }
}
