import FileObservation
import Support
import SystemCalls
import Testing

@testable import ActionRunning
@testable import LiveReload
@testable import WatchrunCommandLine
@testable import WatchrunSettings

import enum SystemCalls.ExitStatus

/// From the reports and the output of a runner to the activity of pages.
struct ActivityTests {
  private static let change = RunTrigger(
    .change,
    changes: [
      .init(path: "/p/src/a.c", kind: .modified, type: .file),
      .init(path: "/elsewhere", kind: .created, type: .file),
    ])
  private static let begun = "round change src/a.c modified, /elsewhere created"

  /// The activities for the reports of a plan.
  private func story(_ plan: SessionPlan, _ reports: TaskReport...) -> [String] {
    reports.flatMap { plan.activities(for: $0, in: "/p") }.map(shown)
  }

  private func tasks(of plan: SessionPlan) -> String {
    shown(plan.activity)
  }

  private func started(_ task: String, _ reason: RunTrigger.Reason = .change) -> TaskReport {
    .run(run(task, reason), .started)
  }

  private func ended(
    _ task: String, _ status: Int32 = 0, _ ending: TaskReport.Ending = .byItself
  ) -> TaskReport {
    .run(run(task), .ended(.exited(status), duration: .seconds(1), ending))
  }

  private func stopping(_ task: String) -> TaskReport {
    .run(run(task), .stopping(.terminate, killAfter: .seconds(10)))
  }

  private func round(_ outcomes: TaskRound.Outcome...) -> TaskReport {
    .round(.ended(TaskRound(entries: outcomes.map { .init(name: "a", outcome: $0) })))
  }

  private let project = """
    build: { run: 'make' }, test: { run: ['make', 'test'], after: ['build'] },
    server: { run: './s', after: ['build'], service: true, ready: { port: 80 } },
    plain: { run: './p', service: true },
    """

  // MARK: - Tasks

  @Test func `pages know the tasks, each after its dependencies`() throws {
    #expect(
      tasks(of: try projectPlan(project))
        == "tasks build = make; test = make test after build; server = ./s after build, service; "
        + "plain = ./p, service")
  }

  @Test func `pages know a command and its build`() throws {
    #expect(
      tasks(of: try plan("--build", "make", "-r", "--", "./build"))
        == "tasks build = make; command = ./build after build, service")
  }

  @Test func `pages name a command as it was typed, and a task by its name`() throws {
    #expect(
      titles(of: try plan("--build", "make", "--", "sh", "-c", "npm test")) == [
        "build", "sh -c 'npm test'",
      ])
    #expect(titles(of: try plan("cd lib && npm test")) == ["cd lib && npm test"])
    let long = titles(of: try plan("echo " + String(repeating: "a", count: 100)))
    #expect(long == ["echo " + String(repeating: "a", count: 74) + "…"])
    #expect(titles(of: try projectPlan("lint: { run: 'cd lib && make' }")) == ["lint"])
  }

  private func titles(of plan: SessionPlan) -> [String] {
    guard case .tasks(let tasks) = plan.activity else { return [] }
    return tasks.map(\.title)
  }

  @Test func `a command that is kept alive is a service`() throws {
    let plan = try plan("--keep-alive", "--", "./app")
    #expect(tasks(of: plan) == "tasks app = ./app, service")
    #expect(
      story(plan, started("app"), ended("app"), started("app", .restart)) == [
        "+app", "app ready", "app failed 0", "+app", "app ready",
      ])
  }

  // MARK: - Runs

  @Test func `a round begins for a reason, with its changes, and ends with its outcome`() throws {
    let plan = try plan("--proxy", "80", "--", "/usr/bin/make", "all")
    let story = story(
      plan, .round(.began(Self.change)), started("make"), ended("make"),
      round(.succeeded(.seconds(1))), .runner(.idle), .round(.began(RunTrigger(.key))),
      started("make", .key),
      ended("make", 2), round(.failed(.exited(2), .seconds(1))))
    #expect(
      story == [
        Self.begun, "+make", "make succeeded 0", "round succeeded", "round key", "+make",
        "make failed 2", "round failed",
      ])
  }

  @Test func `a task that fails keeps its dependents from running`() throws {
    let story = story(
      try projectPlan(project), .round(.began(Self.change)), started("build"), ended("build", 1),
      .task("test", .skipped(because: .failed("build"))),
      .task("server", .kept(because: .failed("build"))),
      round(.failed(.exited(1), .seconds(1))))
    #expect(
      story == [
        Self.begun, "+build", "build failed 1", "test skipped", "server kept", "round failed",
      ])
  }

  @Test func `a program that cannot be started fails with the reason as its output`() throws {
    let error = SystemError(call: "posix_spawn", code: ENOENT, path: "./app")
    let story = story(
      try plan("--", "./app"), started("app"),
      .run(run("app"), .notStarted(error, status: .exited(127))))
    #expect(
      story == ["+app", "app: cannot run ./app: No such file or directory", "app failed 127"])
  }

  @Test func `a timeout is a failure, with the status of the stop after a 0`() throws {
    let story = story(
      try plan("--", "./app"), started("app"), .run(run("app"), .timedOut(after: .seconds(1))),
      stopping("app"), ended("app", 0, .timedOut))
    #expect(story == ["+app", "app stopping", "app failed 143"])
  }

  @Test func `hooks are not shown`() throws {
    let plan = try plan("--on-success", "x", "--", "./app")
    let hook = run("app", job: .hook)
    let story = story(
      plan, .run(hook, .started), .run(hook, .stopping(.terminate, killAfter: .seconds(1))),
      .run(hook, .ended(.exited(1), duration: .zero, .byItself)),
      .run(hook, .notStarted(SystemError(call: "execve", code: ENOENT), status: .exited(127))))
    #expect(story.isEmpty)
    #expect(output(of: hook) == nil)
  }

  private func output(of run: TaskReport.Run, isFinished: Bool = true) -> String? {
    let output = TaskOutput(run: run, line: Array("text".utf8), isFinished: isFinished)
    return Activity(output).map(shown)
  }

  @Test func `output is shown in whole lines`() {
    #expect(output(of: run("make")) == "make: text")
    #expect(output(of: run("make"), isFinished: false) == nil)
  }

  // MARK: - Services

  @Test func `services become ready, are kept, or are too late`() throws {
    let story = story(
      try projectPlan(project), .round(.began(Self.change)), started("server"),
      .task("server", .ready(after: .seconds(1))), round(.ready(.seconds(1))),
      .task("server", .kept(because: .failed("build"))),
      .task("server", .notReady(TaskDefinition.Readiness(.port(80)))), round(.notReady),
      stopping("server"), ended("server", 0, .stopped))
    #expect(
      story == [
        Self.begun, "+server", "server ready", "round succeeded", "server kept", "server notReady",
        "round failed", "server stopping", "server stopped",
      ])
  }

  @Test func `a service without a readiness check is ready at its start`() throws {
    #expect(
      story(try projectPlan(project), started("plain", .start)) == ["+plain", "plain ready"])
  }

  @Test func `a service that ends by itself has failed, and its restart is no round`() throws {
    let story = story(
      try projectPlan(project), ended("server"), .task("server", .backingOff(.seconds(1))),
      started("server", .restart), .task("server", .ready(after: .seconds(1))))
    #expect(story == ["server failed 0", "+server", "server ready"])
  }

  @Test func `a service whose port is in use fails with that as its output`() throws {
    let conflict = ReadinessConflict(.line("x"))
    #expect(
      story(try projectPlan(project), .task("server", .conflict(conflict))) == [
        "+server", "server: cannot run server: Address already in use", "server failed 126",
      ])
  }

  @Test func `a command that changes restart is a service that is ready at its start`() throws {
    let story = story(
      try plan("-r", "--", "./server"), .round(.began(RunTrigger(.start))),
      started("server", .start),
      round(.ready(.zero)), stopping("server"), ended("server", 0, .stopped),
      .round(.began(Self.change)), started("server"), round(.ready(.zero)), ended("server", 1))
    #expect(
      story == [
        "round start", "+server", "server ready", "round succeeded", "server stopping",
        "server stopped", Self.begun, "+server", "server ready", "round succeeded",
        "server failed 1",
      ])
  }

  @Test func `a server that may end has not failed when it succeeds`() throws {
    #expect(story(try plan("-r", "--", "./server"), ended("server")) == ["server succeeded 0"])
  }

  @Test func `with --proxy, a server is ready when its port accepts connections`() throws {
    let plan = try plan("--proxy", "3000", "-r", "--", "./server")
    let story = story(
      plan, .round(.began(Self.change)), started("server"),
      .task("server", .ready(after: .seconds(1))),
      round(.ready(.seconds(1))))
    #expect(story == [Self.begun, "+server", "server ready", "round succeeded"])
  }

  @Test func `a server keeps running while its next version is built`() throws {
    let plan = try plan("--proxy", "3000", "-r", "--build", "make", "--", "./server")
    let story = story(
      plan, .round(.began(Self.change)), started("build"), ended("build"), stopping("server"),
      ended("server", 0, .stopped), started("server"), .task("server", .ready(after: .seconds(1))),
      round(.succeeded(.seconds(1)), .ready(.seconds(1))), .round(.began(Self.change)),
      started("build"), stopping("build"), ended("build", 0, .stopped), started("build"),
      ended("build", 1), .task("server", .kept(because: .failed("build"))),
      round(.failed(.exited(1), .seconds(1)), .kept(because: "build")))
    #expect(
      story == [
        Self.begun, "+build", "build succeeded 0", "server stopping", "server stopped", "+server",
        "server ready", "round succeeded", Self.begun, "+build", "build stopping", "build stopped",
        "+build", "build failed 1", "server kept", "round failed",
      ])
  }

  @Test func `a signal to the server is a round`() throws {
    let story = story(
      try plan("-s", "HUP", "--", "./server"), .round(.began(Self.change)),
      .task("server", .signaled(.hangup, Self.change)), round(.ready(.zero)))
    #expect(story == [Self.begun, "round succeeded"])
  }

  // MARK: - Settling

  @Test func `pages wait for what is unsettled`() throws {
    let story = story(
      try plan("--build", "make", "-r", "--", "./server"),
      .runner(.unsettled(["build", "server"])),
      .runner(.unsettled([])))
    #expect(story == ["unsettled build server", "unsettled "])
  }

  @Test func `a service whose next process fails is failed, and serves`() throws {
    let story = story(
      try plan("--listen", "auto", "-o", "overlap", "--", "./server"),
      .run(run("server"), .started),
      .run(run("server"), .ended(.exited(1), duration: .zero, .byItself)),
      .task("server", .kept(because: .failed("server"))),
      .run(run("server"), .started), .task("server", .ready(after: .seconds(1))))
    #expect(story == ["+server", "server failed 1", "server serving", "+server", "server ready"])
  }

  @Test func `pages that are opened later learn how the tasks are`() throws {
    var picture = SessionPicture(directory: "/p", try projectPlan(project))
    for report in [
      started("build"), ended("build", 1), .task("test", .skipped(because: .failed("build"))),
      started("server"), .task("server", .notReady(TaskDefinition.Readiness(.port(80)))),
      started("plain"), .runner(.unsettled(["plain"])),
    ] as [TaskReport] {
      picture.handle(report, at: Instant(offset: .zero), time: 1_234)
      let output = TaskOutput(run: run("build"), line: Array("text".utf8), isFinished: true)
      if case .run(_, .started) = report { picture.output.handle(output) }
    }
    let status = picture.status
    let states = status.tasks.map { "\($0.description.name) \($0.state) \($0.startedAt ?? 0)" }
    #expect(
      states == ["build failed 1234", "test skipped 0", "server failed 1234", "plain ready 1234"])
    #expect(status.tasks.map(\.status) == [1, nil, nil, nil])
    #expect(
      status.task("build")?.lines.map(\.plainText) == Array(repeating: Array("text".utf8), count: 3)
    )
    #expect(status.unsettled == ["plain"])
  }

  @Test func `other reports do not concern pages`() throws {
    let story = story(
      try plan("--", "./app"), .run(run("app"), .killing(after: nil)),
      .run(run("app"), .notStopped(nil, isAwaited: true)),
      .run(run("app"), .gone), .runner(.waiting([.init("app", Self.change, for: .pause)])),
      .changes(.owed(Self.change)),
      .task("app", .ignored(Self.change)), .runner(.finished(nil)))
    #expect(story.isEmpty)
  }
}

private func run(
  _ task: String, _ reason: RunTrigger.Reason = .change, job: TaskReport.Job = .command
) -> TaskReport.Run {
  TaskReport.Run(task: task, job: job, number: 1, trigger: RunTrigger(reason))
}

/// An activity in a few words.
private func shown(_ activity: Activity) -> String {
  switch activity {
  case .tasks(let tasks):
    return "tasks "
      + tasks.map { task in
        let after = task.dependencies.isEmpty ? "" : " after " + task.dependencies.joined()
        return "\(task.name) = \(task.command)\(after)\(task.isService ? ", service" : "")"
      }.joined(separator: "; ")
  case .roundBegan(let reason, let changes):
    let list = changes.map { "\($0.path) \($0.kind)" }.joined(separator: ", ")
    return "round \(reason)\(list.isEmpty ? "" : " " + list)"
  case .started(let task): return "+\(task)"
  case .launched(let task, let process): return "\(task) is \(process)"
  case .output(let task, let line): return "\(task): \(String(decoding: line, as: UTF8.self))"
  case .diagnosed(let task, let counts, _): return "\(task): \(counts)"
  case .stopping(let task): return "\(task) stopping"
  case .serving(let task): return "\(task) serving"
  case .ended(let task, let outcome, let status, _):
    return "\(task) \(outcome)\(status.map { " \($0)" } ?? "")"
  case .unsettled(let names): return "unsettled " + names.sorted().joined(separator: " ")
  case .roundEnded(let succeeded): return succeeded ? "round succeeded" : "round failed"
  case .changed(let paths): return "changed " + paths.map { "\($0)" }.joined(separator: " ")
  }
}
