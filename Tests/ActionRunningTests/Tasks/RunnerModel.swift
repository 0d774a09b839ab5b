import FileObservation
import Support
import Synchronization
import SystemCalls
import TestSupport

@testable import ActionRunning

/// A runner of a random graph, with the processes of `RunnerWorld`, and random inputs.
final class RunnerModel {
  /// Answers soon.
  final class Source: ChangeSource {
    let world: RunnerWorld
    init(_ world: RunnerWorld) { self.world = world }
    func flush(then done: @escaping @Sendable () -> Void) { world.later(1, done) }
  }

  let world: RunnerWorld
  let directory: Path
  let source: Source?
  var graph: TaskGraph
  let runner: TaskRunner
  let reports: ReportLog
  /// The number of changes.
  var content = 0
  var isEnding = false
  var isPaused = false
  /// Whether runs were stopped or replaced, so that some promises do not hold.
  var isDisturbed = false

  init(seed: UInt64, in directory: Path) throws {
    let world = RunnerWorld(seed: seed)
    (self.world, self.directory) = (world, directory)
    source = world.random(0..<2) == 0 ? Source(world) : nil
    let tasks = Self.tasks(world, directory)
    graph = try TaskGraph(
      tasks,
      jobs: tasks.contains { $0.policy.keepsAlive && !$0.isService } ? 5 : world.random(1..<4))
    let rules: [CompletionRule] = [.firstRun, .firstFailure, .firstSuccess]
    let rule = world.random(0..<5)
    let options = TaskRunner.Options(completion: rule < rules.count ? rules[rule] : .never)
    let log = ReportLog(world)
    reports = log
    world.state.withLock { [graph] in $0.overlapping = Self.overlapping(graph) }
    for task in tasks where world.random(0..<3) == 0 {
      world.state.withLock { $0.building[task.name] = directory }
    }
    runner = TaskRunner(graph, in: directory, options: options, source: source, output: nil) {
      log.note($0)
    } makeWorld: { _ in
      (world, world, world.scheduler)
    }
    // Sometimes the starts that are free are soon used up.
    if world.random(0..<2) == 0 {
      runner.queue.sync {
        for component in runner.components {
          component.judge.limit = StartLimit(share: 1.0 / 20)
        }
      }
    }
  }

  private static func overlapping(_ graph: TaskGraph) -> Set<String> {
    Set(graph.tasks.filter(\.overlaps).map(\.name))
  }

  static func tasks(_ world: RunnerWorld, _ directory: Path) -> [TaskDefinition] {
    var tasks: [TaskDefinition] = []
    for number in 0..<world.random(1..<5) {
      tasks.append(task(number, tasks, world, directory))
    }
    // As the command line makes it: a command that is kept alive waits for nobody's job.
    if world.random(0..<4) == 0, !tasks[tasks.count - 1].isService {
      tasks[tasks.count - 1].policy.keepsAlive = true
    }
    return tasks
  }

  static func task(
    _ number: Int, _ earlier: [TaskDefinition], _ world: RunnerWorld, _ directory: Path
  ) -> TaskDefinition {
    let name = "t\(number)"
    let isService = world.random(0..<3) == 0
    let hasReadiness = isService && world.random(0..<3) > 0
    let above = earlier.filter { task in
      (!task.isService || task.readiness != nil) && world.random(0..<3) == 0
    }.map(\.name)
    let policies: [BusyPolicy?] = [nil, nil, .queue, .restart, .restart, .ignore, .signal(.hangup)]
    var policy = RunPolicy(
      busyPolicy: policies[world.random(0..<policies.count)],
      stopPlan: StopPlan(timeout: .milliseconds([0, 50, 2000][world.random(0..<3)])))
    if isService && world.random(0..<3) == 0 { policy.busyPolicy = .overlap }
    if world.random(0..<4) == 0 { policy.onSuccess = Command(name, "hook") }
    if world.random(0..<4) == 0 { policy.onFailure = Command(name, "hook") }
    if world.random(0..<4) == 0 { policy.stopCommand = Command(name, "stop") }
    if world.random(0..<4) == 0 { policy.timeout = .milliseconds(world.random(10..<3000)) }
    if world.random(0..<3) == 0 { policy.restartLimit = world.random(0..<3) }
    var ready: TaskDefinition.Readiness?
    if hasReadiness {
      ready = TaskDefinition.Readiness(
        world.random(0..<4) == 0 ? .command(Command(name, "probe")) : .port(UInt16(number)),
        timeout: .milliseconds(world.random(20..<3000)))
    }
    var command = Command(name, "run")
    command.inheritsStandardInput = false
    command.takesTerminal = world.random(0..<4) == 0
    var task = TaskDefinition(
      name, command,
      triggers: TaskTriggers(watched: [
        WatchedPath(directory.appending(name)), WatchedPath(directory.appending("all")),
      ]),
      dependencies: above, isService: isService, readiness: ready, policy: policy,
      isPostponed: world.random(0..<8) == 0)
    task.isManual = world.random(0..<12) == 0
    return task
  }

  // MARK: Steps

  func onQueue(_ body: () -> Void) {
    runner.queue.sync {}
    runner.queue.sync(execute: body)
    // What it has left to do.
    for _ in 0..<3 {
      runner.outdating.sync {}
      runner.queue.sync { checkAlways() }
    }
  }

  func advance(by milliseconds: Int) {
    onQueue { world.scheduler.advance(by: .milliseconds(milliseconds)) }
  }

  func start() {
    world.note(
      "graph \(graph.jobs) jobs: "
        + graph.tasks.map { task in
          "\(task.name)\(task.isService ? " service" : "") after \(task.dependencies) "
            + "\(task.policy.busyPolicy.map { "\($0)" } ?? "default")"
            + (task.policy.keepsAlive ? " alive" : "") + (task.readiness != nil ? " ready" : "")
            + (task.policy.onSuccess != nil ? " onSuccess" : "")
            + (task.policy.onFailure != nil ? " onFailure" : "")
            + (task.policy.stopCommand != nil ? " stopCommand" : "")
            + (task.policy.timeout.map { " timeout \($0)" } ?? "")
            + (task.isPostponed ? " postponed" : "") + (task.isManual ? " manual" : "")
        }.joined(separator: "; ") + "; \(runner.options.completion)")
    runner.start()
    onQueue {}
  }

  func step() {
    switch world.random(0..<60) {
    case 0..<12: change()
    case 12..<28: endOne()
    case 28..<40:
      advance(by: world.random(0..<4) == 0 ? world.random(0..<3000) : world.random(0..<60))
    case 40..<43: leave()
    case 43:
      world.note("key")
      runner.submitKey()
      onQueue {}
    case 44:
      let name = graph.order[world.random(0..<graph.order.count)]
      world.note("key for \(name)")
      runner.submitKey(for: [name])
      onQueue {}
    case 45: fault()
    case 46: fault()
    case 49, 50: useTerminal()
    case 47: disturb()
    case 48: if world.random(0..<10) == 0 { endAll() }
    default: advance(by: world.random(0..<20))
    }
  }

  private func change() {
    content += 1
    let names = world.random(0..<5) == 0 ? ["all"] : ["t\(world.random(0..<graph.tasks.count))"]
    let changes = names.map { name -> ChangeBatch.Change in
      let path = directory.appending(name)
      try? File.write("\(content)", to: path)
      return ChangeBatch.Change(path: path, kind: .modified, type: .file)
    }
    world.note("change \(names)")
    for task in graph.tasks {
      for change in changes where task.triggers.isTriggered(by: change) {
        reports.isOwed(change.path, to: task.name)
      }
    }
    runner.submit(ChangeBatch(number: 1, changes: changes))
    onQueue {}
  }

  private func endOne() {
    let candidates = world.living.filter { $0.process.leaderIsAlive && $0.process.kind != "probe" }
    guard !candidates.isEmpty else { return advance(by: 10) }
    let (number, process) = candidates[world.random(0..<candidates.count)]
    if process.character == .foreign
      || graph[process.task]?.isService == true && world.random(0..<3) > 0
    {
      return advance(by: 10)
    }
    let status: Int32 = world.random(0..<4) == 0 ? 3 : 0
    onQueue { world.end(number, .exited(status), leavingOthers: world.random(0..<8) == 0) }
  }

  /// What a process has left behind ends.
  private func leave() {
    for (number, process) in world.living where !process.leaderIsAlive {
      onQueue { world.endOthers(number) }
    }
  }

  private func fault() {
    let name = "t\(world.random(0..<graph.tasks.count))"
    world.state.withLock { state in
      switch Int.random(in: 0..<6, using: &state.random) {
      case 0: state.failing[name] = ENOENT
      case 1: state.failing[name] = ETXTBSY
      case 2: state.occupied.insert(name)
      default:
        state.failing = [:]
        state.occupied = []
      }
    }
  }

  /// An editor is opened or closed.
  private func useTerminal() {
    let isTaken = world.state.withLock { state in
      if !state.isTerminalTaken { state.isTerminalTaken = true } else { return true }
      return false
    }
    world.note("the terminal is \(isTaken ? "free" : "taken")")
    if isTaken { onQueue { world.freeTerminal() } }
  }

  private func disturb() {
    switch world.random(0..<5) {
    case 0:
      world.note("pause")
      isPaused = true
      runner.pause()
    case 1, 2:
      world.note("resume")
      isPaused = false
      runner.resume()
    case 3:
      world.note("stop")
      isDisturbed = true
      runner.stop()
    default:
      replace()
    }
    onQueue {}
  }

  private func replace() {
    var tasks = graph.tasks
    let number = world.random(0..<tasks.count)
    tasks[number] = Self.task(number, Array(tasks[..<number]), world, directory)
    guard let other = try? TaskGraph(tasks, jobs: graph.jobs) else { return }
    world.note("replace t\(number)")
    isDisturbed = true
    graph = other
    world.state.withLock { $0.overlapping = Self.overlapping(other) }
    runner.replaceGraph(other)
  }

  private func endAll() {
    world.note("end")
    isEnding = true
    runner.end()
    onQueue {}
  }

  // MARK: Checks

  /// What holds after each step, on the queue.
  private func checkAlways() {
    let finite = Set(graph.tasks.filter { !$0.isService }.map(\.name))
    let running = world.living.filter {
      $0.process.kind == "run" && $0.process.leaderIsAlive && !$0.process.isStuck
        && finite.contains($0.process.task)
    }
    if !isDisturbed && Set(running.map(\.process.task)).count > graph.jobs {
      world.complain("more runs than jobs")
    }
    let attempted = Set(runner.machine.tasks.filter(\.value.isAttempted).map(\.key))
    for entry in runner.waiting {
      if case .dependents(let names) = entry.cause, attempted.isSuperset(of: names) {
        world.complain("a run waits for one that cannot be started yet")
      }
    }
  }

  /// Lets everything come to an end, and checks what is left.
  func settle() {
    world.state.withLock { state in
      (state.failing, state.occupied, state.isCalm) = ([:], [], true)
    }
    onQueue { world.freeTerminal() }
    if isPaused {
      isPaused = false
      runner.resume()
      onQueue {}
    }
    for round in 0..<800 {
      let finished = reports.withLock { $0.finished > 0 }
      if finished { break }
      for (number, process) in world.living where process.leaderIsAlive && process.kind != "probe" {
        // What waits for the end of a command that is kept alive would wait for ever.
        let isAwaited = reports.withLock { state in
          state.waiting.contains { entry in
            switch entry.cause {
            case .runs(let names), .dependents(let names), .dependencies(let names):
              names.contains(process.task)
            default: false
            }
          }
        }
        if process.kind == "run" && keepsRunning(process.task) && !isAwaited { continue }
        if process.isStuck && process.isDying { continue }
        onQueue { world.end(number, .exited(0)) }
      }
      advance(by: 100)
      let isDelayed = reports.withLock { state in state.waiting.contains { $0.cause == .delay } }
      if isAtRest && (!isDelayed || round > 300) { break }
    }
    let isEnding = runner.queue.sync { runner.state.access { $0.machine.isEnding } }
    if reports.withLock({ $0.finished }) == 0 && !isEnding { checkRest() }
    endAndCheck()
  }

  private func keepsRunning(_ name: String) -> Bool {
    graph[name].map { $0.isService || $0.policy.keepsAlive } ?? false
  }

  private var isAtRest: Bool {
    runner.queue.sync {
      runner.restlessTasks.isEmpty
        && runner.state.access { state in
          !state.machine.tasks.values.contains {
            $0.phase.isRestarted || $0.isRequested || $0.phase == .starting(isFresh: false)
          }
        }
    }
      && !world.living.contains {
        $0.process.leaderIsAlive && ($0.process.kind != "run" || !keepsRunning($0.process.task))
      }
      && !world.living.contains {
        $0.process.isStuck && $0.process.leaderIsAlive
          && ($0.process.kind != "run" || !keepsRunning($0.process.task))
      }
  }

  private func checkRest() {
    if !isAtRest {
      // One that is stopped for its timeout each time is started again for ever.
      if graph.tasks.contains(where: { keepsRunning($0.name) && $0.policy.timeout != nil }) {
        return
      }
      runner.queue.sync {
        let phases = runner.allWorkers.map { "\($0.name) \($0.phase)" }
        let states = runner.state.access {
          $0.machine.tasks.mapValues { "\($0.phase) \(String(describing: $0.request))" }
        }
        world.note("restless: \(runner.restlessTasks), \(phases), \(states), \(runner.waiting)")
      }
      return world.complain("it never rests")
    }
    let mayRun = graph.tasks.contains { $0.policy.keepsAlive && !$0.isService }
    if !mayRun && reports.withLock({ $0.isInRound }) { world.complain("a round that never ends") }
    let machine = runner.queue.sync { runner.state.access { $0.machine } }
    for task in graph.tasks {
      let key = "\(task.name) command"
      let (result, status, isOpen) = reports.withLock {
        ($0.lastResult[key], $0.lastStatus[key], $0.open[key] ?? 0 > 0)
      }
      let state = machine.state(of: task.name)
      let isLive = world.living.contains {
        $0.process.task == task.name && $0.process.kind == "run" && $0.process.leaderIsAlive
      }
      let isLeft = world.living.contains { $0.process.task == task.name && $0.process.isStuck }
      let isAttempted = task.policy.keepsAlive && !task.isService
      if isOpen != isLive && !isLeft && !isAttempted {
        world.complain("a run that is open, and no process, or the reverse")
      }
      checkDelivery(task, state)
      let count = world.living.count {
        $0.process.task == task.name && $0.process.kind == "run" && $0.process.leaderIsAlive
      }
      // One that is late may still become ready.
      if count > 1 && !isLeft && machine.tasks[task.name]?.phase != .late {
        world.complain("two processes of a service at rest")
      }
      if keepsRunning(task.name) {
        if task.isService && state == .succeeded && !isLive {
          world.complain("a service that is ready without a process")
        }
        if isLive && !isLeft && state == .cancelled {
          world.complain("a service that runs and is cancelled")
        }
        continue
      }
      switch state {
      case .succeeded where result == .stopped || status?.isSuccess != true:
        world.complain("a success that was none")
      case .failed where result == .stopped || status?.isSuccess == true && result != .timedOut:
        world.complain("a failure that was none")
      case .running, nil:
        world.complain("a task that never settles: \(String(describing: state))")
      default: break
      }
    }
  }

  /// Every change was received by a run, or waits, and the hook has run.
  private func checkDelivery(_ task: TaskDefinition, _ state: TaskStateMachine.State?) {
    if isDisturbed || state != .succeeded && state != .failed { return }
    let keepsAlive = graph.tasks.contains { $0.policy.keepsAlive && !$0.isService }
    reports.withLock { log in
      let owed = log.owed[task.name] ?? []
      let waits = log.waiting.contains { $0.name == task.name }
      if !keepsAlive && task.policy.busyPolicy != .ignore && !owed.isEmpty && !waits {
        world.note("owed to \(task.name): \(owed.compactMap(\.name))")
        world.complain("a change that no run has received, and that waits for nothing")
      }
      let key = "\(task.name) command"
      guard !task.isService, let ending = log.lastResult[key], let status = log.lastStatus[key]
      else { return }
      let isSuccess = status.isSuccess && ending == .byItself
      let hook = isSuccess ? task.policy.onSuccess : task.policy.onFailure
      if ending != .stopped && hook != nil && log.hooks[task.name] != log.runs[task.name] {
        world.complain("a run without its hook")
      }
    }
  }

  private func endAndCheck() {
    if reports.withLock({ $0.finished }) == 0 {
      world.note("end")
      if !isEnding { runner.end() }
      onQueue {}
      for _ in 0..<200 where reports.withLock({ $0.finished }) == 0 { advance(by: 100) }
    }
    if reports.withLock({ $0.finished }) != 1 { return world.complain("an end without a finish") }
    if let status = reports.withLock(\.finish) {
      switch runner.options.completion {
      case .firstSuccess where !status.isSuccess: world.complain("no success")
      case .firstFailure where status.isSuccess: world.complain("no failure")
      case .never: world.complain("an end by itself")
      default: break
      }
    }
    let left = world.living.filter { !$0.process.isStuck && $0.process.kind != "probe" }
    if let one = left.first {
      world.complain(
        "a process is left: \(one.process.kind)\(one.process.leaderIsAlive ? "" : "'s others")")
    }
    // What dies does so.
    advance(by: 40_000)
    if let one = world.living.first {
      world.complain("a process is left for ever: \(one.process.kind)")
    }
    if !reports.withLock({ $0.open.values.allSatisfy { $0 == 0 } }) && !isDisturbed {
      world.complain("a run without an end")
    }
    if world.scheduler.pendingCount > 0 { world.complain("a timer is left") }
  }
}

/// What a runner has reported.
final class ReportLog: Sendable {
  struct State {
    var isInRound = false
    var open: [String: Int] = [:]
    var lastStart: [String: Int] = [:]
    var lastResult: [String: TaskReport.Ending] = [:]
    var lastStatus: [String: ExitStatus] = [:]
    /// The changed paths that no run of the task has received since.
    var owed: [String: Set<Path>] = [:]
    /// The numbers of the latest runs, and of those with a hook.
    var runs: [String: Int] = [:]
    var hooks: [String: Int] = [:]
    var finish: ExitStatus?
    var started = 0
    var finished = 0
    var waiting: [TaskRunner.Waiting] = []
    var log: [String] = []
  }

  private let world: RunnerWorld
  private let state = Mutex(State())

  init(_ world: RunnerWorld) { self.world = world }

  func withLock<Result>(_ body: (State) -> Result) -> Result where Result: Sendable {
    state.withLock { body($0) }
  }

  func isOwed(_ path: Path, to task: String) {
    state.withLock { _ = $0.owed[task, default: []].insert(path) }
  }

  func note(_ report: TaskReport) {
    let text = Self.word(report)
    world.note(text)
    state.withLock { state in
      if state.finished > 0 { world.complain("a report after the end: \(text)") }
      switch report {
      case .round(.began):
        if state.isInRound { world.complain("a round in a round") }
        state.isInRound = true
      case .round(.ended):
        if !state.isInRound { world.complain("a round that has not begun") }
        state.isInRound = false
      case .run(let run, .started):
        let key = "\(run.task) \(run.job)"
        if run.job == .command { state.started += 1 }
        let most = world.state.withLock { $0.overlapping.contains(run.task) } ? 2 : 1
        state.open[key, default: 0] += 1
        if state.open[key] ?? 0 > most { world.complain("\(most + 1) \(run.job)s at once") }
        state.lastResult[key] = nil
        if run.job == .command {
          state.owed[run.task]?.subtract(run.trigger.changes.map(\.path))
          // It is started as it was, with the files that there are.
          if run.trigger.reason == .restart { state.owed[run.task] = [] }
          state.runs[run.task] = run.number
        } else {
          state.hooks[run.task] = run.number
        }
      case .task(let name, .signaled(_, let trigger)):
        let isLive = world.living.contains {
          $0.process.task == name && $0.process.kind == "run" && $0.process.leaderIsAlive
            && ($0.process.character == .foreign || !$0.process.isDying)
        }
        if !isLive { world.complain("a signal to nothing") }
        state.owed[name]?.subtract(trigger.changes.map(\.path))
      case .task(_, .ignored(let trigger)):
        // Nor does a dependency of the task begin for them.
        for name in state.owed.keys { state.owed[name]?.subtract(trigger.changes.map(\.path)) }
      case .run(let run, .ended(let status, _, let ending)):
        let key = "\(run.task) \(run.job)"
        if state.open[key] ?? 0 == 0 { world.complain("an end without a start") }
        state.open[key, default: 1] -= 1
        if run.isFormer { return }
        (state.lastResult[key], state.lastStatus[key]) = (ending, status)
      case .run(let run, .notStarted(_, let status)):
        let key = "\(run.task) \(run.job)"
        if state.open[key] ?? 0 == 0 { world.complain("an end without a start") }
        state.open[key, default: 1] -= 1
        (state.lastResult[key], state.lastStatus[key]) = (.byItself, status)
        // What it was to receive is told to the next one.
        state.owed[run.task] = []
      case .task(let name, .conflict):
        state.owed[name] = []
      case .task(_, .rejected(let input)):
        world.complain("rejected: \(input)")
      case .runner(.finished(let status)):
        state.finished += 1
        state.finish = status
      case .runner(.waiting(let waiting)):
        state.waiting = waiting
      default:
        break
      }
    }
  }

  private static func word(_ report: TaskReport) -> String {
    switch report {
    case .round(.began(let trigger)): "round began \(trigger.reason)"
    case .round(.ended(let round)):
      "round ended \(round.entries.map { "\($0.name) \($0.outcome)" })"
    case .run(let run, let event):
      "report \(run.task) \(run.job) \(run.number) \(run.trigger.reason) \(run.trigger.changes.compactMap(\.path.name)) \(event)"
    case .task(let name, let event): "report \(name) \(event)"
    case .runner(.waiting(let all)): "waiting \(all.map { "\($0.name) \($0.cause)" })"
    case .runner(let event): "\(event)"
    case .changes(let event): "\(event)"
    }
  }
}
