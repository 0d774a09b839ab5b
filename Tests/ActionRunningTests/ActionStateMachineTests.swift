import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

/// The command alone: without a build, hooks and the like.
struct ActionStateMachineTests {
  private typealias T = Transition

  private static let idle = [
    T(
      "a trigger starts a run", after: T.started, gives: [.launch(.command, T.start)],
      then: .running(pending: nil)),
    T("a run's end is the end of it", after: T.started + [.ended(1)], gives: [], then: .idle),
    T("what is left behind is left alone", after: T.leftBehind, gives: [], then: .idle),
    T(
      "it ends before the next run", after: T.leftBehind + [.trigger(T.a)],
      gives: [.stop(.command)], then: .stopping(next: .begin(T.a))),
    T(
      "then the next run begins", after: T.leftBehind + [.trigger(T.a), .gone()],
      gives: [.launch(.command, T.a)], then: .running(pending: nil)),
    T(
      "what is left behind may end by itself", after: T.leftBehind + [.gone(), .trigger(T.a)],
      gives: [.launch(.command, T.a)], then: .running(pending: nil)),
    T(
      "a run that cannot be started has ended", after: T.started + [.failed(.command, 127)],
      gives: [], then: .idle),
    T("no group is no news", after: [.gone()], gives: [], then: .idle),
  ]

  private static let busy = [
    T(
      "queue keeps a trigger", after: T.started + [.trigger(T.a)], gives: [],
      then: .running(pending: T.a)),
    T(
      "queue makes one of many", after: T.started + [.trigger(T.a), .trigger(T.b)], gives: [],
      then: .running(pending: T.ab)),
    T(
      "queue runs once more", after: T.started + [.trigger(T.a), .trigger(T.b), .ended(0)],
      gives: [.launch(.command, T.ab)], then: .running(pending: nil)),
    T(
      "queue ends what is left behind first",
      after: T.started + [.trigger(T.a), .ended(0, leftovers: true)], gives: [.stop(.command)],
      then: .stopping(next: .begin(T.a))),
    T(
      "ignore forgets a trigger", Rules(.ignore), after: T.started + [.trigger(T.a)], gives: [],
      then: .running(pending: nil)),
    T(
      "but not a key", Rules(.ignore), after: T.started + [.trigger(T.key)], gives: [],
      then: .running(pending: T.key)),
    T(
      "restart stops the run", Rules(.restart), after: T.started + [.trigger(T.a)],
      gives: [.stop(.command)], then: .stopping(next: .begin(T.a))),
    T(
      "a key restarts as well", Rules(.restart), after: T.started + [.trigger(T.key)],
      gives: [.stop(.command)], then: .stopping(next: .begin(T.key))),
    T(
      "restart makes one of the triggers while it stops", Rules(.restart),
      after: T.started + [.trigger(T.a), .trigger(T.b)], gives: [],
      then: .stopping(next: .begin(T.ab))),
    T(
      "restart waits for the group and not for the process", Rules(.restart),
      after: T.started + [.trigger(T.a), .ended(0, leftovers: true)], gives: [],
      then: .stopping(next: .begin(T.a))),
    T(
      "restart runs when the group is gone", Rules(.restart),
      after: T.started + [.trigger(T.a), .ended(0), .gone()], gives: [.launch(.command, T.a)],
      then: .running(pending: nil)),
    T(
      "signal sends it and starts nothing", Rules(.signal(T.usr1)),
      after: T.started + [.trigger(T.a)], gives: [.signal(T.usr1, T.a)],
      then: .running(pending: nil)),
    T(
      "the group of a run cannot go while it runs",
      after: T.started + [.gone(), .trigger(T.a), .ended(0)], gives: [.launch(.command, T.a)],
      then: .running(pending: nil)),
  ]

  private static let completing = [
    T(
      "the first run is the last", Rules(until: .firstRun), after: T.started + [.ended(7)],
      gives: [.finish(.exited(7))], then: .ended),
    T(
      "what is left behind is ended before the finish", Rules(until: .firstRun),
      after: T.started + [.ended(7, leftovers: true)], gives: [.stop(.command)],
      then: .ending(.exited(7))),
    T(
      "then it finishes with the run's status", Rules(until: .firstRun),
      after: T.started + [.ended(7, leftovers: true), .gone()], gives: [.finish(.exited(7))],
      then: .ended),
    T(
      "a failure is waited for", Rules(until: .firstFailure), after: T.started + [.ended(0)],
      gives: [], then: .idle),
    T(
      "a failure ends it", Rules(until: .firstFailure), after: T.started + [.ended(1)],
      gives: [.finish(.exited(1))], then: .ended),
    T(
      "a run that cannot be started is a failure", Rules(until: .firstFailure),
      after: T.started + [.failed(.command, 127)], gives: [.finish(.exited(127))], then: .ended),
    T(
      "a success is waited for", Rules(until: .firstSuccess), after: T.started + [.ended(1)],
      gives: [], then: .idle),
    T(
      "a success ends it, whatever is pending", Rules(until: .firstSuccess),
      after: T.started + [.trigger(T.a), .ended(0)], gives: [.finish(.exited(0))], then: .ended),
    T(
      "a run that is stopped has not ended by itself", Rules(.restart, until: .firstRun),
      after: T.started + [.trigger(T.a), .ended(0), .gone()], gives: [.launch(.command, T.a)],
      then: .running(pending: nil)),
  ]

  private static let ending = [
    T("nothing to stop", after: [.end], gives: [.finish(nil)], then: .ended),
    T(
      "a run is stopped", after: T.started + [.end], gives: [.stop(.command)], then: .ending(nil)),
    T(
      "its end is not the finish", after: T.started + [.end, .ended(0)], gives: [],
      then: .ending(nil)),
    T(
      "the group's is", after: T.started + [.end, .ended(0), .gone()], gives: [.finish(nil)],
      then: .ended),
    T(
      "what is left behind is stopped", after: T.leftBehind + [.end], gives: [.stop(.command)],
      then: .ending(nil)),
    T(
      "a stop that goes on already is not begun again", Rules(.restart),
      after: T.started + [.trigger(T.a), .end], gives: [], then: .ending(nil)),
    T(
      "the second time kills", after: T.started + [.end, .end], gives: [.kill(.command)],
      then: .ending(nil)),
    T(
      "no trigger counts any more", after: T.started + [.end, .trigger(T.a)], gives: [],
      then: .ending(nil)),
    T(
      "nothing happens after the finish",
      after: [.end, .trigger(T.a), .gone(), .pause, .resume, .stop, .end], gives: [],
      then: .ended),
  ]

  @Test(arguments: idle + busy + completing + ending)
  func `each input causes the expected actions`(transition: Transition) {
    transition.check()
  }
}
