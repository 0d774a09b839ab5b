import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

/// Services of real processes.
struct TaskServiceTests {
  /// A server of HTTP in a few lines, which answers all with this status, on a free port that it writes
  /// to the file `port`.
  private func server(_ status: Int, delay: String = "0") -> String {
    """
    exec python3 -u -c '
    import http.server, sys, time
    class Handler(http.server.BaseHTTPRequestHandler):
      def do_GET(self):
        self.send_response(\(status)); self.end_headers()
      def log_message(self, *arguments): pass
    time.sleep(\(delay))
    print("starting", flush=True)
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()' PORT
    """
  }

  @Test func `changes by a service that is being stopped start nothing`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "server", in: directory,
          "trap 'until [ -e go ]; do sleep 0.1; done; exit' TERM; echo up >> up; while :; do sleep 0.1; done",
          watch: ["f"], service: true)
      ]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.directory.lines(of: "up").count == 1 })
    tasks.runner.stop()
    tasks.change("f")
    try tasks.directory.write(to: "go")
    #expect(await tasks.tells("server~"))
    // A change after its end does start it, and with it all that was reported before.
    #expect(await eventually { !tasks.isBusy })
    #expect(tasks.story == ["+server", "server~"])
    tasks.change("f")
    #expect(await tasks.tells("+server", times: 2))
    #expect(tasks.story == ["+server", "server~", "+server"])
    #expect(await tasks.end())
  }

  @Test(arguments: ["port", "url", "line"])
  func `a service is ready by a condition, and is restarted when it is built again`(kind: String)
    async throws
  {
    let port = try freePort()
    let condition: TaskDefinition.Readiness.Condition =
      switch kind {
      case "port": .port(port)
      case "url": .url("http://localhost:\(port)/health?x")
      default: .line("starting")
      }
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("build", in: directory, "true", watch: ["f"]),
        TaskDefinition(
          "server", in: directory,
          "echo $$ >> pids; " + server(404, delay: "0.2").replacing("PORT", with: String(port)),
          after: ["build"], service: true, ready: TaskDefinition.Readiness(condition)),
        TaskDefinition("check", in: directory, "true", after: ["server"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    tasks.change("f")
    #expect(await tasks.hasRounds(2))
    #expect(
      tasks.story == [
        "+build", "build", "+server", "server*", "+check", "check", "+build", "build", "server~",
        "+server", "server*", "+check", "check",
      ])
    #expect(await tasks.end())
    #expect(tasks.directory.lines(of: "pids").count == 2)
    #expect(tasks.isGone("pids"))
  }

  @Test func `a service that exits before it is ready fails with its status`() async throws {
    let tasks = try RunningTasks(options: .init(completion: .firstRun)) { directory in
      [
        TaskDefinition(
          "server", in: directory, "exit 3", service: true,
          ready: TaskDefinition.Readiness(.line("up"))),
        TaskDefinition("check", in: directory, "true", after: ["server"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.rounds[0].status == .exited(3))
    #expect(await eventually { tasks.isFinished })
  }

  @Test func `a service is not started while another process listens at its port`() async throws {
    let foreign = try checked("listen") { csystem_listen("127.0.0.1", 0) }
    defer { close(foreign) }
    let port = UInt16(csystem_socket_port(foreign))
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "server", in: directory, "echo up >> up; sleep 1000", service: true,
          ready: TaskDefinition.Readiness(.port(port))),
        TaskDefinition("check", in: directory, "true", after: ["server"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.story.prefix(2) == ["server#", "check?server"])
    let conflict = tasks.entries.firstNonNil {
      if case .task("server", .conflict(let conflict)) = $0 { conflict } else { nil }
    }
    #expect(conflict?.condition == .port(port))
    #expect(conflict?.holder?.processID == getpid())
    #expect(conflict?.holder?.name.isEmpty == false)
    // The port is asked often, however long it is in use.
    let pauses = {
      tasks.entries.compactMap { report -> Duration? in
        if case .task("server", .backingOff(let pause)) = report { pause } else { nil }
      }
    }
    #expect(await eventually { pauses().count >= 3 })
    #expect(Set(pauses()).count == 1)
    #expect(tasks.directory.lines(of: "up").isEmpty)
    #expect(await tasks.end())
  }

  @Test func `a service that becomes ready after its time runs its dependents`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "server", in: directory, "until [ -e go ]; do sleep 0.1; done; echo up; exec sleep 1000",
          service: true, ready: TaskDefinition.Readiness(.line("up"), timeout: .milliseconds(50))),
        TaskDefinition("check", in: directory, "true", after: ["server"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.story == ["+server", "server-", "check?-server"])
    try tasks.directory.write(to: "go")
    #expect(await tasks.hasRounds(2))
    #expect(tasks.story.suffix(3) == ["server*", "+check", "check"])
    #expect(await tasks.end())
  }

  @Test func `a status of 500 or more is no readiness`() async throws {
    let port = try freePort()
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "server", in: directory, server(503).replacing("PORT", with: String(port)), service: true,
          ready: TaskDefinition.Readiness(.url("http://127.0.0.1:\(port)"), timeout: .seconds(2))),
        TaskDefinition("check", in: directory, "true", after: ["server"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.story == ["+server", "server-", "check?-server"])
    #expect(tasks.rounds[0].entries.map(\.outcome) == [.notReady, .skipped(because: "server")])
    #expect(await tasks.end())
  }

  @Test func `a service keeps running while a dependency fails`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("build", in: directory, "! test -e broken", watch: ["f"]),
        TaskDefinition(
          "server", in: directory, "echo $$ >> pids; echo up; exec sleep 1000", after: ["build"],
          service: true, ready: TaskDefinition.Readiness(.line("up"))),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    try tasks.directory.write(to: "broken")
    tasks.change("f")
    #expect(await tasks.hasRounds(2))
    #expect(
      tasks.story == ["+build", "build", "+server", "server*", "+build", "build!", "server=build"])
    #expect(tasks.rounds[1].entries.map(\.outcome).last == .kept(because: "build"))
    #expect(!tasks.isGone("pids"))
    #expect(await tasks.end())
    #expect(tasks.isGone("pids"))
  }

  @Test func `a service that crashed is started again, and the skipped tasks run`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "server", in: directory,
          "test -e tried || { touch tried; exit 3; }; echo up; exec sleep 1000",
          service: true, ready: TaskDefinition.Readiness(.line("up"))),
        TaskDefinition("check", in: directory, "true", after: ["server"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.tells("check"))
    #expect(
      tasks.story == [
        "+server", "server!", "check?server", "+server", "server*", "+check", "check",
      ])
    let hasBackedOff = tasks.entries.contains {
      if case .task("server", .backingOff) = $0 { true } else { false }
    }
    #expect(hasBackedOff)
    #expect(await tasks.end())
  }

  @Test func `a service is started again until its limit, and then by a change`() async throws {
    let tasks = try RunningTasks { directory in
      var server = TaskDefinition("server", in: directory, "exit 3", watch: ["f"], service: true)
      server.policy.restartLimit = 1
      return [server]
    }
    tasks.runner.start()
    let hasGivenUp = { (times: Int) in
      await eventually {
        tasks.entries.count { if case .task("server", .gaveUp(1)) = $0 { true } else { false } }
          == times
      }
    }
    #expect(await hasGivenUp(1))
    #expect(tasks.story == ["+server", "server!", "+server", "server!"])
    let isIdle = { if case .runner(.idle)? = tasks.entries.last { true } else { false } }
    #expect(await eventually { isIdle() })
    tasks.change("f")
    #expect(await hasGivenUp(2))
    #expect(tasks.story.count == 8)
    #expect(await tasks.end())
  }

  @Test func `a service whose end ends the runner is not announced to be started again`()
    async throws
  {
    let tasks = try RunningTasks(options: .init(completion: .firstFailure)) { directory in
      var server = TaskDefinition("server", in: directory, "exit 3", service: true)
      server.policy.keepsAlive = true
      return [server]
    }
    tasks.runner.start()
    #expect(
      await eventually {
        if case .runner(.finished(.exited(3)))? = tasks.entries.last { true } else { false }
      })
    #expect(
      !tasks.entries.contains { if case .task(_, .backingOff) = $0 { true } else { false } })
  }

  @Test func `a command that is kept alive is at rest unless a change waits for its end`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      var task = TaskDefinition(
        "a", in: directory, "until [ -e end ]; do sleep 0.1; done; rm end", watch: ["f"])
      task.policy.keepsAlive = true
      return [task]
    }
    let isRestless = { tasks.runner.queue.sync { !tasks.runner.restlessTasks.isEmpty } }
    tasks.runner.start()
    #expect(await tasks.tells(["+a"]))
    #expect(!isRestless())
    tasks.change("f")
    #expect(isRestless())
    try tasks.directory.write("", to: "end")
    #expect(await tasks.tells(["+a", "a", "+a"]))
    #expect(await eventually { !isRestless() })
    #expect(await tasks.end())
  }

  @Test func `a service that was started again is not at rest before it is ready`() async throws {
    let script =
      "await() { until [ -e $1 ]; do sleep 0.1; done; rm $1; }; await go; echo up; await die; exit 1"
    let tasks = try RunningTasks { directory in
      var server = TaskDefinition("server", in: directory, script, service: true)
      server.readiness = .init(.line("up"), timeout: .seconds(1000))
      return [server]
    }
    let isRestless = { tasks.runner.queue.sync { !tasks.runner.restlessTasks.isEmpty } }
    let starts = { tasks.entries.count { if case .run(_, .started) = $0 { true } else { false } } }
    tasks.runner.start()
    for number in 1...2 {
      #expect(await eventually { starts() == number })
      #expect(isRestless())
      try tasks.directory.write("", to: "go")
      #expect(await eventually { !isRestless() })
      try tasks.directory.write("", to: "die")
    }
    #expect(await tasks.end())
  }

  @Test func `a service by itself crashes and is started again`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "server", in: directory, "test -e tried || { touch tried; exit 0; }; exec sleep 1000",
          service: true)
      ]
    }
    tasks.runner.start()
    #expect(await tasks.tells(["+server", "server", "+server"]))
    #expect(await tasks.end())
  }

  @Test func `a service that crashes soon has started when it has run for a while`() async throws {
    let tasks = try RunningTasks(options: .init(completion: .firstSuccess)) { directory in
      [
        TaskDefinition(
          "server", in: directory,
          "test -e tried || { touch tried; exec sleep 0.3; }; exec sleep 1000",
          service: true)
      ]
    }
    tasks.runner.start()
    #expect(await eventually { tasks.isFinished })
    #expect(tasks.finish == .some(.exited(0)))
    #expect(tasks.story == ["+server", "server", "+server", "server~"])
    let lives = tasks.entries.compactMap { report in
      if case .run(_, .ended(_, let duration, _)) = report { duration } else { nil }
    }
    #expect(lives.last ?? .zero >= .seconds(1))
    #expect(await tasks.end())
  }

  @Test func `a service holds no place`() async throws {
    let tasks = try RunningTasks(jobs: 1) { directory in
      [
        TaskDefinition("s", in: directory, "exec sleep 1000", service: true),
        TaskDefinition("a", in: directory, "true"),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(await tasks.end())
  }

  @Test func `a service may be signaled instead of being restarted`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "s", in: directory, "trap 'echo reloaded' HUP; echo up; while :; do sleep 0.1; done",
          watch: ["f"], service: true, ready: TaskDefinition.Readiness(.line("up")),
          policy: .signal(.hangup)),
        TaskDefinition("t", in: directory, "true", after: ["s"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    tasks.change("f")
    #expect(await tasks.hasRounds(2))
    #expect(await eventually { tasks.lines(of: "s").contains("reloaded") })
    #expect(tasks.story == ["+s", "s*", "+t", "t", "+t", "t"])
    #expect(await tasks.end())
  }

  @Test func `the restart of a service does not ask the source for changes`() async throws {
    let source = CountingSource()
    let tasks = try RunningTasks(source: source) { directory in
      [TaskDefinition("s", in: directory, "exec sleep 1000", watch: ["f"], service: true)]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    tasks.change("f")
    #expect(await tasks.hasRounds(2))
    #expect(tasks.story == ["+s", "s~", "+s"])
    #expect(source.count == 0, "the next run begins before the answer")
    #expect(await tasks.end())
  }
}

/// Counts its flushes, which deliver nothing.
private final class CountingSource: ChangeSource {
  private let flushes = Log<Void>()

  var count: Int { flushes.entries.count }

  func flush(then done: @escaping @Sendable () -> Void) {
    flushes.note(())
    done()
  }
}

extension Sequence {
  fileprivate func firstNonNil<Result>(_ transform: (Element) -> Result?) -> Result? {
    for element in self {
      if let result = transform(element) { return result }
    }
    return nil
  }
}
