import FileObservation
import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// What tasks declare to write, while they run and at rest; with real processes.
struct DeclaredWritesTests {
  /// Reports nothing beside what a test submits.
  private final class QuickSource: ChangeSource {
    func flush(then done: @escaping @Sendable () -> Void) { done() }
  }

  private static let waiting = "until test -e go; do sleep 0.1; done"

  /// The task, which declares to write these files of its directory.
  private static func task(
    _ task: TaskDefinition, writes names: String..., in directory: Path
  ) -> TaskDefinition {
    var task = task
    let patterns = names.compactMap { GlobPattern(line: $0.utf8) }
    task.triggers.writes = DeclaredWrites(patterns, base: directory)
    return task
  }

  @Test func `what a task writes starts it neither during a run nor at rest, and is never owed`()
    async throws
  {
    let source = QuickSource()
    let tasks = try RunningTasks(source: source) { directory in
      [
        Self.task(
          TaskDefinition("a", in: directory, Self.waiting, watch: ["f", "out"]), writes: "out",
          in: directory)
      ]
    }
    tasks.runner.start()
    #expect(await tasks.tells("+a"))
    for _ in 1...20 { tasks.change("out") }
    #expect(tasks.runner.queue.sync { tasks.runner.waiting }.isEmpty)
    try tasks.directory.write(to: "go")
    #expect(await tasks.tells("a"))
    #expect(await eventually { !tasks.isBusy })
    for _ in 1...20 { tasks.change("out") }
    #expect(tasks.runner.queue.sync { tasks.runner.restlessTasks }.isEmpty)
    // Neither is delayed by it, nor receives it.
    tasks.change("f", "out")
    #expect(await tasks.tells("a", times: 2))
    #expect(tasks.story == ["+a", "a", "+a", "a"])
    #expect(tasks.runs(of: "a").map { $0.trigger.changes.compactMap(\.path.name) } == [[], ["f"]])
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }

  @Test func `what a service writes does not restart it`() async throws {
    let tasks = try RunningTasks { directory in
      [
        Self.task(
          TaskDefinition(
            "s", in: directory, "exec sleep 1000", watch: ["f", "out"], service: true),
          writes: "out", in: directory)
      ]
    }
    tasks.runner.start()
    #expect(await tasks.tells("+s"))
    for _ in 1...20 { tasks.change("out") }
    tasks.change("f")
    #expect(await tasks.tells("+s", times: 2))
    #expect(tasks.story == ["+s", "s~", "+s"])
    #expect(tasks.runs(of: "s").last?.trigger.changes.compactMap(\.path.name) == ["f"])
    #expect(await tasks.end())
  }

  @Test func `every other task gets it as any change, also one of the same component`() async throws
  {
    let tasks = try RunningTasks { directory in
      [
        Self.task(
          TaskDefinition("a", in: directory, "true", watch: ["f", "out"]), writes: "out",
          in: directory),
        TaskDefinition("b", in: directory, "true", watch: ["out"], after: ["a"]),
        TaskDefinition("c", in: directory, "true", watch: ["out"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.tells("b"))
    #expect(await tasks.tells("c"))
    #expect(await eventually { !tasks.isBusy })
    tasks.change("out")
    #expect(await tasks.tells("b", times: 2))
    #expect(await tasks.tells("c", times: 2))
    #expect(tasks.runs(of: "a").count == 1)
    #expect(tasks.runs(of: "b").last?.trigger.changes.compactMap(\.path.name) == ["out"])
    #expect(await tasks.end())
  }

  /// Otherwise the declaration would let what a run writes begin the build before it.
  @Test func `what a task that ignores changes writes does not begin its dependency`() async throws
  {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("build", in: directory, "true", watch: ["f", "out"]),
        Self.task(
          TaskDefinition(
            "test", in: directory, Self.waiting, watch: ["f", "out"], after: ["build"],
            policy: .ignore),
          writes: "out", in: directory),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.tells("+test"))
    tasks.change("out")
    try tasks.directory.write(to: "go")
    #expect(await tasks.tells("test"))
    #expect(await eventually { !tasks.isBusy })
    #expect(tasks.story == ["+build", "build", "+test", "test"])
    #expect(await tasks.end())
  }

  @Test func `what starts no task does not prolong a burst`() async throws {
    let frequent = Log<Set<Path>>()
    var options = TaskRunner.Options()
    options.frequentPathsChanged = { frequent.note($0) }
    let tasks = try RunningTasks(options: options) { directory in
      [
        Self.task(
          TaskDefinition("a", in: directory, "true", watch: ["f", "out"]), writes: "out",
          in: directory)
      ]
    }
    for _ in 1...3 { tasks.change("out", "other") }
    tasks.change("f")
    #expect(await tasks.tells("a"))
    #expect(frequent.entries == [[tasks.directory["out"]]])
    #expect(await tasks.end())
  }
}
