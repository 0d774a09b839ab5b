import TestSupport
import Testing

@testable import FileObservation

struct DebounceStateMachineTests {
  private var machine = DebounceStateMachine(quietPeriod: .adaptive, maximumWait: .seconds(1))

  @Test mutating func `the first change sets a timer for the shortest quiet period`() {
    let action = machine.changed(at: .milliseconds(5))
    #expect(action == .schedule(at: .milliseconds(15), generation: 1))
    #expect(machine.isWaiting(for: 1))
  }

  @Test func `a growing quiet period starts from its lower bound and ends at its upper one`() {
    var machine = DebounceStateMachine(
      quietPeriod: .growing(.milliseconds(3) ... .milliseconds(20)), maximumWait: .seconds(1))
    let first = machine.changed(at: .milliseconds(5))
    #expect(first == .schedule(at: .milliseconds(8), generation: 1))
    _ = machine.changed(at: .milliseconds(7))
    let second = machine.timerFired(generation: 1, at: .milliseconds(8))
    #expect(second == .schedule(at: .milliseconds(11), generation: 2))
    _ = machine.changed(at: .milliseconds(10), isBeingWritten: true)
    let third = machine.timerFired(generation: 2, at: .milliseconds(11))
    #expect(third == .schedule(at: .milliseconds(30), generation: 3))
  }

  @Test mutating func `a further change sets no timer, and an early timer is set again`() {
    _ = machine.changed(at: .milliseconds(0))
    let further = machine.changed(at: .milliseconds(8))
    #expect(further == .none)
    let early = machine.timerFired(generation: 1, at: .milliseconds(10))
    #expect(early == .schedule(at: .milliseconds(24), generation: 2))
    let fired = machine.timerFired(generation: 2, at: .milliseconds(24))
    #expect(fired == .fire)
  }

  @Test mutating func `a timer of an earlier generation does nothing`() {
    _ = machine.changed(at: .milliseconds(0))
    _ = machine.timerFired(generation: 1, at: .milliseconds(10))
    _ = machine.changed(at: .milliseconds(11))
    let stale = machine.timerFired(generation: 1, at: .milliseconds(500))
    #expect(stale == .none)
    #expect(!machine.isWaiting(for: 1))
  }

  @Test mutating func `an earlier timer replaces a later one`() {
    _ = machine.changed(at: .milliseconds(0), isBeingWritten: true)
    let closed = machine.changed(at: .milliseconds(4), isBeingWritten: false)
    #expect(closed == .schedule(at: .milliseconds(14), generation: 2))
    let farther = machine.timerFired(generation: 1, at: .milliseconds(100))
    #expect(farther == .none)
  }

  @Test mutating func `a timer has no effect after a reset`() {
    _ = machine.changed(at: .milliseconds(0))
    machine.reset()
    let action = machine.timerFired(generation: 1, at: .milliseconds(10))
    #expect(action == .none)
    #expect(!machine.isWaiting(for: 1))
  }

  @Test mutating func `a change after the end of a burst leaves the end to its timer`() {
    _ = machine.changed(at: .milliseconds(0))
    let late = machine.changed(at: .milliseconds(1200))
    #expect(late == .none)
    let timer = machine.timerFired(generation: 1, at: .milliseconds(1200))
    #expect(timer == .fire)
  }

  @Test mutating func `a clock that goes backwards does no harm`() {
    _ = machine.changed(at: .milliseconds(10))
    _ = machine.changed(at: .milliseconds(9))
    let action = machine.timerFired(generation: 1, at: .milliseconds(20))
    #expect(action == .fire)
  }

  @Test mutating func `a held burst is checked again soon`() {
    _ = machine.changed(at: .milliseconds(0))
    let held = machine.timerFired(generation: 1, at: .milliseconds(10), isHeld: true)
    #expect(held == .schedule(at: .milliseconds(35), generation: 2))
    let free = machine.timerFired(generation: 2, at: .milliseconds(35), isHeld: false)
    #expect(free == .fire)
  }

  @Test mutating func `a hold may exceed the maximum wait`() {
    _ = machine.changed(at: .milliseconds(0))
    _ = machine.timerFired(generation: 1, at: .milliseconds(990), isHeld: true)
    let further = machine.changed(at: .milliseconds(1010))
    #expect(further == .none)
    let held = machine.timerFired(generation: 2, at: .milliseconds(1015), isHeld: true)
    #expect(held == .schedule(at: .milliseconds(1040), generation: 3))
    let late = machine.changed(at: .milliseconds(1050))
    #expect(late == .none)
    let free = machine.timerFired(generation: 3, at: .milliseconds(1050), isHeld: false)
    #expect(free == .fire)
  }

  @Test mutating func `a burst is held for at most five seconds`() {
    _ = machine.changed(at: .milliseconds(0))
    let last = machine.timerFired(generation: 1, at: .milliseconds(4990), isHeld: true)
    #expect(last == .schedule(at: .milliseconds(5000), generation: 2))
    let over = machine.timerFired(generation: 2, at: .milliseconds(5000), isHeld: true)
    #expect(over == .fire)
  }

  // MARK: Flushes

  @Test mutating func `a flush delivers the changes so far, and the burst keeps its timer`() {
    _ = machine.changed(at: .milliseconds(0))
    let flush = machine.flush(at: .milliseconds(4))
    #expect(flush == .deliver)
    #expect(machine.isCollecting && machine.isWaiting(for: 1))
    let further = machine.flush(at: .milliseconds(5))
    #expect(further == .none)
    let end = machine.timerFired(generation: 1, at: .milliseconds(10))
    #expect(end == .fire)
  }

  @Test mutating func `a flush after the end of the burst ends it`() {
    _ = machine.changed(at: .milliseconds(0))
    let flush = machine.flush(at: .milliseconds(10))
    #expect(flush == .fire)
    #expect(!machine.isCollecting)
  }

  @Test mutating func `a flush of a held burst does not end it`() {
    _ = machine.changed(at: .milliseconds(0))
    let held = machine.flush(at: .milliseconds(10), isHeld: true)
    #expect(held == .deliver)
    let end = machine.timerFired(generation: 1, at: .milliseconds(10))
    #expect(end == .fire)
  }
}
