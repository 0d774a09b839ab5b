import Testing

@testable import ActionRunning

struct PendingActionsTests {
  private var actions = PendingActions<Int>()

  @Test mutating func `actions that are added while others are performed follow them`() {
    let isForeground = actions.add([1, 2])
    #expect(isForeground)
    #expect(actions.next() == 1)
    let isOursAsWell = actions.add([3])
    #expect(!isOursAsWell, "whoever is at it does that, too")
    #expect(actions.next() == 2)
    #expect(actions.next() == 3)
    #expect(actions.next() == nil)
  }

  @Test mutating func `later actions are performed by the caller that adds them`() {
    _ = actions.add([])
    #expect(actions.next() == nil)
    let isForeground = actions.add([1])
    #expect(isForeground)
    #expect(actions.next() == 1)
  }
}
