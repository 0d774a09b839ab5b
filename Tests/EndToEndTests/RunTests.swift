import SystemCalls
import TestSupport
import Testing

/// Timeouts, hooks, restarts and forwarded signals.
@Suite struct RunTests {
  @Test(
    arguments: [
      (#"exec sleep 1000"#, 143), (#"trap "exit 0" TERM; sleep 1000 & wait"#, 143),
      (#"trap "exit 9" TERM; sleep 1000 & wait"#, 9),
    ] as [(String, Int32)])
  func `a run that exceeds its timeout has failed`(_ command: String, _ status: Int32) async throws
  {
    try await withProject { project in
      let watchrun = try await project.start(
        "--timeout", "200ms", "--exit-on-error", "--", "sh", "-c", command)
      try await #expect(watchrun.ended() == .exited(status))
      #expect(watchrun.errors.contains("watchrun: timed out after 200 ms"))
      #expect(project.commandProcesses.isEmpty)
    }
  }

  @Test func `a change during a timeout leads to the next run`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["--timeout", "300ms", "--stop-timeout", "100ms"],
        #"trap "" TERM; echo run >> "$LOG"; while :; do sleep 0.1; done"#)
      try await watchrun.said("timed out after")
      try project.place("file")
      try await project.logged("run", times: 2)
    }
  }

  @Test func `a command is kept alive`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(["--keep-alive"], Project.record)
      try await watchrun.said("restarting in 500 ms")
      try await project.logged("restart ")
      try await watchrun.said("restarting in 1.0 s")
      try await project.logged("restart ", times: 2)
      try project.place("file")
      try await project.logged("change " + project.path("file"))
      #expect(watchrun.process.exitStatus == nil)
    }
  }

  @Test func `a run is followed by its hook`() async throws {
    try await withProject { project in
      try project.write("verdict", "0")
      let hook =
        #"echo "$0 $WATCHRUN_STATUS $(($WATCHRUN_DURATION_MS > 0)) $WATCHRUN_REASON" >> "$LOG""#
      _ = try await project.startRunning(
        ["--on-success", "sh -c '\(hook)' success", "--on-failure", "sh -c '\(hook)' failure"],
        #"sleep 0.1; echo run >> "$LOG"; exit $(cat verdict)"#)
      try await project.logged("success 0 1 start")
      try project.place("verdict", "7")
      try await project.logged("failure 7 1 change")
      #expect(project.logged == ["run", "success 0 1 start", "run", "failure 7 1 change"])
    }
  }

  @Test func `the hook of the last run precedes the end`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "--once", "--on-failure", #"sleep 0.2; echo "hook $WATCHRUN_STATUS" >> "$LOG"; exit 5"#,
        "--",
        "sh", "-c", "exit 7")
      try await #expect(watchrun.ended() == .exited(7))
      #expect(project.logged == ["hook 7"])
    }
  }

  @Test func `a restart runs no hook and stops one`() async throws {
    try await withProject { project in
      _ = try await project.startRunning(
        ["-r", "--on-failure", #"echo hook >> "$LOG"; exec sleep 1000"#],
        #"echo run >> "$LOG"; [ -e quick ] && exit 1; exec sleep 1000"#)
      try project.place("file")
      try await project.logged("run", times: 2)
      try project.place("quick")
      try await project.logged("hook")
      #expect(project.logged == ["run", "run", "run", "hook"])
      try project.remove("quick")
      try await project.logged("run", times: 4)
      try await eventually("the hook is gone") { project.commandProcesses.count == 1 }
    }
  }

  @Test func `a signal is forwarded to the command`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "-v", "-p",
        #"""
        trap 'echo 10 >> "$LOG"' USR1; trap 'echo 12 >> "$LOG"' USR2; trap 'echo 28 >> "$LOG"' WINCH
        echo up >> "$LOG"; while :; do sleep 0.1; done
        """#)
      try await watchrun.watching()
      // While nothing runs, it goes nowhere.
      let signals = [SIGUSR1, SIGUSR2, SIGWINCH]
      for signal in signals { watchrun.process.send(signal) }
      try project.place("file")
      try await project.logged("up")
      for signal in signals {
        watchrun.process.send(signal)
        try await project.logged("\(signal)")
      }
      #expect(watchrun.process.exitStatus == nil)
      #expect(project.logged == ["up"] + signals.map { "\($0)" })
    }
  }

  @Test func `a save right after a run is not taken for output of the command`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-d", "1ms"], #"cat f >> "$LOG"; echo >> "$LOG""#)
      try await eventually("the first run has ended") { watchrun.runsEnded == 1 }
      for number in 1...12 {
        let ended = watchrun.runsEnded
        try project.place("f", "\(number)")
        // At once: that is what this is about.
        let deadline = ContinuousClock.now + patience
        while watchrun.runsEnded == ended && ContinuousClock.now < deadline { await Task.yield() }
      }
      #expect(project.logged.filter { !$0.isEmpty } == (1...12).map { "\($0)" })
      #expect(!watchrun.errors.contains { $0.contains("each run changes") })
    }
  }

  @Test func `a file that receives watchrun's own output is not watched`() async throws {
    try await withProject { project in
      try project.write("all of it", "")
      _ = try await project.start(
        ["--print", "json"], prefix: ["sh", "-c", #"exec "$0" "$@" >"all of it""#])
      // With each line it changes, and before the next file does.
      try await eventually("all is watched") { project.read("all of it").contains("ready") }
      for name in ["source", "mark"] {
        try project.place(name)
        try await eventually("\(name) is reported") {
          project.read("all of it").contains(project.path(name))
        }
      }
      #expect(!project.read("all of it").contains("all of it"))
    }
  }

  @Test(arguments: Effort.rows(["tmp with [space]", ".", "tmp"], quick: 2))
  func `temporary files in the watched tree start no run and are not reported`(
    directory: String
  ) async throws {
    try await withProject { project in
      try project.makeDirectory(directory)
      let watchrun = try await project.start(
        ["-v", "--ignore-nothing", "--emit", "json", "--", "sh", "-c", #"cat >> "$LOG""#],
        environment: ["TMPDIR": project.path(directory)])
      try await watchrun.watching()
      for number in 1...3 {
        try project.place("file-\(number)")
        try await eventually("a run") { project.logged.contains { $0.contains("file-\(number)") } }
        // On a busy machine, the file may be reported twice: by the first scan, and by the kernel.
        try await eventually("its end") { watchrun.runsEnded > number }
      }
      #expect(!project.logged.contains { $0.contains("command-") })
      #expect(!watchrun.errors.contains { $0.contains("watchrun-") })
      // Directories that were made right before the start may be reported.
      let paths = project.logged.flatMap { line in
        line.split(separator: #""path":""#).dropFirst().compactMap {
          $0.split(separator: "\"").first
        }
      }
      let expected =
        (1...3).map { project.path("file-\($0)") } + [project.path(directory), project.root]
      #expect(paths.count >= 3 && paths.allSatisfy { expected.contains(String($0)) }, "\(paths)")
    }
  }

  @Test func `an output file outside of the current directory is not watched`() async throws {
    try await withProject { project in
      try project.makeDirectory("sub")
      let watchrun = try await project.start(
        ["-v", "-w", "..", "true"], prefix: ["sh", "-c", #"exec "$0" "$@" 2>../log"#],
        in: project.path("sub"))
      try await eventually("all is watched") { project.read("log").contains("watching") }
      try project.place("mark")
      try await eventually("a run") { project.read("log").contains("mark changed") }
      try await Task.sleep(for: .milliseconds(300))
      #expect(!project.read("log").contains("log changed"))
      #expect(watchrun.process.exitStatus == nil)
    }
  }
}
