import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// A source whose flushes deliver nothing, and whose burst ends when a test says so.
private final class BurstSource: ChangeSource {
  private let waiting = Log<@Sendable () -> Void>()

  /// How often the runner has begun to wait for the end of a burst.
  var count: Int { waiting.entries.count }

  private let flushes = Log<Void>()
  var flushCount: Int { flushes.entries.count }

  func flush(then done: @escaping @Sendable () -> Void) {
    flushes.note(())
    done()
  }

  func awaitBurstEnd(then done: @escaping @Sendable () -> Void) { waiting.note(done) }

  func endBurst() {
    waiting.entries.last?()
  }
}

/// A source that knows no bursts.
private final class PlainSource: ChangeSource {
  func flush(then done: @escaping @Sendable () -> Void) { done() }
}

/// Runs to which a part of a burst leads, with real processes.
struct BurstTests {
  private let source = BurstSource()

  /// A task that runs until there is a file `go`.
  private static func task(_ directory: Path) -> TaskDefinition {
    TaskDefinition(
      "a", in: directory, "echo run >> a.log; until test -e go; do sleep 0.1; done",
      watch: ["f", "g"])
  }

  /// The task has run, and is owed another run for a part of a burst.
  private func tasksWithHeldRun(
    _ others: (Path) -> [TaskDefinition] = { _ in [] }
  ) async throws -> RunningTasks {
    let tasks = try RunningTasks(source: source) { [Self.task($0)] + others($0) }
    tasks.runner.start()
    #expect(await eventually { tasks.directory.lines(of: "a.log").count == 1 })
    tasks.change("f", isPartial: true)
    try tasks.directory.write(to: "go")
    #expect(await eventually { tasks.runner.isHolding })
    return tasks
  }

  @Test func `a follow-up begins when the burst has ended, and receives all of it`() async throws {
    let tasks = try await tasksWithHeldRun()
    #expect(tasks.story == ["+a", "a"])
    #expect(tasks.isUnsettled == true)
    #expect(!tasks.isIdle)
    tasks.change("g")
    #expect(await tasks.runner.afterQueue { tasks.story } == ["+a", "a"])
    source.endBurst()
    #expect(await tasks.tells(["+a", "a", "+a", "a"]))
    #expect(
      tasks.runs(of: "a").last?.trigger.changes.map(\.path)
        == [tasks.directory["f"], tasks.directory["g"]])
    #expect(await eventually { tasks.isUnsettled == false && tasks.isIdle })
    #expect(source.count == 1)
    #expect(await tasks.end())
  }

  @Test func `a path that is reported again in the burst is still owed the run`() async throws {
    let tasks = try await tasksWithHeldRun { directory in
      [TaskDefinition("other", in: directory, "exec sleep 1000")]
    }
    tasks.change("f")
    source.endBurst()
    #expect(await eventually { tasks.runs(of: "a").count == 2 })
    #expect(tasks.runs(of: "a").last?.trigger.changes.map(\.path) == [tasks.directory["f"]])
    #expect(await tasks.end())
  }

  @Test func `a service waits for the run to which a part of a burst leads`() async throws {
    let tasks = try await tasksWithHeldRun { directory in
      [
        TaskDefinition("s", in: directory, "exec sleep 1000", after: ["a"], service: true)
      ]
    }
    #expect(tasks.story == ["+a", "a"])
    source.endBurst()
    #expect(await tasks.tells(["+a", "a", "+a", "a", "+s"]))
    #expect(await tasks.end())
  }

  @Test func `a task that does not run waits for the end of the burst as well`() async throws {
    let tasks = try RunningTasks(source: source) { directory in
      [TaskDefinition("a", in: directory, "true", watch: ["f", "g"])]
    }
    tasks.change("f", isPartial: true)
    #expect(await eventually { tasks.runner.isHolding })
    tasks.change("g", isPartial: true)
    #expect(await tasks.runner.afterQueue { tasks.story }.isEmpty)
    #expect(source.count == 1)
    source.endBurst()
    #expect(await tasks.tells(["+a", "a"]))
    #expect(tasks.runs(of: "a").first?.trigger.changes.count == 2)
    #expect(await tasks.end())
  }

  @Test func `a run that waits for the end of a burst does not begin with another graph`()
    async throws
  {
    let tasks = try await tasksWithHeldRun()
    let directory = tasks.directory.path
    let other = TaskDefinition("b", in: directory, "true", watch: ["h"], after: ["a"])
    tasks.runner.replaceGraph(try TaskGraph([Self.task(directory), other], jobs: 2))
    tasks.change("g", isPartial: true)
    #expect(await tasks.runner.afterQueue { tasks.runs(of: "a").count } == 1)
    source.endBurst()
    #expect(await eventually { tasks.runs(of: "a").count == 2 })
    #expect(tasks.runs(of: "a").last?.trigger.changes.count == 2)
    #expect(await tasks.end())
  }

  /// A build that a save has stopped, before the end of its burst. The next one ends at once.
  private func stoppedBuild(_ policy: BusyPolicy? = nil) async throws -> RunningTasks {
    let tasks = try RunningTasks(source: source) { directory in
      [
        TaskDefinition(
          "a", in: directory, "test -e go && exit; ./make 1000", watch: ["f", "g"], policy: policy)
      ]
    }
    try tasks.directory.link("make", to: "/bin/sleep")
    tasks.runner.start()
    #expect(await eventually { tasks.runner.builds("a") })
    try tasks.directory.write(to: "go")
    tasks.change("f", isPartial: true)
    #expect(await tasks.tells(["+a", "a~"]))
    return tasks
  }

  @Test(arguments: [false, true])
  func `a run that builds is stopped in the burst, and the next one begins after it`(
    isRestarted: Bool
  ) async throws {
    let tasks = try await stoppedBuild(isRestarted ? .restart : nil)
    tasks.change("g", isPartial: true)
    #expect(await tasks.runner.afterQueue { tasks.story } == ["+a", "a~"])
    #expect(tasks.runner.queue.sync { tasks.runner.waiting.map(\.cause) } == [.changes])
    source.endBurst()
    #expect(await tasks.tells(["+a", "a~", "+a", "a"]))
    #expect(tasks.runs(of: "a").last?.trigger.changes.count == 2)
    #expect(await tasks.hasRounds(1))
    #expect(tasks.rounds.count == 1)
    #expect(await tasks.end())
  }

  @Test func `a save is asked for at once while make works that it stops or that misses it`()
    async throws
  {
    for policy in [BusyPolicy.queue, .ignore, .signal(.hangup)] {
      let tasks = try RunningTasks(source: source) { directory in
        [
          TaskDefinition("a", in: directory, "./make 1000", watch: ["f"], policy: policy),
          TaskDefinition("b", in: directory, "exec sleep 1000", watch: ["g"]),
        ]
      }
      try tasks.directory.link("make", to: "/bin/sleep")
      tasks.runner.start()
      #expect(await eventually { tasks.runner.builds("a") })
      #expect(await eventually { tasks.story.contains("+b") })
      let count = source.flushCount
      tasks.runner.changesArrived(isFirst: true, saved: [tasks.directory["g"]])
      tasks.runner.changesArrived(isFirst: false, saved: [])
      #expect(await tasks.runner.afterQueue { source.flushCount } == count)
      for _ in 0..<2 {
        tasks.runner.changesArrived(isFirst: false, saved: [tasks.directory["f"]])
      }
      if policy == .signal(.hangup) {
        #expect(await tasks.runner.afterQueue { source.flushCount } == count)
      } else {
        #expect(await eventually { source.flushCount > count })
      }
      #expect(await tasks.runner.afterQueue { tasks.runner.foundBuilds }.isEmpty)
      #expect(await tasks.end())
    }
  }

  @Test func `a service in which make works is stopped in the burst, and begins after it`()
    async throws
  {
    let tasks = try RunningTasks(source: source) { directory in
      [TaskDefinition("s", in: directory, "touch up; ./make 1000", watch: ["f"], service: true)]
    }
    try tasks.directory.link("make", to: "/bin/sleep")
    tasks.runner.start()
    #expect(await eventually { tasks.runner.builds("s") })
    tasks.change("f", isPartial: true)
    #expect(await tasks.tells(["+s", "s~"]))
    tasks.change("f", isPartial: true)
    #expect(await tasks.runner.afterQueue { tasks.story } == ["+s", "s~"])
    source.endBurst()
    #expect(await tasks.tells(["+s", "s~", "+s"]))
    #expect(await tasks.end())
  }

  @Test func `a key or a stop does not wait for the burst in which a build was stopped`()
    async throws
  {
    for isStop in [false, true] {
      let tasks = try await stoppedBuild()
      if isStop {
        tasks.runner.stop()
        #expect(await tasks.hasRounds(1))
      }
      tasks.runner.submitKey()
      #expect(await tasks.tells(["+a", "a~", "+a", "a"]))
      source.endBurst()
      #expect(await tasks.runner.afterQueue { tasks.story } == ["+a", "a~", "+a", "a"])
      #expect(await tasks.end())
    }
  }

  @Test func `a key does not wait, and its run receives the part`() async throws {
    let tasks = try await tasksWithHeldRun()
    tasks.runner.submitKey()
    #expect(await tasks.tells(["+a", "a", "+a", "a"]))
    #expect(tasks.runs(of: "a").last?.trigger.changes.map(\.path) == [tasks.directory["f"]])
    #expect(await eventually { !tasks.runner.isBusy })
    source.endBurst()
    #expect(await tasks.runner.afterQueue { tasks.story } == ["+a", "a", "+a", "a"])
    #expect(await tasks.end())
  }

  @Test func `a stop cancels the run that waits, and the next one receives the part`() async throws
  {
    let tasks = try await tasksWithHeldRun()
    tasks.runner.stop()
    source.endBurst()
    #expect(await tasks.runner.afterQueue { tasks.story } == ["+a", "a"])
    tasks.change("g")
    #expect(await tasks.tells(["+a", "a", "+a", "a"]))
    #expect(tasks.runs(of: "a").last?.trigger.changes.count == 2)
    #expect(await tasks.end())
  }

  @Test func `a source without bursts holds nothing`() async throws {
    let source = PlainSource()
    let tasks = try RunningTasks(source: source) { directory in
      [TaskDefinition("a", in: directory, "true", watch: ["f"])]
    }
    tasks.change("f", isPartial: true)
    #expect(await tasks.tells(["+a", "a"]))
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }
}

extension RunningTasks {
  /// The latest report of whether tasks are unsettled.
  fileprivate var isUnsettled: Bool? {
    entries.compactMap {
      if case .runner(.unsettled(let names)) = $0 { !names.isEmpty } else { nil }
    }.last
  }

  /// Whether the last report is that nothing runs or is due.
  fileprivate var isIdle: Bool {
    if case .runner(.idle) = entries.last { true } else { false }
  }
}

extension TaskRunner {
  /// Whether a run waits for the end of a burst.
  fileprivate var isHolding: Bool {
    queue.sync { state.access { $0.components }.contains { $0.awaitingBurstEnd != nil } }
  }

  /// Returns a value after the queue has done all work that was submitted before.
  func afterQueue<Value>(_ value: () -> Value) async -> Value {
    // Work that the submitted work submits.
    for _ in 0..<3 { queue.sync {} }
    return value()
  }
}
