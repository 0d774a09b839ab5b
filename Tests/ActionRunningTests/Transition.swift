import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

/// What can happen to an action queue's machine.
enum Input: Sendable {
  case trigger(RunTrigger)
  /// The build, the command, the hook has ended.
  case built(Int32, leftovers: Bool = false)
  case ended(Int32, leftovers: Bool = false)
  case hooked(leftovers: Bool = false)
  /// It could not be started.
  case failed(ActionQueue.Job, Int32)
  /// The stopped process group is empty.
  case gone(ActionQueue.Job = .command)
  case elapsed(ActionStateMachine.Timer, Int)
  case pause
  case resume
  case stop
  case end

  func apply(to machine: inout ActionStateMachine) -> [ActionStateMachine.Action] {
    switch self {
    case .trigger(let trigger): machine.triggered(trigger)
    case .built(let status, let leftovers):
      machine.ended(.build, .exited(status), leftovers: leftovers)
    case .ended(let status, let leftovers):
      machine.ended(.command, .exited(status), leftovers: leftovers)
    case .hooked(let leftovers): machine.ended(.hook, .exited(0), leftovers: leftovers)
    case .failed(let job, let status): machine.launchFailed(job, .exited(status))
    case .gone(let job): machine.groupIsGone(job)
    case .elapsed(let timer, let generation): machine.elapsed(timer, generation: generation)
    case .pause: machine.pause()
    case .resume: machine.resume()
    case .stop: machine.stopCommand()
    case .end: machine.end()
    }
  }
}

typealias Rules = ActionStateMachine.Rules

extension ActionStateMachine.Rules {
  init(
    _ policy: BusyPolicy = .queue, until completion: CompletionRule = .never, builds: Bool = false,
    keepsAlive: Bool = false, times: Bool = false, hooks: Bool = false
  ) {
    self.init()
    self.policy = policy
    self.completion = completion
    hasBuild = builds
    self.keepsAlive = keepsAlive
    hasTimeout = times
    hasSuccessHook = hooks
    hasFailureHook = hooks
  }
}

/// Inputs, and the expected result of the last one.
struct Transition: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let rules: Rules
  let inputs: [Input]
  let actions: [ActionStateMachine.Action]
  let state: ActionStateMachine.State

  init(
    _ claim: String, _ rules: Rules = Rules(), after inputs: [Input],
    gives actions: [ActionStateMachine.Action], then state: ActionStateMachine.State
  ) {
    testDescription = claim
    self.rules = rules
    self.inputs = inputs
    self.actions = actions
    self.state = state
  }

  /// Applies the inputs, and compares the result of the last one.
  func check() {
    var machine = ActionStateMachine(rules)
    var last: [ActionStateMachine.Action] = []
    for input in inputs { last = input.apply(to: &machine) }
    #expect(last == actions)
    #expect(machine.state == state)
  }

  static let a = RunTrigger.change("a")
  static let b = RunTrigger.change("b")
  static let ab = RunTrigger.change("a", "b")
  static let start = RunTrigger(.start)
  static let key = RunTrigger(.key)
  static let again = RunTrigger(.restart)
  static let usr1 = Signal(rawValue: 10)

  static let started = [Input.trigger(start)]
  static let leftBehind = started + [.ended(0, leftovers: true)]
}
