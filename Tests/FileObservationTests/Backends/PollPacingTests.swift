import Testing

@testable import FileObservation

struct PollPacingTests {
  private let bounds: ClosedRange<Duration> = .milliseconds(200) ... .seconds(2)

  /// The delays before polls, each of which finds changes or none.
  private func delays(_ polls: [Bool], took duration: Duration = .zero) -> [Duration] {
    var pacing = PollPacing(bounds: bounds)
    return polls.map { foundSomething in
      defer { pacing.ended(foundSomething: foundSomething, took: duration) }
      return pacing.interval
    }
  }

  @Test func `the interval grows while nothing changes, up to a bound`() throws {
    let delays = delays(Array(repeating: false, count: 20))
    #expect(delays.first == bounds.lowerBound)
    #expect(delays.last == bounds.upperBound)
    #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func `the next poll is soon after changes were found`() {
    #expect(delays([false, false, false, true, false]).last == bounds.lowerBound)
  }

  @Test func `polling takes at most a fifth of the time`() {
    #expect(delays([true, true], took: .seconds(1)).last == .seconds(5))
  }
}
