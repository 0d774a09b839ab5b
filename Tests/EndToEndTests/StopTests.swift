import SystemCalls
import Testing

/// How watchrun is asked to end, and how it stops the command.
@Suite struct StopTests {
  /// Needs a moment to end when it is asked to.
  private static let graceful =
    #"trap 'sleep 0.3; echo ended >> "$LOG"; exit' TERM; echo up >> "$LOG"; while :; do sleep 0.1; done"#
  private static let ignoresTERM =
    #"trap '' TERM; echo up >> "$LOG"; while :; do sleep 0.1; done"#

  @Test(arguments: [SIGTERM, SIGINT])
  func `a signal that is sent twice at once is one request`(signal: Int32) async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(["-r", "-v"], Self.graceful)
      watchrun.process.send(signal)
      // Otherwise the kernel would combine them.
      try await watchrun.said("stopping the command with")
      watchrun.process.send(signal)
      let status = try await watchrun.ended()
      #expect(status == .signaled(Signal(rawValue: signal)))
      #expect(project.logged == ["up", "ended"])
      #expect(!watchrun.errors.contains { $0.contains("SIGKILL") })
    }
  }

  @Test func `a second request kills the command and does not blame the grace period`() async throws
  {
    try await withProject { project in
      let watchrun = try await project.startRunning([], Self.ignoresTERM)
      watchrun.process.send(SIGINT)
      try await watchrun.said("(Ctrl-C again kills it now)")
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(watchrun.errors.contains("watchrun: killing the command (SIGKILL)"))
      #expect(project.commandProcesses.isEmpty)
    }
  }

  @Test func `a command that outlives its grace period is killed for that reason`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["--stop-timeout", "200ms"], Self.ignoresTERM)
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(watchrun.errors.contains { $0.contains("still running after 200 ms: killing it") })
    }
  }

  @Test func `the task that does not end is named`() async throws {
    try await withProject { project in
      try project.writeTasks(
        """
        fast: { run: "sleep 1000" },
        slow: { run: "trap '' TERM; echo up >> $LOG; while :; do sleep 0.1; done" },
        """, "jobs: 2")
      let watchrun = try await project.startTasks()
      try await project.logged("up")
      watchrun.process.send(SIGINT)
      try await watchrun.said("slow: still running")
      #expect(!watchrun.errors.contains { $0.contains("fast: still running") })
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(watchrun.errors.contains { $0.hasSuffix("slow: killing the command (SIGKILL)") })
    }
  }
}

/// Makes a program the process with ID 1.
private let newNamespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]

/// Process groups that a command makes for itself, and orphans.
@Suite struct DescendantTests {
  /// With job control, each background process gets a process group of its own.
  private static let jobs = #"set -m; sleep 1000 & echo $! >> "$LOG"; wait"#

  @Test(.enabled(if: Tool.bash))
  func `a process group that the command made is stopped with it`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(["-r"], "bash", "-c", Self.jobs)
      let first = try #require(project.logged.first.flatMap { pid_t($0) })
      #expect(getpgid(first) == first)
      try project.place("file")
      try await eventually("a restart") { project.logged.count == 2 }
      #expect(!ProcessTable.isAlive(first))
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(project.commandProcesses.isEmpty)
    }
  }

  @Test(.enabled(if: Tool.bash))
  func `a process group that ignores the stop signal is killed`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["--stop-timeout", "200ms"], "bash", "-c",
        #"set -m; (trap "" TERM; echo $BASHPID >> "$LOG"; while :; do sleep 0.1; done) & wait"#)
      let job = try #require(project.logged.first.flatMap { pid_t($0) })
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(!ProcessTable.isAlive(job))
      #expect(project.commandProcesses.isEmpty)
    }
  }

  @Test(.enabled(if: Tool.bash))
  func `a process group that the command made does not survive a killed watchrun`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning([], "bash", "-c", Self.jobs)
      watchrun.process.send(SIGKILL)
      try await eventually("nothing is left") {
        project.commandProcesses.isEmpty
      }
    }
  }

  @Test(.enabled(if: Tool.succeeds(newNamespace + ["true"])))
  func `with process ID 1 orphans are reaped`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["-v", "-r", "--", "sh", "-c", #"(sh -c 'sleep 0.1; echo gone >> "$LOG"' &); sleep 1000"#],
        prefix: newNamespace)
      try await watchrun.watching()
      for number in 1...3 {
        try await project.logged("gone", times: number)
        try project.place("file-\(number)")
      }
      try await project.logged("gone", times: 4)
      let first = try #require(ProcessTable.children(of: watchrun.process.pid).first)
      #expect(ProcessTable.name(of: first) == "watchrun")
      try await eventually("no zombie is left") { ProcessTable.zombies(of: first).isEmpty }
      // unshare ignores SIGTERM.
      watchrun.process.send(SIGKILL)
    }
  }

  @Test func `the guardian is reaped before watchrun ends`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning([], #"echo up >> "$LOG"; sleep 1000"#)
      let guardian = try #require(
        ProcessTable.children(of: watchrun.process.pid).first {
          ProcessTable.name(of: $0) == "wr-guard"
        })
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(ProcessTable.state(of: guardian) == nil)
    }
  }
}
