import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

struct TaskRunnerTests {
  /// What the former run has left behind is stopped for a run that has not begun.
  @Test func `what the leftovers of a run would receive by a signal reaches the next run`()
    async throws
  {
    let line =
      "test -e once && exec sleep 1000; touch once; "
      + "(trap '' TERM HUP; until test -e go; do sleep 0.1; done) &"
    let tasks = try RunningTasks { directory in
      [TaskDefinition("t", in: directory, line, watch: ["f"], policy: .signal(.hangup))]
    }
    tasks.runner.start()
    #expect(await tasks.tells(["+t", "t"]))
    tasks.change("f")
    #expect(
      await eventually {
        tasks.runner.queue.sync { tasks.runner.worker("t")?.isAboutToLaunch == true }
      })
    tasks.runner.submitKey()
    tasks.runner.queue.sync {}
    try tasks.directory.write(to: "go")
    #expect(await tasks.tells(["+t", "t", "+t"]))
    #expect(tasks.runs(of: "t").last?.trigger.changes.map(\.path) == [tasks.directory["f"]])
    let signals = tasks.entries.count { if case .task(_, .signaled) = $0 { true } else { false } }
    #expect(signals == 0)
    #expect(await tasks.end())
  }

  @Test func `all tests run after a dependency, also with changes of their own`() async throws {
    let pattern = try RegularExpression(Array("tests/.*".utf8))
    let map = TestMap([.init(pattern, targets: [Array("$0".utf8)])])
    let tasks = try RunningTasks { directory in
      var test = TaskDefinition("test", in: directory, "true", watch: ["tests"], after: ["build"])
      test.command.testMap = map
      return [TaskDefinition("build", in: directory, "true", watch: ["lib"]), test]
    }
    for name in ["lib", "tests"] { try File.makeDirectories(tasks.directory[name]) }
    try tasks.directory.write(to: "tests/a")
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    tasks.change("tests/a")
    #expect(await tasks.hasRounds(2))
    tasks.change("lib/x", "tests/a")
    #expect(await tasks.hasRounds(3))
    tasks.change("tests/a")
    #expect(await tasks.hasRounds(4))
    #expect(tasks.story.count { $0 == "build" } == 2)
    let runs = tasks.runs(of: "test")
    #expect(runs.map { $0.tests.map(\.description) } == [[], ["tests/a"], [], ["tests/a"]])
    #expect(await tasks.end())
  }

  /// Says that it is there, and waits until the other one is.
  private func meeting(_ own: String, _ other: String) -> String {
    "touch \(own); until test -e \(other); do sleep 0.1; done"
  }

  private let untilGo = "until test -e go; do sleep 0.1; done"

  @Test func `two tasks that do not depend on each other run side by side`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("a", in: directory, meeting("1", "2")),
        TaskDefinition("b", in: directory, meeting("2", "1")),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.rounds.first?.status == .exited(0))
    #expect(await tasks.end())
  }

  /// A task that runs a shell line with a program of this name, which builds nothing and takes long.
  private func task(
    _ line: String, _ program: String, policy: BusyPolicy? = nil
  ) throws -> RunningTasks {
    let tasks = try RunningTasks { directory in
      [TaskDefinition("a", in: directory, line, watch: ["f"], policy: policy)]
    }
    try tasks.directory.link(program, to: "/bin/sleep")
    return tasks
  }

  @Test(arguments: [
    "./make 1000", "true && ./make 1000 && echo", "sh -c 'exec ./make 1000; true' | cat",
    "(./make 1000; true); true",
  ])
  func `a save stops a run in which make works, wherever it was started`(
    _ line: String
  ) async throws {
    let tasks = try task("test -e f && exit; touch begun; " + line, "make")
    tasks.runner.start()
    #expect(await eventually { tasks.runner.builds("a") })
    try tasks.directory.write(to: "f")
    tasks.change("f")
    #expect(await tasks.tells(["+a", "a~", "+a", "a"]))
    #expect(await tasks.end())
  }

  @Test func `a save does not stop other programs, nor a run that ignores changes`()
    async throws
  {
    for (program, policy) in [("made", nil), ("make", BusyPolicy.ignore)] {
      let tasks = try task("touch begun; ./\(program) 1000", program, policy: policy)
      tasks.runner.start()
      #expect(await eventually { tasks.directory.exists("begun") })
      tasks.change("f")
      #expect(await tasks.runner.afterQueue { tasks.story } == ["+a"])
      #expect(await tasks.end())
    }
  }

  @Test func `what follows make in a line is not stopped`() async throws {
    let tasks = try task("./make 0; touch made; until test -e f; do sleep 0.1; done", "make")
    tasks.runner.start()
    #expect(await eventually { tasks.directory.exists("made") })
    tasks.change("f")
    #expect(await tasks.runner.afterQueue { tasks.story } == ["+a"])
    try tasks.directory.write(to: "f")
    #expect(await tasks.tells(["+a", "a", "+a", "a"]))
    #expect(await tasks.end())
  }

  @Test(arguments: [true, false])
  func `make in a hook is not stopped, nor what a run has left behind`(isHook: Bool) async throws {
    let make = "./make 1000 & "
    let hook = "touch begun; until test -e f; do sleep 0.1; done"
    let tasks = try RunningTasks { directory in
      var task = TaskDefinition(
        "a", in: directory, isHook ? "true" : make + "true", watch: ["f"])
      task.policy.onSuccess = Command(shell: (isHook ? make : "") + hook)
      task.policy.onSuccess?.directory = directory
      return [task]
    }
    try tasks.directory.link("make", to: "/bin/sleep")
    tasks.runner.start()
    #expect(await eventually { tasks.directory.exists("begun") })
    tasks.change("f")
    #expect(await tasks.runner.afterQueue { tasks.hookEndings }.isEmpty)
    try tasks.directory.write(to: "f")
    #expect(await eventually { tasks.runs(of: "a").count == 2 })
    #expect(tasks.hookEndings.first == .byItself)
    #expect(await tasks.end())
  }

  @Test func `with one place, no two run at once`() async throws {
    let tasks = try RunningTasks(jobs: 1) { directory in
      ["a", "b", "c"].map { name in
        TaskDefinition(
          name, in: directory,
          "mkdir lock || echo both >> log; sleep 0.05; rmdir lock; echo >> log",
          watch: ["f"])
      }
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    tasks.change("f")
    #expect(await tasks.hasRounds(2))
    #expect(tasks.story == ["+a", "a", "+b", "b", "+c", "c", "+a", "a", "+b", "b", "+c", "c"])
    #expect(tasks.directory.lines(of: "log").isEmpty)
    #expect(await tasks.end())
  }

  @Test func `a task waits for its dependencies, and runs whenever they succeed again`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("test", in: directory, "cat built", watch: ["Tests"], after: ["build"]),
        TaskDefinition("build", in: directory, "echo x >> built", watch: ["Sources"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    tasks.change("Sources")
    #expect(await tasks.hasRounds(2))
    tasks.change("Tests")
    #expect(await tasks.hasRounds(3))
    #expect(
      tasks.story == [
        "+build", "build", "+test", "test", "+build", "build", "+test", "test", "+test", "test",
      ])
    #expect(tasks.lines(of: "test") == ["x", "x", "x", "x", "x"])
    #expect(await tasks.end())
  }

  @Test func `dependents of a failed task are skipped, and run when it succeeds`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("build", in: directory, "test -e good", watch: ["good"]),
        TaskDefinition("test", in: directory, "true", watch: ["Tests"], after: ["build"]),
        TaskDefinition("lint", in: directory, "true", after: ["test"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.story == ["+build", "build!", "test?build", "lint?build"])
    #expect(tasks.rounds[0].status == .exited(1))
    #expect(tasks.rounds[0].entries.map(\.name) == ["build", "test", "lint"])
    #expect(tasks.rounds[0].entries.last?.outcome == .skipped(because: "build"))
    tasks.change("Tests")
    #expect(await tasks.hasRounds(2))
    #expect(Array(tasks.story.dropFirst(4)) == ["test?build"])
    try tasks.directory.write(to: "good")
    tasks.change("good")
    #expect(await tasks.hasRounds(3))
    #expect(
      Array(tasks.story.dropFirst(5)) == ["+build", "build", "+test", "test", "+lint", "lint"])
    #expect(await tasks.end())
  }

  @Test func `a program that is not there fails its task`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("a", Command("/no/such/program")),
        TaskDefinition("b", in: directory, "true", after: ["a"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.story == ["+a", "a!", "b?a"])
    #expect(tasks.rounds[0].status == .exited(127))
    #expect(await tasks.end())
  }

  @Test func `a newer change cancels a run, and its dependents wait for the newest`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "build", in: directory, "echo $WATCHRUN_COUNT >> log; " + untilGo, watch: ["f", "g"],
          policy: .restart),
        TaskDefinition("test", in: directory, "true", after: ["build"]),
      ]
    }
    // While nothing runs, so that it is known that others edit them.
    tasks.change("f", "g")
    #expect(await tasks.tells("+build"))
    for (count, name) in ["f", "g"].enumerated() {
      tasks.change(name)
      #expect(await tasks.tells("+build", times: count + 2))
    }
    try tasks.directory.write(to: "go")
    #expect(await tasks.hasRounds(1))
    #expect(
      tasks.story == [
        "+build", "build~", "+build", "build~", "+build", "build", "+test", "test",
      ])
    // The run after a stopped one receives its changes again.
    #expect(tasks.directory.lines(of: "log").last == "2")
    #expect(await tasks.end())
  }

  @Test func `a run whose dependency is built again is stopped, or finishes first, by its policy`()
    async throws
  {
    for policy in [BusyPolicy.restart, .queue] {
      let tasks = try RunningTasks { directory in
        [
          TaskDefinition("build", in: directory, "true", watch: ["f"]),
          TaskDefinition("test", in: directory, untilGo, after: ["build"], policy: policy),
        ]
      }
      tasks.runner.start()
      #expect(await tasks.tells("+test"))
      tasks.change("f")
      if policy == .restart { #expect(await tasks.tells("+test", times: 2)) }
      try tasks.directory.write(to: "go")
      // A run that is waited for is a round of its own.
      #expect(await tasks.hasRounds(policy == .restart ? 1 : 2))
      let first = policy == .restart ? "test~" : "test"
      #expect(
        tasks.story == [
          "+build", "build", "+test", first, "+build", "build", "+test", "test",
        ])
      #expect(await tasks.end())
    }
  }

  @Test func `a postponed task and its dependents wait for a change`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("a", in: directory, "true"),
        TaskDefinition("b", in: directory, "true", watch: ["f"], postponed: true),
        TaskDefinition("c", in: directory, "true", watch: ["g"], after: ["a", "b"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.story == ["+a", "a"])
    // It cannot run without the other.
    tasks.change("g")
    #expect(await tasks.hasRounds(2))
    #expect(Array(tasks.story.dropFirst(2)) == ["+b", "b", "+c", "c"])
    #expect(await tasks.end())
  }

  @Test func `while paused, changes are collected; a key runs all the same`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("a", in: directory, "true", watch: ["f"]),
        TaskDefinition("b", in: directory, "true", after: ["a"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    tasks.runner.pause()
    tasks.runner.submitKey()
    #expect(await tasks.hasRounds(2))
    for _ in 0..<40 { tasks.change("f") }
    tasks.runner.resume()
    #expect(await tasks.hasRounds(3))
    #expect(tasks.story.count == 12)
    // One start, not forty.
    let isFrequent = tasks.runner.queue.sync {
      tasks.runner.components.contains { $0.limit.isFrequent(at: .now) }
    }
    #expect(!isFrequent)
    #expect(await tasks.end())
  }

  @Test func `stopping ends all runs, and the next change starts the missing ones`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("a", in: directory, "test -e go || exec sleep 1000"),
        TaskDefinition("b", in: directory, "true", watch: ["f"], after: ["a"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.tells("+a"))
    tasks.runner.stop()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.rounds[0].entries.first?.outcome == .cancelled)
    try tasks.directory.write(to: "go")
    tasks.change("f")
    #expect(await tasks.hasRounds(2))
    #expect(tasks.story == ["+a", "a~", "+a", "a", "+b", "b"])
    #expect(await tasks.end())
  }

  @Test(arguments: [CompletionRule.firstRun, .firstSuccess])
  func `a success beside a run that was stopped is not the last run`(
    rule: CompletionRule
  ) async throws {
    let tasks = try RunningTasks(options: .init(completion: rule)) { directory in
      [
        TaskDefinition("a", in: directory, "test -e next || exec sleep 1000"),
        TaskDefinition("b", in: directory, "true"),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.tells("b"))
    tasks.runner.stop()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.rounds.first?.status == nil)
    try tasks.directory.write(to: "next")
    tasks.runner.submitKey()
    #expect(await eventually { tasks.finish == .some(.exited(0)) })
    #expect(tasks.rounds.count == 2)
    #expect(await tasks.end())
  }

  @Test func `completion ends the runner after a round, with its status`() async throws {
    let tasks = try RunningTasks(options: .init(completion: .firstRun)) { directory in
      [
        TaskDefinition("a", in: directory, "true"),
        TaskDefinition("b", in: directory, "exit 7", after: ["a"]),
        TaskDefinition("s", in: directory, "echo up; exec sleep 1000", service: true),
      ]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.isFinished })
    guard case .runner(.finished(let status))? = tasks.entries.last else { return }
    #expect(status == .exited(7))
  }

  @Test func `what a run that could not be started was to receive is told to the next one`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      let command = Command(
        words: [directory.appending("program").bytes], directory: directory,
        inheritsStandardInput: false
      ).describingChanges()
      return [
        TaskDefinition(
          "a", command,
          triggers: TaskTriggers(watched: ["f", "g"].map { WatchedPath(directory.appending($0)) }))
      ]
    }
    tasks.change("f")
    #expect(await tasks.tells(["+a", "a!"]))
    #expect(await eventually { !tasks.isBusy })
    try File.makeLink(tasks.directory["program"], to: "/bin/true")
    tasks.change("g")
    #expect(await tasks.tells(["+a", "a!", "+a", "a"]))
    let paths = tasks.runs(of: "a").map { $0.trigger.changes.map(\.path) }
    #expect(paths == [[tasks.directory["f"]], [tasks.directory["f"], tasks.directory["g"]]])
    #expect(await tasks.end())
  }

  @Test func `a success that is awaited announces no restart`() async throws {
    let tasks = try RunningTasks(options: .init(completion: .firstSuccess)) { directory in
      var task = TaskDefinition("a", in: directory, "true")
      task.policy.keepsAlive = true
      return [task]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.isFinished })
    let isAnnounced = tasks.entries.contains { report in
      if case .task(_, .backingOff) = report { true } else { false }
    }
    #expect(!isAnnounced)
    #expect(await tasks.end())
  }

  @Test func `a round in which nothing ran is no success`() async throws {
    let tasks = try RunningTasks(options: .init(completion: .firstSuccess)) { directory in
      [
        TaskDefinition("a", in: directory, "test -e go", watch: ["fa"]),
        TaskDefinition("b", in: directory, "true", watch: ["fb"], after: ["a"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    tasks.change("fb")
    #expect(await tasks.hasRounds(2))
    #expect(tasks.rounds[1].status == nil)
    try tasks.directory.write(to: "go")
    tasks.change("fa")
    #expect(await eventually { tasks.isFinished })
    #expect(tasks.story == ["+a", "a!", "b?a", "b?a", "+a", "a", "+b", "b"])
    #expect(tasks.finish == .some(.exited(0)))
    #expect(await tasks.end())
  }

  @Test func `a success counts when no other task has failed`() async throws {
    let tasks = try RunningTasks(options: .init(completion: .firstSuccess)) { directory in
      [
        TaskDefinition("a", in: directory, "test -e go", watch: ["fa"]),
        TaskDefinition("b", in: directory, "true", watch: ["fb"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    tasks.change("fb")
    #expect(await tasks.hasRounds(2))
    try tasks.directory.write(to: "go")
    tasks.change("fa")
    #expect(await eventually { tasks.isFinished })
    #expect(tasks.story.suffix(4) == ["+b", "b", "+a", "a"])
    #expect(tasks.finish == .some(.exited(0)))
    #expect(await tasks.end())
  }

  @Test(arguments: [CompletionRule.firstRun, .firstSuccess])
  func `a run that was stopped is not the last one`(rule: CompletionRule) async throws {
    let tasks = try RunningTasks(options: .init(completion: rule)) { directory in
      [TaskDefinition("a", in: directory, "test -e go || exec sleep 1000", watch: ["f"])]
    }
    tasks.runner.start()
    #expect(await tasks.tells("+a"))
    tasks.runner.stop()
    #expect(await tasks.hasRounds(1))
    try tasks.directory.write(to: "go")
    tasks.change("f")
    #expect(await eventually { tasks.isFinished })
    #expect(tasks.story == ["+a", "a~", "+a", "a"])
    #expect(tasks.finish == .some(.exited(0)))
    #expect(await tasks.end())
  }

  @Test func `all end in the reverse order, and nothing of them is left`() async throws {
    let line =
      "echo $$ >> pids; sleep 1000 & echo $! >> pids; trap 'echo NAME >> ends; exit' TERM; "
    let tasks = try RunningTasks { directory in
      ["a", "b", "c"].enumerated().map { index, name in
        TaskDefinition(
          name, in: directory,
          line.replacing("NAME", with: name) + "echo up; while :; do sleep 0.1; done",
          after: index == 0 ? [] : [["a", "b"][index - 1]], service: true,
          ready: TaskDefinition.Readiness(.line("up")))
      }
    }
    tasks.runner.start()
    #expect(await tasks.tells("c*"))
    #expect(await tasks.end())
    #expect(tasks.directory.lines(of: "ends") == ["c", "b", "a"])
    #expect(tasks.directory.lines(of: "pids").count == 6)
    #expect(tasks.isGone("pids"))
  }

  @Test func `a second end kills a run that does not stop`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("a", in: directory, "trap '' TERM; echo up; while :; do sleep 1; done"),
        TaskDefinition("b", in: directory, "true"),
      ]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.lines(of: "a") == ["up"] })
    tasks.runner.end()
    tasks.runner.end()
    #expect(await eventually { tasks.isFinished })
    let hasKilled = tasks.entries.contains {
      if case .run(let run, .killing(after: nil)) = $0 { run.task == "a" } else { false }
    }
    #expect(hasKilled)
  }

  // MARK: Hooks

  private func hooked(_ directory: Path, _ policy: BusyPolicy? = nil) -> TaskDefinition {
    var task = TaskDefinition("a", in: directory, "echo x >> runs", watch: ["f"])
    task.policy.busyPolicy = policy
    task.policy.onSuccess = Command(shell: "touch hooked; \(untilGo)")
    task.policy.onSuccess?.directory = directory
    return task
  }

  @Test func `a change beside a hook that no signal reaches leads to a run`() async throws {
    let tasks = try RunningTasks { [hooked($0, .signal(.hangup))] }
    tasks.runner.start()
    #expect(await eventually { tasks.directory.exists("hooked") })
    tasks.change("f")
    try tasks.directory.write(to: "go")
    #expect(await eventually { tasks.directory.lines(of: "runs").count == 2 })
    #expect(await tasks.end())
  }

  @Test func `a stop during a hook starts nothing`() async throws {
    let tasks = try RunningTasks { directory in
      [
        hooked(directory),
        TaskDefinition("b", in: directory, "echo >> others", after: ["a"]),
      ]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.directory.exists("hooked") })
    tasks.runner.stop()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.runs(of: "b").isEmpty)
    #expect(await tasks.end())
  }
}
