import Testing

@testable import ActionRunning

struct BackOffTests {
  @Test(arguments: [
    (Duration.milliseconds(500), [500, 1000, 2000, 4000, 8000, 8000]),
    (.seconds(3), [3000, 6000, 8000]),
    (.seconds(20), [20_000, 20_000]),
  ])
  func `the first pause may be set`(first: Duration, pauses: [Int]) {
    var backOff = BackOff(first: first, limit: nil)
    #expect(pauses.map { _ in backOff.pause() } == pauses.map { .milliseconds($0) })
  }

  private var backOff = BackOff()

  private mutating func pauses(_ count: Int, afterRunsOf duration: Duration) -> [Duration?] {
    (0..<count).map { _ in backOff.pause(afterRunOf: duration) }
  }

  @Test mutating func `the pause is half a second, and doubles up to eight seconds`() {
    let pauses = pauses(7, afterRunsOf: .seconds(1))
    #expect(pauses == [500, 1000, 2000, 4000, 8000, 8000, 8000].map { .milliseconds($0) })
  }

  @Test mutating func `a run of ten seconds resets the pause`() {
    _ = pauses(4, afterRunsOf: .zero)
    #expect(backOff.pause(afterRunOf: .milliseconds(9_999)) == .seconds(8))
    #expect(backOff.pause(afterRunOf: .seconds(10)) == .milliseconds(500))
    #expect(backOff.pause(afterRunOf: .zero) == .seconds(1))
  }

  @Test mutating func `after a number of restarts without success there is no pause`() {
    backOff = BackOff(limit: 2)
    #expect(pauses(4, afterRunsOf: .zero) == [.milliseconds(500), .seconds(1), nil, nil])
    backOff.reset()
    #expect(pauses(3, afterRunsOf: .zero) == [.milliseconds(500), .seconds(1), nil])
  }

  @Test mutating func `a long run, or one that became ready, is a success`() {
    backOff = BackOff(limit: 2)
    _ = pauses(2, afterRunsOf: .zero)
    #expect(backOff.pause(afterRunOf: .seconds(10)) == .milliseconds(500))
    #expect(backOff.pause(afterRunOf: .zero) == .seconds(1))
    backOff.becameReady()
    #expect(pauses(3, afterRunsOf: .zero) == [.seconds(2), .seconds(4), nil])
  }

  @Test mutating func `a start for another reason resets the pause`() {
    _ = pauses(4, afterRunsOf: .zero)
    backOff.reset()
    #expect(backOff.pause(afterRunOf: .zero) == .milliseconds(500))
  }
}
