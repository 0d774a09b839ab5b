import SystemCalls
import TestSupport
import Testing

/// How watchrun leaves a terminal, and job control.
@Suite struct TerminalTests {
  /// Two processes of which the first ignores Ctrl-C and the like, as all background processes of a
  /// shell do.
  private static let pair = #"sleep 1000 & echo $! >> "$LOG"; echo $$ >> "$LOG"; wait"#

  /// Starts the pair below a shell, since the kernel does not stop orphaned process groups.
  private func startPair(
    _ project: Project, showing text: String = "press h"
  ) async throws -> (bash: Shell, watchrun: pid_t, processes: [pid_t]) {
    let bash = try await Shell(project)
    try bash.start("-v", Self.pair)
    let watchrun = try await bash.watchrun()
    try await bash.shows(text)
    return (bash, watchrun, try await pids(project))
  }

  private func pids(_ project: Project) async throws -> [pid_t] {
    try await eventually("two processes run") { project.logged.count >= 2 }
    return project.logged.compactMap { pid_t($0) }
  }

  private func areGone(_ pids: [pid_t]) async throws {
    try await eventually("nothing is left") {
      !pids.contains(where: ProcessTable.isAlive)
    }
  }

  @Test(
    arguments: [
      (Keystroke.controlC, 130), ("q", 0), (Keystroke.controlBackslash, 131),
    ] as [(String, Int32)])
  func `after a key that ends it, the modes of the terminal are restored`(
    _ key: String, _ status: Int32
  ) async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(Self.pair)
      try await session.readsKeys()
      let pids = try await pids(project)
      try session.type(key)
      try await #expect(session.ended() == status)
      #expect(try session.terminal.modes == session.modes)
      try await areGone(pids)
    }
  }

  @Test(
    arguments: [
      (SIGINT, 130), (SIGHUP, 0), (SIGTERM, 143), (SIGQUIT, 131), (SIGKILL, 137), (SIGSEGV, 139),
    ] as [(Int32, Int32)])
  func `after a signal that ends it, the modes of the terminal are restored`(
    _ signal: Int32, _ status: Int32
  ) async throws {
    try await withProject { project in
      // Swift's own handler of crashes would ask what to do.
      let session = try await TerminalSession(
        project, [Self.pair], environment: ["SWIFT_BACKTRACE": "enable=no"])
      try await session.readsKeys()
      let pids = try await pids(project)
      session.send(signal)
      try await #expect(session.ended() == status)
      try await eventually("the modes are restored") {
        try session.terminal.modes == session.modes
      }
      try await areGone(pids)
    }
  }

  @Test func `after an end with the command, the modes of the terminal are restored`() async throws
  {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "--exit-on-error", "until test -e go; do sleep 0.1; done; exit 7")
      try await session.readsKeys()
      try project.place("go")
      try await #expect(session.ended() == 7)
      #expect(try session.terminal.modes == session.modes)
    }
  }

  @Test func `a message after an unfinished line begins on a line of its own`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("--", "printf", "50%% done")
      try await session.shows("succeeded")
      let end = String(repeating: " ", count: 80) + "\r"
      #expect(session.terminal.output.text.contains("50% done" + end))
      try await session.shows("waiting for changes")
      // What follows a message needs no other line.
      let texts = session.terminal.output.text.components(separatedBy: end)
      #expect(texts.count == 2)
      try session.type("q")
      try await session.ended()
    }
  }

  @Test func `while a command is being stopped, s and Ctrl-C are answered`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "--stop-timeout", "1h",
        #"trap "" INT TERM; echo $$ >> "$LOG"; while :; do sleep 0.1; done"#)
      try await session.readsKeys()
      let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      try session.type("s")
      try session.type("s")
      try await session.shows("still running")
      try session.type(Keystroke.controlC)
      try await session.shows("Ctrl-C again kills it now")
      #expect(ProcessTable.isAlive(pid))
      try await Task.sleep(for: .milliseconds(600))
      try session.type(Keystroke.controlC)
      try await #expect(session.ended() == 130)
    }
  }

  @Test(.enabled(if: Tool.bash)) func `a shell does not go on after Ctrl-C`() async throws {
    try await withProject { project in
      let terminal = try PseudoTerminal()
      let shell = try await project.startShell(terminal)
      try terminal.type("watchrun 'echo up >> $LOG' && echo next >> $LOG\r")
      try await project.logged("up")
      try terminal.type(Keystroke.controlC)
      try await eventually("the shell asks for the next line") {
        terminal.output.text.components(separatedBy: "ready> ").count > 2
      }
      #expect(project.logged == ["up"])
      kill(shell.process.pid, SIGKILL)
    }
  }

  @Test func `a second Ctrl-C kills the command`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "-v", "--stop-timeout", "1h",
        #"trap "" INT TERM; echo $$ >> "$LOG"; while :; do sleep 0.1; done"#)
      try await session.readsKeys()
      let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      try session.type(Keystroke.controlC)
      try await session.shows("Ctrl-C again kills it now")
      #expect(ProcessTable.isAlive(pid))
      try session.type(Keystroke.controlC)
      try await #expect(session.ended() == 130)
      #expect(!ProcessTable.isAlive(pid))
      #expect(try session.terminal.modes == session.modes)
    }
  }

  @Test(arguments: [[], ["-I"]])
  func `when the terminal is closed, everything ends`(_ options: [String]) async throws {
    try await withProject { project in
      let session = try await TerminalSession(project, options + [Self.pair])
      if options.isEmpty { try await session.readsKeys() }
      let pids = try await pids(project)
      session.terminal.hangUp()
      try await #expect(session.ended() == 0)
      try await areGone(pids)
    }
  }

  @Test func `when the reader of its messages closes the pipe, watchrun ends`() async throws {
    try await withProject { project in
      let pipeline = try await project.start(
        ["-v", "sleep 1000"],
        prefix: [
          "/bin/sh", "-c", #"("$@" 2>&1; echo $? > "$OUTSIDE/status") | head -n 2"#, "sh",
        ])
      // Without a change: the reader has gone after the second message.
      try await eventually("it ends") { project.read(project.outside + "/status") == "0\n" }
      _ = pipeline
    }
  }

  @Test func `a stop stops the command, and a continuation continues it`() async throws {
    try await withProject { project in
      let (bash, watchrun, pids) = try await startPair(project, showing: "watching 1 directory")
      for round in 1...3 {
        try bash.terminal.type(Keystroke.controlZ)
        try await bash.hasPrompt()
        try await eventually("all have stopped") {
          (pids + [watchrun]).map(ProcessTable.state) == ["T", "T", "T"]
        }
        try bash.command("stty -a > modes-\(round); jobs > jobs")
        try await eventually("the shell says so") { project.read("jobs").contains("Stopped") }
        #expect(project.read("modes-\(round)").contains(" icanon"))
        #expect(project.read("modes-\(round)").contains(" echo "))
        try project.remove("jobs")
        try bash.command("fg")
        try await eventually("they go on") { !pids.map(ProcessTable.state).contains("T") }
        try bash.terminal.type("h")
        try await bash.shows("watchrun: h, ?", times: round)
      }
      try bash.terminal.type("q")
      try await areGone(pids + [watchrun])
    }
  }

  @Test func `the timeout of a run stands still while it is suspended`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start("--timeout", "3s", #"echo up >> "$LOG"; sleep 1; echo end >> "$LOG""#)
      try await project.logged("up")
      try bash.terminal.type(Keystroke.controlZ)
      try await bash.hasPrompt()
      try await Task.sleep(for: .milliseconds(3200))
      try bash.command("fg")
      try await bash.shows("succeeded")
      #expect(project.logged == ["up", "end"])
    }
  }

  @Test func `what is said about times does not count those for which all was suspended`()
    async throws
  {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start(
        "-v", "--stop-timeout", "60s",
        #"trap "" TERM; echo up >> "$LOG"; while :; do sleep 0.1; done"#)
      try await project.logged("up")
      try bash.terminal.type("s")
      try await bash.shows("stopping the command with SIGTERM")
      try bash.terminal.type(Keystroke.controlZ)
      try await bash.hasPrompt()
      try await Task.sleep(for: .milliseconds(3200))
      try bash.command("fg")
      try await bash.shows("still running 1.")
      try bash.terminal.type("e")
      try await bash.shows("SIGTERM was sent 1.")
    }
  }

  @Test(arguments: Effort.rows(["auto", "never"], quick: 1))
  func `a name that is being typed is over when this process is suspended`(_ mode: String)
    async throws
  {
    try await withProject { project in
      try project.writeTasks(#"a: { run: "true" }, b: { run: "true" },"#)
      let bash = try await Shell(project)
      try bash.start("--status-line=\(mode)")
      try await bash.shows("waiting for changes")
      try bash.terminal.type("t x")
      try await bash.shows("task that gets the terminal: x")
      try bash.terminal.type(Keystroke.controlZ)
      try await bash.hasPrompt()
      try bash.command("fg")
      try await eventually("the shell gives it the terminal") { !bash.isAtPrompt }
      try bash.terminal.type("q")
      try await bash.hasPrompt()
    }
  }

  @Test func `a continuation right after a stop continues everything`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start("-v", #"echo $$ >> "$LOG"; exec sleep 1000"#)
      let watchrun = try await bash.watchrun()
      try await bash.shows("watching 1 directory")
      let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      var generator = SystemRandomNumberGenerator()
      for _ in 1...Effort.count(150, quick: 40) {
        kill(watchrun, SIGTSTP)
        let moment = ContinuousClock.now + .microseconds(Int.random(in: 0...600, using: &generator))
        while ContinuousClock.now < moment {}
        kill(watchrun, SIGCONT)
        // A stop that is still on its way has come the second time.
        for _ in 1...2 {
          try await Task.sleep(for: .milliseconds(3))
          try await eventually("all go on") {
            ![pid, watchrun].map(ProcessTable.state).contains("T")
          }
        }
      }
    }
  }

  @Test func `after SIGSTOP and SIGCONT, keys are read again`() async throws {
    try await withProject { project in
      let (bash, watchrun, processes) = try await startPair(project)
      let modes = try bash.terminal.modes
      for round in 1...2 {
        let prompts = try await bash.prompts()
        kill(watchrun, SIGSTOP)
        try await bash.shows("ready>", times: prompts + 1)
        try bash.command("stty -a > modes-\(round)")
        try await eventually("the shell has put the modes right") {
          project.read("modes-\(round)").contains(" icanon")
        }
        try bash.command("fg")
        try await eventually("it reads keys") {
          try bash.terminal.foregroundGroup == watchrun && bash.terminal.modes == modes
        }
        try bash.terminal.type("h")
        try await bash.shows("watchrun: h, ?", times: round)
      }
      try bash.terminal.type("q")
      try await bash.hasPrompt()
      try await areGone(processes)
    }
  }

  @Test func `the guardian leaves the modes alone that the shell has set`() async throws {
    try await withProject { project in
      let (bash, watchrun, processes) = try await startPair(project)
      let guardians = ProcessTable.children(of: watchrun).filter {
        ProcessTable.name(of: $0) == "wr-guard"
      }
      let prompts = try await bash.prompts()
      kill(watchrun, SIGSTOP)
      try await bash.shows("ready>", times: prompts + 1)
      let modes = try bash.terminal.modes
      kill(watchrun, SIGKILL)
      try await areGone(processes + guardians)
      #expect(try bash.terminal.modes == modes)
    }
  }

  @Test func `a stop while the command is being started takes effect`() async throws {
    try await withProject { project in
      var generator = SystemRandomNumberGenerator()
      let bash = try await Shell(project)
      try bash.start("-r", "-d", "0", "--", "sleep", "1000")
      let watchrun = try await bash.watchrun()
      try await bash.shows("press h")
      for round in 1...Effort.count(25, quick: 8) {
        try project.place("file-\(round)")
        try await Task.sleep(for: .microseconds(Int.random(in: 0...8_000, using: &generator)))
        try bash.terminal.type(Keystroke.controlZ)
        try await bash.hasPrompt()
        try await eventually("all have stopped") {
          let children = ProcessTable.children(of: watchrun).filter {
            ProcessTable.isAlive($0) && ProcessTable.name(of: $0) != "wr-guard"
          }
          return (children + [watchrun]).allSatisfy { ProcessTable.state(of: $0) == "T" }
        }
        try bash.command("fg")
        try await eventually("it goes on") {
          bash.terminal.foregroundGroup == watchrun && ProcessTable.state(of: watchrun) != "T"
        }
      }
    }
  }

  @Test func `an orphaned process group is not stopped`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(Self.pair)
      try await session.readsKeys()
      let pids = try await pids(project)
      try session.type(Keystroke.controlZ)
      try session.type("h")
      try await session.shows("watchrun: h, ?")
      try await eventually("nothing is stopped") {
        !(pids + [session.pid]).map(ProcessTable.state).contains("T")
      }
      try await session.readsKeys()
    }
  }

  @Test func `in the background, the terminal is not touched`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start("-v", Self.pair, isInBackground: true)
      let watchrun = try await bash.watchrun()
      try await bash.shows("watching 1 directory")
      try bash.command("echo typed-$((1 + 1))")
      try await bash.shows("typed-2")
      #expect(ProcessTable.state(of: watchrun) != "T")
      // The shell does not signal a job that runs.
      try bash.command("fg")
      try await eventually("it is in the foreground") {
        bash.terminal.foregroundGroup == watchrun
      }
      for round in 1...2 {
        try bash.terminal.type("h")
        try await bash.shows("watchrun: h, ?", times: round)
      }
      try bash.terminal.type("q")
      try await bash.hasPrompt()
      try await areGone(pids(project))
    }
  }

  @Test func `after a continuation in the background, the terminal is not touched`() async throws {
    try await withProject { project in
      let (bash, watchrun, pids) = try await startPair(project)
      try bash.terminal.type(Keystroke.controlZ)
      try await bash.hasPrompt()
      try bash.command("bg")
      try await eventually("they go on") {
        !(pids + [watchrun]).map(ProcessTable.state).contains("T")
      }
      try bash.command("q=typed; echo $q-$((1 + 1))")
      try await bash.shows("typed-2")
      #expect(ProcessTable.isAlive(watchrun))
      #expect(bash.terminal.foregroundGroup != watchrun)
    }
  }

  @Test func `a job that fg takes out of the background reads keys at once`() async throws {
    try await withProject { project in
      let (bash, watchrun, pids) = try await startPair(project)
      let modes = try bash.terminal.modes
      for round in 1...3 {
        try bash.terminal.type(Keystroke.controlZ)
        try await bash.hasPrompt()
        try bash.command("bg")
        try await eventually("they go on") {
          !(pids + [watchrun]).map(ProcessTable.state).contains("T")
        }
        try bash.command("fg")
        try await eventually("it reads keys without one being typed") {
          try bash.terminal.foregroundGroup == watchrun && bash.terminal.modes == modes
        }
        try bash.terminal.type("h")
        try await bash.shows("watchrun: h, ?", times: round)
      }
      try bash.terminal.type("q")
      try await bash.hasPrompt()
      try await areGone(pids + [watchrun])
    }
  }

  @Test func `a command that reads from the terminal leads to a hint at -I`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("read line < /dev/tty")
      try await session.shows("wants the terminal: -I gives it")
    }
  }

  @Test func `an unfinished line of one of several tasks is shown while the task waits`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(
        "ask: { run: 'printf \"Sure? \"; until test -e go; do sleep 0.1; done; echo yes' }, "
          + "other: { run: 'until test -e talk; do sleep 0.1; done; echo hello' },")
      let session = try await project.startOnTerminal("--color", "never")
      try await session.shows("ask   | Sure?")
      try project.place("talk")
      try await session.shows("other | hello")
      try project.place("go")
      try await session.shows("ask   | yes")
    }
  }
}
