import FileObservation
import TestSupport

@testable import ActionRunning

/// The machine, and the simplest world around it: processes that run or do not, groups that are there
/// or are not, and the paths that no run has been given yet. What breaks a promise is complained of.
struct QueueModel {
  private enum Process {
    case none
    case alive
    case leftovers
    /// Asked to end; the process may have, while the group has not.
    case stopping(leaderRuns: Bool)
  }

  let rules: Rules
  private(set) var machine: ActionStateMachine
  private(set) var complaints: [String] = []
  private(set) var launches = 0
  private var random: SeededGenerator
  private var jobs: [ActionQueue.Job: Process] = [:]
  private var timers: [(ActionStateMachine.Timer, Int)] = []
  private var isTimedOut = false
  private var isPaused = false
  private var isHeldBack = false
  private var isOver = false
  private var isFinished = false
  private var pathCount = 0

  /// Changes that must cause a run that has not begun.
  private var waiting: Set<Path> = []
  /// Changes that are being built, or are built and must be run.
  private var building: Set<Path> = []
  /// Changes that must cause a run after the pause.
  private var held: Set<Path> = []
  /// Paths that the next run must receive, whatever its reason.
  private var unseen: Set<Path> = []
  /// Changes that caused a run.
  private var given: Set<Path> = []

  init(_ rules: Rules, seed: UInt64) {
    self.rules = rules
    machine = ActionStateMachine(rules)
    random = SeededGenerator(seed: seed)
  }

  private func process(_ job: ActionQueue.Job) -> Process { jobs[job] ?? .none }

  private func isAlive(_ job: ActionQueue.Job) -> Bool {
    switch process(job) {
    case .alive, .stopping(leaderRuns: true): true
    case .none, .leftovers, .stopping(leaderRuns: false): false
    }
  }

  private func isStopping(_ job: ActionQueue.Job) -> Bool {
    if case .stopping = process(job) { true } else { false }
  }

  private func isThere(_ job: ActionQueue.Job) -> Bool {
    if case .none = process(job) { false } else { true }
  }

  /// A run is under way, as far as the policy is concerned.
  private var isRunning: Bool {
    if case .alive = process(.command) { return true }
    return isTimedOut
  }

  private mutating func complain(_ text: String) {
    complaints.append(text)
  }
}

// MARK: - What the machine does

extension QueueModel {
  private mutating func perform(_ actions: [ActionStateMachine.Action]) {
    for action in actions { perform(action) }
  }

  private mutating func perform(_ action: ActionStateMachine.Action) {
    switch action {
    case .launch(let job, let trigger): launch(job, trigger)
    case .launchHook: launchHook()
    case .stop(let job):
      if !isThere(job) || isStopping(job) { complain("a stop of nothing, or a second") }
      // An interrupted build must be repeated.
      if job == .build && isAlive(.build) { giveBack() }
      jobs[job] = .stopping(leaderRuns: isAlive(job))
    case .timeOut:
      if !isRunning || isStopping(.command) { complain("a timeout of nothing") }
      jobs[.command] = .stopping(leaderRuns: true)
      isTimedOut = true
    case .kill(let job):
      if !isOver || !isStopping(job) { complain("a kill out of order") }
    case .signal(_, let trigger):
      if !isRunning || isTimedOut { complain("a signal to nothing") }
      tell(trigger)
    case .wait(let timer, let generation):
      timers.append((timer, generation))
    case .finish:
      if ActionQueue.Job.allCases.contains(where: isThere) || isFinished {
        complain("a finish too early")
      }
      if !isOver { complain("a finish out of order") }
      isFinished = true
    }
  }

  private mutating func giveBack() {
    waiting.formUnion(building)
    building = []
  }

  private mutating func launch(_ job: ActionQueue.Job, _ trigger: RunTrigger) {
    let paths = Set(trigger.changes.map(\.path))
    if isThere(job) { complain("two at once") }
    if isThere(.hook) && isAlive(.hook) { complain("beside a hook") }
    if isOver { complain("a run after the end") }
    let isFirst = job == .build || !rules.hasBuild || trigger.reason == .restart
    if isFirst { begin(trigger, paths) }
    if job == .build {
      let isBeside = isAlive(.command) && !isStopping(.command)
      if isBeside && !rules.buildsBeside { complain("a build beside the command") }
      building = paths
    } else {
      if isAlive(.build) { complain("a run beside the build") }
      if !isFirst && paths != building { complain("a run of something else than was built") }
      tell(trigger)
      isTimedOut = false
      launches += 1
    }
    jobs[job] = .alive
  }

  private mutating func begin(_ trigger: RunTrigger, _ paths: Set<Path>) {
    if !waiting.isSubset(of: paths) { complain("a lost path") }
    if !given.isDisjoint(with: paths) { complain("reported twice") }
    if trigger.reason != .restart {
      if !unseen.isSubset(of: paths) { complain("a path that was never reported") }
      if paths.subtracting(unseen).isEmpty && trigger.reason == .change { complain("an extra run") }
      unseen = []
    }
    waiting = []
  }

  private mutating func launchHook() {
    if isThere(.hook) { complain("two hooks") }
    if isAlive(.command) || isAlive(.build) && !isStopping(.build) { complain("a hook beside") }
    jobs[.hook] = .alive
  }

  /// A run, or a signal, has made up for these.
  private mutating func tell(_ trigger: RunTrigger) {
    let paths = Set(trigger.changes.map(\.path))
    given.formUnion(paths)
    building.subtract(paths)
    waiting.subtract(paths)
  }
}

// MARK: - What happens to it

extension QueueModel {
  mutating func step() {
    switch Int.random(in: 0..<40, using: &random) {
    case 0..<13: change()
    case 13..<16: key()
    case 16..<22: end(.command)
    case 22..<26: end(.build)
    case 26..<28: end(.hook)
    case 28..<32: for job in ActionQueue.Job.allCases { groupGoes(job) }
    case 32..<35: timers.randomElement(using: &random).map { elapse($0) }
    case 35, 36: isPaused ? resume() : pause()
    case 37: stop()
    case 38: Bool.random(using: &random) ? pause() : resume()
    default:
      if Int.random(in: 0..<6, using: &random) == 0 { endAll() }
    }
  }

  private mutating func change() {
    pathCount += 1
    let path = Path("f\(pathCount)")
    let trigger = RunTrigger.change(path)
    let isIgnored = rules.policy == .ignore && (isRunning || isAlive(.hook) && !isStopping(.hook))
    if !isOver && !isIgnored {
      if isPaused { held.insert(path) } else { waiting.insert(path) }
    }
    perform(machine.triggered(trigger))
  }

  private mutating func key() {
    if !isOver {
      waiting.formUnion(held)
      held = []
      isHeldBack = false
    }
    perform(machine.triggered(RunTrigger(.key)))
  }

  private mutating func end(_ job: ActionQueue.Job) {
    let status: Int32 = Int.random(in: 0..<3, using: &random) == 0 ? 1 : 0
    end(job, status, leftovers: Int.random(in: 0..<3, using: &random) == 0)
  }

  private mutating func end(_ job: ActionQueue.Job, _ status: Int32, leftovers: Bool) {
    switch process(job) {
    case .alive:
      jobs[job] = leftovers ? .leftovers : Process.none
      if job == .command { runIsOver(.exited(status)) }
      if job == .build { buildIsOver(.exited(status)) }
    case .stopping(leaderRuns: true):
      jobs[job] = .stopping(leaderRuns: false)
    case .none, .leftovers, .stopping(leaderRuns: false):
      return
    }
    perform(machine.ended(job, .exited(status), leftovers: leftovers))
  }

  private mutating func runIsOver(_ status: ExitStatus) {
    if rules.completion.isReached(by: status) { isOver = true }
  }

  private mutating func buildIsOver(_ status: ExitStatus) {
    if !status.isSuccess {
      unseen.formUnion(building)
      building = []
      if !isRunning && rules.completion.isReached(by: status) { isOver = true }
    } else if isHeldBack {
      held.formUnion(building)
      building = []
    }
  }

  private mutating func groupGoes(_ job: ActionQueue.Job) {
    guard case .stopping(leaderRuns: false) = process(job) else { return }
    jobs[job] = Process.none
    if job == .command && isTimedOut {
      isTimedOut = false
      // Whatever it said, it has failed.
      if !isOver { runIsOver(.exited(1)) }
    }
    perform(machine.groupIsGone(job))
  }

  private mutating func elapse(_ timer: (ActionStateMachine.Timer, Int)) {
    // Also in vain: a timer is not taken back.
    perform(machine.elapsed(timer.0, generation: timer.1))
  }

  private mutating func pause() {
    if isPaused || isOver { return }
    isPaused = true
    held.formUnion(waiting)
    waiting = []
    if isAlive(.build) && !isStopping(.build) {
      isHeldBack = true
    } else {
      held.formUnion(building)
      building = []
    }
    perform(machine.pause())
  }

  private mutating func resume() {
    if isOver { return }
    isPaused = false
    isHeldBack = false
    waiting.formUnion(held)
    held = []
    perform(machine.resume())
  }

  private mutating func stop() {
    if !isOver {
      unseen.formUnion(waiting)
      unseen.formUnion(building)
      (waiting, building, isTimedOut) = ([], [], false)
    }
    perform(machine.stopCommand())
  }

  private mutating func endAll() {
    isOver = true
    perform(machine.end())
  }

  /// Lets everything come to its end, until nothing is left to do.
  mutating func settle() {
    resume()
    for _ in 0..<12 {
      for job in ActionQueue.Job.allCases {
        end(job, 0, leftovers: false)
        groupGoes(job)
      }
      for timer in timers where timer.0 != .timeout { elapse(timer) }
      timers = []
    }
    if isOver {
      if !isFinished { complain("an end without a finish") }
    } else if !waiting.union(building).union(held).isEmpty {
      complain("a change that led to nothing")
    }
  }

  /// While a run is under way, some changes; how many runs they lead to.
  mutating func runsAfterManyChanges() -> Int? {
    settle()
    if isOver { return nil }
    perform(machine.triggered(RunTrigger(.key)))
    guard isAlive(.command) else { return nil }
    let before = launches
    for _ in 0..<Int.random(in: 1...5, using: &random) { change() }
    settle()
    return launches - before
  }
}
