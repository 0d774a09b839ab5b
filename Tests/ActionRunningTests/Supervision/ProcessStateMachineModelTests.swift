import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

private typealias Action = ProcessStateMachine.Action
private typealias Rules = RunPolicy

/// The machine, and the simplest world around it: a command and a hook that exist or do not. Broken
/// promises are complained of.
private struct RunModel {
  private enum Process: Hashable {
    case none
    case alive
    case leftovers
    /// It is being stopped. The leader may have ended, while the group is not gone.
    case stopping(leaderIsAlive: Bool)
    /// It cannot be stopped, and lives on.
    case stuck
  }

  private(set) var complaints: [String] = []
  private(set) var launches = 0
  private(set) var hooks = 0
  private var machine: ProcessStateMachine
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
    rules = .withHooks(
      onSuccess: Bool.random(using: &random), onFailure: Bool.random(using: &random))
    machine = ProcessStateMachine(rules)
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
      if ![.none, .leftovers, .stuck].contains(process(.command)) {
        complain("a hook beside the command")
      }
      guard let result else { return complain("a hook after a run that was stopped") }
      if result.isSuccess != status.isSuccess { complain("the hook of another result") }
      let isMeant = (status.isSuccess ? rules.onSuccess : rules.onFailure) != nil
      if !isMeant { complain("a hook that does not exist") }
      processes[.hook] = .alive
      hooks += 1
    case .stop(let job):
      if process(job) == .none || isStopping(job) { complain("a stop of nothing, or a second") }
      processes[job] = .stopping(leaderIsAlive: process(job) == .alive)
    case .timeOut:
      if process(.command) != .alive { complain("a timeout of nothing") }
      (processes[.command], isTimedOut) = (.stopping(leaderIsAlive: true), true)
    case .awaitEnd(let job):
      if process(job) != .stuck || !isWanted { complain("a wait for nothing") }
    case .leave(let job):
      if process(job) != .stuck { complain("a process is left that is not stuck") }
    case .kill(let job):
      if !isEnding || !isStopping(job) { complain("a kill out of order") }
    case .rest:
      let isAlive = TaskReport.Job.allCases.contains {
        process($0) == .alive || isStopping($0)
      }
      if isAlive || isEnding { complain("a rest too early") }
    case .finish:
      let isLeft = TaskReport.Job.allCases.contains { ![.none, .stuck].contains(process($0)) }
      if isLeft || !isEnding { complain("a finish too early") }
      finishes += 1
    }
  }

  // MARK: Events

  mutating func step() {
    result = nil
    switch Int.random(in: 0..<27, using: &random) {
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
    case 24: for job in TaskReport.Job.allCases { resist(job) }
    case 25, 26: for job in TaskReport.Job.allCases { vanish(job) }
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
    case .none, .leftovers, .stuck, .stopping(leaderIsAlive: false):
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

  /// A group turns out to be one that cannot be stopped.
  private mutating func resist(_ job: TaskReport.Job) {
    guard isStopping(job) else { return }
    processes[job] = .stuck
    if job == .command && isTimedOut { (isTimedOut, result) = (false, .exited(1)) }
    perform(machine.notStopped(job))
  }

  /// A group that could not be stopped has ended at last.
  private mutating func vanish(_ job: TaskReport.Job) {
    guard process(job) == .stuck else { return }
    processes[job] = Process.none
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
        vanish(job)
      }
    }
    if isWanted { complain("a start without a launch") }
    endAll()
    for job in TaskReport.Job.allCases { leave(job) }
    if finishes != 1 { complain("\(finishes) finishes") }
  }
}

struct ProcessStateMachineModelTests {
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
