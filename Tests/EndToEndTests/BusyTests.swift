import SystemCalls
import TestSupport
import Testing

/// Changes while the command runs.
@Suite struct BusyTests {
  /// Logs the content of `key`, and ends when the gate is open.
  private static let gated =
    #"echo "run $(cat key)" >> "$LOG"; while [ ! -e "$OUTSIDE/gate" ]; do sleep 0.1; done"#

  /// Logs whether another run is alive, and the content of `key`. Needs a moment to stop.
  private static let exclusive = """
    trap 'sleep 0.1; rmdir "$OUTSIDE/lock"; exit 0' TERM
    mkdir "$OUTSIDE/lock" 2>/dev/null || echo overlap >> "$LOG"
    echo "run $(cat key)" >> "$LOG"
    if [ -n "$LONG" ]; then while :; do sleep 0.1; done; fi
    sleep 0.05; rmdir "$OUTSIDE/lock"
    """

  /// A change during a run is easily taken for the command's own.
  @Test func `changes during a run lead to exactly one more run`() async throws {
    try await withProject { project in
      try project.write("key", "0")
      let watchrun = try await project.startRunning([], Self.gated)
      for number in 1...3 {
        try project.place("key", "\(number)")
        try project.place("seen-\(number)")
        try await watchrun.said("created seen-\(number)")
      }
      #expect(project.logged == ["run 0"])
      try project.write(project.outside + "/gate")
      try await project.logged("run 3")
      try project.place("key", "4")
      try await project.logged("run 4")
      #expect(project.logged == ["run 0", "run 3", "run 4"])
    }
  }

  @Test func `with ignore, changes during a run lead to no run`() async throws {
    try await withProject { project in
      try project.write("key", "0")
      let watchrun = try await project.startRunning(["-o", "ignore"], Self.gated)
      try project.place("key", "1")
      try await watchrun.said("modified key")
      try project.write(project.outside + "/gate")
      try await watchrun.said("succeeded")
      // What is saved from then on has a later timestamp than what the run has changed.
      let end = FileTime.latest()
      try await eventually("the clock of files ticks") { FileTime.now() > end }
      try project.place("key", "2")
      try await project.logged("run 2")
      #expect(project.logged == ["run 0", "run 2"])
    }
  }

  @Test func `with restart, a change stops the command and runs it again`() async throws {
    try await withProject { project in
      try project.write("key", "0")
      _ = try await project.startRunning(["-r"], Self.gated)
      for number in 1...3 {
        try project.place("key", "\(number)")
        try await project.logged("run \(number)")
      }
      #expect(project.logged == ["run 0", "run 1", "run 2", "run 3"])
    }
  }

  @Test(
    arguments: Effort.rows(
      [["-s", "USR1"], ["-o", "signal", "--stop-signal", "SIGUSR1"]], quick: 1))
  func `with signal, a change sends the command a signal`(_ options: [String]) async throws {
    try await withProject { project in
      _ = try await project.startRunning(
        options,
        #"""
        trap 'echo usr1 >> "$LOG"' USR1; echo run >> "$LOG"
        while [ ! -e "$OUTSIDE/gate" ]; do sleep 0.1; done; echo end >> "$LOG"
        """#)
      for number in 1...3 {
        try project.place("file-\(number)")
        try await project.logged("usr1", times: number)
      }
      try project.write(project.outside + "/gate")
      try await project.logged("end")
      #expect(project.logged == ["run", "usr1", "usr1", "usr1", "end"])
    }
  }

  /// A change while the command stops is lost, or starts a second one.
  @Test func `saves in quick succession never lead to two runs at once`() async throws {
    try await withProject { project in
      try project.write("key", "0")
      _ = try await project.startRunning(["-r", "-E", "LONG=1"], Self.exclusive)
      for number in 1...10 {
        try project.place("key", "\(number)")
        try await Task.sleep(for: .milliseconds(70))
      }
      try await project.logged("run 10")
      #expect(!project.logged.contains("overlap"))
      #expect(project.logged.last == "run 10")
    }
  }

  @Test func `a burst longer than the quiet period never leads to two runs at once`() async throws {
    try await withProject { project in
      try project.write("key", "0")
      _ = try await project.startRunning([], Self.exclusive)
      for number in 1...50 {
        try project.place("key", "\(number)")
        try await Task.sleep(for: .milliseconds(20))
      }
      try await project.logged("run 50")
      #expect(!project.logged.contains("overlap"))
    }
  }

  @Test func `a stream of writes cannot starve the command`() async throws {
    try await withProject { project in
      _ = try await project.startRunning(["-d", "290ms", "--max-wait", "300ms"], Project.record)
      try await eventually("a run while the writes go on") {
        try project.write("file", "more\n", appending: true)
        return !project.recordedRuns.isEmpty
      }
    }
  }

  @Test func `the last run sees the second of two writes`() async throws {
    try await withProject { project in
      try project.write("key", "0")
      _ = try await project.startRunning([], #"echo "run $(cat key)" >> "$LOG""#)
      for round in 1...5 {
        try project.place("key", "\(round) first")
        try await Task.sleep(for: .milliseconds(10))
        try project.place("key", "\(round) second")
        try await project.logged("run \(round) second")
      }
      #expect(project.logged.count <= 11)
    }
  }
}
