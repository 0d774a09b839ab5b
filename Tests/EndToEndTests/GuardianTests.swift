import SystemCalls
import TestSupport
import Testing

/// The end of the command when watchrun is killed.
@Suite struct GuardianTests {
  /// Two processes in the command's group, with this reaction to the stop signal.
  private static let pair = #"""
    sh -c 'trap "$ASKED" TERM; echo $$ >> "$LOG"; while :; do sleep 0.1; done' &
    trap "$ASKED" TERM; echo $$ >> "$LOG"; while :; do sleep 0.1; done
    """#

  private func pids(_ project: Project, _ count: Int) async throws -> [pid_t] {
    try await eventually("\(count) processes run") { project.logged.count >= count }
    return project.logged.compactMap { pid_t($0) }
  }

  private func areGone(_ pids: [pid_t]) async throws {
    try await eventually("nothing is left") {
      !pids.contains(where: ProcessTable.isAlive)
    }
  }

  @Test(arguments: ["exit", ""])
  func `when watchrun is killed, the command ends`(_ asked: String) async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(["-E", "ASKED=" + asked], Self.pair)
      let pids = try await pids(project, 2)
      watchrun.process.send(SIGKILL)
      try await areGone(pids)
    }
  }

  @Test func `the guardian sends the stop signal before SIGKILL`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["--stop-signal", "INT"],
        #"trap 'echo int >> "$LOG"; exit' INT; echo $$ >> "$LOG"; while :; do sleep 0.1; done"#)
      let pids = try await pids(project, 1)
      watchrun.process.send(SIGKILL)
      try await areGone(pids)
      #expect(project.logged.last == "int")
    }
  }

  @Test func `a leftover process ends as well`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning([], #"sleep 1000 & echo $! >> "$LOG""#)
      try await watchrun.said("succeeded")
      let pids = try await pids(project, 1)
      #expect(pids.allSatisfy(ProcessTable.isAlive))
      watchrun.process.send(SIGKILL)
      try await areGone(pids)
    }
  }

  @Test(.enabled(if: Tool.bash))
  func `a process that the command starts while it is being stopped ends as well`() async throws {
    try await withProject { project in
      // The outer one reaps what has ended, as a process with ID 1 does; a zombie would keep its group.
      _ = try await project.startRunning(
        [], Watchrun.program, "-q", "--", "bash", "-c",
        #"""
        set -m; trap 'sleep 1000 & echo $! >> "$LOG"; exit' TERM
        echo $PPID >> "$LOG"; sleep 1000 & echo $! >> "$LOG"; wait
        """#)
      let watchrun = try await pids(project, 2)[0]
      kill(watchrun, SIGKILL)
      try await areGone(try await pids(project, 3))
    }
  }

  @Test func `a suspended command ends as well`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning([], #"echo $$ >> "$LOG"; kill -STOP $$"#)
      let pids = try await pids(project, 1)
      try await eventually("it is stopped") { ProcessTable.state(of: pids[0]) == "T" }
      watchrun.process.send(SIGKILL)
      try await areGone(pids)
    }
  }

  @Test func `a process with a session of its own is left alone`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        [], #"setsid sh -c 'echo $$ >> "$LOG"; exec sleep 1000' & sleep 1000"#)
      let pid = try await pids(project, 1)[0]
      let others = ProcessTable.processes(withVariable: "LOG=" + project.log)
        .filter { $0 != pid && $0 != watchrun.process.pid }
      watchrun.process.send(SIGKILL)
      try await areGone(others)
      #expect(ProcessTable.isAlive(pid))
    }
  }

  @Test func `no process is left when watchrun is killed at any moment of a restart`() async throws
  {
    try await withProject { project in
      var generator = SystemRandomNumberGenerator()
      for round in 1...Effort.count(20, quick: 6) {
        var running: [Watchrun] = []
        for _ in 1...4 {
          running.append(
            try await project.start("-q", "-r", "-d", "0", "--", "sh", "-c", "sleep 1000 & wait"))
        }
        for (place, watchrun) in running.shuffled().enumerated() {
          try project.place("file-\(round)-\(place)")
          try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &generator)))
          watchrun.process.send(SIGKILL)
        }
      }
      try await eventually("nothing is left") {
        !ProcessTable.processes(withVariable: "LOG=" + project.log)
          .contains(where: ProcessTable.isAlive)
      }
    }
  }

  @Test func `no process of the tasks of a project is left`() async throws {
    try await withProject { project in
      let deaf =
        #"trap '' TERM; sleep 1000 & echo $! >> $LOG; echo $$ >> $LOG; while :; do wait; done"#
      try project.writeTasks(
        """
        one: { run: "\(deaf)" }, two: { run: "\(deaf)" },
        three: { run: "\(deaf)", service: true },
        four: { run: "sleep 1000 & echo $! >> $LOG; echo $$ >> $LOG" },
        five: { run: "\(deaf)", after: ["four"] },
        """, "jobs: 8")
      let watchrun = try await project.startTasks()
      let pids = try await pids(project, 10)
      watchrun.process.send(SIGKILL)
      try await areGone(pids)
    }
  }

  @Test func `no process is left when watchrun is killed while tasks start and stop`() async throws
  {
    try await withProject { project in
      var generator = SystemRandomNumberGenerator()
      let line = "sleep 1000 & wait"
      try project.writeTasks(
        """
        quick: { run: "true", watch: ["."] },
        one: { run: "\(line)", onBusy: "restart" }, two: { run: "\(line)", onBusy: "restart" },
        server: { run: "\(line)", service: true, after: ["quick"] },
        """, "jobs: 8")
      for round in 1...Effort.count(30, quick: 8) {
        let watchrun = try await project.start("-q", "-d", "0")
        try await Task.sleep(for: .microseconds(Int.random(in: 0...40_000, using: &generator)))
        try project.place("file-\(round)")
        try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &generator)))
        watchrun.process.send(SIGKILL)
      }
      try await eventually("nothing is left") {
        !ProcessTable.processes(withVariable: "LOG=" + project.log)
          .contains(where: ProcessTable.isAlive)
      }
    }
  }

  @Test func `the guardian is small, has one descriptor, and ends with watchrun`() async throws {
    try await withProject { project in
      // `ended` waits for the end of the output as well, like the next program of a pipeline.
      let watchrun = try await project.startRunning([], #"echo $$ >> "$LOG"; sleep 1000"#)
      let guardians = ProcessTable.children(of: watchrun.process.pid).filter {
        ProcessTable.name(of: $0) == "wr-guard"
      }
      #expect(guardians.count == 1)
      #expect(guardians.map { ProcessTable.descriptors(of: $0).count } == [1])
      #expect(guardians.allSatisfy { ProcessTable.proportionalMemory(of: $0) < 2 * 1024 })
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      try await eventually("it ends as well") { !guardians.contains(where: ProcessTable.isAlive) }
    }
  }

  @Test(arguments: [["--print", "json"]])
  func `without a command there is no guardian`(_ arguments: [String]) async throws {
    try await withProject { project in
      let watchrun = try await project.start(arguments)
      try await eventually("it prints") { !watchrun.process.output.lines.isEmpty }
      let children = ProcessTable.children(of: watchrun.process.pid)
      #expect(children.isEmpty)
    }
  }
}
