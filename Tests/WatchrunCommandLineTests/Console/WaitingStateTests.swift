import FileObservation
import Support
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine
@testable import WatchrunSettings

private func time(_ seconds: Double) -> Instant { Instant(offset: .seconds(seconds)) }

private func run(_ task: String = "app") -> TaskReport.Run {
  TaskReport.Run(task: task, job: .command, number: 1, trigger: RunTrigger(.start))
}

private func change(_ path: Path) -> RunTrigger {
  RunTrigger(.change, changes: [.init(path: path, kind: .modified, type: .file)])
}

private func app(
  _ trigger: RunTrigger, for cause: TaskRunner.Waiting.Cause = .runs(["app"])
) -> TaskRunner.Waiting {
  .init("app", trigger, for: cause)
}

private func stopping(_ task: String = "app", killAfter: Duration = .seconds(10)) -> TaskReport {
  .run(run(task), .stopping(.terminate, killAfter: killAfter))
}

/// When what waits is reported, and how it is listed.
@Suite struct WaitingStateTests {
  private var waiting = WaitingState()

  private mutating func take(_ report: TaskReport, _ seconds: Double = 0) {
    waiting.handle(report, at: time(seconds))
  }

  /// Reports what waits, since this time unless it did before.
  private mutating func wait(_ list: TaskRunner.Waiting..., at seconds: Double = 0) {
    take(
      .runner(
        .waiting(
          list.map { entry in
            var entry = entry
            entry.since = waiting.waiting.first(where: entry.isSame)?.since ?? time(seconds)
            return entry
          })), seconds)
  }

  /// The notices that are due, without the times since which things wait.
  private mutating func notices(_ seconds: Double) -> [WaitingState.Notice] {
    waiting.takeNotices(at: time(seconds)).map { notice in
      guard case .waiting(var entry) = notice else { return notice }
      entry.since = time(0)
      return .waiting(entry)
    }
  }

  private func lines(_ seconds: Double, isNamed: Bool = false) -> [String] {
    WaitingReporter.lines(of: waiting, at: time(seconds), isNamed: isNamed) { trigger in
      trigger.changes.first.map { "\($0.path) changed" } ?? "r"
    }
  }

  @Test mutating func `nothing is due while nothing waits`() {
    #expect(waiting.nextTime == nil)
    take(.run(run(), .started))
    take(.run(run(), .ended(.exited(0), duration: .zero, .byItself)))
    #expect(waiting.nextTime == nil)
  }

  @Test mutating func `a change that waits for a run is reported after two seconds, once`() {
    wait(app(change("/a")), at: 1)
    #expect(waiting.nextTime == time(3))
    #expect(notices(2.9) == [])
    #expect(notices(3) == [.waiting(app(change("/a")))])
    wait(app(change("/b")), at: 4)
    #expect(waiting.nextTime == nil)
    #expect(notices(9) == [])
    #expect(lines(9) == ["/b changed; runs again when this run ends"])
  }

  @Test mutating func `further changes are in the notice, and do not postpone it`() {
    wait(app(change("/a")))
    wait(app(change("/b")), at: 1)
    #expect(notices(2) == [.waiting(app(change("/b")))])
  }

  @Test mutating func `a run that ends in time leaves nothing to report`() {
    wait(app(change("/a")))
    wait(at: 1)
    #expect(waiting.nextTime == nil)
    #expect(lines(1) == [])
  }

  @Test mutating func `a key is reported beside a change`() {
    wait(app(change("/a")))
    #expect(notices(2).count == 1)
    wait(app(RunTrigger(.key)), app(change("/a")), at: 5)
    #expect(waiting.nextTime == time(7))
    #expect(notices(7) == [.waiting(app(RunTrigger(.key)))])
    #expect(lines(7).count == 2)
  }

  @Test mutating func `a change that waits for a hook outlives the run`() {
    wait(app(change("/a")))
    wait(app(change("/a"), for: .hook), at: 1)
    #expect(notices(2) == [.waiting(app(change("/a"), for: .hook))])
    #expect(lines(2) == ["/a changed; runs again when the hook ends"])
    wait(at: 3)
    #expect(lines(3) == [])
  }

  @Test mutating func `a run that does not end is reported after a second`() {
    take(stopping(), 5)
    #expect(waiting.nextTime == time(6))
    #expect(notices(6) == [stop(isEnded: false)])
    #expect(lines(8) == ["SIGTERM was sent 3.0 s ago; killing it in 7.0 s"])
    #expect(lines(8, isNamed: true) == ["app: SIGTERM was sent 3.0 s ago; killing it in 7.0 s"])
    take(.run(run(), .gone), 15)
    #expect(lines(15) == [])
  }

  @Test mutating func `a stop command that does not end is reported as well`() {
    let command = Command("sleep", "6")
    take(.run(run(), .stoppingBy(command, killAfter: .seconds(10))), 5)
    #expect(waiting.nextTime == time(6))
    #expect(notices(6).count == 1)
    #expect(lines(8) == ["sleep 6 was started 3.0 s ago; killing it in 7.0 s"])
    take(stopping(), 9)
    #expect(lines(10) == ["SIGTERM was sent 1.0 s ago; killing it in 9.0 s"])
  }

  @Test mutating func `processes that a run leaves are not taken for the run itself`() {
    take(stopping(), 5)
    take(.run(run(), .ended(.signaled(.terminate), duration: .seconds(5), .stopped)), 5.1)
    #expect(notices(6) == [stop(isEnded: true)])
  }

  private func stop(isEnded: Bool) -> WaitingState.Notice {
    .stopping(
      run(), "SIGTERM", isCommand: false, waited: .seconds(1), killIn: .seconds(9),
      isEnded: isEnded)
  }

  @Test mutating func `a run that is killed within a second is not reported`() {
    take(stopping(killAfter: .milliseconds(500)))
    #expect(notices(1) == [])
    #expect(waiting.nextTime == nil)
  }

  @Test mutating func `a change that waits for a stopping run is not reported as well`() {
    wait(app(change("/a")))
    take(stopping(), 1)
    #expect(notices(2).count == 1)
  }

  @Test mutating func `a task without a job is reported after five seconds, with its holders`() {
    let job = TaskRunner.Waiting("api", RunTrigger(.start), for: .job(usedBy: ["web", "css"]))
    wait(job)
    wait(job, .init("end", RunTrigger(.start), for: .dependencies(["api"])), at: 1)
    #expect(waiting.nextTime == time(5))
    #expect(notices(5) == [.waiting(job)])
    #expect(notices(50) == [])
    #expect(
      lines(50, isNamed: true) == [
        "api: waits for a job: web and css run", "end: waits for api",
      ])
    wait(at: 51)
    #expect(lines(51) == [])
  }

  @Test mutating func `a task that waits for others is reported until they have ended`() {
    wait(.init("build", change("/a"), for: .runs(["test", "lint"])))
    #expect(
      lines(0, isNamed: true) == ["build: /a changed; runs again when test and lint end"])
    let last = TaskRunner.Waiting("build", change("/a"), for: .runs(["lint"]))
    wait(last, at: 1)
    #expect(notices(2) == [.waiting(last)])
    wait(at: 3)
    #expect(lines(3) == [])
  }

  @Test(
    arguments: [
      (.dependents(["test", "lint"]), "waits until test and lint end"),
      (.predecessor, "waits until its former run has ended"),
      (.terminal, "waits for the terminal"),
      (.pause, "runs when the session is resumed"),
      (.dependencies(["a", "b", "c"]), "waits for a, b and c"),
    ] as [(TaskRunner.Waiting.Cause, String)])
  mutating func `what waits for long as a rule is listed and not reported`(
    cause: TaskRunner.Waiting.Cause, line: String
  ) {
    wait(app(change("/a"), for: cause))
    #expect(waiting.nextTime == nil)
    #expect(notices(100) == [])
    #expect(lines(100) == [line])
  }

  @Test mutating func `a restart is listed until it is made`() {
    take(.task("app", .backingOff(.seconds(4))))
    #expect(lines(1) == ["restarting in 3.0 s"])
    #expect(lines(1, isNamed: true) == ["app: restarting in 3.0 s"])
    #expect(waiting.nextTime == nil)
    take(.run(run(), .started), 4)
    #expect(lines(4) == [])
  }

  @Test mutating func `a restart that is given up is not listed`() {
    take(.task("app", .backingOff(.seconds(4))))
    take(.task("app", .gaveUp(afterRestarts: 4)))
    #expect(lines(1) == [])
  }
}

extension WaitingStateTests {
  @Test mutating func `a second signal at once is no second request`() {
    take(stopping(), 1)
    #expect(waiting.pendingStops(at: time(1), after: .milliseconds(100)).isEmpty)
    #expect(waiting.pendingStops(at: time(1.5), after: .milliseconds(100)).count == 1)
  }
}

/// The timers of what waits.
@Suite struct WaitingReporterTests {
  private let scheduler = ManualScheduler()

  @Test func `there is a timer only while a notice is due`() {
    let console = Console(shown: .problem, isColored: false)
    let reporter = RunReporter(console, directory: "/")
    let waiting = WaitingReporter(reporter, scheduler: scheduler) { false }
    waiting.handle(.run(run(), .started))
    #expect(scheduler.pendingCount == 0)
    waiting.handle(.runner(.waiting([app(change("/a"))])))
    waiting.handle(stopping())
    #expect(scheduler.pendingCount == 1)
    #expect(scheduler.nextTime == time(1))
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.nextTime == time(2))
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.pendingCount == 0)
    waiting.handle(.runner(.waiting([app(RunTrigger(.key))])))
    #expect(scheduler.pendingCount == 1)
    waiting.handle(.runner(.waiting([])))
    #expect(scheduler.pendingCount == 0)
  }

  @Test(
    arguments: [
      ("sleep 9", .modified, "/old", "-r restarts at once"), ("sleep 9", .modified, "/a", nil),
      ("sleep 9", .created, "/old", nil), ("flask run --debug", .modified, "/old", nil),
      ("npm run dev", .modified, "/old", nil),
      ("npm start", .modified, "/old", "-r restarts at once"),
    ] as [(String, ChangeBatch.Kind, Path, String?)])
  func `a restart is advised for what others changed, if the command does not see it`(
    command: String, kind: ChangeBatch.Kind, received: Path, advice: String?
  ) throws {
    let directory = try TemporaryDirectory()
    try directory.write(#"{"scripts":{"dev":"vite","start":"node a.js"}}"#, to: "package.json")
    let words = ["--"] + command.split(separator: " ").map(String.init)
    let settings = try OptionParser.parse(words.map { Array($0.utf8) })
    let plan = try SessionPlan(settings, in: directory.path)
    let reporter = RunReporter(
      Console(shown: .problem, isColored: false), directory: directory.path)
    reporter.setPlan(plan)
    let waiting = WaitingReporter(reporter, scheduler: scheduler) { false }
    let name = try #require(plan.command)
    waiting.handle(
      .run(.init(task: name, job: .command, number: 1, trigger: change(received)), .started))
    let trigger = RunTrigger(.change, changes: [.init(path: "/a", kind: kind, type: .file)])
    #expect(waiting.advice(for: .init(name, trigger, for: .runs([name]))) == advice)
    #expect(waiting.advice(for: .init(name, RunTrigger(.key), for: .runs([name]))) == "s stops it")
  }

  @Test func `what is saved while make works and does not stop it may be missed`() throws {
    let settings = try OptionParser.parse([Array("make".utf8)])
    let plan = try SessionPlan(settings, in: "/p")
    let reporter = RunReporter(Console(shown: .problem, isColored: false), directory: "/p")
    reporter.setPlan(plan)
    let waiting = WaitingReporter(reporter, scheduler: scheduler) { false }
    waiting.handle(
      .run(.init(task: "make", job: .command, number: 1, trigger: change("/old")), .started))
    let trigger = RunTrigger(.change, changes: [.init(path: "/a", kind: .modified, type: .file)])
    var entry = TaskRunner.Waiting("make", trigger, for: .runs(["make"]))
    #expect(waiting.advice(for: entry) == "-r restarts at once")
    entry.mayBeMissed = true
    #expect(
      waiting.advice(for: entry)
        == "a program that compares times may take it for up to date: save it again after this run")
  }

  @Test(arguments: [false, true])
  func `no restart is advised to a task that is restarted`(isRestarted: Bool) throws {
    var plan = try projectPlan("build: { run: 'a'\(isRestarted ? ", onBusy: 'restart'" : "") }")
    plan.hasFile = true
    let reporter = RunReporter(Console(shown: .problem, isColored: false), directory: "/p")
    reporter.setPlan(plan)
    let waiting = WaitingReporter(reporter, scheduler: scheduler) { false }
    waiting.handle(
      .run(.init(task: "build", job: .command, number: 1, trigger: change("/old")), .started))
    let trigger = RunTrigger(.change, changes: [.init(path: "/a", kind: .modified, type: .file)])
    let advice = waiting.advice(for: .init("build", trigger, for: .runs(["build"])))
    #expect(advice == (isRestarted ? nil : "\"onBusy\": \"restart\" restarts at once"))
  }
}
