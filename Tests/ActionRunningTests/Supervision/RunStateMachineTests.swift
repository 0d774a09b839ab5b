import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

private typealias Action = RunStateMachine.Action
private typealias State = RunStateMachine.State
private typealias Rules = RunStateMachine.Rules

extension RunStateMachine.Rules {
  fileprivate static let hooked = RunStateMachine.Rules(
    hasSuccessHook: true, hasFailureHook: true)
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

  func apply(to machine: inout RunStateMachine) -> [Action] {
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

struct RunStateMachineTests {
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
      "only of the result that it is for", Rules(hasFailureHook: true), after: [.start, .ended(0)],
      gives: [.rest], then: .idle),
    T(
      "and likewise for a failure", Rules(hasSuccessHook: true), after: [.start, .ended(3)],
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
      Rules(hasFailureHook: true, statusAtTimeout: .signaled(.hangup)), after: late + [.gone()],
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
    var machine = RunStateMachine(transition.rules)
    var last: [Action] = []
    for input in transition.inputs { last = input.apply(to: &machine) }
    #expect(last == transition.actions)
    #expect(machine.state == transition.state)
  }

  @Test func `the machine says whether it stops processes or runs the hook`() {
    var machine = RunStateMachine(.hooked)
    _ = machine.start()
    #expect(!machine.isStopping && !machine.isHooking)
    _ = machine.ended(.command, .exited(0))
    #expect(!machine.isStopping && machine.isHooking)
    _ = machine.start()
    #expect(machine.isStopping && !machine.isHooking)
  }
}

// MARK: - Random sequences

/// The machine, and the simplest world around it: a command and a hook that exist or do not. Broken
/// promises are complained of.
private struct RunModel {
  private enum Process: Hashable {
    case none
    case alive
    case leftovers
    /// It is being stopped. The leader may have ended, while the group is not gone.
    case stopping(leaderIsAlive: Bool)
  }

  private(set) var complaints: [String] = []
  private(set) var launches = 0
  private(set) var hooks = 0
  private var machine: RunStateMachine
  private let rules: Rules
  private var random: SeededGenerator
  private var processes: [TaskReport.Job: Process] = [:]
  private var isTimedOut = false
  /// The status of the run that has just ended and was not stopped, until its hook has begun.
  private var result: ExitStatus?
  /// Whether a start has not been followed by a launch.
  private var isWanted = false
  private var isEnding = false
  private var finishes = 0

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    rules = Rules(
      hasSuccessHook: Bool.random(using: &random), hasFailureHook: Bool.random(using: &random))
    machine = RunStateMachine(rules)
  }

  private func process(_ job: TaskReport.Job) -> Process { processes[job] ?? .none }

  private func isStopping(_ job: TaskReport.Job) -> Bool {
    if case .stopping = process(job) { true } else { false }
  }

  private mutating func complain(_ text: String) {
    complaints.append(text)
  }

  // MARK: Actions

  private mutating func perform(_ actions: [Action]) {
    for action in actions { perform(action) }
  }

  private mutating func perform(_ action: Action) {
    switch action {
    case .launch:
      if TaskReport.Job.allCases.contains(where: { process($0) != .none }) {
        complain("a launch before everything is gone")
      }
      if isEnding { complain("a launch after the end") }
      if !isWanted { complain("a launch without a start") }
      (processes[.command], isTimedOut, isWanted) = (.alive, false, false)
      launches += 1
    case .launchHook(let status):
      if process(.hook) != .none { complain("two hooks") }
      if process(.command) != .none && process(.command) != .leftovers {
        complain("a hook beside the command")
      }
      guard let result else { return complain("a hook after a run that was stopped") }
      if result.isSuccess != status.isSuccess { complain("the hook of another result") }
      let isMeant = status.isSuccess ? rules.hasSuccessHook : rules.hasFailureHook
      if !isMeant { complain("a hook that does not exist") }
      processes[.hook] = .alive
      hooks += 1
    case .stop(let job):
      if process(job) == .none || isStopping(job) { complain("a stop of nothing, or a second") }
      processes[job] = .stopping(leaderIsAlive: process(job) == .alive)
    case .timeOut:
      if process(.command) != .alive { complain("a timeout of nothing") }
      (processes[.command], isTimedOut) = (.stopping(leaderIsAlive: true), true)
    case .kill(let job):
      if !isEnding || !isStopping(job) { complain("a kill out of order") }
    case .rest:
      let isAlive = TaskReport.Job.allCases.contains {
        process($0) == .alive || isStopping($0)
      }
      if isAlive || isEnding { complain("a rest too early") }
    case .finish:
      let isLeft = TaskReport.Job.allCases.contains { process($0) != .none }
      if isLeft || !isEnding { complain("a finish too early") }
      finishes += 1
    }
  }

  // MARK: Events

  mutating func step() {
    result = nil
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<6:
      if !isEnding { isWanted = true }
      perform(machine.start())
    case 6, 7:
      // A user's stop takes back a timeout.
      (isWanted, isTimedOut) = (false, false)
      perform(machine.stop())
    case 8, 9: perform(machine.timedOut())
    case 10..<15: end(.command, Bool.random(using: &random) ? 0 : 1)
    case 15..<18: end(.hook, 0)
    case 18..<23: for job in TaskReport.Job.allCases { leave(job) }
    default:
      if Int.random(in: 0..<4, using: &random) == 0 { endAll() }
    }
  }

  private mutating func end(_ job: TaskReport.Job, _ status: Int32) {
    let hasLeftovers = Int.random(in: 0..<3, using: &random) == 0
    switch process(job) {
    case .alive:
      processes[job] = hasLeftovers ? .leftovers : Process.none
      if job == .command { result = .exited(status) }
    case .stopping(leaderIsAlive: true):
      processes[job] = .stopping(leaderIsAlive: false)
    case .none, .leftovers, .stopping(leaderIsAlive: false):
      return
    }
    perform(machine.ended(job, .exited(status), leftovers: hasLeftovers))
  }

  /// The rest of a group is gone.
  private mutating func leave(_ job: TaskReport.Job) {
    guard process(job) == .stopping(leaderIsAlive: false) else { return }
    processes[job] = Process.none
    if job == .command && isTimedOut {
      // A timeout never counts as a success.
      (isTimedOut, result) = (false, .exited(1))
    }
    perform(machine.groupIsGone(job))
  }

  private mutating func endAll() {
    (isEnding, isWanted, isTimedOut) = (true, false, false)
    perform(machine.end())
  }

  /// Lets everything come to its end.
  mutating func settle() {
    for _ in 0..<8 {
      for job in TaskReport.Job.allCases {
        result = nil
        end(job, 0)
        leave(job)
      }
    }
    if isWanted { complain("a start without a launch") }
    endAll()
    for job in TaskReport.Job.allCases { leave(job) }
    if finishes != 1 { complain("\(finishes) finishes") }
  }
}

struct RunStateMachineModelTests {
  @Test func `random sequences keep every promise`() {
    var complaints: [String: UInt64] = [:]
    var (launches, hooks) = (0, 0)
    let count = Effort.count(20_000, quick: 2_000)
    for seed in 1...UInt64(count) {
      var model = RunModel(seed: seed)
      for _ in 0..<40 { model.step() }
      model.settle()
      launches += model.launches
      hooks += model.hooks
      if let complaint = model.complaints.first { complaints[complaint] = seed }
    }
    #expect(complaints.isEmpty)
    #expect(launches > 2 * count)
    #expect(hooks > count / 2)
  }
}
