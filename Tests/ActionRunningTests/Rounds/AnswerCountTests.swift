import Support
import TestSupport
import Testing

@testable import ActionRunning

struct AnswerCountTests {
  private var count = AnswerCount()

  @Test(arguments: [0.2, 0.5, 2])
  mutating func `what answers to each run at the same time becomes rare in the end`(time: Double) {
    var random = SeededGenerator(seed: 1)
    let delays = (0..<160).map { round in
      count.add(.seconds(time + .random(in: 0...0.05, using: &random)), round: round)
      // The same answer goes on, and a delay has begun.
      count.add(.milliseconds(20), round: round)
      return count.delay
    }
    #expect(delays[...120].allSatisfy { $0 == .zero })
    #expect(delays[121] == .seconds(1) && delays[130] == .seconds(9))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  mutating func `a person who saves at rest waits for nothing, at whatever pace`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for round in 0..<1000 {
      let time = Duration.seconds(.random(in: 0...0.6, using: &random))
      count.add(time, round: round)
      // Another file.
      count.add(time, round: round)
      #expect(count.delay == .zero)
    }
  }
}
