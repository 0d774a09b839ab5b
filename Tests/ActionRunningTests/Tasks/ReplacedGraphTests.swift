import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// A project that changes while it runs.
struct ReplacedGraphTests {
  private func service(_ name: String, _ directory: Path, _ text: String = "") -> TaskDefinition {
    TaskDefinition(
      name, in: directory, "echo $$ >> \(name).pids; echo up \(text); exec sleep 1000",
      service: true,
      ready: TaskDefinition.Readiness(.line("up")))
  }

  @Test
  func `unchanged tasks keep running, new and changed ones run, removed ones are stopped`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      [
        service("same", directory), service("other", directory), service("gone", directory),
        TaskDefinition("done", in: directory, "true"),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    let directory = tasks.directory.path
    let graph = try TaskGraph(
      [
        service("same", directory), service("other", directory, "again"), service("new", directory),
        TaskDefinition("done", in: directory, "true"),
      ], jobs: 2)
    tasks.runner.replaceGraph(graph)
    #expect(await tasks.hasRounds(2))
    #expect(tasks.story.count { $0 == "+same" } == 1)
    #expect(tasks.story.count { $0 == "+done" } == 1)
    #expect(tasks.story.count { $0 == "+other" } == 2)
    #expect(tasks.story.count { $0 == "new*" } == 1)
    // Never twice at once.
    let others = tasks.story.filter { $0.contains("other") }
    #expect(others == ["+other", "other*", "other~", "+other", "other*"])
    #expect(await eventually { tasks.isGone("gone.pids") })
    #expect(!tasks.isGone("same.pids"))
    #expect(await tasks.end())
    for name in ["same", "other", "new"] { #expect(tasks.isGone("\(name).pids")) }
  }

  @Test func `a variable that all tasks share makes no other task, and the next run has it`()
    async throws
  {
    func task(_ directory: Path, _ ports: [String: String]) -> TaskDefinition {
      var task = TaskDefinition(
        "a", in: directory, "echo $A-$B >> log; exec sleep 1000", service: true)
      task.sharedVariables = ports.map { .init($0.key, $0.value) }
      return task
    }
    func graph(_ directory: Path, _ ports: [String: String]) throws -> TaskGraph {
      let other = TaskDefinition("b", in: directory, "true")
      return try TaskGraph([task(directory, ports), other], jobs: 1)
    }
    let tasks = try RunningTasks { directory in [task(directory, ["A": "1"])] }
    let directory = tasks.directory
    func log(_ lines: [String]) async -> Bool {
      await eventually { directory.lines(of: "log") == lines }
    }
    tasks.runner.start()
    #expect(await log(["1-"]))
    tasks.runner.replaceGraph(try graph(directory.path, ["A": "1", "B": "2"]))
    tasks.runner.submitKey(for: ["b"])
    #expect(await eventually { tasks.runs(of: "b").count == 2 })
    #expect(tasks.runs(of: "a").count == 1)
    tasks.runner.submitKey(for: ["a"])
    #expect(await log(["1-", "1-2"]))
    // Another value is a change.
    tasks.runner.replaceGraph(try graph(directory.path, ["A": "3", "B": "2"]))
    #expect(await log(["1-", "1-2", "3-2"]))
    #expect(await tasks.end())
  }

  @Test func `a value of its own in place of a shared one makes another task`() {
    func task(_ port: String, isShared: Bool) -> TaskDefinition {
      var task = TaskDefinition("a", in: "/", "true")
      let variable = Command.EnvironmentVariable("PORT", port)
      if isShared {
        task.sharedVariables = [variable]
      } else {
        task.command.environment.variables.append(variable)
      }
      return task
    }
    let shared = task("1", isShared: true)
    #expect(shared.isSame(as: shared))
    #expect(shared.isSame(as: TaskDefinition("a", in: "/", "true")))
    #expect(!shared.isSame(as: task("2", isShared: true)))
    #expect(!shared.isSame(as: task("2", isShared: false)))
    #expect(!task("2", isShared: false).isSame(as: shared))
  }

  @Test func `a new service begins when the one that it replaces is gone`() async throws {
    func service(_ name: String, _ directory: Path) -> TaskDefinition {
      TaskDefinition(
        name, in: directory,
        "trap 'sleep 0.3; echo end >> log; exit' TERM; echo begin >> log; while :; do sleep 0.1; done",
        service: true)
    }
    let tasks = try RunningTasks { [service("old", $0)] }
    tasks.runner.start()
    #expect(await eventually { tasks.directory.lines(of: "log") == ["begin"] })
    tasks.runner.replaceGraph(try TaskGraph([service("new", tasks.directory.path)], jobs: 1))
    let lines = ["begin", "end", "begin"]
    #expect(await eventually { tasks.directory.lines(of: "log") == lines })
    #expect(await tasks.end())
  }

  @Test func `a changed task that runs has ended before it runs again`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "a", in: directory,
          "trap 'sleep 0.1; echo end >> log; exit' TERM; echo begin >> log; "
            + "echo up; while :; do sleep 0.1; done"),
        TaskDefinition("b", in: directory, "true"),
      ]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.lines(of: "a") == ["up"] })
    let directory = tasks.directory.path
    tasks.runner.replaceGraph(
      try TaskGraph([TaskDefinition("a", in: directory, "echo second >> log")], jobs: 1))
    #expect(await tasks.hasRounds(1))
    #expect(tasks.directory.lines(of: "log") == ["begin", "end", "second"])
    #expect(await tasks.end())
  }

  @Test func `dependents of a changed task run again`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("a", in: directory, "exit 1"),
        TaskDefinition("b", in: directory, "true", after: ["a"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    let directory = tasks.directory.path
    tasks.runner.replaceGraph(
      try TaskGraph(
        [
          TaskDefinition("a", in: directory, "true"),
          TaskDefinition("b", in: directory, "true", after: ["a"]),
        ], jobs: 1))
    #expect(await tasks.hasRounds(2))
    #expect(tasks.story == ["+a", "a!", "b?a", "+a", "a", "+b", "b"])
    #expect(await tasks.end())
  }

  @Test func `a run that outlasts a new graph is owed its changes again when it is stopped`()
    async throws
  {
    let line = "echo run >> log; test -e go || exec sleep 1000"
    let tasks = try RunningTasks { directory in
      [TaskDefinition("a", in: directory, line, watch: ["f"], policy: .restart)]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.directory.lines(of: "log").count == 1 })
    tasks.change("f")
    #expect(await eventually { tasks.directory.lines(of: "log").count == 2 })
    let directory = tasks.directory.path
    tasks.runner.replaceGraph(
      try TaskGraph(
        [
          TaskDefinition("a", in: directory, line, watch: ["f"], policy: .restart),
          TaskDefinition("b", in: directory, "true"),
        ], jobs: 2))
    #expect(await tasks.tells("b"))
    tasks.runner.stop()
    #expect(await eventually { tasks.story.last == "a~" && !tasks.runner.isBusy })
    try tasks.directory.write(to: "go")
    tasks.runner.submitKey()
    #expect(await tasks.tells("a"))
    let paths = tasks.runs(of: "a").map { $0.trigger.changes.map(\.path) }
    #expect(paths == [[], [tasks.directory["f"]], [tasks.directory["f"]]])
    #expect(await tasks.end())
  }

  @Test func `changes that are owed when the graph is replaced reach the new tasks`() async throws {
    let tasks = try RunningTasks { directory in
      [TaskDefinition("a", in: directory, "true", watch: ["f"])]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    tasks.runner.pause()
    tasks.change("f")
    let directory = tasks.directory.path
    tasks.runner.queue.sync {}
    tasks.runner.changesArrived(isFirst: true, saved: [])
    tasks.runner.replaceGraph(
      try TaskGraph([TaskDefinition("a", in: directory, "true; true", watch: ["f"])], jobs: 1))
    // The burst is that of a batch to come.
    #expect(tasks.runner.queue.sync { tasks.runner.monitor.takeBurst() } != nil)
    tasks.runner.resume()
    #expect(await tasks.hasRounds(2))
    #expect(tasks.runs(of: "a").last?.trigger.changes.map(\.path) == [tasks.directory["f"]])
    #expect(await tasks.end())
  }

  @Test func `what takes the place of a task knows how often its paths have led to starts`()
    async throws
  {
    let tasks = try RunningTasks { [TaskDefinition("a", in: $0, "true", watch: ["f"])] }
    tasks.runner.start()
    for number in 1...3 {
      #expect(await tasks.hasRounds(number))
      tasks.change("f")
    }
    #expect(await tasks.hasRounds(4))
    let (directory, path) = (tasks.directory.path, tasks.directory["f"])
    tasks.runner.replaceGraph(
      try TaskGraph([TaskDefinition("a", in: directory, "true; true", watch: ["f"])], jobs: 1))
    #expect(await tasks.hasRounds(5))
    let record = tasks.runner.queue.sync { tasks.runner.component(of: "a")?.records[path] }
    #expect(record?.limit.matters == true)
    #expect(await tasks.end())
  }

  @Test func `what does not change keeps the state of its rounds`() async throws {
    let a = { TaskDefinition("a", in: $0, "true", watch: ["f"]) }
    let b = { TaskDefinition("b", in: $0, "true", after: ["a"]) }
    let c = { TaskDefinition("c", in: $0, "true") }
    let tasks = try RunningTasks { [a($0), b($0), c($0)] }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    let directory = tasks.directory.path
    func rounds(of name: String) -> ObjectIdentifier? {
      tasks.runner.queue.sync {
        tasks.runner.component(of: name).map { ObjectIdentifier($0) }
      }
    }
    let (ofChain, ofC) = (rounds(of: "a"), rounds(of: "c"))
    let changed = TaskDefinition("c", in: directory, "true; true")
    tasks.runner.replaceGraph(try TaskGraph([a(directory), b(directory), changed], jobs: 1))
    #expect(await tasks.hasRounds(2))
    #expect(rounds(of: "a") == ofChain && rounds(of: "b") == ofChain)
    #expect(rounds(of: "c") != ofC)
    // Two rounds become one.
    let joined = TaskDefinition("c", in: directory, "true", after: ["a"])
    tasks.runner.replaceGraph(try TaskGraph([a(directory), b(directory), joined], jobs: 1))
    #expect(await tasks.hasRounds(3))
    #expect(rounds(of: "a") != ofChain && rounds(of: "a") == rounds(of: "c"))
    #expect(tasks.story.count { $0 == "+a" } == 1)
    #expect(await tasks.end())
  }

  @Test func `a round whose only run is removed ends`() async throws {
    let idle = { directory in TaskDefinition("idle", in: directory, "true", watch: ["g"]) }
    let tasks = try RunningTasks { directory in
      [TaskDefinition("a", in: directory, "exec sleep 1000", watch: ["f"]), idle(directory)]
    }
    tasks.change("f")
    #expect(await tasks.tells("+a"))
    let directory = tasks.directory.path
    tasks.runner.replaceGraph(try TaskGraph([idle(directory)], jobs: 1))
    #expect(await tasks.hasRounds(1))
    tasks.change("g")
    #expect(await tasks.hasRounds(2))
    let begins = tasks.entries.count { if case .round(.began) = $0 { true } else { false } }
    #expect(begins == 2)
    #expect(await tasks.end())
  }

  @Test func `what only another task was owed does not run a task that is kept`() async throws {
    let kept = { directory in TaskDefinition("kept", in: directory, "true", watch: ["f"]) }
    let tasks = try RunningTasks(jobs: 1) { directory in
      [
        kept(directory),
        TaskDefinition("slow", in: directory, "exec sleep 1000", watch: ["f"]),
        TaskDefinition("waits", in: directory, "true", watch: ["f"]),
      ]
    }
    tasks.change("f")
    #expect(await tasks.tells(["+kept", "kept", "+slow"]))
    let directory = tasks.directory.path
    tasks.runner.replaceGraph(
      try TaskGraph(
        [kept(directory), TaskDefinition("waits", in: directory, "true; true", watch: ["f"])],
        jobs: 1))
    #expect(await tasks.tells("waits"))
    #expect(await eventually { !tasks.isBusy })
    #expect(tasks.runs(of: "kept").count == 1)
    #expect(await tasks.end())
  }
}
