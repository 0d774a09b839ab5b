import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

private typealias Action = ProcessStateMachine.Action
private typealias State = ProcessStateMachine.State
private typealias Rules = RunPolicy

extension RunPolicy {
  static let hooked = withHooks(onSuccess: true, onFailure: true)

  static func withHooks(
    onSuccess: Bool = false, onFailure: Bool = false, stopSignal: Signal = .terminate
  ) -> RunPolicy {
    var policy = RunPolicy(stopPlan: StopPlan(signal: stopSignal))
    policy.onSuccess = onSuccess ? Command("hook") : nil
    policy.onFailure = onFailure ? Command("hook") : nil
    return policy
  }
}

/// What can happen to a task's processes.
private enum Input: Sendable {
  case start
  case stop
  case end
  case timeout
  case ended(Int32, leftovers: Bool = false)
  case hooked(leftovers: Bool = false)
  case gone(TaskReport.Job = .command)

  func apply(to machine: inout ProcessStateMachine) -> [Action] {
    switch self {
    case .start: machine.start()
    case .stop: machine.stop()
    case .end: machine.end()
    case .timeout: machine.timedOut()
    case .ended(let status, let leftovers):
      machine.ended(.command, .exited(status), leftovers: leftovers)
    case .hooked(let leftovers): machine.ended(.hook, .exited(0), leftovers: leftovers)
    case .gone(let job): machine.groupIsGone(job)
    }
  }
}

/// Inputs, and the expected result of the last one.
private struct Transition: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let rules: Rules
  let inputs: [Input]
  let actions: [Action]
  let state: State

  init(
    _ claim: String, _ rules: Rules = Rules(), after inputs: [Input], gives actions: [Action],
    then state: State
  ) {
    testDescription = claim
    self.rules = rules
    self.inputs = inputs
    self.actions = actions
    self.state = state
  }
}

struct ProcessStateMachineTests {
  private typealias T = Transition

  private static let leftBehind: [Input] = [.start, .ended(0, leftovers: true)]

  private static let running = [
    T("a start launches the command", after: [.start], gives: [.launch], then: .running),
    T("its end is the end of it", after: [.start, .ended(1)], gives: [.rest], then: .idle),
    T("leftover processes are left alone", after: leftBehind, gives: [.rest], then: .idle),
    T(
      "they are stopped before the next run", after: leftBehind + [.start],
      gives: [.stop(.command)], then: .stopping(next: .launch)),
    T(
      "which is launched when they are gone", after: leftBehind + [.start, .gone()],
      gives: [.launch], then: .running),
    T(
      "they may be gone by themselves", after: leftBehind + [.gone(), .start], gives: [.launch],
      then: .running),
    T(
      "the group of a run is not gone while it runs", after: [.start, .gone()], gives: [],
      then: .running),
    T("no group is no news", after: [.gone()], gives: [], then: .idle),
    T(
      "a start during a run stops it", after: [.start, .start], gives: [.stop(.command)],
      then: .stopping(next: .launch)),
    T(
      "the end of the process is not that of its group",
      after: [.start, .start, .ended(0, leftovers: true)], gives: [],
      then: .stopping(next: .launch)),
    T(
      "the next run begins when the group is gone", after: [.start, .start, .ended(0), .gone()],
      gives: [.launch], then: .running),
    T(
      "of two starts while it is stopped, one run follows",
      after: [.start, .start, .start, .ended(0), .gone()], gives: [.launch], then: .running),
  ]

  private static let stopping = [
    T("there is nothing to stop", after: [.stop], gives: [.rest], then: .idle),
    T(
      "a run is stopped", after: [.start, .stop], gives: [.stop(.command)],
      then: .stopping(next: .rest)),
    T(
      "it rests when the group is gone", .hooked, after: [.start, .stop, .ended(0), .gone()],
      gives: [.rest], then: .idle),
    T(
      "a start while it is stopped is not forgotten", after: [.start, .stop, .start, .gone()],
      gives: [.launch], then: .running),
    T(
      "a stop cancels the start that follows", after: [.start, .start, .stop, .gone()],
      gives: [.rest], then: .idle),
    T(
      "leftover processes are stopped", after: leftBehind + [.stop], gives: [.stop(.command)],
      then: .stopping(next: .rest)),
  ]

  private static let hooking = [
    T(
      "a hook follows a success", .hooked, after: [.start, .ended(0)],
      gives: [.launchHook(.exited(0))], then: .hooking(next: .rest)),
    T(
      "and a failure", .hooked, after: [.start, .ended(3)], gives: [.launchHook(.exited(3))],
      then: .hooking(next: .rest)),
    T(
      "only of the result that it is for", Rules.withHooks(onFailure: true),
      after: [.start, .ended(0)], gives: [.rest], then: .idle),
    T(
      "and likewise for a failure", Rules.withHooks(onSuccess: true), after: [.start, .ended(3)],
      gives: [.rest], then: .idle),
    T(
      "its end is the end of it", .hooked, after: [.start, .ended(0), .hooked()], gives: [.rest],
      then: .idle),
    T(
      "it runs beside leftover processes", .hooked, after: leftBehind,
      gives: [.launchHook(.exited(0))], then: .hooking(next: .rest)),
    T(
      "a start stops it", .hooked, after: [.start, .ended(0), .start], gives: [.stop(.hook)],
      then: .stopping(next: .launch)),
    T(
      "with the leftover processes", .hooked, after: leftBehind + [.start],
      gives: [.stop(.command), .stop(.hook)], then: .stopping(next: .launch)),
    T(
      "the next run waits for both", .hooked, after: leftBehind + [.start, .gone()], gives: [],
      then: .stopping(next: .launch)),
    T(
      "and then begins", .hooked, after: leftBehind + [.start, .gone(), .gone(.hook)],
      gives: [.launch], then: .running),
    T(
      "what a hook left behind is stopped before the next run", .hooked,
      after: [.start, .ended(0), .hooked(leftovers: true), .start], gives: [.stop(.hook)],
      then: .stopping(next: .launch)),
    T(
      "a run that was stopped has none", .hooked, after: [.start, .start, .ended(0), .gone()],
      gives: [.launch], then: .running),
  ]

  private static let late: [Input] = [.start, .timeout]

  private static let timingOut = [
    T("a timeout stops the run", after: late, gives: [.timeOut], then: .running),
    T("the end of its group is awaited", after: late + [.ended(0)], gives: [], then: .running),
    T("then it rests", after: late + [.ended(0), .gone()], gives: [.rest], then: .idle),
    T(
      "it has failed, though it exits with 0", .hooked, after: late + [.ended(0), .gone()],
      gives: [.launchHook(.signaled(.terminate))], then: .hooking(next: .rest)),
    T(
      "a failure keeps its status", .hooked, after: late + [.ended(5), .gone()],
      gives: [.launchHook(.exited(5))], then: .hooking(next: .rest)),
    T(
      "without a status it has that of the signal",
      Rules.withHooks(onFailure: true, stopSignal: .hangup), after: late + [.gone()],
      gives: [.launchHook(.signaled(.hangup))], then: .hooking(next: .rest)),
    T(
      "the next run waits for the group", .hooked, after: late + [.start], gives: [],
      then: .stopping(next: .launch)),
    T(
      "and for the hook", .hooked, after: late + [.start, .ended(0), .gone()],
      gives: [.launchHook(.signaled(.terminate))], then: .hooking(next: .launch)),
    T(
      "after which it begins", .hooked, after: late + [.start, .ended(0), .gone(), .hooked()],
      gives: [.launch], then: .running),
    T(
      "or without a hook", after: late + [.start, .ended(0), .gone()], gives: [.launch],
      then: .running),
    T(
      "stopped by the user as well, it has no hook", .hooked,
      after: late + [.stop, .ended(0), .gone()], gives: [.rest], then: .idle),
    T("a second timeout does nothing", after: late + [.timeout], gives: [], then: .running),
    T("nor does one while nothing runs", after: [.timeout], gives: [], then: .idle),
    T(
      "nor one of a run that is being stopped", after: [.start, .stop, .timeout], gives: [],
      then: .stopping(next: .rest)),
    T(
      "nor one during the hook", .hooked, after: [.start, .ended(0), .timeout], gives: [],
      then: .hooking(next: .rest)),
    T(
      "the end waits for the group", .hooked, after: late + [.end, .ended(0), .gone()],
      gives: [.finish], then: .ended),
  ]

  private static let ending = [
    T("without processes it ends at once", after: [.end], gives: [.finish], then: .ended),
    T("a run is stopped", after: [.start, .end], gives: [.stop(.command)], then: .ending),
    T("its end is not the finish", after: [.start, .end, .ended(0)], gives: [], then: .ending),
    T(
      "that of its group is", after: [.start, .end, .ended(0), .gone()], gives: [.finish],
      then: .ended),
    T(
      "hook and leftover processes are stopped", .hooked, after: leftBehind + [.end],
      gives: [.stop(.command), .stop(.hook)], then: .ending),
    T(
      "and both are awaited", .hooked, after: leftBehind + [.end, .gone(.hook)], gives: [],
      then: .ending),
    T(
      "what is being stopped is not stopped again", after: [.start, .start, .end], gives: [],
      then: .ending),
    T(
      "the second end kills", after: [.start, .end, .end], gives: [.kill(.command)],
      then: .ending),
    T(
      "all that is left", .hooked, after: leftBehind + [.end, .gone(), .end],
      gives: [.kill(.hook)], then: .ending),
    T(
      "nothing starts any more", .hooked, after: [.start, .end, .start, .stop, .ended(0), .start],
      gives: [], then: .ending),
    T(
      "nothing follows the finish", after: [.end, .start, .stop, .timeout, .gone(), .end],
      gives: [], then: .ended),
  ]

  @Test(arguments: running + stopping + hooking + timingOut + ending)
  fileprivate func `each input causes the expected actions`(transition: Transition) {
    var machine = ProcessStateMachine(transition.rules)
    var last: [Action] = []
    for input in transition.inputs { last = input.apply(to: &machine) }
    #expect(last == transition.actions)
    #expect(machine.state == transition.state)
  }

  @Test func `the machine says whether it stops processes or runs the hook`() {
    var machine = ProcessStateMachine(.hooked)
    _ = machine.start()
    #expect(!machine.state.isStopping && !machine.state.isHooking)
    _ = machine.ended(.command, .exited(0))
    #expect(!machine.state.isStopping && machine.state.isHooking)
    _ = machine.start()
    #expect(machine.state.isStopping && !machine.state.isHooking)
  }
}
