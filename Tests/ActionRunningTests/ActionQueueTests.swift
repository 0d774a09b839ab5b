import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

/// A queue that runs a shell line, and its reports.
private final class RunningQueue: Sendable {
  let directory: TemporaryDirectory
  let queue: ActionQueue
  private let reports: Log<TaskReport>

  /// In the line, `log` stands for a file to which lines may be added.
  init(
    _ line: String, _ policy: RunPolicy = RunPolicy(), until completion: CompletionRule = .never
  ) throws {
    directory = try TemporaryDirectory()
    let words = ["sh", "-c", line].map { Array($0.utf8) }
    let command = Command(words: words, directory: directory.path, inheritsStandardInput: false)
      .describingChanges()
    let reports = Log<TaskReport>()
    self.reports = reports
    queue = ActionQueue(command, policy: policy, options: .init(completion: completion)) {
      reports.note($0)
    }
  }

  func submit(_ name: String = "f") {
    queue.submit(.change(directory[name]))
  }

  var starts: [TaskReport.Run] {
    reports.entries.compactMap { if case .run(let run, .started) = $0 { run } else { nil } }
  }

  var ignored: [RunTrigger] {
    reports.entries.compactMap {
      if case .task(_, .ignored(let trigger)) = $0 { trigger } else { nil }
    }
  }

  var rounds: [TaskRound] {
    reports.entries.compactMap { if case .round(.ended(let round)) = $0 { round } else { nil } }
  }

  /// The reasons for the rounds, with the number of their changes.
  var reasons: [String] {
    reports.entries.compactMap { report in
      guard case .round(.began(let trigger)) = report else { return nil }
      return "\(trigger.reason.rawValue) \(trigger.changes.count)"
    }
  }

  var ends: [ExitStatus] {
    reports.entries.compactMap {
      if case .run(_, .ended(let status, _, _)) = $0 { status } else { nil }
    }
  }

  var stopped: [Bool] {
    reports.entries.compactMap {
      if case .run(_, .ended(_, _, let ending)) = $0 { ending == .stopped } else { nil }
    }
  }

  var signals: [Signal] {
    reports.entries.compactMap {
      if case .task(_, .signaled(let signal, _)) = $0 { signal } else { nil }
    }
  }

  var hasKilled: Bool {
    reports.entries.contains { if case .run(_, .killing) = $0 { true } else { false } }
  }

  var failures: [ExitStatus] {
    reports.entries.compactMap {
      if case .run(_, .notStarted(_, let status)) = $0 { status } else { nil }
    }
  }

  /// The result, or `nil` until it has finished.
  var finish: ExitStatus?? {
    reports.entries.lazy.compactMap {
      if case .runner(.finished(let status)) = $0 { .some(status) } else { nil }
    }.first
  }

  func logs(_ lines: [String]) async -> Bool {
    await eventually { directory.lines(of: "log") == lines }
  }

  func logs(count: Int) async -> Bool {
    await eventually { directory.lines(of: "log").count >= count }
  }

  func hasEnded(_ count: Int) async -> Bool {
    await eventually { ends.count >= count }
  }

  /// Ends the queue, and waits until it has.
  func end() async -> Bool {
    queue.end()
    return await eventually { finish != nil }
  }
}

struct ActionQueueTests {
  @Test func `triggers during a run lead to exactly one more, with all their paths`() async throws {
    let run = try RunningQueue("echo $WATCHRUN_COUNT >> log; until test -e go; do sleep 0.1; done")
    run.submit("a")
    #expect(await run.logs(["1"]))
    for name in ["b", "c", "b"] { run.submit(name) }
    try run.directory.write(to: "go")
    #expect(await run.hasEnded(2))
    #expect(await run.end())
    #expect(run.directory.lines(of: "log") == ["1", "2"])
    #expect(run.starts.map(\.number) == [1, 2])
    #expect(run.stopped == [false, false])
  }

  @Test func `ignore lets triggers during a run go by`() async throws {
    let run = try RunningQueue(
      "echo x >> log; until test -e go; do sleep 0.1; done", .init(busyPolicy: .ignore))
    run.submit("a")
    #expect(await run.logs(["x"]))
    run.submit("b")
    try run.directory.write(to: "go")
    #expect(await run.hasEnded(1))
    run.submit("c")
    #expect(await run.hasEnded(2))
    #expect(await run.end())
    #expect(
      run.starts.map(\.trigger) == [.change(run.directory["a"]), .change(run.directory["c"])])
    #expect(run.ignored == [.change(run.directory["b"])])
  }

  @Test func `restart stops the run, and waits until it has ended`() async throws {
    let run = try RunningQueue(
      "trap 'sleep 0.1; echo end >> log; exit' TERM; echo begin >> log; while :; do sleep 0.1; done",
      .init(busyPolicy: .restart))
    run.submit("a")
    #expect(await run.logs(["begin"]))
    for name in ["b", "c", "d"] { run.submit(name) }
    #expect(await run.logs(["begin", "end", "begin"]))
    #expect(
      run.starts.last?.trigger
        == .change(run.directory["b"], run.directory["c"], run.directory["d"]))
    #expect(await run.end())
    #expect(run.directory.lines(of: "log") == ["begin", "end", "begin", "end"])
    #expect(run.stopped == [true, true])
    #expect(!run.hasKilled)
  }

  @Test func `signal sends it and starts nothing`() async throws {
    let run = try RunningQueue(
      "trap 'echo got >> log' USR1; echo up >> log; while :; do sleep 0.1; done",
      .init(busyPolicy: .signal(Signal(rawValue: SIGUSR1))))
    run.submit("a")
    #expect(await run.logs(["up"]))
    run.submit("b")
    #expect(await run.logs(["up", "got"]))
    #expect(run.signals == [Signal(rawValue: SIGUSR1)])
    #expect(await run.end())
    #expect(run.starts.count == 1)
  }

  @Test
  func `a round ends at the start of a command that a change restarts, otherwise at its end`()
    async throws
  {
    let service = try RunningQueue("echo up >> log; exec sleep 1000", .init(busyPolicy: .restart))
    service.submit("a")
    #expect(await service.logs(["up"]))
    #expect(await eventually { service.rounds.map(\.entries.first?.outcome) == [.ready(.zero)] })
    #expect(service.ends.isEmpty)
    service.submit("b")
    #expect(await eventually { service.rounds.count == 2 })
    #expect(await service.end())
    #expect(service.reasons == ["change 1", "change 1"])

    let command = try RunningQueue("echo up >> log; until test -e go; do sleep 0.1; done; exit 3")
    command.submit("a")
    #expect(await command.logs(["up"]))
    #expect(command.rounds.isEmpty)
    try command.directory.write(to: "go")
    #expect(await eventually { command.rounds.map(\.status) == [.exited(3)] })
    #expect(await command.end())
  }

  @Test func `a command with restart that ends by itself ends the queue by its status`()
    async throws
  {
    let run = try RunningQueue(
      "exit 3", .init(busyPolicy: .restart), until: .firstRun)
    run.submit()
    #expect(await eventually { run.finish == .some(.exited(3)) })
    #expect(run.starts.count == 1)
  }

  @Test func `a command that is kept alive is started again, without the changes`() async throws {
    for policy in [BusyPolicy.queue, .restart] {
      var policy = RunPolicy(busyPolicy: policy)
      policy.keepsAlive = true
      let run = try RunningQueue(
        "echo $WATCHRUN_REASON $WATCHRUN_COUNT >> log; test -e tried || { touch tried; exit; }; "
          + "exec sleep 1000", policy)
      run.submit("a")
      #expect(await run.logs(["change 1", "restart 0"]))
      #expect(await run.end())
    }
  }

  @Test func `a process that ignores the signal is killed`() async throws {
    let run = try RunningQueue(
      "trap '' TERM; echo $$ >> log; while :; do sleep 0.1; done",
      .init(stopPlan: StopPlan(timeout: .milliseconds(100))))
    run.submit()
    #expect(await run.logs(count: 1))
    #expect(await run.end())
    #expect(run.hasKilled)
    #expect(run.ends == [.signaled(.kill)])
  }

  @Test func `ended a second time, it kills without waiting`() async throws {
    let run = try RunningQueue(
      "trap '' TERM; echo $$ >> log; while :; do sleep 0.1; done",
      .init(stopPlan: StopPlan(timeout: .seconds(3600))))
    run.submit()
    #expect(await run.logs(count: 1))
    run.queue.end()
    #expect(await run.end())
    #expect(run.ends == [.signaled(.kill)])
  }

  @Test func `leftover processes of a run are stopped before the next`() async throws {
    let run = try RunningQueue(
      "test -e pid && grep -qs State:.S /proc/$(cat pid)/status && echo overlap >> log; "
        + "sleep 1000 & echo $! > pid; echo run >> log")
    run.submit()
    #expect(await run.hasEnded(1))
    run.submit()
    #expect(await run.hasEnded(2))
    #expect(run.directory.lines(of: "log") == ["run", "run"])
    let pid = try #require(run.directory.lines(of: "pid").first)
    #expect(run.directory.isHome(of: pid), "it is left alone while nothing is to run")
    #expect(await run.end())
    #expect(!run.directory.isHome(of: pid))
  }

  @Test func `when it has finished, nothing is left of the group`() async throws {
    let run = try RunningQueue("sleep 1000 & echo $! >> log; sleep 1000 & echo $! >> log; wait")
    run.submit()
    #expect(await run.logs(count: 2))
    let pids = run.directory.lines(of: "log")
    #expect(await run.end())
    #expect(!pids.contains { run.directory.isHome(of: $0) })
    #expect(run.finish == .some(nil))
  }

  @Test func `a process with a session of its own is left alone`() async throws {
    let run = try RunningQueue("setsid sh -c 'echo $$ >> log; exec sleep 1000' & wait")
    run.submit()
    #expect(await run.logs(count: 1))
    let pid = try #require(run.directory.lines(of: "log").first)
    #expect(await run.end())
    #expect(run.directory.isHome(of: pid))
    kill(try #require(pid_t(pid)), SIGKILL)
  }

  @Test func `a missing program fails with 127, one that cannot be executed with 126`() async throws
  {
    for (program, status) in [("watchrun-no-such-program", 127), ("/", 126)] as [(String, Int32)] {
      let reports = Log<TaskReport>()
      let queue = ActionQueue(
        Command(program), options: .init(completion: .firstFailure)
      ) { reports.note($0) }
      queue.start()
      let isFinished = await eventually {
        if case .runner(.finished(.exited(status))) = reports.entries.last { true } else { false }
      }
      #expect(isFinished)
      let paths = reports.entries.compactMap { report in
        if case .run(_, .notStarted(let error, status: .exited(status))) = report {
          error.path
        } else {
          nil
        }
      }
      #expect(paths == [Path(program)])
    }
  }

  @Test func `finishes with the status of the run that was waited for`() async throws {
    let run = try RunningQueue(
      "echo x >> log; test $(wc -l < log) -lt 3", until: .firstFailure)
    for count in 1...3 {
      run.submit()
      #expect(await run.hasEnded(count))
    }
    #expect(await eventually { run.finish == .some(.exited(1)) })
    run.submit()
    #expect(await run.end())
    #expect(run.starts.count == 3)
  }

  @Test func `a run has its paths in a file, which is gone at the end`() async throws {
    let run = try RunningQueue(
      #"echo "$WATCHRUN_PATHS_FILE" >> log; cp "$WATCHRUN_PATHS_FILE" copy"#)
    run.queue.submit(.change("/a\nb", "/c"))
    #expect(await run.hasEnded(1))
    #expect(try run.directory.read("copy") == "/a\nb\0/c\0")
    let list = try #require(run.directory.lines(of: "log").first)
    #expect(try FileStatus(of: Path(list)).type == .file)
    #expect(await run.end())
    #expect(throws: SystemError.self) { try FileStatus(of: Path(list)) }
  }

  @Test func `many short runs leak no descriptor`() async throws {
    let run = try RunningQueue("exit 0")
    func pidDescriptors() throws -> Int {
      var count = 0
      for name in try directoryNames(of: "/proc/self/fdinfo") {
        let info = try? fileContents(of: Path("/proc/self/fdinfo").appending(name.bytes))
        if String(decoding: info ?? [], as: UTF8.self).contains("\nPid:") { count += 1 }
      }
      return count
    }
    for count in 1...100 {
      run.submit()
      #expect(await run.hasEnded(count))
    }
    #expect(await run.end())
    // Other tests hold some for their own runs.
    #expect(try await eventually { try pidDescriptors() < 50 })
  }
}
