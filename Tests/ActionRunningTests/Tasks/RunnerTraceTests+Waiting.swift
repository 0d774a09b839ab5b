import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

// Runs that wait: for the terminal, for a new graph, or for what a build has written.

extension RunnerTraceTests {
  private static let policies: [BusyPolicy?] = [nil, .queue, .ignore, .restart, .signal(.hangup)]

  private func watching(_ path: Path, _ task: TaskDefinition) -> TaskDefinition {
    var task = task
    task.triggers = TaskTriggers(watched: [WatchedPath(path)])
    return task
  }

  private func interactive(_ name: String, _ policy: BusyPolicy?, service: Bool = false)
    -> TaskDefinition
  {
    watching(
      "/b",
      task(name, service: service) { task in
        (task.policy.busyPolicy, task.command.takesTerminal) = (policy, true)
      })
  }

  private func take(_ isTaken: Bool, of runner: TaskRunner) {
    if isTaken { return world.state.withLock { $0.isTerminalTaken = true } }
    runner.queue.sync { world.freeTerminal() }
    advance(runner, by: .zero)
  }

  // MARK: The terminal

  @Test(arguments: policies)
  func `a run that waits for the terminal keeps no dependency from running`(_ policy: BusyPolicy?) {
    var below = interactive("b", policy)
    below.dependencies = ["a"]
    let runner = runner(watching("/a", task("a")), below)
    take(true, of: runner)
    runner.start()
    advance(runner, by: .zero)
    for number in 0..<4 {
      finish(number, of: runner)
      advance(runner, by: .seconds(1000))
      submit("/a", to: runner)
    }
    finish(4, of: runner)
    take(false, of: runner)
    #expect(runs.map(\.task) == Array(repeating: "a", count: 5) + ["b"])
    #expect(world.living.map(\.process.task) == ["b"])
    finish(5, of: runner)
    advance(runner, by: .seconds(1))
    #expect(runs.count == 6)
    end(runner)
  }

  @Test(arguments: policies, [false, true])
  func `a run that waits for the terminal holds no job, and receives what changes meanwhile`(
    _ policy: BusyPolicy?, isService: Bool
  ) {
    let runner = runner(
      jobs: 1, interactive("b", policy, service: isService), watching("/c", task("c")))
    take(true, of: runner)
    runner.start()
    advance(runner, by: .zero)
    finish(0, of: runner)
    submit("/b", to: runner)
    submit("/c", to: runner)
    #expect(runs.map(\.task) == ["c", "c"])
    take(false, of: runner)
    // Then it waits for a job, unless it is a service.
    #expect(runs.map(\.task) == ["c", "c"] + (isService ? ["b"] : []))
    finish(1, of: runner)
    advance(runner, by: .zero)
    #expect(runs.map(\.task) == ["c", "c", "b"])
    #expect(runs.last?.trigger.changes.map(\.path) == ["/b"])
    if !isService { finish(2, of: runner) }
    advance(runner, by: .seconds(1))
    #expect(runs.count == 3)
    #expect(!log.entries.contains { if case .task(_, .ignored) = $0 { true } else { false } })
    end(runner)
  }

  @Test func `a run that was given the terminal by key waits for it, unless it is stopped`() {
    let runner = runner(task("a") { $0.isManual = true })
    take(true, of: runner)
    for isStopped in [true, false] {
      runner.submitKey(forTerminalOf: "a")
      advance(runner, by: .seconds(1))
      if isStopped { runner.stop() }
    }
    #expect(runs.isEmpty)
    take(false, of: runner)
    #expect(runs.map(\.takesTerminal) == [true])
    finish(0, of: runner)
    runner.submitKey(for: ["a"])
    advance(runner, by: .zero)
    #expect(runs.map(\.takesTerminal) == [true, false])
    end(runner)
  }

  @Test(arguments: [false, true])
  func `what is started again waits for the terminal, and goes on as it was`(isService: Bool) {
    var task = interactive("b", nil, service: isService)
    task.policy.keepsAlive = true
    let runner = runner(jobs: 1, task)
    runner.start()
    advance(runner, by: .seconds(20))
    take(true, of: runner)
    finish(0, 1, of: runner)
    waits(runner, 2)
    #expect(runs.count == 1)
    take(false, of: runner)
    #expect(runs.map(\.trigger.reason) == [.start, .restart])
    finish(1, 1, of: runner)
    take(true, of: runner)
    waits(runner, 2)
    runner.stop()
    take(false, of: runner)
    waits(runner, 20)
    #expect(runs.count == 2)
    end(runner)
  }

  /// The pauses grow, whatever it writes before it fails.
  @Test func `what a crash has written does not begin the pauses anew`() throws {
    let directory = try TemporaryDirectory()
    let runner = runner(
      task("a") { ($0.triggers, $0.policy.keepsAlive) = (.all, true) })
    runner.start()
    var ended = 0
    for time in 0..<600 {
      if runs.count > ended {
        try directory.write("\(time)", to: "log")
        submit(directory["log"], to: runner)
        ended = runs.count
        finish(ended - 1, 1, of: runner)
      }
      advance(runner, by: .milliseconds(100))
    }
    #expect(runs.count <= 26)
    end(runner)
  }

  // MARK: Another graph

  @Test func `a task that has changed receives what it was owed with its first run`() {
    let a = watching("/a", task("a") { $0.dependencies = ["d"] })
    let d = watching("/d", task("d"))
    let runner = runner(d, a)
    runner.start()
    advance(runner, by: .zero)
    for number in 0..<2 { finish(number, of: runner) }
    submit("/d", to: runner)
    submit("/a", to: runner)
    #expect(runs.map(\.task) == ["d", "a", "d"])
    runner.replaceGraph(TaskGraph(valid: [d, watching("/a", task("a"))], jobs: 4))
    advance(runner, by: .zero)
    for number in 2..<4 { finish(number, of: runner) }
    advance(runner, by: .seconds(1000))
    #expect(runs.map(\.task) == ["d", "a", "d", "a"])
    #expect(runs.last?.trigger.changes.map(\.path) == ["/a"])
    end(runner)
  }

  @Test func `a postponed task that has changed receives what its former run had received`() {
    let a = watching("/a", task("a") { $0.isPostponed = true })
    let runner = runner(a)
    runner.start()
    submit("/a", to: runner)
    #expect(runs.map(\.task) == ["a"])
    var changed = a
    changed.command.words.append(Array("x".utf8))
    runner.replaceGraph(TaskGraph(valid: [changed], jobs: 4))
    advance(runner, by: .seconds(20))
    #expect(runs.map(\.task) == ["a", "a"])
    #expect(runs.last?.trigger.changes.map(\.path) == ["/a"])
    end(runner)
  }

  @Test func `what a task is owed that is kept beside one that has changed still runs it`() {
    let a = watching("/a", task("a"))
    let b = task("b") { $0.dependencies = ["a"] }
    let runner = runner(a, b)
    runner.start()
    advance(runner, by: .zero)
    finish(0, of: runner)
    // It is judged when b has ended.
    submit("/a", to: runner)
    var changed = b
    changed.command.words.append(Array("x".utf8))
    runner.replaceGraph(TaskGraph(valid: [a, changed], jobs: 4))
    advance(runner, by: .seconds(1))
    #expect(runs.map(\.task) == ["a", "b", "a"])
    #expect(runs.last?.trigger.changes.map(\.path) == ["/a"])
    finish(2, of: runner)
    advance(runner, by: .seconds(1))
    #expect(runs.map(\.task) == ["a", "b", "a", "b"])
    end(runner)
  }

  // MARK: Builds

  /// The files that people have saved in runs of `make`, and that its next run is told of.
  private func saves(in runner: TaskRunner, by name: String = "make") -> [String] {
    runner.queue.sync {
      let saves = runner.state.access { $0.buildSearch.builders[name]?.saves ?? [:] }
      return saves.keys.compactMap(\.name).sorted()
    }
  }

  private func saveInBuild(_ directory: TemporaryDirectory, _ name: String, to runner: TaskRunner)
    throws
  {
    try directory.write(to: name)
    runner.queue.sync {
      guard let component = runner.component(of: "make") else { return }
      runner.noteSaves([directory[name]], in: component, isBuilding: true)
    }
  }

  /// Ends a process in an earlier tick of the clock that stamps files.
  private func finishEarlier(_ number: Int, of runner: TaskRunner) async {
    finish(number, of: runner)
    advance(runner, by: .milliseconds(1))
    #expect(await clockTicks())
  }

  @Test func `a save in one of two builds counts once, for the first one that begins then`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let make = task("make") { $0.command.directory = directory.path }
    let test = task("test") { task in
      (task.command, task.dependencies) = (Command("test", "run", "make"), ["make"])
      task.command.directory = directory.path
    }
    let runner = runner(make, test)
    runner.start()
    advance(runner, by: .zero)
    await finishEarlier(0, of: runner)
    await finishEarlier(1, of: runner)
    runner.submitKey(for: ["make"])
    advance(runner, by: .zero)
    try saveInBuild(directory, "a.c", to: runner)
    #expect(saves(in: runner) == ["a.c"])
    #expect(saves(in: runner, by: "test") == [])
    // The next one takes what was made before the save for up to date as well.
    await finishEarlier(2, of: runner)
    #expect(await eventually { world.living.map(\.process.task) == ["test"] })
    #expect(saves(in: runner) == [])
    try saveInBuild(directory, "b.c", to: runner)
    #expect(saves(in: runner) == [])
    #expect(saves(in: runner, by: "test") == ["b.c"])
    runner.submitKey(for: ["make"])
    await finishEarlier(3, of: runner)
    #expect(await eventually { world.living.map(\.process.task) == ["make"] })
    #expect(saves(in: runner, by: "test") == [])
    end(runner)
  }

  @Test(arguments: [true, false])
  func `a save in a build is noted also when its hook, or the next run, has begun`(
    hasHook: Bool
  ) async throws {
    let directory = try TemporaryDirectory()
    let make = task("make") { task in
      task.command.directory = directory.path
      if hasHook { task.policy.onSuccess = Command("make", "hook") }
    }
    let runner = runner(make)
    runner.start()
    advance(runner, by: .zero)
    try directory.write(to: "a.c")
    #expect(await clockTicks())
    if !hasHook { runner.submitKey() }
    await finishEarlier(0, of: runner)
    #expect(world.living.count == 1)
    runner.queue.sync {
      guard let component = runner.component(of: "make") else { return }
      runner.noteSaves([directory["a.c"]], in: component, isBuilding: false)
    }
    #expect(saves(in: runner) == ["a.c"])
    end(runner)
  }

  @Test func `what is saved in a build waits for its next run, whatever else runs or changes`()
    throws
  {
    let directory = try TemporaryDirectory()
    let make = task("make") { $0.command.directory = directory.path }
    let lint = task("lint")
    func test(_ word: String) -> TaskDefinition {
      task("test") { task in
        (task.command, task.dependencies) = (Command("test", "run", word), ["make", "lint"])
      }
    }
    func save(_ name: String, to runner: TaskRunner) throws {
      try saveInBuild(directory, name, to: runner)
    }
    let runner = runner(make, lint, test("1"))
    runner.start()
    advance(runner, by: .zero)
    finish(1, of: runner)
    try save("a.c", to: runner)
    runner.submitKey(for: ["lint"])
    advance(runner, by: .zero)
    #expect(runs.map(\.task) == ["make", "lint", "lint"])
    #expect(saves(in: runner) == ["a.c"])
    runner.replaceGraph(TaskGraph(valid: [make, lint, test("2")], jobs: 4))
    advance(runner, by: .zero)
    #expect(saves(in: runner) == ["a.c"])
    try save("b.c", to: runner)
    #expect(saves(in: runner) == ["a.c", "b.c"])
    // It goes on for a while after it was replaced.
    world.state.withLock { $0.processes[0].character = .deaf }
    let other = task("make") { $0.command = Command("make", "run", "all") }
    runner.replaceGraph(TaskGraph(valid: [other, lint, test("2")], jobs: 4))
    advance(runner, by: .zero)
    try save("c.c", to: runner)
    #expect(saves(in: runner) == ["a.c", "b.c", "c.c"])
    #expect(runs.count { $0.task == "make" } == 1)
    end(runner)
    advance(runner, by: .seconds(60))
  }
}
