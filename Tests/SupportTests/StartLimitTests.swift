import Support
import TestSupport
import Testing

struct StartLimitTests {
  private var limit = StartLimit(share: 1)
  private var now = Instant(offset: .zero)

  /// The starts, after changes that each come so long after the start before, within this time.
  private mutating func starts(
    _ origin: StartLimit.Origin, within time: Duration, _ offset: () -> Duration
  ) -> [Duration] {
    var starts: [Duration] = []
    while now.offset < time {
      now = now.advanced(by: offset())
      now = now.advanced(by: limit.delay(of: origin, at: now))
      limit.started(at: now)
      starts.append(now.offset)
    }
    return starts
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  mutating func `whoever changes something, at whatever times, starts 65 in a minute at most`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let starts = starts(.unknown, within: .seconds(600)) {
      .seconds(.random(in: 0...0.5, using: &random))
    }
    #expect(starts.count { $0 < .seconds(60) } <= 65)
    #expect(starts.count <= 120)
  }

  @Test(arguments: [(StartLimit.Origin.others, 75, 220), (.atRest, 140, 280)])
  mutating func `what others are proved to change waits 4 s at most`(
    origin: StartLimit.Origin, inMinute: Int, inTen: Int
  ) {
    let starts = starts(origin, within: .seconds(600)) { .milliseconds(100) }
    #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 <= .milliseconds(4100) })
    #expect(starts.count { $0 < .seconds(60) } <= inMinute && starts.count <= inTen)
  }

  @Test(arguments: [0.2, 0.5, 1, 2, 4, 5, 10, 30])
  mutating func `a person waits for nothing in 30 saves, and 4 s in 100 at most`(pace: Double) {
    for number in 0..<100 {
      now = now.advanced(by: .seconds(pace))
      let delay = limit.delay(of: .unknown, at: now)
      #expect(delay <= (number < 30 ? .zero : .seconds(4)))
      if delay == .zero { limit.started(at: now) }
    }
  }

  @Test mutating func `two keys that become one have led to as many starts as either has by now`() {
    var (other, start) = (StartLimit(share: 1), now)
    for _ in 0..<60 { other.started(at: start) }
    now = now.advanced(by: .seconds(3600))
    for _ in 0..<50 { limit.started(at: now) }
    for (one, two) in [(limit, other), (other, limit)] {
      var one = one
      one.formMaximum(two)
      #expect(one.delay(of: .unknown, at: now) > .zero)
    }
    start = now
  }

  @Test mutating func `after a while nothing waits`() {
    _ = starts(.unknown, within: .seconds(600)) { .milliseconds(100) }
    now = now.advanced(by: .seconds(30))
    #expect(limit.delay(of: .unknown, at: now) == .zero)
  }
}
