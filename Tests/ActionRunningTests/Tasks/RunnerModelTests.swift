import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// The whole runner with random graphs, faults of the kernel, and all that people do; the same ones each time.
struct RunnerModelTests {
  @Test(arguments: 0..<4)
  func `random graphs and faults keep every promise`(part: Int) throws {
    let directory = try TemporaryDirectory()
    let first = environmentVariable("WATCHRUN_SEED").flatMap { UInt64($0) }
    let count =
      environmentVariable("WATCHRUN_SEEDS").flatMap { Int($0) } ?? Effort.count(500, quick: 25)
    var complaints: [String: UInt64] = [:]
    var starts = 0
    let seeds = first.map { $0...$0 } ?? UInt64(part * count + 1)...UInt64((part + 1) * count)
    for seed in seeds {
      let model = try RunnerModel(seed: seed, in: directory.path)
      model.start()
      for _ in 0..<60 { model.step() }
      model.settle()
      starts += model.reports.withLock(\.started)
      let found = model.world.state.withLock(\.complaints)
      for complaint in found.prefix(1) where complaints.count < 12 {
        complaints[complaint] = complaints[complaint] ?? seed
      }
      if first != nil {
        for line in model.world.state.withLock(\.story) { print(line) }
        print(found)
      }
    }
    #expect(complaints.isEmpty)
    #expect(first != nil || starts > 2 * count)
  }
}

/// Single traces of the runner, in virtual time.
struct RunnerTraceTests {
  let world = RunnerWorld(seed: 1)
  let log: Log<TaskReport>

  init() {
    log = Log()
    world.state.withLock { $0.isCalm = true }
  }

  func runner(
    jobs: Int = 4, completion: CompletionRule = .never, _ tasks: TaskDefinition...
  ) -> TaskRunner {
    TaskRunner(
      TaskGraph(valid: tasks, jobs: jobs), options: .init(completion: completion), source: nil,
      output: nil
    ) { [log] in
      log.note($0)
    } makeWorld: { [world] _ in
      (world, world, world.scheduler)
    }
  }

  func task(
    _ name: String, service: Bool = false, _ change: (inout TaskDefinition) -> Void = { _ in }
  ) -> TaskDefinition {
    var task = TaskDefinition(name, Command(name, "run"), isService: service)
    change(&task)
    return task
  }

  func finish(_ number: Int, _ status: Int32 = 0, of runner: TaskRunner) {
    runner.queue.sync { world.end(number, .exited(status)) }
  }

  func advance(_ runner: TaskRunner, by duration: Duration) {
    // Each step may lead to another one.
    for _ in 0..<4 { runner.queue.sync {} }
    runner.queue.sync { world.scheduler.advance(by: duration) }
    for _ in 0..<4 { runner.queue.sync {} }
  }

  func end(_ runner: TaskRunner) {
    runner.end()
    advance(runner, by: .seconds(1))
  }

  var runs: [TaskReport.Run] {
    log.entries.compactMap { if case .run(let run, .started) = $0 { run } else { nil } }
  }

  @Test func `a request for the terminal that is dropped gives it to no later run`() {
    let runner = runner(jobs: 1, task("a"), task("b") { $0.isManual = true })
    runner.start()
    runner.submitKey(forTerminalOf: "b")
    runner.stop()
    advance(runner, by: .seconds(1))
    runner.submitKey(for: ["b"])
    advance(runner, by: .zero)
    #expect(runs.map(\.task) == ["a", "b"])
    #expect(runs.last?.takesTerminal == false)
    runner.submitKey(forTerminalOf: "b")
    finish(1, of: runner)
    #expect(runs.count == 3 && runs.last?.takesTerminal == true)
    end(runner)
  }

  @Test func `a service whose timeout is over when it is restarted has not ended by itself`() {
    let service = task("s", service: true) { task in
      (task.policy.timeout, task.policy.onFailure) = (.seconds(5), Command("s", "hook"))
      task.policy.stopPlan.timeout = .milliseconds(100)
    }
    let runner = runner(service)
    runner.start()
    advance(runner, by: .seconds(4))
    world.state.withLock { $0.processes[0].character = .deaf }
    advance(runner, by: .seconds(1))
    runner.submitKey()
    advance(runner, by: .seconds(1))
    #expect(world.living.map(\.process.kind) == ["hook"])
    finish(1, of: runner)
    #expect(world.living.map(\.process.kind) == ["run"])
    #expect(runner.queue.sync { runner.isUp("s") })
    end(runner)
  }

  @Test func `what a run receives is told to the next one if its program cannot be started yet`() {
    let service = task("s", service: true) { task in
      task.policy.busyPolicy = .signal(.hangup)
      task.triggers = .all
    }
    let runner = runner(service)
    world.state.withLock { $0.failing["s"] = ETXTBSY }
    runner.start()
    advance(runner, by: .milliseconds(1))
    runner.submit(
      ChangeBatch(number: 1, changes: [.init(path: "/f", kind: .modified, type: .file)]))
    advance(runner, by: .zero)
    world.state.withLock { $0.failing = [:] }
    // It is tried again.
    advance(runner, by: .seconds(1))
    #expect(runs.map { $0.trigger.changes.map(\.path) } == [[], ["/f"]])
    #expect(world.living.count == 1)
    end(runner)
  }

  /// A service whose next process starts beside the first one.
  private func overlapping(
    _ condition: TaskDefinition.Readiness.Condition? = nil, completion: CompletionRule = .never
  ) -> TaskRunner {
    let service = task("t1", service: true) { task in
      task.policy.keepsAlive = completion == .never
      (task.policy.busyPolicy, task.triggers) = (.overlap, .all)
      task.readiness = condition.map { TaskDefinition.Readiness($0) }
    }
    world.state.withLock { $0.overlapping = ["t1"] }
    let runner = runner(completion: completion, service)
    runner.start()
    waits(runner, 2)
    submit("/f", to: runner)
    return runner
  }

  func waits(_ runner: TaskRunner, _ seconds: Double) {
    for _ in 0..<Int(seconds * 20) { advance(runner, by: .milliseconds(50)) }
  }

  @Test(arguments: [nil, .port(1)] as [TaskDefinition.Readiness.Condition?])
  func `a process without a check that two can pass has a second to fail`(
    condition: TaskDefinition.Readiness.Condition?
  ) {
    let runner = overlapping(condition)
    waits(runner, 0.9)
    #expect(world.living.count == 2)
    finish(1, 3, of: runner)
    waits(runner, 20)
    #expect(world.living.map(\.number) == [0])
    #expect(runner.queue.sync { runner.state.access { $0.machine.state(of: "t1") } } == .failed)
    #expect(runner.queue.sync { runner.restlessTasks.isEmpty })
    submit("/g", to: runner)
    waits(runner, 0.9)
    #expect(world.living.map(\.number) == [0, 2])
    waits(runner, 1)
    #expect(world.living.map(\.number) == [2])
    #expect(runs.map(\.number) == [1, 2, 3])
    #expect(runner.queue.sync { runner.state.access { $0.machine.state(of: "t1") } } == .succeeded)
    end(runner)
    #expect(world.living.isEmpty)
  }

  @Test func `a former process whose successor has failed ends as that of the task`() {
    let runner = overlapping()
    waits(runner, 0.1)
    finish(1, 3, of: runner)
    finish(0, 4, of: runner)
    let ends = log.entries.compactMap { report in
      if case .run(let run, .ended(let status, _, _)) = report {
        (run.isFormer, status)
      } else {
        nil
      }
    }
    #expect(ends.map(\.0) == [false, false])
    #expect(ends.map(\.1) == [.exited(3), .exited(4)])
    end(runner)
  }

  @Test(
    arguments: [(.firstSuccess, [3, 0], 0), (.firstFailure, [0, 3], 3)]
      as [(CompletionRule, [Int32], Int32)])
  func `the end of a former process whose successor has failed is that of the task`(
    completion: CompletionRule, ends: [Int32], status: Int32
  ) {
    let runner = overlapping(completion: completion)
    waits(runner, 0.1)
    finish(1, ends[0], of: runner)
    waits(runner, 2)
    #expect(finish == nil)
    finish(0, ends[1], of: runner)
    waits(runner, 1)
    #expect(finish == .some(.exited(status)))
  }

  private var finish: ExitStatus?? {
    log.entries.lazy.compactMap {
      if case .runner(.finished(let status)) = $0 { .some(status) } else { nil }
    }.first
  }

  @Test(arguments: [nil, 0])
  func `the end of a service that is kept alive is no success`(limit: Int?) {
    let runner = runner(
      completion: .firstRun, task("s", service: true) { $0.policy.restartLimit = limit })
    runner.start()
    waits(runner, 0.1)
    finish(0, of: runner)
    waits(runner, 1)
    #expect(finish == .some(.exited(1)))
  }

  @Test func `a process takes the place of the former one when its output says that it is ready`() {
    let runner = overlapping(.line("up"))
    waits(runner, 10)
    // The first one is not ready either, so that the second one has replaced it.
    #expect(world.living.map(\.number) == [1])
    end(runner)
  }

  @Test func `both processes of a service receive a signal, and end with it`() {
    let runner = overlapping()
    waits(runner, 0.1)
    runner.send(.hangup, to: "t1")
    waits(runner, 0.1)
    let signals = world.state.withLock(\.story).filter { $0.hasSuffix("receives \(Signal.hangup)") }
    #expect(signals.count == 2)
    runner.end()
    waits(runner, 1)
    #expect(world.living.isEmpty && world.state.withLock(\.complaints).isEmpty)
  }

  @Test(arguments: [BusyPolicy.queue, .restart])
  func `a request for a task awaits its dependency that runs`(_ policy: BusyPolicy) {
    let below = task("b") { ($0.dependencies, $0.isPostponed) = (["a"], true) }
    let runner = runner(task("a") { $0.policy.busyPolicy = policy }, below)
    runner.start()
    advance(runner, by: .zero)
    runner.submitKey(for: ["b"])
    advance(runner, by: .seconds(1))
    finish(0, of: runner)
    #expect(runs.map(\.task) == ["a", "b"])
    end(runner)
  }

  @Test func `a request for a task requests its dependency that runs and has changed in a pause`() {
    let below = task("b") { ($0.dependencies, $0.isPostponed) = (["a"], true) }
    let runner = runner(task("a") { $0.triggers = .all }, below)
    runner.start()
    runner.pause()
    submit("/f", to: runner)
    finish(0, of: runner)
    runner.submitKey(for: ["b"])
    advance(runner, by: .seconds(1))
    finish(1, of: runner)
    #expect(runs.map(\.task) == ["a", "a", "b"])
    end(runner)
  }

  func submit(_ path: Path, to runner: TaskRunner) {
    runner.submit(
      ChangeBatch(number: 1, changes: [.init(path: path, kind: .modified, type: .file)]))
    advance(runner, by: .zero)
  }

  @Test(arguments: [true, false])
  func `a signal to a service that is stopped for its timeout, or has ended, is late`(
    isTimingOut: Bool
  ) {
    let service = task("s", service: true) { task in
      (task.triggers, task.policy.busyPolicy) = (.all, .signal(.hangup))
      if isTimingOut { task.policy.timeout = .seconds(5) }
    }
    let runner = runner(service)
    runner.start()
    advance(runner, by: .seconds(4))
    world.state.withLock { state in
      state.processes[0].character = .deaf
      state.processes[0].isZombie = !isTimingOut
    }
    advance(runner, by: .seconds(1))
    submit("/f", to: runner)
    finish(0, 1, of: runner)
    advance(runner, by: .zero)
    #expect(runs.map { $0.trigger.changes.map(\.path) } == [[], ["/f"]])
    #expect(!log.entries.contains { if case .task(_, .signaled) = $0 { true } else { false } })
    #expect(world.living.count == 1 && runner.queue.sync { runner.isUp("s") })
    end(runner)
  }

  @Test func `a service that is ready and is stopped for its timeout becomes ready again`() {
    let service = task("t7", service: true) { task in
      (task.triggers, task.policy.busyPolicy) = (.all, .signal(.hangup))
      task.policy.timeout = .seconds(5)
      task.readiness = TaskDefinition.Readiness(.port(7), timeout: .seconds(60))
    }
    let runner = runner(service, task("b") { $0.dependencies = ["t7"] })
    runner.start()
    for _ in 0..<80 { advance(runner, by: .milliseconds(50)) }
    finish(1, of: runner)
    world.state.withLock { $0.processes[0].character = .deaf }
    advance(runner, by: .seconds(2))
    submit("/f", to: runner)
    finish(0, 1, of: runner)
    for _ in 0..<80 { advance(runner, by: .milliseconds(50)) }
    #expect(runs.filter { $0.task == "t7" }.last?.trigger.changes.map(\.path) == ["/f"])
    #expect(runs.last?.task == "b")
    #expect(runner.queue.sync { runner.isUp("t7") })
    end(runner)
  }

  @Test func `nothing is started after the runner has decided to end`() {
    let runner = runner(
      completion: .firstFailure, task("a", service: true) { $0.policy.busyPolicy = .restart },
      task("b"))
    world.state.withLock { $0.failing["a"] = ENOENT }
    runner.start()
    advance(runner, by: .seconds(1))
    #expect(runs.map(\.task) == ["a"])
    #expect(world.living.isEmpty)
  }

  @Test func `a round that only skips ends idle as well`() {
    let runner = runner(
      task("a") { $0.triggers = TaskTriggers(watched: [WatchedPath("/a")]) },
      task("b") { task in
        (task.dependencies, task.triggers) = (["a"], TaskTriggers(watched: [WatchedPath("/b")]))
      })
    runner.start()
    advance(runner, by: .zero)
    finish(0, 1, of: runner)
    advance(runner, by: .seconds(60))
    submit("/b", to: runner)
    advance(runner, by: .seconds(60))
    let skips = log.entries.count { if case .task("b", .skipped) = $0 { true } else { false } }
    let ends = log.entries.count { if case .runner(.idle) = $0 { true } else { false } }
    #expect(skips == 2 && ends == 2)
    end(runner)
  }
}
