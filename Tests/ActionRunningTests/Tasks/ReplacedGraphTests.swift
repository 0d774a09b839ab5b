import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// A project that changes while it runs.
struct ReplacedGraphTests {
  private func service(_ name: String, _ folder: Path, _ text: String = "") -> TaskDefinition {
    TaskDefinition(
      name, in: folder, "echo $$ >> \(name).pids; echo up \(text); exec sleep 1000", service: true,
      ready: TaskDefinition.Readiness(.line("up")))
  }

  @Test
  func `unchanged tasks keep running, new and changed ones run, removed ones are stopped`()
    async throws
  {
    let tasks = try RunningTasks { folder in
      [
        service("same", folder), service("other", folder), service("gone", folder),
        TaskDefinition("done", in: folder, "true"),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    let folder = tasks.folder.path
    let graph = try TaskGraph(
      [
        service("same", folder), service("other", folder, "again"), service("new", folder),
        TaskDefinition("done", in: folder, "true"),
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

  @Test func `a changed task that runs has ended before it runs again`() async throws {
    let tasks = try RunningTasks { folder in
      [
        TaskDefinition(
          "a", in: folder,
          "trap 'sleep 0.1; echo end >> log; exit' TERM; echo begin >> log; "
            + "echo up; while :; do sleep 0.1; done"),
        TaskDefinition("b", in: folder, "true"),
      ]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.lines(of: "a") == ["up"] })
    let folder = tasks.folder.path
    tasks.runner.replaceGraph(
      try TaskGraph([TaskDefinition("a", in: folder, "echo second >> log")], jobs: 1))
    #expect(await tasks.hasRounds(1))
    #expect(tasks.folder.lines(of: "log") == ["begin", "end", "second"])
    #expect(await tasks.end())
  }

  @Test func `dependents of a changed task run again`() async throws {
    let tasks = try RunningTasks { folder in
      [
        TaskDefinition("a", in: folder, "exit 1"),
        TaskDefinition("b", in: folder, "true", after: ["a"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    let folder = tasks.folder.path
    tasks.runner.replaceGraph(
      try TaskGraph(
        [
          TaskDefinition("a", in: folder, "true"),
          TaskDefinition("b", in: folder, "true", after: ["a"]),
        ], jobs: 1))
    #expect(await tasks.hasRounds(2))
    #expect(tasks.story == ["+a", "a!", "b?a", "+a", "a", "+b", "b"])
    #expect(await tasks.end())
  }
}
