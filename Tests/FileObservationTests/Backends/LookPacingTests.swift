import Testing

@testable import FileObservation

struct LookPacingTests {
  private let bounds: ClosedRange<Duration> = .milliseconds(200) ... .seconds(2)

  /// The delays before so many looks, each of which finds something or not.
  private func delays(_ looks: [Bool], took duration: Duration = .zero) -> [Duration?] {
    var pacing = LookPacing(bounds: bounds)
    return looks.map { foundSomething in
      defer { pacing.ended(foundSomething: foundSomething, took: duration) }
      return pacing.plan()
    }
  }

  @Test func `it is looked less and less often while nothing is found, up to a bound`() throws {
    let delays = delays(Array(repeating: false, count: 20)).compactMap { $0 }
    #expect(delays.first == bounds.lowerBound)
    #expect(delays.last == bounds.upperBound)
    #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func `it is looked soon again after something was found`() {
    #expect(delays([false, false, false, true, false]).last == bounds.lowerBound)
  }

  @Test func `looking takes no more than a fifth of the time`() {
    #expect(delays([true, true], took: .seconds(1)).last == .seconds(5))
  }

  @Test func `one look is planned at a time, with more leeway the later it is`() {
    var pacing = LookPacing(bounds: bounds)
    let leeway = pacing.leeway
    #expect(pacing.plan() != nil)
    #expect(pacing.plan() == nil)
    pacing.ended(foundSomething: false, took: .zero)
    #expect(pacing.plan() != nil)
    #expect(pacing.leeway > leeway)
  }
}
