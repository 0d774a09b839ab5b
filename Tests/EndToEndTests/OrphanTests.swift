import SystemCalls
import TestSupport
import Testing

/// Processes in groups of their own whose parents have ended.
@Suite(.enabled(if: Tool.bash)) struct OrphanTests {
  /// The command leaves a job in a process group of its own.
  private static let leavesJob = #"set -m; sleep 1000 & echo $! >> "$LOG"; exit 0"#

  private static func job(_ number: Int, of project: Project) throws -> pid_t {
    let lines = project.logged
    return try #require(number < lines.count ? pid_t(lines[number]) : nil)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
  func `are stopped before the next run and at the end`(signal: Int32) async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning([], "bash", "-c", Self.leavesJob)
      try await watchrun.said("succeeded")
      let first = try Self.job(0, of: project)
      #expect(getpgid(first) == first)
      #expect(ProcessTable.isAlive(first))
      try project.place("file")
      try await eventually("another run") { project.logged.count == 2 }
      #expect(!ProcessTable.isAlive(first))
      watchrun.process.send(signal)
      try await eventually("nothing is left") {
        project.commandProcesses.isEmpty
      }
    }
  }

  @Test(arguments: [SIGINT, SIGKILL])
  func `are found while the command is alive`(signal: Int32) async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        [], "bash", "-c",
        #"""
        bash -c 'set -m; sleep 1000 & echo $! >> "$LOG"'
        bash -c 'set -m; sleep 1000 & echo $! >> "$LOG"; wait'
        """#)
      try await eventually("two jobs") { project.logged.count == 2 }
      let jobs = try (0...1).map { try Self.job($0, of: project) }
      watchrun.process.send(signal)
      try await eventually("nothing is left") {
        !jobs.contains(where: ProcessTable.isAlive)
      }
    }
  }

  @Test func `are found without their variables`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        [], "bash", "-c", #"set -m; env -i sleep 1000 & echo $! >> "$LOG"; sleep 0.2; exit 0"#)
      let job = try Self.job(0, of: project)
      try await watchrun.said("succeeded")
      watchrun.process.send(SIGINT)
      _ = try await watchrun.ended()
      #expect(!ProcessTable.isAlive(job))
    }
  }

  @Test func `are killed if they ignore the stop signal`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["--stop-timeout", "200ms"], "bash", "-c",
        #"set -m; (trap "" TERM; echo $BASHPID >> "$LOG"; while :; do sleep 0.1; done) & exit 0"#)
      let job = try Self.job(0, of: project)
      try await watchrun.said("succeeded")
      watchrun.process.send(SIGINT)
      _ = try await watchrun.ended()
      #expect(!ProcessTable.isAlive(job))
    }
  }

  /// A search may read the children of a process before it starts one, and find it ended after that.
  @Test(.enabled(if: Tool.python))
  func `are found while each of them starts the next one and ends`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-r", "--stop-timeout", "60s"], "python3", "-c",
        """
        import os, signal, time
        log = os.open(os.environ["LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        def stop(*_):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            end = time.monotonic() + 0.5
            while time.monotonic() < end:
                if os.fork(): os._exit(0)
                os.setpgid(0, 0)
            os.write(log, b"end\\n")
            os._exit(0)
        signal.signal(signal.SIGTERM, stop)
        os.write(log, b"start\\n")
        while True: signal.pause()
        """)
      let count = Effort.count(20, quick: 1)
      for number in 1...count {
        try project.place("file-\(number)")
        try await project.logged("start", times: number + 1)
      }
      watchrun.process.send(SIGINT)
      _ = try await watchrun.ended()
      #expect(project.logged == (0...count).flatMap { _ in ["start", "end"] })
    }
  }

  @Test func `of another task are not stopped`() async throws {
    try await withProject { project in
      try project.writeTasks(
        """
        other: { run: ["bash", "-c", 'set -m; sleep 1000 & echo $! >> "$LOG"'], watch: ["nothing"] },
        own: { run: "echo own >> runs", watch: ["file"], onBusy: "restart", ignore: ["runs"] },
        """, "jobs: 2")
      let watchrun = try await project.startTasks()
      try await eventually("both have run") {
        project.logged.count == 1 && project.read("runs").split(separator: "\n").count == 1
      }
      let job = try Self.job(0, of: project)
      try project.place("file")
      try await eventually("another run") { project.read("runs").split(separator: "\n").count == 2 }
      #expect(ProcessTable.isAlive(job))
      watchrun.process.send(SIGINT)
      _ = try await watchrun.ended()
      #expect(!ProcessTable.isAlive(job))
    }
  }
}
