import Testing

@testable import ActionRunning

struct BackOffTests {
  private var backOff = BackOff()

  private mutating func pauses(_ count: Int, afterLivesOf life: Duration) -> [Duration] {
    (0..<count).map { _ in backOff.pause(afterLifeOf: life) }
  }

  @Test mutating func `half a second, and twice as long each time up to eight`() {
    let pauses = pauses(7, afterLivesOf: .seconds(1))
    #expect(pauses == [500, 1000, 2000, 4000, 8000, 8000, 8000].map { .milliseconds($0) })
  }

  @Test mutating func `after a life of ten seconds, half a second again`() {
    _ = pauses(4, afterLivesOf: .zero)
    #expect(backOff.pause(afterLifeOf: .milliseconds(9_999)) == .seconds(8))
    #expect(backOff.pause(afterLifeOf: .seconds(10)) == .milliseconds(500))
    #expect(backOff.pause(afterLifeOf: .zero) == .seconds(1))
  }

  @Test mutating func `started for another reason, half a second again`() {
    _ = pauses(4, afterLivesOf: .zero)
    backOff.reset()
    #expect(backOff.pause(afterLifeOf: .zero) == .milliseconds(500))
  }
}
