import Testing

@testable import ActionRunning

struct PendingActionsTests {
  private var actions = PendingActions<Int>()

  @Test mutating func `what comes while they are performed has its turn behind the rest`() {
    let isOurs = actions.add([1, 2])
    #expect(isOurs)
    #expect(actions.next() == 1)
    let isOursAsWell = actions.add([3])
    #expect(!isOursAsWell, "whoever is at it does that, too")
    #expect(actions.next() == 2)
    #expect(actions.next() == 3)
    #expect(actions.next() == nil)
  }

  @Test mutating func `afterwards the next are performed by who adds them`() {
    _ = actions.add([])
    #expect(actions.next() == nil)
    let isOurs = actions.add([1])
    #expect(isOurs)
    #expect(actions.next() == 1)
  }
}
