import Support
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

struct AnswerCountTests {
  private var count = AnswerCount()
  private var now = Instant(offset: .zero)
  /// When the latest run ended.
  private var end = Instant(offset: .zero)
  private var round = 0

  /// A run that lasts 0.1 s, after the delay of a change now.
  private mutating func run(_ keys: Set<Path> = ["/p/a"]) -> Duration {
    let delay = count.delay(
      for: keys, after: end.duration(to: now), at: now, round: round, number: round)
    round += 1
    end = now.advanced(by: delay + .milliseconds(100))
    return delay
  }

  @Test(arguments: [0.1, 0.5, 2, 3.3], 1...5 as ClosedRange<UInt64>)
  mutating func `what answers to each run at the same time becomes rare in the end`(
    time: Double, seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    var delays: [Duration] = []
    for _ in 0..<160 {
      now = end.advanced(by: .seconds(time + .random(in: 0...0.03, using: &random)))
      delays.append(run())
    }
    #expect(
      delays[..<120].allSatisfy { $0 == .zero } && delays.last ?? .zero >= Suspicion.Rules.noticed)
    // A person who saves the same waits no longer than for what others are proved to make.
    #expect(delays.max() ?? .zero <= Suspicion.Rules.noticed * 2)
    // A person saves something else meanwhile.
    let keys: Set<Path> = ["/p/b"]
    round -= 1
    #expect(run(keys) == .zero)
  }

  @Test mutating func `an answer in several batches is one`() {
    for _ in 0..<160 {
      now = end.advanced(by: .milliseconds(500))
      let delay = run()
      round -= 1
      now = now.advanced(by: .milliseconds(20))
      let again = run()
      #expect(again == .zero || delay > .zero)
      end = now.advanced(by: again + .milliseconds(80))
    }
    now = end.advanced(by: .milliseconds(500))
    #expect(run() >= Suspicion.Rules.noticed)
  }

  @Test(arguments: [0.3, 0.5, 1, 2, 3.3, 10, 30])
  mutating func `a person who saves at an even pace at rest waits for a test at most`(pace: Double)
  {
    var longest = Duration.zero
    for _ in 0..<400 {
      now = max(now.advanced(by: .seconds(pace)), end)
      longest = max(longest, run())
    }
    #expect(longest <= Suspicion.Rules.test.most)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  mutating func `a person who saves at rest, at whatever pace, waits for nothing`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<1000 {
      now = end.advanced(by: .seconds(.random(in: 0...3, using: &random)))
      #expect(run() == .zero)
    }
  }
}
