import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

/// Paused, resumed, stopped, and run by a key.
struct ActionStateMachinePauseTests {
  private typealias T = Transition

  private static let built = T.started + [.built(0)]
  private static let serving = Rules(.restart, builds: true)

  private static let pausing = [
    T("while paused, nothing starts", after: [.pause, .trigger(T.a)], gives: [], then: .idle),
    T(
      "what came leads to one run", after: [.pause, .trigger(T.a), .trigger(T.b), .resume],
      gives: [.launch(.command, T.ab)], then: .running(pending: nil)),
    T(
      "and to no other", after: [.pause, .trigger(T.a), .resume, .ended(0), .pause, .resume],
      gives: [], then: .idle),
    T("if nothing came, to none", after: [.pause, .resume], gives: [], then: .idle),
    T(
      "what runs goes on", after: T.started + [.pause, .trigger(T.a), .ended(0)], gives: [],
      then: .idle),
    T(
      "what was pending waits as well",
      after: T.started + [.trigger(T.a), .pause, .trigger(T.b), .ended(0), .resume],
      gives: [.launch(.command, T.ab)], then: .running(pending: nil)),
    T(
      "resumed during a run, it waits for its end",
      after: T.started + [.pause, .trigger(T.a), .resume], gives: [],
      then: .running(pending: T.a)),
    T(
      "with restart, the run is stopped only then", Rules(.restart),
      after: T.started + [.pause, .trigger(T.a), .resume], gives: [.stop(.command)],
      then: .stopping(next: .begin(T.a))),
    T(
      "paused while a restart stops the command, nothing follows", Rules(.restart),
      after: T.started + [.trigger(T.a), .pause, .ended(0), .gone()], gives: [], then: .idle),
    T(
      "until it is resumed", Rules(.restart),
      after: T.started + [.trigger(T.a), .pause, .ended(0), .gone(), .resume],
      gives: [.launch(.command, T.a)], then: .running(pending: nil)),
    T(
      "or resumed before the command has gone", Rules(.restart),
      after: T.started + [.trigger(T.a), .pause, .ended(0), .resume, .gone()],
      gives: [.launch(.command, T.a)], then: .running(pending: nil)),
    T(
      "a build goes on, and the command is not touched", serving,
      after: built + [.trigger(T.a), .pause, .built(0)], gives: [], then: .running(pending: nil)),
    T(
      "until it is resumed and built again", serving,
      after: built + [.trigger(T.a), .pause, .built(0), .resume], gives: [.launch(.build, T.a)],
      then: .building(T.a)),
    T(
      "a build that outlasts the pause counts", serving,
      after: T.started + [.pause, .resume, .built(0)], gives: [.launch(.command, T.start)],
      then: .running(pending: nil)),
    T(
      "paused while a build is stopped, the command runs on", serving,
      after: built + [.trigger(T.a), .trigger(T.b), .pause], gives: [],
      then: .running(pending: nil)),
    T(
      "a hook goes on, and nothing after it", Rules(hooks: true),
      after: T.started + [.trigger(T.a), .ended(0), .pause, .hooked()], gives: [], then: .idle),
    T(
      "a back-off ends", Rules(keepsAlive: true),
      after: T.started + [.ended(0), .pause, .elapsed(.backOff, 1)], gives: [], then: .idle),
    T(
      "and the command is started when it is resumed", Rules(keepsAlive: true),
      after: T.started + [.ended(0), .pause, .resume], gives: [.launch(.command, T.again)],
      then: .running(pending: nil)),
    T(
      "also if it ended while paused", Rules(keepsAlive: true),
      after: T.started + [.pause, .ended(0), .resume], gives: [.launch(.command, T.again)],
      then: .running(pending: nil)),
    T(
      "ignore forgets what came during a run, paused or not", Rules(.ignore),
      after: T.started + [.pause, .trigger(T.a), .ended(0), .resume], gives: [], then: .idle),
    T(
      "signal waits", Rules(.signal(T.usr1)), after: T.started + [.pause, .trigger(T.a)], gives: [],
      then: .running(pending: nil)),
    T(
      "and is sent then", Rules(.signal(T.usr1)),
      after: T.started + [.pause, .trigger(T.a), .resume], gives: [.signal(T.usr1, T.a)],
      then: .running(pending: nil)),
    T(
      "a run that is the last ends all", Rules(until: .firstRun),
      after: T.started + [.pause, .ended(3)], gives: [.finish(.exited(3))], then: .ended),
  ]

  private static let keys = [
    T(
      "a key runs while paused", after: [.pause, .trigger(T.key)],
      gives: [.launch(.command, T.key)],
      then: .running(pending: nil)),
    T(
      "with all that was collected", after: [.pause, .trigger(T.a), .trigger(T.key)],
      gives: [.launch(.command, T.a.merged(with: T.key))], then: .running(pending: nil)),
    T(
      "of which nothing is left then",
      after: [.pause, .trigger(T.a), .trigger(T.key), .ended(0), .resume], gives: [], then: .idle),
    T(
      "during a run it leads to one more", after: T.started + [.pause, .trigger(T.key), .ended(0)],
      gives: [.launch(.command, T.key)], then: .running(pending: nil)),
    T(
      "a build by a key is followed by the run", Rules(builds: true),
      after: [.pause, .trigger(T.key), .built(0)], gives: [.launch(.command, T.key)],
      then: .running(pending: nil)),
    T(
      "also one that was under way before the pause", Rules(builds: true),
      after: [.trigger(T.a), .pause, .trigger(T.key), .gone(.build), .built(0)],
      gives: [.launch(.command, T.a.merged(with: T.key))], then: .running(pending: nil)),
    T(
      "a key does not wait for a back-off", Rules(keepsAlive: true),
      after: T.started + [.ended(0), .trigger(T.key)], gives: [.launch(.command, T.key)],
      then: .running(pending: nil)),
  ]

  private static let stopping = [
    T("nothing is nothing to stop", after: [.stop], gives: [], then: .idle),
    T(
      "a run is stopped", after: T.started + [.stop], gives: [.stop(.command)],
      then: .stopping(next: .rest)),
    T(
      "and that is all", Rules(keepsAlive: true, hooks: true),
      after: T.started + [.stop, .ended(0), .gone()], gives: [], then: .idle),
    T(
      "what was pending starts nothing",
      after: T.started + [.trigger(T.a), .stop, .ended(0), .gone()],
      gives: [], then: .idle),
    T(
      "but the next run receives it",
      after: T.started + [.trigger(T.a), .stop, .ended(0), .gone(), .trigger(T.b)],
      gives: [.launch(.command, T.ab)], then: .running(pending: nil)),
    T(
      "a change while it stops counts",
      after: T.started + [.stop, .trigger(T.a), .ended(0), .gone()],
      gives: [.launch(.command, T.a)], then: .running(pending: nil)),
    T(
      "a build is stopped with the command", serving, after: built + [.trigger(T.a), .stop],
      gives: [.stop(.build), .stop(.command)], then: .stopping(next: .rest)),
    T(
      "what is left behind is stopped", after: T.leftBehind + [.stop], gives: [.stop(.command)],
      then: .stopping(next: .rest)),
    T(
      "the last run's hook is not", Rules(until: .firstRun, hooks: true),
      after: T.started + [.ended(0), .stop], gives: [], then: .hooking(next: .finish(.exited(0)))),
    T(
      "a run whose time is up is only stopped", Rules(until: .firstFailure, times: true),
      after: T.started + [.elapsed(.timeout, 1), .stop, .ended(0), .gone()], gives: [],
      then: .idle),
    T(
      "stopped while paused, what was collected stays",
      after: T.started + [.pause, .trigger(T.a), .stop, .ended(0), .gone(), .resume],
      gives: [.launch(.command, T.a)], then: .running(pending: nil)),
    T(
      "a run that is stopped is not the last", Rules(until: .firstRun),
      after: T.started + [.stop, .ended(0), .gone()], gives: [], then: .idle),
    T(
      "the end ends what is being stopped", after: T.started + [.stop, .end, .ended(0), .gone()],
      gives: [.finish(nil)], then: .ended),
  ]

  @Test(arguments: pausing + keys + stopping)
  func `each input causes the expected actions`(transition: Transition) {
    transition.check()
  }
}
