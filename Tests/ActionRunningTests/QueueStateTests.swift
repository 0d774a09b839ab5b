import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

struct QueueStateTests {
  private var state = QueueState(ActionStateMachine.Rules())

  /// A run of the command that began and ended then, in milliseconds.
  private mutating func run(from began: Int, to ended: Int) {
    _ = state.begin(.command, Trigger(.change), at: .milliseconds(began))
    _ = state.end(.command, at: .milliseconds(ended))
  }

  private func change(noticedAt time: Int) -> Trigger {
    var trigger = Trigger.change("f")
    trigger.noticed = .milliseconds(time) ... .milliseconds(time)
    return trigger
  }

  private mutating func isDuringRun(_ trigger: Trigger) -> Bool {
    state.sift(trigger, isOfLatestWork: false, at: .milliseconds(10_000)).0?.cameDuringRun ?? false
  }

  @Test mutating func `what is noticed while the run goes on came during it`() {
    run(from: 100, to: 200)
    #expect(!isDuringRun(change(noticedAt: 99)))
    #expect(isDuringRun(change(noticedAt: 100)))
    #expect(isDuringRun(change(noticedAt: 200)))
    #expect(!isDuringRun(change(noticedAt: 201)))
  }

  @Test mutating func `of what is noticed after it, the files' times decide`() {
    run(from: 100, to: 200)
    #expect(state.stampsOfLatestWork(near: change(noticedAt: 200)) == nil)
    #expect(state.stampsOfLatestWork(near: change(noticedAt: 201)) != nil)
    #expect(state.stampsOfLatestWork(near: change(noticedAt: 5000)) != nil)
  }

  @Test mutating func `what is noticed at the end of a run may be told of in the next`() {
    run(from: 100, to: 200)
    _ = state.begin(.command, Trigger(.change), at: .milliseconds(201))
    #expect(isDuringRun(change(noticedAt: 195)))
    var both = change(noticedAt: 195)
    both.noticed = .milliseconds(195) ... .milliseconds(203)
    #expect(isDuringRun(both))
    both.noticed = .milliseconds(200) ... .milliseconds(203)
    #expect(isDuringRun(both), "nor is there time for others in between")
    _ = state.end(.command, at: .milliseconds(300))
    #expect(isDuringRun(both))
    _ = state.begin(.command, Trigger(.change), at: .milliseconds(301))
    #expect(!isDuringRun(both), "but not for ever")
  }

  @Test mutating func `what is noticed between two runs was changed while nothing ran`() {
    run(from: 100, to: 200)
    _ = state.begin(.command, Trigger(.change), at: .milliseconds(400))
    #expect(!isDuringRun(change(noticedAt: 195)))
    #expect(!isDuringRun(change(noticedAt: 300)))
    #expect(isDuringRun(change(noticedAt: 401)))
  }

  @Test mutating func `what is noticed when the observer has caught up came later`() {
    run(from: 100, to: 200)
    state.observerHasCaughtUp(.milliseconds(200) ... .milliseconds(202))
    #expect(state.stampsOfLatestWork(near: change(noticedAt: 202)) != nil)
    #expect(state.stampsOfLatestWork(near: change(noticedAt: 203)) == nil)
  }

  @Test mutating func `what the observer had begun before the end does not count`() {
    run(from: 100, to: 200)
    state.observerHasCaughtUp(.milliseconds(199) ... .milliseconds(201))
    #expect(state.stampsOfLatestWork(near: change(noticedAt: 205)) != nil)
    state.observerHasCaughtUp(.milliseconds(200) ... .milliseconds(202))
    state.observerHasCaughtUp(.milliseconds(210) ... .milliseconds(212))
    #expect(state.stampsOfLatestWork(near: change(noticedAt: 205)) == nil)
  }

  @Test mutating func `what one run has come to says nothing of the next`() {
    run(from: 100, to: 200)
    state.observerHasCaughtUp(.milliseconds(200) ... .milliseconds(202))
    run(from: 300, to: 400)
    #expect(state.stampsOfLatestWork(near: change(noticedAt: 410)) != nil)
  }

  @Test mutating func `a hook belongs to the run before it`() {
    run(from: 100, to: 200)
    state.observerHasCaughtUp(.milliseconds(200) ... .milliseconds(202))
    _ = state.begin(.hook, Trigger(.change), at: .milliseconds(203))
    #expect(isDuringRun(change(noticedAt: 250)))
    _ = state.end(.hook, at: .milliseconds(300))
    #expect(isDuringRun(change(noticedAt: 250)))
    #expect(state.stampsOfLatestWork(near: change(noticedAt: 301)) != nil)
  }
}
