import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

/// The build before the command, the hook after it, and the times that they keep.
struct ActionStateMachineJobsTests {
  private typealias T = Transition

  private static let built = T.started + [.built(0)]
  private static let serving = Rules(.restart, builds: true)

  private static let building = [
    T(
      "a build comes first", Rules(builds: true), after: T.started,
      gives: [.launch(.build, T.start)], then: .building(T.start)),
    T(
      "if it succeeds, the command is run", Rules(builds: true), after: built,
      gives: [.launch(.command, T.start)], then: .running(pending: nil)),
    T(
      "if it fails, nothing is", Rules(builds: true), after: T.started + [.built(1)], gives: [],
      then: .idle),
    T(
      "one that cannot be started has failed", Rules(builds: true),
      after: T.started + [.failed(.build, 127)], gives: [], then: .idle),
    T(
      "the next one is for what the failed one was for as well", Rules(builds: true),
      after: T.started + [.built(0), .ended(0), .trigger(T.a), .built(1), .trigger(T.b)],
      gives: [.launch(.build, T.ab)], then: .building(T.ab)),
    T(
      "a change during the build stops it", Rules(.ignore, builds: true),
      after: [.trigger(T.a), .trigger(T.b)], gives: [.stop(.build)],
      then: .stopping(next: .begin(T.ab))),
    T(
      "and builds again", Rules(builds: true),
      after: [.trigger(T.a), .trigger(T.b), .gone(.build)],
      gives: [.launch(.build, T.ab)], then: .building(T.ab)),
    T(
      "with queue, the next build waits for the run", Rules(builds: true),
      after: built + [.trigger(T.a)], gives: [], then: .running(pending: T.a)),
    T(
      "then it begins", Rules(builds: true), after: built + [.trigger(T.a), .ended(0)],
      gives: [.launch(.build, T.a)], then: .building(T.a)),
    T(
      "what a build leaves behind is ended before the next", Rules(builds: true),
      after: T.started + [.built(1, leftovers: true), .trigger(T.a)], gives: [.stop(.build)],
      then: .stopping(next: .begin(T.a))),
    T(
      "with once, a build that fails is a run that fails", Rules(until: .firstRun, builds: true),
      after: T.started + [.built(2)], gives: [.finish(.exited(2))], then: .ended),
    T(
      "the end stops the build", Rules(builds: true), after: T.started + [.end],
      gives: [.stop(.build)], then: .ending(nil)),
  ]

  private static let beside = [
    T(
      "with restart, the command runs on while it is built", serving,
      after: built + [.trigger(T.a)],
      gives: [.launch(.build, T.a)], then: .building(T.a)),
    T(
      "it is stopped when the build has succeeded", serving,
      after: built + [.trigger(T.a), .built(0)], gives: [.stop(.command)],
      then: .stopping(next: .run(T.a, pending: nil))),
    T(
      "and started again", serving, after: built + [.trigger(T.a), .built(0), .gone()],
      gives: [.launch(.command, T.a)], then: .running(pending: nil)),
    T(
      "it runs on when the build has failed", serving, after: built + [.trigger(T.a), .built(1)],
      gives: [], then: .running(pending: nil)),
    T(
      "a change while it is stopped is built beside the next", serving,
      after: built + [.trigger(T.a), .built(0), .trigger(T.b)], gives: [],
      then: .stopping(next: .run(T.a, pending: T.b))),
    T(
      "when that has been started", serving,
      after: built + [.trigger(T.a), .built(0), .trigger(T.b), .gone()],
      gives: [.launch(.command, T.a), .launch(.build, T.b)], then: .building(T.b)),
    T(
      "a change during the build leaves the command alone", serving,
      after: built + [.trigger(T.a), .trigger(T.b)], gives: [.stop(.build)],
      then: .stopping(next: .begin(T.ab))),
    T(
      "a command that ends during the build is started by its success", serving,
      after: built + [.trigger(T.a), .ended(1), .built(0)], gives: [.launch(.command, T.a)],
      then: .running(pending: nil)),
    T(
      "and not by its failure", serving, after: built + [.trigger(T.a), .ended(1), .built(1)],
      gives: [], then: .idle),
    T(
      "with signal, it is sent it when the build has succeeded",
      Rules(.signal(T.usr1), builds: true), after: built + [.trigger(T.a), .built(0)],
      gives: [.signal(T.usr1, T.a)], then: .running(pending: nil)),
    T(
      "with signal, a command that has ended is started", Rules(.signal(T.usr1), builds: true),
      after: built + [.trigger(T.a), .ended(0), .built(0)], gives: [.launch(.command, T.a)],
      then: .running(pending: nil)),
    T(
      "with once, the command's end ends the build",
      Rules(.restart, until: .firstRun, builds: true),
      after: built + [.trigger(T.a), .ended(3)], gives: [.stop(.build)], then: .ending(.exited(3))),
    T(
      "with exit on error, a failed build leaves the command alone",
      Rules(.restart, until: .firstFailure, builds: true),
      after: built + [.trigger(T.a), .built(1)], gives: [], then: .running(pending: nil)),
    T(
      "the end stops both", serving, after: built + [.trigger(T.a), .end],
      gives: [.stop(.build), .stop(.command)], then: .ending(nil)),
    T(
      "and waits for both", serving, after: built + [.trigger(T.a), .end, .gone(.build)], gives: [],
      then: .ending(nil)),
    T(
      "the second time kills both", serving, after: built + [.trigger(T.a), .end, .end],
      gives: [.kill(.build), .kill(.command)], then: .ending(nil)),
  ]

  private static let hooked = Rules(hooks: true)

  private static let hooking = [
    T(
      "a hook follows a success", hooked, after: T.started + [.ended(0)],
      gives: [.launchHook(.exited(0))], then: .hooking(next: .rest)),
    T(
      "and a failure", hooked, after: T.started + [.ended(3)], gives: [.launchHook(.exited(3))],
      then: .hooking(next: .rest)),
    T(
      "then there is nothing to do", hooked, after: T.started + [.ended(0), .hooked()], gives: [],
      then: .idle),
    T(
      "it goes on beside what the run has left behind", hooked, after: T.leftBehind,
      gives: [.launchHook(.exited(0))], then: .hooking(next: .rest)),
    T(
      "the next run waits for it", hooked, after: T.started + [.trigger(T.a), .ended(0)],
      gives: [.launchHook(.exited(0))], then: .hooking(next: .begin(T.a))),
    T(
      "also one that is wanted meanwhile", hooked,
      after: T.started + [.trigger(T.a), .ended(0), .trigger(T.b), .hooked()],
      gives: [.launch(.command, T.ab)], then: .running(pending: nil)),
    T(
      "ignore forgets what comes during the hook", Rules(.ignore, hooks: true),
      after: T.started + [.ended(0), .trigger(T.a)], gives: [], then: .hooking(next: .rest)),
    T(
      "restart stops it", Rules(.restart, hooks: true),
      after: T.started + [.ended(0), .trigger(T.a)], gives: [.stop(.hook)],
      then: .stopping(next: .begin(T.a))),
    T(
      "and then runs", Rules(.restart, hooks: true),
      after: T.started + [.ended(0), .trigger(T.a), .gone(.hook)], gives: [.launch(.command, T.a)],
      then: .running(pending: nil)),
    T(
      "a run that is stopped has none", Rules(.restart, hooks: true),
      after: T.started + [.trigger(T.a), .ended(0), .gone()], gives: [.launch(.command, T.a)],
      then: .running(pending: nil)),
    T(
      "what the last one left behind is ended before it", hooked,
      after: T.started + [.ended(0), .hooked(leftovers: true), .trigger(T.a)],
      gives: [.stop(.hook)], then: .stopping(next: .begin(T.a))),
    T(
      "the last run's comes before the end", Rules(until: .firstRun, hooks: true),
      after: T.started + [.ended(3)], gives: [.launchHook(.exited(3))],
      then: .hooking(next: .finish(.exited(3)))),
    T(
      "which has the run's status", Rules(until: .firstRun, hooks: true),
      after: T.started + [.ended(3), .trigger(T.a), .hooked()], gives: [.finish(.exited(3))],
      then: .ended),
    T(
      "one that cannot be started has ended", hooked,
      after: T.started + [.ended(0), .failed(.hook, 127)], gives: [], then: .idle),
    T(
      "the end stops it", hooked, after: T.started + [.ended(0), .end], gives: [.stop(.hook)],
      then: .ending(nil)),
    T(
      "it waits for a build that goes on", Rules(.restart, builds: true, hooks: true),
      after: built + [.trigger(T.a), .ended(1)], gives: [], then: .building(T.a)),
    T(
      "and comes before the next run", Rules(.restart, builds: true, hooks: true),
      after: built + [.trigger(T.a), .ended(1), .built(0)], gives: [.launchHook(.exited(1))],
      then: .hooking(next: .run(T.a, pending: nil))),
    T(
      "also when the build has failed", Rules(.restart, builds: true, hooks: true),
      after: built + [.trigger(T.a), .ended(1), .built(1)], gives: [.launchHook(.exited(1))],
      then: .hooking(next: .rest)),
  ]

  private static let alive = Rules(keepsAlive: true)

  private static let backingOff = [
    T(
      "a command that ends is started again in a while", alive, after: T.started + [.ended(0)],
      gives: [.wait(.backOff, generation: 1)], then: .backingOff),
    T(
      "then it is", alive, after: T.started + [.ended(0), .elapsed(.backOff, 1)],
      gives: [.launch(.command, T.again)], then: .running(pending: nil)),
    T(
      "also if it cannot be", alive, after: T.started + [.failed(.command, 127)],
      gives: [.wait(.backOff, generation: 1)], then: .backingOff),
    T(
      "a change starts it at once", alive, after: T.started + [.ended(0), .trigger(T.a)],
      gives: [.launch(.command, T.a)], then: .running(pending: nil)),
    T(
      "a pause that is over does nothing then", alive,
      after: T.started + [.ended(0), .trigger(T.a), .elapsed(.backOff, 1)], gives: [],
      then: .running(pending: nil)),
    T(
      "what is pending does not wait either", alive, after: T.started + [.trigger(T.a), .ended(0)],
      gives: [.launch(.command, T.a)], then: .running(pending: nil)),
    T(
      "what is left behind ends first", alive, after: T.leftBehind + [.elapsed(.backOff, 1)],
      gives: [.stop(.command)], then: .stopping(next: .run(T.again, pending: nil))),
    T(
      "it is not built again", Rules(builds: true, keepsAlive: true),
      after: built + [.ended(1), .elapsed(.backOff, 1)], gives: [.launch(.command, T.again)],
      then: .running(pending: nil)),
    T(
      "a failed build does not keep it from that",
      Rules(.restart, builds: true, keepsAlive: true),
      after: built + [.trigger(T.a), .ended(1), .built(1)],
      gives: [.wait(.backOff, generation: 1)], then: .backingOff),
    T(
      "the hook comes before the pause", Rules(keepsAlive: true, hooks: true),
      after: T.started + [.ended(0), .hooked()], gives: [.wait(.backOff, generation: 1)],
      then: .backingOff),
    T(
      "what the hook left behind is ended before the run", Rules(keepsAlive: true, hooks: true),
      after: T.started + [.ended(0), .hooked(leftovers: true), .elapsed(.backOff, 1)],
      gives: [.stop(.hook)], then: .stopping(next: .run(T.again, pending: nil))),
    T(
      "a command that ends while a build is stopped has its hook at once",
      Rules(.restart, builds: true, hooks: true),
      after: built + [.trigger(T.a), .trigger(T.b), .ended(1)], gives: [.launchHook(.exited(1))],
      then: .hooking(next: .begin(T.ab))),
    T(
      "what is stopped for good stays so", alive, after: T.started + [.ended(0), .stop], gives: [],
      then: .idle),
    T(
      "the end comes at once", alive, after: T.started + [.ended(0), .end], gives: [.finish(nil)],
      then: .ended),
  ]

  private static let timed = Rules(times: true)
  private static let late = T.started + [.elapsed(.timeout, 1)]

  private static let timingOut = [
    T(
      "a run has its time", timed, after: T.started,
      gives: [.wait(.timeout, generation: 1), .launch(.command, T.start)],
      then: .running(pending: nil)),
    T(
      "when it is up, the run is stopped", timed, after: late, gives: [.timeOut],
      then: .running(pending: nil)),
    T(
      "its end is waited for", timed, after: late + [.ended(0)], gives: [],
      then: .running(pending: nil)),
    T("and its group's", timed, after: late + [.ended(0), .gone()], gives: [], then: .idle),
    T(
      "it has failed, whatever it says", Rules(until: .firstFailure, times: true),
      after: late + [.ended(0), .gone()], gives: [.finish(.signaled(.terminate))], then: .ended),
    T(
      "if it admits that, as it says", Rules(until: .firstRun, times: true),
      after: late + [.ended(5), .gone()], gives: [.finish(.exited(5))], then: .ended),
    T(
      "it is no success", Rules(until: .firstSuccess, times: true),
      after: late + [.ended(0), .gone()], gives: [], then: .idle),
    T(
      "its hook is that of a failure", Rules(times: true, hooks: true),
      after: late + [.ended(0), .gone()], gives: [.launchHook(.signaled(.terminate))],
      then: .hooking(next: .rest)),
    T(
      "what comes meanwhile waits until it is gone", Rules(.restart, times: true),
      after: late + [.trigger(T.a)], gives: [], then: .running(pending: T.a)),
    T(
      "and is run then", Rules(.restart, times: true),
      after: late + [.trigger(T.a), .ended(0), .gone()],
      gives: [.wait(.timeout, generation: 2), .launch(.command, T.a)],
      then: .running(pending: nil)),
    T(
      "the time of a run that has ended is not the next one's", timed,
      after: T.started + [.ended(0), .trigger(T.a), .elapsed(.timeout, 1)], gives: [],
      then: .running(pending: nil)),
    T(
      "nor is it anybody's", timed, after: T.started + [.ended(0), .elapsed(.timeout, 1)],
      gives: [],
      then: .idle),
    T(
      "it may be up during a build", Rules(.restart, builds: true, times: true),
      after: built + [.trigger(T.a), .elapsed(.timeout, 1)], gives: [.timeOut],
      then: .building(T.a)),
    T(
      "what is built waits for the group then", Rules(.restart, builds: true, times: true),
      after: built + [.trigger(T.a), .elapsed(.timeout, 1), .built(0)], gives: [],
      then: .stopping(next: .run(T.a, pending: nil))),
    T(
      "and the hook is not forgotten", Rules(.restart, builds: true, times: true, hooks: true),
      after: built + [.trigger(T.a), .elapsed(.timeout, 1), .built(0), .ended(0), .gone()],
      gives: [.launchHook(.signaled(.terminate))],
      then: .hooking(next: .run(T.a, pending: nil))),
    T(
      "nor is the end", Rules(.restart, until: .firstFailure, builds: true, times: true),
      after: built + [.trigger(T.a), .elapsed(.timeout, 1), .built(0), .ended(0), .gone()],
      gives: [.finish(.signaled(.terminate))], then: .ended),
    T(
      "a run that is stopped anyway has no time", Rules(.restart, times: true),
      after: T.started + [.trigger(T.a), .elapsed(.timeout, 1)], gives: [],
      then: .stopping(next: .begin(T.a))),
    T(
      "with keep-alive it is started again", Rules(keepsAlive: true, times: true),
      after: late + [.ended(0), .gone()], gives: [.wait(.backOff, generation: 2)],
      then: .backingOff),
    T(
      "the end waits for it", timed, after: late + [.end, .ended(0), .gone()],
      gives: [.finish(nil)], then: .ended),
  ]

  @Test(arguments: building + beside + hooking + backingOff + timingOut)
  func `each input causes the expected actions`(transition: Transition) {
    transition.check()
  }
}
