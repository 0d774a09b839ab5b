import SystemCalls
import TestSupport
import Testing

import enum SystemCalls.ExitStatus

/// How watchrun ends, and its exit status.
@Suite struct ExitTests {
  @Test(
    arguments: [
      (["--once", "exit 7; "], 7), (["--once", "--", "sh", "-c", "kill -TERM $$"], 143),
      (["--once", "true"], 0), (["--once", "--", "sh", "-c", "kill -KILL $$"], 137),
      (["--exit-on-error", "--", "sh", "-c", "exit 3"], 3), (["--until-success", "true"], 0),
      (["--once", "no-such-program"], 127), (["--once", "./not-executable"], 126),
      (["--once", "/"], 64),
    ] as [([String], Int32)])
  func `watchrun exits with the status of the command`(_ arguments: [String], _ status: Int32)
    async throws
  {
    try await withProject { project in
      try project.write("not-executable")
      let watchrun = try await project.start(arguments)
      try await #expect(watchrun.ended() == .exited(status))
      #expect(project.temporaryFiles.isEmpty)
    }
  }

  @Test(
    arguments: [
      (["--exit-on-error"], "fails", "works", 1), (["--until-success"], "works", "fails", 0),
    ] as [([String], String, String, Int32)])
  func `--exit-on-error and --until-success exit after such a run`(
    _ options: [String], _ last: String, _ first: String, _ status: Int32
  ) async throws {
    try await withProject { project in
      try project.write("state", first)
      let watchrun = try await project.startRunning(
        options, #"echo "$(cat state)" >> "$LOG"; grep -q works state"#)
      try project.place("other")
      try await project.logged(first, times: 2)
      #expect(watchrun.process.exitStatus == nil)
      try project.place("state", last)
      try await #expect(watchrun.ended() == .exited(status))
    }
  }

  @Test func `--once does not exit after a run that was restarted`() async throws {
    try await withProject { project in
      try project.write("key", "0")
      let watchrun = try await project.startRunning(
        ["--once", "-r"],
        #"echo "$(cat key)" >> "$LOG"; [ "$(cat key)" = 1 ] && exit 5; exec sleep 1000"#)
      try project.place("key", "1")
      try await #expect(watchrun.ended() == .exited(5))
    }
  }

  @Test(
    arguments: [
      ("a: { run: 'exit 3', service: true, backOff: '10ms' },", 3),
      ("a: { run: 'exec sleep 1000', service: true, ready: { port: PORT } },", 1),
      ("a: { run: 'echo up; exec sleep 1000', service: true, ready: { line: 'up' } },", 0),
      (
        "b: { run: 'true' }, a: { run: 'exit 4', service: true, backOff: '10ms', after: ['b'] },", 4
      ),
    ] as [(String, Int32)])
  func `with --once, a service that fails is a failure`(_ tasks: String, _ status: Int32)
    async throws
  {
    try await withProject { project in
      // Nothing listens at a privileged port, which needs no time to be found out.
      let port = "1, timeout: '100ms'"
      try project.writeTasks(tasks.replacing("PORT", with: port))
      let watchrun = try await project.start("--once")
      try await #expect(watchrun.ended() == .exited(status))
    }
  }

  @Test(arguments: [["-w", "missing"], ["-w", ".", "-w", "missing"], ["-C", "missing"]])
  func `a path to watch that does not exist is an error with status 66`(_ options: [String])
    async throws
  {
    try await withProject { project in
      let watchrun = try await project.start(options + ["--", "sh", "-c", #"echo run >> "$LOG""#])
      try await #expect(watchrun.ended() == .exited(66))
      #expect(watchrun.errors.count == 1)
      #expect(watchrun.errors.first?.contains("missing") == true)
      #expect(project.logged.isEmpty)
    }
  }

  @Test func `SIGTERM is passed on to the command and raised again`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        [], #"trap 'echo term >> "$LOG"; exit 0' TERM; echo $$ >> "$LOG"; sleep 1000 & wait"#)
      let pid = try #require(project.logged.first.flatMap { pid_t($0) })
      watchrun.process.send(SIGTERM)
      try await #expect(watchrun.ended() == .signaled(.terminate))
      #expect(!ProcessTable.isAlive(pid))
      #expect(project.logged.last == "term")
      #expect(project.temporaryFiles.isEmpty)
    }
  }

  @Test(
    arguments: [
      (SIGINT, .signaled(.interrupt)), (SIGHUP, .exited(0)), (SIGQUIT, .exited(128 + SIGQUIT)),
    ] as [(Int32, SystemCalls.ExitStatus)])
  func `no process is left after watchrun is ended by a signal`(
    _ signal: Int32, _ status: SystemCalls.ExitStatus
  ) async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        [], #"sleep 1000 & echo $! >> "$LOG"; wait"#)
      let pid = try #require(project.logged.first.flatMap { pid_t($0) })
      try project.place("file")
      try await watchrun.said("created file")
      watchrun.process.send(signal)
      try await #expect(watchrun.ended() == status)
      #expect(!ProcessTable.isAlive(pid))
      #expect(project.logged.count == 1)
    }
  }

  @Test func `no run starts while watchrun ends`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-r"], #"trap 'sleep 0.3; exit' TERM; echo run >> "$LOG"; while :; do sleep 0.1; done"#)
      watchrun.process.send(SIGINT)
      try await watchrun.said("stopping the command")
      for number in 1...5 { try project.place("file-\(number)") }
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(project.logged == ["run"])
    }
  }

  @Test func `watchrun ends when the reader of its output closes the pipe`() async throws {
    try await withProject { project in
      let pipeline = try await project.start(
        ["--print", "json"],
        prefix: ["/bin/sh", "-c", #"("$@"; echo $? > "$OUTSIDE/status") | head -n 1"#, "sh"])
      try await pipeline.ready()
      try await eventually("a change ends it") {
        try project.place("file")
        return project.read(project.outside + "/status") == "0\n"
      }
      #expect(pipeline.errors.isEmpty)
    }
  }

  /// Starts watchrun with its output in a pipe that is never read and soon full.
  private static let unread = [
    "/bin/sh", "-c",
    #"""
    mkfifo "$OUTSIDE/pipe"; sleep 1000 < "$OUTSIDE/pipe" > /dev/null 2>&1 &
    exec "$@" > "$OUTSIDE/pipe" 2>&1
    """#, "sh",
  ]

  /// Waits until the command is blocked by the full pipe.
  private func isStuck(_ project: Project) async throws -> pid_t {
    let pid = try await value("it writes") { project.logged.last.flatMap { pid_t($0) } }
    try await eventually("the pipe is full") {
      ProcessTable.name(of: pid) == "yes" && ProcessTable.state(of: pid) == "S"
    }
    return pid
  }

  @Test(
    arguments: Effort.rows(
      [
        (SIGTERM, .signaled(.terminate)), (SIGINT, .signaled(.interrupt)), (SIGHUP, .exited(0)),
      ] as [(Int32, ExitStatus)], quick: 1))
  func `a full output pipe does not keep watchrun from ending`(
    _ signal: Int32, _ status: ExitStatus
  ) async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        [#"echo $$ >> "$LOG"; exec yes"#], prefix: Self.unread)
      let pid = try await isStuck(project)
      watchrun.process.send(signal)
      try await #expect(watchrun.ended() == status)
      #expect(!ProcessTable.isAlive(pid))
    }
  }

  @Test func `a full output pipe does not keep watchrun from restarting`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["-r", #"echo $$ >> "$LOG"; exec yes"#], prefix: Self.unread)
      for round in 1...3 {
        let pid = try await isStuck(project)
        try project.place("file-\(round)")
        try await eventually("it runs again") { project.logged.count == round + 1 }
        #expect(!ProcessTable.isAlive(pid))
      }
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
    }
  }

  @Test func `a full output pipe does not keep a project from ending`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'sleep 1000' }, b: { run: 'echo $$ >> $LOG; exec yes' },")
      let watchrun = try await project.start([], prefix: Self.unread)
      let pid = try await isStuck(project)
      watchrun.process.send(SIGTERM)
      try await #expect(watchrun.ended() == .signaled(.terminate))
      #expect(!ProcessTable.isAlive(pid))
    }
  }

  @Test func `a slow reader receives all output`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'seq 40000' }, b: { run: 'true' },")
      let watchrun = try await project.start(
        ["--once"],
        prefix: ["/bin/sh", "-c", #""$@" 2>&1 | { sleep 0.7; cat > "$OUTSIDE/all"; }"#, "sh"])
      try await watchrun.ended()
      let lines = project.read(project.outside + "/all").split(separator: "\n")
      #expect(lines.count { $0.hasPrefix("a | ") } == 40_000)
      #expect(lines.last?.contains(" · ") == true)
    }
  }
}
