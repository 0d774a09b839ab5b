import SystemCalls
import TestSupport
import Testing

/// Messages about pending changes.
@Suite struct WaitingTests {
  @Test func `a change that waits for a long run is reported with the key to restart`() async throws
  {
    try await withProject { project in
      try project.write("file", "old")
      let watchrun = try await project.startRunning(
        ["--build", "true"], #"echo run >> "$LOG"; exec sleep 1000"#)
      try project.place("file")
      try await watchrun.said(
        "file changed; runs again when this run ends; -r restarts at once")
      #expect(project.logged == ["run"])
      // Not of the build as well, whose notice would be due at the same time.
      #expect(watchrun.errors.count { $0.contains("runs again when") } == 1)
    }
  }

  @Test func `a key during a long run is answered, and e lists pending changes`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(#"echo run >> "$LOG"; exec sleep 1000"#)
      try await session.readsKeys()
      try await project.logged("run")
      try session.type("r")
      try await session.shows(
        "a run was requested by key; runs again when this run ends; s stops it")
      try session.type("e")
      try await session.shows("run 1 started when watchrun did")
      try await session.shows("a run was requested by key; runs again when this run ends", times: 2)
    }
  }

  @Test func `a command that does not end is reported after a second`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-r", "--stop-timeout", "3s"],
        #"trap "" TERM; echo run >> "$LOG"; while :; do sleep 0.1; done"#)
      try project.place("file")
      try await watchrun.said("after SIGTERM: killing it in 1.")
      try await watchrun.said("still running after 3.0 s: killing it (SIGKILL)")
      try await project.logged("run", times: 2)
      watchrun.process.send(SIGKILL)
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `a task that waits for a job is reported with those that hold it`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"web: { run: "exec sleep 1000" }, api: { run: "exec sleep 1000" },"#, "jobs: 1")
      let watchrun = try await project.startTasks()
      try await watchrun.said("watchrun: api: waiting: web takes the only job; if one of them is")
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `that nothing runs is said during the delay before the next run of a loop, too`()
    async throws
  {
    try await withProject { project in
      let session = try await project.startOnTerminal("date +%N >output")
      try await session.shows(
        "each run changes output: the next one starts in", within: patienceForLoops)
      try await session.shows("waiting for changes")
      try await session.shows("waiting for changes", times: 2)
    }
  }

  @Test func `a service that is started says that changes are waited for, each time`() async throws
  {
    try await withProject { project in
      try project.writeTasks(#"web: { run: "exec sleep 1000", service: true }"#)
      let session = try await project.startOnTerminal()
      try await session.shows("waiting for changes")
      try project.place("file")
      try await session.shows("(file changed)")
      try await session.shows("waiting for changes", times: 2)
    }
  }

  @Test func `that nothing runs is said at a terminal only`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("true")
      try await session.shows("succeeded in")
      try await session.shows("watchrun: waiting for changes")
      let watchrun = try await project.start(Project.record)
      try await watchrun.said("succeeded in")
      try await project.settleRuns()
      #expect(!watchrun.errors.contains { $0.contains("waiting for changes") })
    }
  }
}
