import Testing

@testable import Support

struct DeadlinesTests {
  private var deadlines = Deadlines()

  private mutating func add(at milliseconds: Int) -> Int {
    deadlines.add(.init(time: Instant(offset: .milliseconds(milliseconds)), work: {}))
  }

  private mutating func takeDue(at milliseconds: Int) -> [Duration] {
    var times: [Duration] = []
    while let entry = deadlines.takeDue(at: Instant(offset: .milliseconds(milliseconds))) {
      times.append(entry.time.offset)
    }
    return times
  }

  @Test mutating func `work is due in order of time`() {
    for time in [5, 1, 9, 3] { _ = add(at: time) }
    #expect(takeDue(at: 5) == [1, 3, 5].map(Duration.milliseconds))
    #expect(takeDue(at: 8) == [])
    #expect(takeDue(at: 9) == [.milliseconds(9)])
    #expect(deadlines.next == nil)
  }

  @Test mutating func `removed work is not due, and leaves no deadline`() {
    let first = add(at: 1)
    let second = add(at: 2)
    #expect(deadlines.remove(first) != nil)
    #expect(deadlines.remove(first) == nil)
    #expect(deadlines.next == Instant(offset: .milliseconds(2)))
    #expect(deadlines.remove(second) != nil)
    #expect(deadlines.next == nil)
    #expect(takeDue(at: 9) == [])
  }
}
