import Diagnostics
import FileObservation
import SessionControl
import Support
import SystemCalls
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine
@testable import WatchrunSettings

import enum SystemCalls.ExitStatus

/// When a session counts as at rest, and what it answers, in virtual time.
struct SessionPictureTests {
  private let start = Instant(offset: .seconds(100))

  private func run(_ task: String, _ number: Int = 1) -> TaskReport.Run {
    TaskReport.Run(task: task, job: .command, number: number, trigger: RunTrigger(.change))
  }

  private func ended(
    _ task: String, _ status: Int32 = 0, after milliseconds: Int = 10,
    _ ending: TaskReport.Ending = .byItself
  ) -> TaskReport {
    .run(run(task), .ended(.exited(status), duration: .milliseconds(milliseconds), ending))
  }

  /// A picture after these reports at the start.
  private func picture(_ plan: SessionPlan, _ reports: TaskReport...) -> SessionPicture {
    var picture = SessionPicture(directory: "/p", plan)
    for report in reports { picture.handle(report, at: start, time: 0) }
    return picture
  }

  /// The condition so many milliseconds after the start.
  private func condition(
    _ picture: SessionPicture, _ milliseconds: Int = 0, of tasks: [String] = [],
    restless: [String] = [], _ waiting: [TaskRunner.Waiting] = [], isUp: Bool = false
  ) -> String {
    var picture = picture
    let condition = picture.condition(
      of: tasks, at: start.advanced(by: .milliseconds(milliseconds)), restless: restless,
      waiting: waiting, isUp: { _ in isUp })
    if condition.isBusy { return "busy" }
    let delayed = condition.behind.map { ", \($0) is delayed" }.joined()
    return
      (condition.settlesAfter.map { "rest in \($0.nanoseconds / 1_000_000)" } ?? "rest") + delayed
  }

  private static let chain = #"a: { run: "a" }, b: { run: "b", after: ["a"] }, c: { run: "c" }"#

  @Test func `a service whose next process has failed is at rest, since the former one runs`()
    throws
  {
    let plan = try projectPlan(#"s: { run: "s", service: true, onBusy: "overlap" }"#)
    let picture = picture(
      plan, .run(run("s"), .started), .task("s", .ready(after: .seconds(1))),
      .run(run("s", 2), .started), ended("s", 1))
    #expect(condition(picture, isUp: true) == "busy")
    var kept = picture
    kept.handle(.task("s", .kept(because: .failed("s"))), at: start, time: 0)
    #expect(condition(kept, isUp: true) == "rest")
  }

  /// The clock of the runner stands still while all is suspended.
  @Test func `how long a task runs is counted by the clock of the runner`() throws {
    var picture = picture(try projectPlan(Self.chain))
    picture.handle(.run(run("a"), .started), at: start, time: 1_000)
    func time(_ seconds: Double) -> [Int?] {
      picture.tasks(at: start.advanced(by: .seconds(seconds))).map(\.milliseconds)
    }
    #expect(time(0) == [0, nil, nil] && time(2.5) == [2500, nil, nil])
    #expect(SessionQuestion.words(for: picture.tasks(at: start)[0]) == "running for 0 ms")
    picture.handle(ended("a", after: 10), at: start, time: 2_000)
    #expect(time(9) == [10, nil, nil])
  }

  @Test func `a conflict is an activity when it is found, and again after a start or a stop`()
    throws
  {
    var picture = picture(
      try projectPlan(#"s: { run: "s", service: true, ready: { port: 80 } }"#))
    func count(_ report: TaskReport) -> Int {
      picture.handle(report, at: start, time: 0).count
    }
    let conflict = TaskReport.task("s", .conflict(ReadinessConflict(.line("x"))))
    #expect(count(conflict) == 3)
    #expect(count(conflict) == 0)
    #expect(count(.task("s", .conflict(ReadinessConflict(.line("y"))))) == 3)
    _ = count(ended("s", 0, .stopped))
    #expect(count(.task("s", .conflict(ReadinessConflict(.line("y"))))) == 3)
    _ = count(.run(run("s"), .started))
    #expect(count(conflict) == 3)
  }

  @Test func `the diagnostics of the latest run that has ended are in the answer`() throws {
    var picture = picture(try projectPlan(Self.chain), .run(run("a"), .started))
    let error = Diagnostic(.error, "no", path: "/p/a.c", line: 3)
    #expect(picture.found([error], in: "a", hasSucceeded: false)?.counts == "1 error")
    picture.handle(ended("a", 1), at: start, time: 0)
    func answer() -> SessionAnswer {
      picture.answer(to: SessionRequest(.status), .rest, process: 1, at: start, waiting: []) { _ in
        ""
      }
    }
    let task = try #require(answer().tasks.first { $0.name == "a" })
    #expect(task.diagnostics == [.init(.error, "no", path: "/p/a.c", line: 3)])
    let text = SessionQuestion.text(of: answer(), isNamed: false)
    #expect(text.contains("a: failed with status 1 after 10 ms: 1 error\n  a.c:3:1: error: no\n"))
    // Until the next one has ended.
    picture.handle(.run(run("a", 2), .started), at: start, time: 0)
    #expect(answer().tasks.first { $0.name == "a" }?.diagnostics.count == 1)
    _ = picture.found([error], in: "a", hasSucceeded: true)
    #expect(answer().tasks.first { $0.name == "a" }?.diagnostics.isEmpty == true)
  }

  @Test func `diagnostics of a service that runs or was stopped, and of a skipped task, are past`()
    throws
  {
    var picture = picture(
      try projectPlan(
        #"s: { run: "s", service: true, ready: { port: 1 } }, b: { run: "b", after: ["s"] }"#))
    let error = Diagnostic(.error, "no", path: "/p/a.c", line: 3)
    for task in ["s", "b"] {
      picture.handle(.run(run(task), .started), at: start, time: 0)
      _ = picture.found([error], in: task, hasSucceeded: false)
      picture.handle(ended(task, 1), at: start, time: 0)
    }
    #expect(picture.allDiagnostics.count == 2)
    picture.handle(.run(run("s", 2), .started), at: start, time: 0)
    #expect(picture.allDiagnostics.count == 1)
    picture.handle(.task("b", .skipped(because: .failed("s"))), at: start, time: 0)
    #expect(picture.allDiagnostics.isEmpty)
    picture.handle(.task("s", .ready(after: .seconds(1))), at: start, time: 0)
    let answer = picture.answer(
      to: SessionRequest(.status), .rest, process: 1, at: start, waiting: []
    ) { _ in "" }
    #expect(answer.tasks.allSatisfy { $0.diagnostics.isEmpty })
    picture.handle(ended("s", after: 1000, .stopped), at: start, time: 0)
    #expect(picture.allDiagnostics.isEmpty)
  }

  @Test(arguments: [
    (["make"], false), (["--build", "true", "make"], false),
    (["--output", "failed", "make"], true),
    (["--diagnostics", "e", "make"], true), (["--serve", ".", "make"], true),
  ])
  func `output that is not read is said to be missing where it is asked for`(
    words: [String], isRead: Bool
  ) throws {
    let plan = try SessionPlan(OptionParser.parse(words.map { Array($0.utf8) }), in: "/p")
    var picture = picture(plan, .run(run("make"), .started))
    func answer() -> SessionAnswer {
      picture.answer(to: SessionRequest(.status), .rest, process: 1, at: start, waiting: []) { _ in
        ""
      }
    }
    #expect((SessionQuestion.note(on: answer(), isAboutAll: true) == nil) == isRead)
    #expect(SessionQuestion.note(on: answer(), isAboutAll: false) == nil)
    picture.handle(ended("make", 2), at: start, time: 0)
    let note = SessionQuestion.note(on: answer(), isAboutAll: false)
    #expect(note?.contains("the output of make goes") == (isRead ? nil : true))
    #expect(String(decoding: answer().json, as: UTF8.self).contains("\"output\":null") != isRead)
  }

  @Test func `an error that the output shows is not listed again`() throws {
    var task = SessionAnswer.Task("a")
    (task.state, task.output) = ("failed", ["a.c:3: error: no"])
    task.diagnostics = [.init(.error, "no", path: "/p/a.c", line: 3)]
    var answer = SessionAnswer(directory: "/p", command: "", process: 1, state: .rest)
    answer.tasks = [task]
    let text = SessionQuestion.text(of: answer, isNamed: false)
    #expect(text == "a: failed: 1 error\n  a.c:3: error: no\n")
  }

  @Test func `a task is at rest when those on which it depends are`() throws {
    let picture = picture(try projectPlan(Self.chain))
    #expect(condition(picture) == "rest")
    #expect(condition(picture, restless: ["a"]) == "busy")
    #expect(condition(picture, of: ["b"], restless: ["a"]) == "busy")
    #expect(condition(picture, of: ["a"], restless: ["b"]) == "rest")
    #expect(condition(picture, of: ["c"], restless: ["a", "b"]) == "rest")
    // A service that was removed is being stopped.
    #expect(condition(picture, restless: ["gone"]) == "busy")
    #expect(condition(picture, of: ["a"], restless: ["gone"]) == "rest")
  }

  @Test func `a command that watches by itself is not started again for what it writes`() throws {
    for (line, expected) in [("jekyll serve", "rest"), ("jekyll build", "rest, jekyll is delayed")]
    {
      let plan = try SessionPlan(OptionParser.parse([Array(line.utf8)]), in: "/p")
      var waiting = TaskRunner.Waiting("jekyll", RunTrigger(.change), for: .delay)
      waiting.since = start
      #expect(condition(picture(plan), 0, [waiting], isUp: true) == expected)
    }
  }

  @Test func `a command that watches by itself is awaited after a change`() throws {
    let plan = try SessionPlan(
      OptionParser.parse(["node", "--watch", "a.js"].map { Array($0.utf8) }), in: "/p")
    var picture = picture(plan, .run(run("node"), .started))
    func change(_ name: Path, at milliseconds: Int) {
      picture.changed(
        [ChangeBatch.Change(path: name.absolute(from: "/p"), kind: .modified, type: .file)],
        at: start.advanced(by: .milliseconds(milliseconds)))
    }
    #expect(condition(picture, 5000) == "rest")
    change("a.js", at: 5000)
    #expect(condition(picture, 5100) == "rest in 1400")
    // One that writes what it watches is ready some time.
    change("log", at: 6000)
    #expect(condition(picture, 6499) == "rest in 1")
    #expect(condition(picture, 6500) == "rest")
    change("log", at: 7000)
    #expect(condition(picture, 7000) == "rest in 1500")
    var other = self.picture(try projectPlan(Self.chain), .run(run("a"), .started))
    other.changed(
      [ChangeBatch.Change(path: "/p/a", kind: .modified, type: .file)], at: start)
    #expect(condition(other) == "rest")
  }

  @Test func `a delay is awaited, unless it is said to be one`() throws {
    var waiting = TaskRunner.Waiting("a", RunTrigger(.change), for: .delay)
    waiting.since = start
    waiting.due = start.advanced(by: .seconds(4))
    let picture = picture(try projectPlan(Self.chain), .runner(.waiting([waiting])))
    #expect(condition(picture, 0, [waiting]) == "rest in 4000, a is delayed")
    #expect(condition(picture, 3999, [waiting]) == "rest in 1, a is delayed")
    #expect(condition(picture, 4000, [waiting]) == "rest, a is delayed")
    #expect(condition(picture, 0, of: ["c"], [waiting]) == "rest")
    // Measured a moment after it began.
    waiting.due = start.advanced(by: Suspicion.Rules.noticed - .milliseconds(5))
    #expect(condition(picture, 0, [waiting]) == "rest, a is delayed")
  }

  @Test func `a file that is read again soon is waited for, and another one is named`() throws {
    var picture = picture(try projectPlan(Self.chain))
    func problem() -> String? {
      picture.answer(to: SessionRequest(.wait), .rest, process: 1, at: start, waiting: []) { _ in ""
      }.problem
    }
    picture.postponed = ("why", start, start.advanced(by: .milliseconds(250)))
    #expect(condition(picture, 100) == "rest in 150")
    #expect(condition(picture, 300) == "rest in 20")
    #expect(problem() == nil)
    picture.postponed = ("why", start, start.advanced(by: .seconds(10)))
    #expect(condition(picture, 100) == "rest")
    #expect(problem() == "why")
  }

  @Test func `a command that a change restarts is ready after a second`() throws {
    let picture = picture(try plan("-r", "./app"), .run(run("app"), .started))
    #expect(condition(picture, 200, isUp: true) == "rest in 800")
    #expect(condition(picture, 1000, isUp: true) == "rest")
  }

  @Test(arguments: [(true, 3000), (false, 1000)])
  func `a command that works, or make in it, is ready when that is idle for a while`(
    isBuild: Bool, idle: Int
  ) throws {
    var picture = picture(try plan("-r", "./app"), .run(run("app"), .started))
    func rest(_ milliseconds: Int, _ processes: UInt64, isRunning: Bool = false) -> Int? {
      let condition = picture.condition(
        of: [], at: start.advanced(by: .milliseconds(milliseconds)), restless: [], waiting: [],
        isUp: { _ in true }
      ) { _ in
        (ProcessActivity(writes: .init(processes: processes), isRunning: isRunning), isBuild)
      }
      return condition.settlesAfter.map { Int($0.nanoseconds / 1_000_000) }
    }
    #expect(rest(0, 1) == 200)
    // One compiler after the other, and one that takes long.
    #expect(rest(900, 2) == 200)
    #expect(rest(1800, 3) == 200)
    #expect(rest(2700, 3, isRunning: true) == 200)
    #expect(rest(2600 + idle, 3) == 100)
    #expect(rest(2700 + idle, 3) == nil)
    // A server that is never idle, also under make, which may start processes for long.
    #expect(rest(2700 + idle, 3, isRunning: true) == 200)
    if isBuild { #expect(rest(59_000, 4, isRunning: true) == 200) }
    let end = isBuild ? 59_000 + 60_000 : 10_000
    #expect(rest(end - 1, isBuild ? 4 : 5, isRunning: true) == 200)
    #expect(rest(end, isBuild ? 4 : 6, isRunning: true) == nil)
  }

  @Test func `one that has ended by itself is awaited for twice the time`() throws {
    var picture = picture(
      try plan("-r", "./app"), .run(run("app"), .started), ended("app", after: 3000),
      .run(run("app"), .started)
    )
    #expect(condition(picture, 0, isUp: true) == "rest in 6000")
    picture.handle(ended("app", 1), at: start, time: 0)
    // The runner is about to handle its end.
    #expect(condition(picture, 0, isUp: true) == "busy")
    #expect(condition(picture, 0) == "rest")
    // What was stopped has not ended by itself.
    var stopped = self.picture(
      try plan("-r", "./app"), .run(run("app"), .started), ended("app", after: 3000, .stopped))
    stopped.handle(.run(run("app"), .started), at: start, time: 0)
    #expect(condition(stopped, 0, isUp: true) == "rest in 1000")
  }

  @Test func `what is probably a server is not awaited for long, although it has crashed`() throws {
    var picture = picture(try plan("-r", "./app"))
    func rest(_ ends: TaskReport...) -> String {
      for end in ends {
        picture.handle(.run(run("app"), .started), at: start, time: 0)
        picture.handle(end, at: start, time: 0)
      }
      picture.handle(.run(run("app"), .started), at: start, time: 0)
      return condition(picture, 0, isUp: true)
    }
    #expect(rest(ended("app", 1, after: 3_600_000)) == "rest in 600000")
    #expect(rest(ended("app", after: 600_000, .stopped)) == "rest in 1000")
    #expect(rest(ended("app", 1, after: 30_000)) == "rest in 60000")
    // The longest one counts: a test that fails early says nothing about the next run.
    #expect(rest(ended("app", 1, after: 5)) == "rest in 60000")
    #expect(rest(ended("app", after: 59_000, .stopped)) == "rest in 60000")
    #expect(rest(ended("app", 1, after: 5)) == "rest in 60000")
    // A crash after a long time is forgotten by three that come early.
    #expect(rest(ended("app", 1, after: 5)) == "rest in 1000")
    #expect(rest(ended("app", 1, after: 30_000)) == "rest in 60000")
    #expect(rest(ended("app", after: 60_000, .stopped)) == "rest in 1000")
  }

  @Test func `a service that could not be started is not awaited`() throws {
    let error = SystemError(call: "spawn", code: ENOENT)
    let picture = picture(
      try plan("-r", "./app"), .run(run("app"), .started),
      .run(run("app"), .notStarted(error, status: .exited(127))))
    #expect(condition(picture) == "rest")
    #expect(condition(picture, isUp: true) == "busy")
  }

  @Test func `what the former process writes is kept when the next one has failed`() throws {
    let plan = try projectPlan(#"s: { run: "s", service: true, onBusy: "overlap" }"#)
    var picture = picture(plan, .run(run("s"), .started), .run(run("s", 2), .started))
    func write(_ line: String, _ number: Int) {
      picture.output.handle(
        TaskOutput(run: run("s", number), line: Array(line.utf8), isFinished: true))
    }
    write("beside", 1)
    write("error", 2)
    picture.handle(ended("s", 1), at: start, time: 0)
    picture.handle(.task("s", .kept(because: .failed("s"))), at: start, time: 0)
    write("after", 1)
    #expect(picture.output.end(of: "s", lines: 9) == ["error", "after"])
    // Only the failure of the task itself is the end of its latest process.
    picture.handle(.run(run("s", 3), .started), at: start, time: 0)
    picture.handle(.task("s", .kept(because: .failed("b"))), at: start, time: 0)
    write("beside", 1)
    #expect(picture.output.end(of: "s", lines: 9) == [])
  }

  @Test func `a service whose former process is being stopped is not at rest`() throws {
    let picture = picture(try plan("--keep-alive", "-r", "./app"), .run(run("app"), .started))
    #expect(condition(picture, 1000, isUp: true) == "rest")
    #expect(condition(picture, 1000, restless: ["app"], isUp: true) == "busy")
  }

  @Test func `a service that is not ready in time is at rest, and red`() throws {
    let check = TaskDefinition.Readiness(.port(1))
    let plan = try projectPlan("s: { run: 's', service: true, ready: { port: 1 } }")
    let picture = picture(plan, .run(run("s"), .started), .task("s", .notReady(check)))
    #expect(condition(picture, isUp: true) == "rest")
    #expect(
      picture.answer(to: SessionRequest(.wait), .rest, process: 1, at: start, waiting: []) { _ in ""
      }.isRed)
  }

  @Test func `an answer has the results, the output of what failed, and what waits`() throws {
    var picture = picture(
      try projectPlan(Self.chain), .run(run("a"), .started), .run(run("c"), .started))
    for line in ["1", "2", "3"] {
      for task in ["a", "c"] {
        picture.output.handle(TaskOutput(run: run(task), line: Array(line.utf8), isFinished: true))
      }
    }
    let ends = [ended("a", 3), ended("c"), .task("b", .skipped(because: .failed("a")))]
    for report in ends { picture.handle(report, at: start, time: 0) }
    let request = { (tasks: [String]) in
      var request = SessionRequest(.status, tasks: tasks)
      request.lines = 2
      return request
    }
    let waiting = TaskRunner.Waiting("a", RunTrigger(.change), for: .nextRun)
    let answer = picture.answer(
      to: request([]), .rest, process: 7, at: start, waiting: [waiting]
    ) { _ in "text" }
    #expect(answer.tasks.map(\.state) == ["failed", "skipped", "succeeded"])
    #expect(answer.tasks.map(\.output) == [["2", "3"], [], []])
    #expect(answer.pending == [.init(task: "a", cause: "nextRun", text: "text")])
    #expect(answer.command == "a b c" && !answer.isGreen)
    let other = picture.answer(to: request(["c"]), .rest, process: 7, at: start, waiting: [waiting])
    { _ in
      ""
    }
    #expect(other.tasks.map(\.name) == ["c"] && other.pending.isEmpty && other.isGreen)
    #expect(picture.refusal(of: ["a", "c"]) == nil)
    #expect(picture.refusal(of: ["x"]) == "no task 'x' in this session; tasks: a, b, c")
  }

  @Test func `only the output of the latest run is shown, and not more than fits is kept`() {
    var log = OutputLog()
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1000)
    for _ in 0..<2000 { log.handle(TaskOutput(run: run("a"), line: line, isFinished: true)) }
    #expect(log.end(of: "a", lines: 10_000).count < 1400)
    log.began(run("a", 2))
    #expect(log.end(of: "a", lines: 5) == [])
    log.handle(TaskOutput(run: run("a", 2), line: [65], isSplit: true, isFinished: true))
    log.handle(TaskOutput(run: run("a", 2), line: [66], isFinished: false))
    log.handle(TaskOutput(run: run("a", 2), line: [67], isFinished: true))
    #expect(log.end(of: "a", lines: 5) == ["AC"])
  }
}

/// What a client prints, and its exit status.
struct SessionQuestionStatusTests {
  private func answer(
    _ state: SessionAnswer.State, _ tasks: String..., isLate: Bool = false
  ) -> SessionAnswer {
    var answer = SessionAnswer(directory: "/p", command: "make", process: 7, state: state)
    answer.isLate = isLate
    answer.tasks = tasks.enumerated().map { index, state in
      var task = SessionAnswer.Task("t\(index)")
      (task.state, task.status, task.milliseconds) = (state, 2, 1234)
      if state == "failed" { task.output = ["oops"] }
      return task
    }
    return answer
  }

  @Test func `the status is that of the session that is not green`() {
    let green = answer(.rest, "succeeded", "ready", "pending")
    #expect(SessionQuestion.status([green, green]) == 0)
    #expect(SessionQuestion.status([green, answer(.rest, "failed")]) == 1)
    #expect(SessionQuestion.status([answer(.rest, "skipped")]) == 1)
    #expect(SessionQuestion.status([answer(.paused), answer(.rest, "failed")]) == 2)
    #expect(SessionQuestion.status([answer(.busy, isLate: true), answer(.paused)]) == 124)
  }

  @Test func `the text has a line for each task, and the output of those that failed`() {
    #expect(
      SessionQuestion.text(of: answer(.rest, "succeeded", "failed", "ready"), isNamed: true) == """
        session 7: make
        t0: succeeded in 1.2 s
        t1: failed with status 2 after 1.2 s
          oops
        t2: ready

        """)
    #expect(SessionQuestion.text(of: answer(.rest), isNamed: false) == "no tasks\n")
  }

  @Test func `what is wrong with a session is said after its name`() {
    var answer = answer(.rest)
    answer.problem = "no"
    #expect(
      SessionQuestion.text(of: answer, isNamed: true) == "session 7: make\nout of date: no\n")
  }

  @Test(arguments: [
    ("rest", 2), ("busy rest", 2), ("ended:stopped rest", 2), ("ended:succeeded rest", 0),
    ("ended:ready rest", 0), ("ended:failed red", 1), ("ended:succeeded rest busy", 2),
  ])
  func `a session that is followed is green only if anything has run`(
    events: String, expected: Int32
  ) {
    var (status, hasRun) = (SessionQuestion.status([answer(.rest, "pending")]), false)
    for text in events.split(separator: " ") {
      var event = SessionEvent(.ended, task: "t", String(text.dropFirst(6)))
      if !text.hasPrefix("ended") {
        event = SessionEvent(.state, text == "red" ? "rest" : String(text))
        event.isGreen = text != "red"
      }
      SessionQuestion.follow(event, &status, hasRun: &hasRun)
    }
    #expect(status == expected)
  }

  @Test func `an output that starts no run is not shown as pending`() {
    var green = answer(.rest, "succeeded")
    green.pending = [
      .init(task: "t0", cause: "nextRun", text: "app changed, changed by the run"),
      .init(task: "t0", cause: "delay", text: "log changed; runs later"),
    ]
    #expect(
      SessionQuestion.text(of: green, isNamed: false) == """
        t0: succeeded in 1.2 s
        t0: log changed; runs later

        """)
  }
}
