import FileObservation
import Foundation
import Synchronization
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

/// A source that is flushed when a test says so.
private final class PatientSource: ChangeSource {
  private let flushes = Log<@Sendable () -> Void>()

  var count: Int { flushes.entries.count }

  func flush(then done: @escaping @Sendable () -> Void) {
    flushes.note(done)
  }

  /// Ends this flush, counted from 1.
  func end(_ number: Int) {
    flushes.entries[number - 1]()
  }
}

/// A source that has nothing to report, as a real one after a flush.
private final class QuickSource: ChangeSource {
  func flush(then done: @escaping @Sendable () -> Void) { done() }
}

/// What a test does once, on the queue of the runner, after a step.
private final class Reaction: Sendable {
  private let react = Mutex<(@Sendable () -> Bool)?>(nil)

  var options: TaskRunner.Options {
    var options = TaskRunner.Options()
    options.stepTaken = { [self] in
      react.withLock { if $0?() == true { $0 = nil } }
    }
    return options
  }

  /// - Parameter react: Returns false if it is not yet the time.
  func set(_ react: @escaping @Sendable () -> Bool) {
    self.react.withLock { $0 = react }
  }
}

/// Changes while tasks run, and who receives them; with real processes.
struct JudgedChangesTests {
  private static func waiting(for name: String) -> String {
    "until test -e \(name); do sleep 0.1; done"
  }

  /// a → b → c → s, of which a runs until there is a file `go`.
  private static func chain(_ directory: Path) -> [TaskDefinition] {
    [
      TaskDefinition("a", in: directory, "echo run >> a.log; " + waiting(for: "go"), watch: ["f"]),
      TaskDefinition("b", in: directory, "true", after: ["a"]),
      TaskDefinition("c", in: directory, "true", after: ["b"]),
      TaskDefinition("s", in: directory, "exec sleep 1000", after: ["c"], service: true),
    ]
  }

  /// The first of two rounds begins a run, which cannot have made what both were begun for.
  @Test func `a change that begins several rounds is judged for none of them`() async throws {
    let tasks = try RunningTasks { directory in
      ["a", "b"].map { TaskDefinition($0, in: directory, "true", watch: ["f"]) }
    }
    tasks.change("f")
    #expect(await eventually { tasks.runs(of: "a").count == 1 && tasks.runs(of: "b").count == 1 })
    #expect(await eventually { !tasks.isBusy })
    let explained = tasks.entries.count {
      if case .changes(.explained) = $0 { true } else { false }
    }
    #expect(explained == 0)
    #expect(await tasks.end())
  }

  @Test func `a removal in a burst that a declared write has begun is not proved to be of others`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      var task = TaskDefinition("s", in: directory, "exec sleep 1000", watch: ["f"], service: true)
      task.triggers.writes = DeclaredWrites(["log"])
      return [task]
    }
    tasks.runner.start()
    #expect(await tasks.tells("+s"))
    // It sleeps.
    try await Task.sleep(for: .milliseconds(150))
    tasks.runner.monitor.look()
    try await Task.sleep(for: .milliseconds(100))
    tasks.runner.changesArrived(isFirst: true, saved: [])
    let changes = ["log", "f"].map { name in
      ChangeBatch.Change(path: tasks.directory[name], kind: .removed, type: .file)
    }
    tasks.runner.submit(ChangeBatch(number: 1, changes: changes))
    #expect(await tasks.tells("+s", times: 2))
    let writers = tasks.entries.flatMap { report -> [ChangeExplanation.Writer] in
      if case .changes(.explained(let all)) = report { all.map(\.writer) } else { [] }
    }
    #expect(writers == [.unknown])
    #expect(await tasks.end())
  }

  @Test(arguments: [false, true])
  func `a save while a task runs repeats it before what depends on it, and starts a service once`(
    hasSource: Bool
  ) async throws {
    let source = hasSource ? QuickSource() : nil
    let tasks = try RunningTasks(source: source) { Self.chain($0) }
    tasks.runner.start()
    #expect(await eventually { tasks.directory.lines(of: "a.log").count == 1 })
    tasks.change("f")
    try tasks.directory.write(to: "go")
    #expect(await tasks.tells("+s"))
    #expect(await eventually { !tasks.runner.isFlushing })
    #expect(tasks.story == ["+a", "a", "+a", "a", "+b", "b", "+c", "c", "+s"])
    #expect(tasks.runs(of: "a").map(\.trigger.changes.count) == [0, 1])
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }

  /// The round begins with that of another task, so that no delay of the round before goes on. On a busy machine the
  /// delay may end meanwhile, but not each time.
  @Test(arguments: [false, true])
  func `a task whose run is delayed runs with the next one of another task`(byKey: Bool)
    async throws
  {
    var story: [String] = []
    for _ in 1...5 where story.prefix(2).sorted() != ["+a", "+b"] {
      story = try await storyOfDelay(byKey: byKey)
    }
    #expect(story.prefix(2).sorted() == ["+a", "+b"])
    #expect(story.suffix(2) == ["+c", "c"])
  }

  /// The end of the story of a task whose run is delayed when another one is requested.
  private func storyOfDelay(byKey: Bool) async throws -> [String] {
    let isDelayed = Reaction()
    let tasks = try RunningTasks(options: isDelayed.options) { directory in
      let run = "echo run >> f; echo run >> a.log; " + Self.waiting(for: "go") + "; rm go"
      return [
        TaskDefinition("a", in: directory, run, watch: ["f"]),
        TaskDefinition("b", in: directory, "true", watch: ["g"]),
        TaskDefinition("c", in: directory, "true", after: ["a", "b"]),
      ]
    }
    // At once, since the end of the delay may be near.
    isDelayed.set {
      if tasks.runs(of: "a").count < 9 || !tasks.isDelayed("a") { return false }
      if byKey { tasks.runner.submitKey(for: ["b"]) } else { tasks.change("g") }
      return true
    }
    tasks.runner.start()
    for number in 1...9 {
      #expect(await eventually { tasks.directory.lines(of: "a.log").count == number })
      tasks.change("f")
      try tasks.directory.write(to: "go")
    }
    #expect(await eventually { tasks.runs(of: "a").count == 10 })
    #expect(tasks.runs(of: "a").last?.trigger.changes.map(\.path) == [tasks.directory["f"]])
    try tasks.directory.write(to: "go")
    #expect(await eventually { tasks.story.last == "c" })
    #expect(await tasks.end())
    return tasks.story.suffix(6)
  }

  @Test func `a save is ignored only while the task that ignores it runs`() async throws {
    let source = QuickSource()
    let tasks = try RunningTasks(source: source) { directory in
      [
        TaskDefinition("build", in: directory, "true", watch: ["f"], policy: .ignore),
        TaskDefinition("test", in: directory, Self.waiting(for: "go"), after: ["build"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.tells("+test"))
    #expect(await eventually { !tasks.runner.isFlushing })
    tasks.change("f")
    try tasks.directory.write(to: "go")
    #expect(await tasks.tells("+build", times: 2))
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }

  @Test func `a log that a service keeps open does not signal it`() async throws {
    let source = QuickSource()
    let tasks = try RunningTasks(source: source) { directory in
      [
        TaskDefinition(
          "s", in: directory,
          """
          exec 3>> log; trap : HUP; echo up
          while :; do test -e go && rm go && echo x >&3; sleep 0.1; done
          """,
          watch: ["f", "log"], service: true, ready: TaskDefinition.Readiness(.line("up")),
          policy: .signal(.hangup))
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    let triggers: @Sendable () -> [[String?]] = {
      tasks.entries.compactMap { report in
        guard case .task("s", .signaled(_, let trigger)) = report else { return nil }
        return trigger.changes.map(\.path.name)
      }
    }
    for (number, name) in ["f", "log", "f"].enumerated() {
      if name == "log" {
        // Others are known to write what they do.
        try tasks.directory.write(to: "go")
        #expect(await eventually { (try? tasks.directory.read("log"))?.isEmpty == false })
      } else {
        try tasks.directory.write("\(number)", to: name)
      }
      tasks.change(name)
      #expect(
        await eventually {
          tasks.entries.count { if case .changes(.explained) = $0 { true } else { false } } > number
        })
    }
    #expect(await eventually { triggers().joined().count { $0 == "f" } == 2 })
    #expect(triggers() == [["f"], ["f", "log"]])
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }

  @Test func `a log that a service of an earlier round keeps open starts nothing`() async throws {
    let source = QuickSource()
    let tasks = try RunningTasks(source: source) { directory in
      [
        TaskDefinition("build", in: directory, "echo run >> build.log", watch: ["f", "log"]),
        TaskDefinition(
          "s", in: directory,
          """
          exec 3>> log; echo up
          while :; do test -e go && rm go && echo x >&3; sleep 0.1; done
          """,
          watch: ["g", "log"], after: ["build"], service: true,
          ready: TaskDefinition.Readiness(.line("up"))),
        TaskDefinition(
          "other", in: directory, "echo up; sleep 1000", watch: ["h"], after: ["build"],
          service: true, ready: TaskDefinition.Readiness(.line("up"))),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    try tasks.directory.write(to: "h")
    tasks.change("h")
    #expect(await tasks.hasRounds(2))
    let starts = tasks.entries.count { if case .run(_, .started) = $0 { true } else { false } }
    try tasks.directory.write(to: "go")
    #expect(await eventually { (try? tasks.directory.read("log"))?.isEmpty == false })
    tasks.change("log")
    #expect(
      await eventually {
        tasks.entries.contains {
          if case .changes(.explained(let all)) = $0 { all.last?.decision == .waits } else { false }
        }
      })
    // What is told after it is told after its consequences.
    try tasks.directory.write("again", to: "h")
    tasks.change("h")
    #expect(await tasks.hasRounds(3))
    #expect(
      tasks.entries.count { if case .run(_, .started) = $0 { true } else { false } } == starts + 1)
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }

  /// With `-r make`, each object restarts it, until they are delayed together.
  @Test func `a save stops a service in which make works, whatever delays what that writes`()
    async throws
  {
    let source = QuickSource()
    let tasks = try RunningTasks(source: source) { directory in
      [
        TaskDefinition(
          "s", in: directory, "./make 1000; true", watch: ["f"] + (1...40).map { "\($0).o" },
          service: true)
      ]
    }
    try tasks.directory.link("make", to: "/bin/sleep")
    tasks.runner.start()
    for number in 1...40 where !tasks.isDelayed("s") {
      try #require(await eventually { tasks.runner.builds("s") })
      let runs = tasks.runs(of: "s").count
      tasks.change("\(number).o")
      try #require(await eventually { tasks.isDelayed("s") || tasks.runs(of: "s").count > runs })
    }
    // The delay may have ended meanwhile.
    tasks.change("f")
    #expect(
      await eventually {
        tasks.runs(of: "s").last?.trigger.changes.first?.path == tasks.directory["f"]
      })
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }

  @Test func `what is saved while make ignores it may be missed until it is saved again`()
    async throws
  {
    let source = QuickSource()
    let tasks = try RunningTasks(source: source) { directory in
      [
        TaskDefinition(
          "a", in: directory, "./make -c 'until test -e go; do sleep 0.1; done'", watch: ["f"],
          policy: .ignore)
      ]
    }
    try tasks.directory.link("make", to: "/bin/sh")
    try tasks.directory.write(to: "go")
    tasks.runner.start()
    #expect(await tasks.tells("a"))
    #expect(await eventually { !tasks.runner.isFlushing })
    try tasks.directory.remove("go")
    // People edit it.
    tasks.change("f")
    #expect(await eventually { tasks.runner.builds("a") })
    #expect(tasks.runner.missedNow == [:])
    tasks.change("f")
    #expect(await eventually { tasks.runner.missedNow == ["a": [tasks.directory["f"]]] })
    #expect(
      tasks.entries.count { if case .task("a", .missed) = $0 { true } else { false } } == 1)
    try tasks.directory.write(to: "go")
    #expect(await tasks.tells("a", times: 2))
    #expect(await eventually { !tasks.runner.isFlushing })
    #expect(tasks.runner.missedNow == ["a": [tasks.directory["f"]]])
    tasks.change("f")
    #expect(await tasks.tells("a", times: 3))
    #expect(tasks.runner.missedNow == ["a": []])
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }

  /// What a run has changed is reported after its end, like a save directly after it.
  @Test(arguments: [false, true])
  func `what is saved after a run that ignores changes is not ignored`(isRemoval: Bool) async throws
  {
    let source = PatientSource()
    let tasks = try RunningTasks(source: source) { directory in
      [TaskDefinition("a", in: directory, "date > out", watch: ["f", "out"], policy: .ignore)]
    }
    try tasks.directory.write("0", to: "f")
    tasks.runner.start()
    #expect(await tasks.tells("a"))
    let end = FileTime.latest()
    #expect(await eventually { FileTime.now() > end })
    if isRemoval {
      try tasks.directory.remove("f")
    } else {
      try tasks.directory.write("1", to: "f")
    }
    tasks.change("f")
    tasks.change("out")
    #expect(await eventually { tasks.ignored == ["out"] })
    #expect(await eventually { source.count > 0 })
    for number in 1...source.count { source.end(number) }
    #expect(await tasks.tells("a", times: 2))
    #expect(tasks.runs(of: "a").last?.trigger.changes.map(\.path) == [tasks.directory["f"]])
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }

  /// What the first flush reports may not have what the second task wrote.
  @Test func `what two tasks have ignored is known when both flushes have ended`() async throws {
    let source = PatientSource()
    let tasks = try RunningTasks(source: source) { directory in
      let writers = ["a", "b"].map { name in
        TaskDefinition(
          name, in: directory, Self.waiting(for: "go-\(name)") + "; date > out-\(name)",
          watch: ["out-\(name)"], after: ["d"], policy: .ignore)
      }
      let last = TaskDefinition("c", in: directory, Self.waiting(for: "go-c"), after: ["d"])
      return [TaskDefinition("d", in: directory, "true")] + writers + [last]
    }
    tasks.runner.start()
    // Before each of them.
    #expect(await eventually { source.count == 2 })
    for number in 1...2 { source.end(number) }
    for name in ["+a", "+b", "+c"] { #expect(await tasks.tells(name)) }
    let before = source.count
    try tasks.directory.write(to: "go-a")
    #expect(await eventually { source.count == before + 1 })
    try tasks.directory.write(to: "go-b")
    #expect(await eventually { source.count == before + 2 })
    for number in 1...before + 1 { source.end(number) }
    tasks.change("out-b")
    #expect(await eventually { tasks.ignored == ["out-b"] })
    for number in before + 2...source.count { source.end(number) }
    try tasks.directory.write(to: "go-c")
    #expect(await eventually { source.count == before + 3 })
    source.end(before + 3)
    #expect(await eventually { !tasks.isBusy })
    #expect(tasks.runs(of: "b").count == 1)
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }

  /// A start is attempted for a while if the program is being written, and the task counts as running.
  @Test func `what is saved after a start that failed is not ignored`() async throws {
    let source = PatientSource()
    let tasks = try RunningTasks(source: source) { directory in
      [
        TaskDefinition(
          "a", Command(words: [Array("./app".utf8)], directory: directory),
          triggers: TaskTriggers(watched: [WatchedPath(directory.appending("f"))]),
          policy: RunPolicy(busyPolicy: .ignore))
      ]
    }
    try tasks.directory.write("#!/bin/sh\n", to: "app")
    try tasks.directory.setMode(0o755, of: "app")
    let app = tasks.directory["app"].description
    let writer = try #require(FileHandle(forWritingAtPath: app))
    tasks.runner.start()
    #expect(await tasks.tells("a!"))
    try writer.close()
    let end = FileTime.latest()
    #expect(await eventually { FileTime.now() > end })
    try tasks.directory.write("1", to: "f")
    tasks.change("f")
    #expect(await eventually { source.count > 0 })
    for number in 1...source.count { source.end(number) }
    #expect(await tasks.tells("a"))
    #expect(tasks.ignored == [])
    #expect(await tasks.end())
    withExtendedLifetime(source) {}
  }

  @Test func `changes beside processes that a run has left behind are judged`() async throws {
    let tasks = try RunningTasks { directory in
      [TaskDefinition("a", in: directory, "exec sleep 1000 & echo $! > pid", watch: ["f"])]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(await eventually { !tasks.isBusy })
    tasks.change("f")
    #expect(await tasks.hasRounds(2))
    let isJudged = tasks.entries.contains {
      if case .changes(.explained) = $0 { true } else { false }
    }
    #expect(isJudged)
    #expect(await tasks.end())
    #expect(tasks.isGone("pid"))
  }

  @Test func `what a task is owed again is not settled for it because another one knows it`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      let wait = "n=$(cat n); echo $((n + 1)) > n; until test -e go$n; do sleep 0.1; done"
      return [
        TaskDefinition("build", in: directory, wait, watch: ["f"]),
        TaskDefinition("test", in: directory, "true", watch: ["f"], after: ["build"]),
      ]
    }
    try tasks.directory.write("1\n", to: "n")
    try tasks.directory.write("zero", to: "f")
    tasks.runner.start()
    #expect(await tasks.tells("+build"))
    try tasks.directory.write("one", to: "f")
    tasks.change("f")
    try tasks.directory.write(to: "go1")
    #expect(await tasks.tells("+build", times: 2))
    // The same content once more, of which the build knows.
    tasks.change("f")
    try tasks.directory.write(to: "go2")
    #expect(await tasks.tells("test"))
    let paths = tasks.runs(of: "test").flatMap { $0.trigger.changes.map(\.path) }
    #expect(paths == [tasks.directory["f"]])
    #expect(await tasks.end())
  }

  @Test func `a service waits for the flush, and for the runs to which that leads`() async throws {
    let source = PatientSource()
    let tasks = try RunningTasks(source: source) { Self.chain($0) }
    try tasks.directory.write(to: "go")
    tasks.runner.start()
    #expect(await tasks.tells("c"))
    #expect(await eventually { source.count == 1 })
    // The source reports this while it is flushed: it was saved while the tasks ran.
    tasks.change("f")
    source.end(1)
    #expect(await tasks.tells("c", times: 2))
    #expect(!tasks.story.contains("+s"))
    #expect(await eventually { source.count >= 2 })
    source.end(source.count)
    #expect(await tasks.tells("+s"))
    #expect(
      tasks.story == ["+a", "a", "+b", "b", "+c", "c", "+a", "a", "+b", "b", "+c", "c", "+s"])
    #expect(await tasks.end())
  }

  @Test
  func `a service is kept once in a round in which one dependency fails and another succeeds`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("b", in: directory, "! test -e broken", watch: ["f"]),
        TaskDefinition(
          "c", in: directory, "test ! -e broken || " + Self.waiting(for: "go"), watch: ["f"]),
        TaskDefinition("app", in: directory, "exec sleep 1000", after: ["b", "c"], service: true),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    try tasks.directory.write(to: "broken")
    tasks.change("f")
    #expect(await tasks.tells("app=b"))
    try tasks.directory.write(to: "go")
    #expect(await tasks.hasRounds(2))
    #expect(tasks.story.count { $0 == "c" } == 2)
    #expect(tasks.story.count { $0 == "app=b" } == 1)
    #expect(tasks.story.count { $0.hasPrefix("+app") } == 1)
    #expect(tasks.rounds[1].entries.last?.outcome == .kept(because: "b"))
    #expect(await tasks.end())
  }

  // MARK: Outputs

  @Test func `a file that a service keeps open waits for the next run, which receives it`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "s", in: directory, "exec sleep 1000 >> log", watch: ["log", "f"], service: true)
      ]
    }
    tasks.runner.start()
    #expect(await eventually { File.exists(tasks.directory["log"]) })
    tasks.change("log")
    let log = ChangeBatch.Change(path: tasks.directory["log"], kind: .modified, type: .file)
    #expect(await eventually { tasks.waiting.contains { $0.cause == .nextRun } })
    #expect(tasks.waiting.map(\.name) == ["s"])
    #expect(tasks.waiting.map(\.trigger) == [RunTrigger(.change, changes: [log])])
    #expect(tasks.story == ["+s"])
    tasks.change("f")
    #expect(await eventually { tasks.runs(of: "s").count == 2 })
    #expect(
      tasks.runs(of: "s").last?.trigger.changes.map(\.path)
        == [tasks.directory["f"], tasks.directory["log"]])
    #expect(await tasks.end())
  }

  @Test func `a file that a run has open does not stop it because of a task before it`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      let test = "exec > log; echo begun; " + Self.waiting(for: "go")
      return [
        TaskDefinition("build", in: directory, "true", watch: ["log"], policy: .restart),
        TaskDefinition("test", in: directory, test, after: ["build"]),
      ]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.directory.lines(of: "log") == ["begun"] })
    for _ in 0..<3 {
      tasks.change("log")
      for _ in 0..<3 { tasks.runner.queue.sync {} }
    }
    try tasks.directory.write(to: "go")
    #expect(await tasks.tells("test"))
    #expect(tasks.story.prefix(4) == ["+build", "build", "+test", "test"])
    #expect(await tasks.end())
  }

  // MARK: Stopped by the user

  @Test func `a change of a stopped run is owed, starts nothing, and reaches the run of a key`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "a", in: directory, "echo run >> a.log; " + Self.waiting(for: "go"), watch: ["f"])
      ]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.directory.lines(of: "a.log").count == 1 })
    tasks.change("f")
    tasks.runner.stop()
    #expect(await tasks.hasRounds(1))
    #expect(await eventually { !tasks.runner.isBusy })
    let paths = [tasks.directory["f"]]
    #expect(tasks.owed.map { $0.changes.map(\.path) } == [paths])
    #expect(tasks.story == ["+a", "a~"])
    try tasks.directory.write(to: "go")
    tasks.runner.submitKey()
    #expect(await tasks.hasRounds(2))
    #expect(tasks.story == ["+a", "a~", "+a", "a"])
    #expect(tasks.runs(of: "a").last?.trigger.reason == .key)
    #expect(tasks.runs(of: "a").last?.trigger.changes.map(\.path) == paths)
    #expect(await tasks.end())
  }

  @Test func `a stopped run's own changes reach the next run as well`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "a", in: directory, "echo run >> a.log; " + Self.waiting(for: "go"), watch: ["f", "g"])
      ]
    }
    tasks.change("f")
    #expect(await eventually { tasks.directory.lines(of: "a.log").count == 1 })
    tasks.change("g")
    tasks.runner.stop()
    #expect(await eventually { tasks.rounds.count == 1 && !tasks.runner.isBusy })
    try tasks.directory.write(to: "go")
    tasks.runner.submitKey()
    #expect(await tasks.hasRounds(2))
    #expect(
      tasks.runs(of: "a").map { $0.trigger.changes.map(\.path) } == [
        [tasks.directory["f"]], [tasks.directory["f"], tasks.directory["g"]],
      ])
    #expect(await tasks.end())
  }

  // MARK: Services that end

  @Test func `with a first run, a service that ends by itself ends the runner with its status`()
    async throws
  {
    let tasks = try RunningTasks(options: .init(completion: .firstRun)) { directory in
      [TaskDefinition("s", in: directory, "exit 3", service: true)]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.isFinished })
    #expect(tasks.finish == .some(.exited(3)))
    #expect(tasks.runs(of: "s").count == 1)
  }

  @Test(arguments: [CompletionRule.firstRun, .firstFailure])
  func `one with a limit of restarts ends the runner when it is given up, and no run in the middle`(
    rule: CompletionRule
  ) async throws {
    let tasks = try RunningTasks(options: .init(completion: rule)) { directory in
      var service = TaskDefinition("s", in: directory, "exit 3", service: true)
      (service.policy.restartLimit, service.policy.backOff) = (1, .milliseconds(10))
      return [service, TaskDefinition("t", in: directory, "sleep 0.3; echo end > log")]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.isFinished })
    #expect(tasks.finish == .some(.exited(3)))
    #expect(tasks.runs(of: "s").count == 2)
    #expect(tasks.directory.lines(of: "log") == ["end"])
  }

  @Test func `one that is started again and is not ready in time is a failure`() async throws {
    let tasks = try RunningTasks(options: .init(completion: .firstRun)) { directory in
      var ready = TaskDefinition.Readiness(.line("never"))
      ready.timeout = .milliseconds(300)
      var service = TaskDefinition(
        "s", in: directory, "test -e again || { touch again; exit 3; }; exec sleep 1000",
        service: true, ready: ready)
      (service.policy.restartLimit, service.policy.backOff) = (1, .milliseconds(10))
      return [service]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.isFinished })
    #expect(tasks.finish == .some(.exited(1)))
  }

  @Test func `one that fails for good is a failure, whatever else succeeds later`() async throws {
    let tasks = try RunningTasks(options: .init(completion: .firstRun)) { directory in
      var one = TaskDefinition(
        "one", in: directory, "test -e again || { touch again; exit 3; }; echo up; exec sleep 1000",
        service: true, ready: TaskDefinition.Readiness(.line("up")))
      (one.policy.restartLimit, one.policy.backOff) = (1, .milliseconds(10))
      // On a busy machine, its end may be noticed after a second, when one without a check has started.
      var other = TaskDefinition(
        "other", in: directory, "exit 4", service: true,
        ready: TaskDefinition.Readiness(.line("up")))
      (other.policy.restartLimit, other.policy.backOff) = (2, .milliseconds(100))
      return [
        one, other, TaskDefinition("t", in: directory, "echo end > log", after: ["one"]),
      ]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.isFinished })
    #expect((tasks.finish ?? nil)?.isSuccess == false)
    #expect(tasks.directory.lines(of: "log") == ["end"])
  }

  @Test func `one that succeeds when it is started again is no failure`() async throws {
    let tasks = try RunningTasks(options: .init(completion: .firstRun)) { directory in
      var service = TaskDefinition(
        "s", in: directory, "test -e again || { touch again; exit 3; }; exec sleep 1000",
        service: true)
      (service.policy.restartLimit, service.policy.backOff) = (1, .milliseconds(10))
      return [service]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.isFinished })
    #expect(tasks.finish == .some(.exited(0)))
  }
}

extension TaskRunner {
  /// Whether changes are being judged.
  fileprivate var isFlushing: Bool {
    queue.sync { state.access { $0.components }.contains(where: \.isFlushing) }
  }
}

extension RunningTasks {
  /// What was last reported to wait.
  fileprivate var waiting: [TaskRunner.Waiting] {
    entries.compactMap { report -> [TaskRunner.Waiting]? in
      if case .runner(.waiting(let waiting)) = report { waiting } else { nil }
    }.last ?? []
  }

  /// Whether the task was last reported to wait for the end of a delay.
  fileprivate func isDelayed(_ name: String) -> Bool {
    waiting.contains { $0.name == name && $0.cause == .delay }
  }
}
