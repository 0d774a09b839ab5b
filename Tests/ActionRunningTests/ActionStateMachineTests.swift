import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

/// What can happen to an action queue's machine.
enum Input: Sendable {
  case trigger(Trigger)
  /// One that may only have come because of the run before.
  case suspect(Trigger)
  case listened(Int)
  case ended(Int32, leftovers: Bool = false)
  case failed(Int32)
  case gone
  case end

  func apply(to machine: inout ActionStateMachine) -> [ActionStateMachine.Action] {
    switch self {
    case .trigger(let trigger): machine.triggered(trigger)
    case .suspect(let trigger): machine.triggered(trigger, isSuspect: true)
    case .listened(let generation): machine.listened(generation: generation)
    case .ended(let status, let leftovers):
      machine.runEnded(.exited(status), leftovers: leftovers)
    case .failed(let status): machine.launchFailed(.exited(status))
    case .gone: machine.groupIsGone()
    case .end: machine.end()
    }
  }
}

/// Inputs, and what the last of them leads to.
struct Transition: Sendable, CustomTestStringConvertible {
  let testDescription: String
  var policy = BusyPolicy.queue
  var completion = Completion.never
  let inputs: [Input]
  let actions: [ActionStateMachine.Action]
  let state: ActionStateMachine.State

  init(
    _ claim: String, _ policy: BusyPolicy = .queue, until completion: Completion = .never,
    after inputs: [Input], gives actions: [ActionStateMachine.Action],
    then state: ActionStateMachine.State
  ) {
    testDescription = claim
    self.policy = policy
    self.completion = completion
    self.inputs = inputs
    self.actions = actions
    self.state = state
  }
}

struct ActionStateMachineTests {
  private static let a = Trigger.change("a")
  private static let b = Trigger.change("b")
  private static let ab = Trigger.change("a", "b")
  private static let start = Trigger(.start)
  private static let usr1 = Signal(rawValue: 10)
  private static let started = [Input.trigger(start)]
  private static let leftBehind = started + [.ended(0, leftovers: true)]

  private static let idle = [
    Transition(
      "a trigger starts a run", after: started, gives: [.launch(start)],
      then: .running(pending: nil)),
    Transition(
      "a run's end is the end of it", after: started + [.ended(1)], gives: [],
      then: .idle(leftovers: false)),
    Transition(
      "what is left behind is noted", after: leftBehind, gives: [], then: .idle(leftovers: true)),
    Transition(
      "what is left behind ends before the next run", after: leftBehind + [.trigger(a)],
      gives: [.stop],
      then: .stopping(next: a)),
    Transition(
      "then the next run begins", after: leftBehind + [.trigger(a), .gone], gives: [.launch(a)],
      then: .running(pending: nil)),
    Transition(
      "what is left behind may end by itself", after: leftBehind + [.gone], gives: [],
      then: .idle(leftovers: false)),
    Transition(
      "a run that cannot be started has ended", after: started + [.failed(127)], gives: [],
      then: .idle(leftovers: false)),
    Transition("no group is no news", after: [.gone], gives: [], then: .idle(leftovers: false)),
  ]

  private static let busy = [
    Transition(
      "queue keeps a trigger", after: started + [.trigger(a)], gives: [], then: .running(pending: a)
    ),
    Transition(
      "queue makes one of many", after: started + [.trigger(a), .trigger(b)], gives: [],
      then: .running(pending: ab)),
    Transition(
      "queue runs once more", after: started + [.trigger(a), .trigger(b), .ended(0)],
      gives: [.launch(ab)], then: .running(pending: nil)),
    Transition(
      "queue ends what is left behind first",
      after: started + [.trigger(a), .ended(0, leftovers: true)], gives: [.stop],
      then: .stopping(next: a)),
    Transition(
      "ignore forgets a trigger", .ignore, after: started + [.trigger(a)], gives: [],
      then: .running(pending: nil)),
    Transition(
      "restart stops the run", .restart, after: started + [.trigger(a)], gives: [.stop],
      then: .stopping(next: a)),
    Transition(
      "restart makes one of the triggers while it stops", .restart,
      after: started + [.trigger(a), .trigger(b)], gives: [], then: .stopping(next: ab)),
    Transition(
      "restart waits for the group and not for the process", .restart,
      after: started + [.trigger(a), .ended(0, leftovers: true)], gives: [],
      then: .stopping(next: a)),
    Transition(
      "restart runs when the group is gone", .restart,
      after: started + [.trigger(a), .ended(0), .gone], gives: [.launch(a)],
      then: .running(pending: nil)),
    Transition(
      "signal sends it and starts nothing", .signal(usr1), after: started + [.trigger(a)],
      gives: [.signal(usr1)], then: .running(pending: nil)),
    Transition(
      "the group of a run cannot go while it runs", after: started + [.gone], gives: [],
      then: .running(pending: nil)),
  ]

  private static let listening = [
    Transition(
      "a suspect trigger is not followed at once", after: started + [.ended(0), .suspect(a)],
      gives: [.listen(generation: 1)], then: .listening(next: a, leftovers: false)),
    Transition(
      "it is when nothing else has happened",
      after: started + [.ended(0), .suspect(a), .listened(1)], gives: [.launch(a)],
      then: .running(pending: nil)),
    Transition(
      "another change ends the listening", after: started + [.ended(0), .suspect(a), .trigger(b)],
      gives: [.launch(ab)], then: .running(pending: nil)),
    Transition(
      "what is left behind is ended first", after: leftBehind + [.suspect(a), .listened(1)],
      gives: [.stop], then: .stopping(next: a)),
    Transition(
      "a timer of an earlier listening does nothing",
      after: started + [.ended(0), .suspect(a), .trigger(b), .ended(0), .suspect(a), .listened(1)],
      gives: [], then: .listening(next: a, leftovers: false)),
    Transition(
      "nor does one that comes during a run",
      after: started + [.ended(0), .suspect(a), .trigger(b), .listened(1)], gives: [],
      then: .running(pending: nil)),
    Transition(
      "a suspect trigger during a run is kept like any other", after: started + [.suspect(a)],
      gives: [], then: .running(pending: a)),
    Transition(
      "the end comes at once", after: started + [.ended(0), .suspect(a), .end],
      gives: [.finish(nil)], then: .ended),
    Transition(
      "the end stops what is left behind", after: leftBehind + [.suspect(a), .end],
      gives: [.stop], then: .ending(nil)),
  ]

  private static let completing = [
    Transition(
      "the first run is the last", until: .firstRun, after: started + [.ended(7)],
      gives: [.finish(.exited(7))], then: .ended),
    Transition(
      "what is left behind is ended before the finish", until: .firstRun,
      after: started + [.ended(7, leftovers: true)], gives: [.stop], then: .ending(.exited(7))),
    Transition(
      "then it finishes with the run's status", until: .firstRun,
      after: started + [.ended(7, leftovers: true), .gone], gives: [.finish(.exited(7))],
      then: .ended),
    Transition(
      "a failure is waited for", until: .firstFailure, after: started + [.ended(0)], gives: [],
      then: .idle(leftovers: false)),
    Transition(
      "a failure ends it", until: .firstFailure, after: started + [.ended(1)],
      gives: [.finish(.exited(1))], then: .ended),
    Transition(
      "a run that cannot be started is a failure", until: .firstFailure,
      after: started + [.failed(127)],
      gives: [.finish(.exited(127))], then: .ended),
    Transition(
      "a success is waited for", until: .firstSuccess, after: started + [.ended(1)], gives: [],
      then: .idle(leftovers: false)),
    Transition(
      "a success ends it, whatever is pending", until: .firstSuccess,
      after: started + [.trigger(a), .ended(0)], gives: [.finish(.exited(0))], then: .ended),
    Transition(
      "a run that is stopped has not ended by itself", .restart, until: .firstRun,
      after: started + [.trigger(a), .ended(0), .gone], gives: [.launch(a)],
      then: .running(pending: nil)),
  ]

  private static let ending = [
    Transition("nothing to stop", after: [.end], gives: [.finish(nil)], then: .ended),
    Transition("a run is stopped", after: started + [.end], gives: [.stop], then: .ending(nil)),
    Transition(
      "its end is not the finish", after: started + [.end, .ended(0)], gives: [], then: .ending(nil)
    ),
    Transition(
      "the group's is", after: started + [.end, .ended(0), .gone], gives: [.finish(nil)],
      then: .ended),
    Transition(
      "what is left behind is stopped", after: leftBehind + [.end], gives: [.stop],
      then: .ending(nil)),
    Transition(
      "a stop that goes on already is not begun again", .restart,
      after: started + [.trigger(a), .end],
      gives: [], then: .ending(nil)),
    Transition(
      "the second time kills", after: started + [.end, .end], gives: [.kill], then: .ending(nil)),
    Transition(
      "no trigger counts any more", after: started + [.end, .trigger(a)], gives: [],
      then: .ending(nil)),
    Transition(
      "nothing happens after the finish", after: [.end, .trigger(a), .gone, .end], gives: [],
      then: .ended),
  ]

  @Test(arguments: idle + busy + listening + completing + ending)
  func `each input leads to what it should`(transition: Transition) {
    var machine = ActionStateMachine(policy: transition.policy, completion: transition.completion)
    var actions: [ActionStateMachine.Action] = []
    for input in transition.inputs { actions = input.apply(to: &machine) }
    #expect(actions == transition.actions)
    #expect(machine.state == transition.state)
  }
}
