import SystemCalls
import Testing

/// Commands to which the terminal is lent (`-I`).
@Suite struct InteractiveTests {
  /// Writes its process group to a file, logs that it has started, and then each line that it reads.
  private static let reader = #"""
    echo $$ > "$OUTSIDE/group"; echo up >> "$LOG"; while read -r line; do echo "read $line" >> "$LOG"; done
    """#

  /// Waits until `reader` receives the typed input. Before that, watchrun does.
  private func readerHasTerminal(_ bash: Shell, _ project: Project) async throws {
    try await eventually("the command has the terminal") {
      bash.terminal.foregroundGroup.map { "\($0)\n" }
        == project.read(project.outside + "/group")
    }
  }

  @Test func `the command reads the typed input`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("-I", Self.reader)
      try await project.logged("up")
      try session.type("hello" + Keystroke.enter)
      try await project.logged("read hello")
      #expect(session.terminal.foregroundGroup != session.group)
      try session.type(Keystroke.controlD)
      try await session.shows("succeeded")
      #expect(session.terminal.foregroundGroup == session.group)
    }
  }

  @Test func `a task gets the terminal for its next run, and the others are held`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"""
        ask: {
          run: '[ -t 0 ] || exit 0; echo name$((0)); read -r line; echo "read $line" >> "$LOG"',
          watch: ["none"] },
        talk: { run: 'while :; do echo tick; sleep 0.1; done', service: true, watch: ["none"] },
        """#)
      let session = try await project.startOnTerminal()
      try await session.readsKeys()
      try await session.shows("tick")
      try session.type("t asl\u{7F}k")
      try await session.shows("task that gets the terminal: ask")
      try session.type(Keystroke.enter)
      try await session.shows("the next run of ask has the terminal")
      try await session.shows("name0")
      try session.type("qr" + Keystroke.enter)
      try await project.logged("read qr")
      try await session.shows("succeeded", times: 2)
      // Only once.
      try session.type("1r")
      try await session.shows("succeeded", times: 3)
      #expect(project.logged == ["read qr"])
      try session.type("t as" + Keystroke.enter)
      try await session.shows("no task 'as' in this session; tasks: ask, talk")
      try session.type("q")
      try await session.ended()
    }
  }

  /// Logs each line that it reads, until `end`.
  private static let lineReader = #"""
    while read -r line && [ "$line" != end ]; do echo "$0 $line" >> "$LOG"; done
    """#

  @Test func `a task that takes the terminal waits for the editor that has it`() async throws {
    try await withProject { project in
      try project.write("a.c")
      try project.write("b")
      try project.write(project.outside + "/vi", "#!/bin/sh\necho open >> $LOG\n" + Self.lineReader)
      try await project.shell(#"chmod +x "$OUTSIDE/vi""#)
      try project.writeTasks(
        #"""
        build: { run: 'echo "a.c:1:1: error: no"; exit 3', watch: ["a.c"] },
        ask: {
          run: 'echo up >> "$LOG"; read -r line; echo "ask $line" >> "$LOG"', watch: ["b"],
          interactive: true, postpone: true },
        talk: { run: 'echo talk >> "$LOG"', watch: ["b"], postpone: true },
        """#)
      let session = try await TerminalSession(
        project, [], environment: ["WATCHRUN_EDITOR": project.outside + "/vi"])
      try await session.shows("failed with status 3")
      try await session.readsKeys()
      try session.type("o")
      try await project.logged("open")
      try project.place("b")
      try await project.logged("talk")
      let editor = "\(project.outside)/vi"
      try session.type("one" + Keystroke.enter)
      try await project.logged(editor + " one")
      try session.type("two" + Keystroke.enter)
      try await project.logged(editor + " two")
      #expect(!project.logged.contains("up"))
      try session.type("end" + Keystroke.enter)
      try await project.logged("up")
      try session.type("three" + Keystroke.enter)
      try await project.logged("ask three")
      try await session.readsKeys()
      try session.type("q")
      try await #expect(session.ended() == 0)
    }
  }

  @Test func `a task that takes the terminal waits for the one that has it`() async throws {
    try await withProject { project in
      // It takes a while to end.
      let reader = #"""
        trap 'echo "$1 asked" >> "$LOG"; sleep 0.5; echo "$1 ends" >> "$LOG"; exit' TERM
        echo "$1 up" >> "$LOG"
        while :; do read -r line && echo "$1 $line" >> "$LOG"; done
        """#
      try project.write("reader", reader)
      func writeTasks(interactive: String) throws {
        let tasks = ["A", "B"].map { name in
          let value = name == interactive
          return #"\#(name): { run: "exec sh reader \#(name)", service: true, watch: ["none"], "#
            + "interactive: \(value), postpone: \(!value) },"
        }
        try project.writeTasks(tasks.joined())
      }
      try writeTasks(interactive: "A")
      let session = try await TerminalSession(project, [])
      try await project.logged("A up")
      try writeTasks(interactive: "B")
      try await project.logged("B up")
      try session.type("two" + Keystroke.enter)
      try await project.logged("B two")
      #expect(project.logged == ["A up", "A asked", "A ends", "B up", "B two"])
      session.send(SIGTERM)
      try await session.ended()
    }
  }

  @Test func `the others are shown again when another process replaces the one with the terminal`()
    async throws
  {
    try await withProject { project in
      try project.write("version", "1")
      try project.writeTasks(
        #"""
        web: {
          run: '[ -t 0 ] && echo "asks$((0))" || echo "serves $(cat version)"; exec sleep 1000',
          service: true, onBusy: "overlap", watch: ["version"] },
        talk: { run: 'while :; do echo tick; sleep 0.1; done', service: true, watch: ["none"] },
        """#)
      let session = try await project.startOnTerminal()
      try await session.readsKeys()
      try await session.shows("serves 1")
      try await session.shows("waiting for changes")
      try session.type("t web" + Keystroke.enter)
      try await session.shows("asks0")
      try await #expect(project.start("--wait").ended() == .exited(0))
      try project.write("version", "2")
      try await session.shows("serves 2")
      try await session.shows("the former process stopped", times: 2)
      try await session.readsKeys()
      try session.type("q")
      try await session.ended()
    }
  }

  @Test func `a task that was started in the background has the terminal alone after fg`()
    async throws
  {
    try await withProject { project in
      try project.write("reader", Self.reader)
      try project.writeTasks(
        #"""
        ask: { run: "exec sh reader", interactive: true, watch: ["none"] },
        talk: {
          run: 'while :; do echo tick; echo tick >> "$LOG"; sleep 0.1; done', service: true,
          watch: ["none"] },
        """#)
      let bash = try await Shell(project)
      try bash.start(isInBackground: true)
      try await eventually("it stops") {
        try bash.command("jobs > jobs")
        return project.read("jobs").contains("Stopped")
      }
      try bash.command("fg")
      try await readerHasTerminal(bash, project)
      let ticks = project.logged.count { $0 == "tick" }
      try await project.logged("tick", times: ticks + 3)
      try await bash.terminal.drain()
      let shown = bash.terminal.output.text.occurrences(of: "tick")
      try await project.logged("tick", times: ticks + 6)
      try await bash.terminal.drain()
      #expect(bash.terminal.output.text.occurrences(of: "tick") == shown)
      try bash.command("hello" + Keystroke.enter + Keystroke.controlD)
      try await project.logged("read hello")
      try await bash.shows("tick", times: shown + 3)
    }
  }

  @Test func `what a run writes to the terminal fixes no error`() async throws {
    try await withProject { project in
      try project.write("a.c")
      try project.writeTasks(
        #"""
        ask: {
          run: '[ -t 0 ] && exit 4; echo "a.c:1:1: error: no"; exit 3', watch: ["none"] },
        talk: { run: 'true', watch: ["none"] },
        """#)
      let session = try await project.startOnTerminal()
      try await session.readsKeys()
      try await session.shows("1 error · a.c:1:1 no")
      try await session.shows("waiting for changes")
      try session.type("t ask" + Keystroke.enter)
      try await session.shows("failed with status 4")
      try await session.shows("waiting for changes", times: 2)
      let line = try await session.shows("failed with status 4")
      #expect(!line.contains("fixed"))
      try session.type("q")
      try await session.ended()
    }
  }

  @Test func `keys are read between runs, and not during one`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "-I", "-e", "none",
        #"stty -g > modes; echo up >> "$LOG"; read -r line; echo "read $line" >> "$LOG""#)
      try await session.shows("between runs: r runs again, q quits")
      try await project.logged("up")
      try session.type("qr" + Keystroke.enter)
      try await project.logged("read qr")
      try await session.shows("succeeded")
      let modes = project.read("modes")
      try session.type("r")
      try await project.logged("up", times: 2)
      #expect(project.read("modes") == modes)
      try session.type(Keystroke.enter)
      try await session.shows("succeeded", times: 2)
      try session.type("q")
      try await #expect(session.ended() == 0)
      #expect(try session.terminal.modes == session.modes)
    }
  }

  @Test func `the command may change the modes of the terminal`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "-I", "-r", "--", "sh", "-c", #"stty raw -echo < /dev/tty; echo ok >> "$LOG"; sleep 1000"#)
      try await project.logged("ok")
      #expect(try session.terminal.modes != session.modes)
      try project.place("file")
      try await project.logged("ok", times: 2)
    }
  }

  @Test(.enabled(if: Tool.python))
  func `a terminal that the command has made non-blocking blocks again`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "-I", "--", "python3", "-c", "import os; os.set_blocking(0, False)")
      try await session.shows("succeeded")
      #expect(ProcessTable.flags(of: "0", of: session.pid) & O_NONBLOCK == 0)
    }
  }

  @Test func `at the end, the modes of the terminal are restored`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "-I", #"stty raw -echo; echo changed >> "$LOG"; read -r line; exit 3"#)
      try await project.logged("changed")
      #expect(try session.terminal.modes != session.modes)
      try session.type("\n")
      try await session.shows("failed with status 3")
      try session.type("q")
      try await #expect(session.ended() == 0)
      #expect(try session.terminal.modes == session.modes)
      #expect(session.terminal.foregroundGroup == session.group)
    }
  }

  @Test(
    arguments: [
      (SIGINT, 130), (SIGHUP, 0), (SIGTERM, 143), (SIGQUIT, 131), (SIGKILL, 137),
    ] as [(Int32, Int32)])
  func `after a signal, the modes of the terminal are restored`(
    _ signal: Int32, _ status: Int32
  ) async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "-I", #"stty raw -echo; echo $$ >> "$LOG"; sleep 1000"#)
      let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      session.send(signal)
      try await #expect(session.ended() == status)
      try await eventually("the modes are restored") {
        try session.terminal.modes == session.modes
      }
      try await eventually("it is gone") { !ProcessTable.isAlive(pid) }
      // Of a session that it does not belong to, the guardian cannot choose the foreground group.
      if signal != SIGKILL { #expect(session.terminal.foregroundGroup == session.group) }
    }
  }

  @Test func `Ctrl-C goes to the command while it runs, and to watchrun otherwise`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "-I",
        #"""
        trap 'echo int >> "$LOG"; exit 3' INT; echo up >> "$LOG"; while :; do sleep 0.1; done
        """#)
      try await project.logged("up")
      try session.type(Keystroke.controlC)
      try await session.shows("failed with status 3")
      #expect(project.logged == ["up", "int"])
      try project.place("file")
      try await project.logged("up", times: 2)
      try session.type(Keystroke.controlC)
      try await session.shows("failed with status 3", times: 2)
      try session.type(Keystroke.controlC)
      try await #expect(session.ended() == 130)
    }
  }

  @Test func `the command learns of a change of the terminal's size`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "-I",
        #"""
        trap 'stty size >> "$LOG"' WINCH; stty size >> "$LOG"; while :; do sleep 0.1; done
        """#)
      try await project.logged("24 80")
      session.terminal.resize(rows: 50, columns: 132)
      try await project.logged("50 132")
    }
  }

  @Test func `a command that cannot be started does not keep the terminal`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("-I", "./no-such-program")
      try await session.shows("there is no file ./no-such-program")
      try await eventually("it has the terminal") {
        session.terminal.foregroundGroup == session.group
      }
      try session.type(Keystroke.controlC)
      try await #expect(session.ended() == 130)
    }
  }

  @Test func `standard input that is not a terminal goes to the command`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["-I", "--once", Self.reader],
        prefix: ["/bin/sh", "-c", #"printf 'one\ntwo\n' | "$@""#, "sh"])
      try await #expect(watchrun.ended() == .exited(0))
      #expect(project.logged == ["up", "read one", "read two"])
    }
  }

  @Test func `Ctrl-Z stops the command with watchrun, and fg continues both`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start("-I", "stty -echo; echo $$ > pid; " + Self.reader)
      let watchrun = try await bash.watchrun()
      try await project.logged("up")
      let pid = try #require(pid_t(project.read("pid").dropLast()))
      for round in 1...3 {
        try await eventually("it has the terminal") { bash.terminal.foregroundGroup == pid }
        let modes = try bash.terminal.modes
        try bash.terminal.type(Keystroke.controlZ)
        try await bash.hasPrompt()
        #expect([watchrun, pid].map(ProcessTable.state) == ["T", "T"])
        try bash.command("stty -a > modes-\(round); jobs > jobs")
        try await eventually("the shell says so") { project.read("jobs").contains("Stopped") }
        #expect(project.read("modes-\(round)").contains(" echo "))
        try project.remove("jobs")
        try bash.command("fg")
        try await eventually("it has the terminal again") {
          bash.terminal.foregroundGroup == pid
        }
        #expect(try bash.terminal.modes == modes)
        try bash.command("line-\(round)")
        try await project.logged("read line-\(round)")
      }
    }
  }

  /// A shell in which a command that sleeps has the terminal, with the processes of watchrun and of the command.
  private func sleeping(_ project: Project) async throws -> (Shell, pid_t, pid_t) {
    let bash = try await Shell(project)
    try bash.start("-I", #"echo $$ >> "$LOG"; exec sleep 1000"#)
    let watchrun = try await bash.watchrun()
    let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
    try await eventually("it has the terminal") { bash.terminal.foregroundGroup == pid }
    return (bash, watchrun, pid)
  }

  @Test func `after SIGSTOP and SIGCONT, the command has the terminal again`() async throws {
    try await withProject { project in
      let (bash, watchrun, pid) = try await sleeping(project)
      for _ in 1...3 {
        let prompts = try await bash.prompts()
        kill(watchrun, SIGSTOP)
        try await bash.shows("ready>", times: prompts + 1)
        try bash.command("fg")
        try await eventually("it has the terminal") { bash.terminal.foregroundGroup == pid }
      }
    }
  }

  @Test func `a command that ends in the background leaves the terminal to the shell`() async throws
  {
    try await withProject { project in
      let (bash, watchrun, pid) = try await sleeping(project)
      let prompts = try await bash.prompts()
      kill(watchrun, SIGSTOP)
      try await bash.shows("ready>", times: prompts + 1)
      try bash.command("bg")
      try await bash.shows("ready>", times: prompts + 2)
      kill(pid, SIGTERM)
      try await bash.shows("SIGTERM")
      #expect(bash.isAtPrompt)
      try bash.command("fg")
      try await eventually("it has the terminal") {
        bash.terminal.foregroundGroup.map { $0 == getpgid(watchrun) } ?? false
      }
      kill(watchrun, SIGTERM)
      try await bash.hasPrompt()
    }
  }

  @Test func `a command that ends while watchrun is stopped leaves the terminal to the shell`()
    async throws
  {
    try await withProject { project in
      let (bash, watchrun, pid) = try await sleeping(project)
      let prompts = try await bash.prompts()
      kill(watchrun, SIGSTOP)
      try await bash.shows("ready>", times: prompts + 1)
      kill(pid, SIGKILL)
      // The end is reported before the continuation.
      try await eventually("it has ended") { ProcessTable.state(of: pid) == "Z" }
      try bash.command("bg")
      try await bash.shows("SIGKILL")
      #expect(bash.isAtPrompt)
      try bash.command("echo typed-$((1 + 1))")
      try await bash.shows("typed-2")
      kill(watchrun, SIGTERM)
    }
  }

  @Test func `a command that reads while watchrun is stopped leaves the terminal to the shell`()
    async throws
  {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start("-I", #"mkfifo go; echo $$ >> "$LOG"; read -r word < go; read -r line"#)
      let watchrun = try await bash.watchrun()
      let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      try await eventually("it has the terminal") { bash.terminal.foregroundGroup == pid }
      let prompts = try await bash.prompts()
      kill(watchrun, SIGSTOP)
      try await bash.shows("ready>", times: prompts + 1)
      try await project.shell("echo go > go")
      try await eventually("it stops") { ProcessTable.state(of: pid) == "T" }
      for round in 1...3 {
        try bash.command("bg; echo typed-$((\(round) + 1))")
        try await bash.shows("typed-\(round + 1)")
        try await eventually("all have stopped") {
          [pid, watchrun].map(ProcessTable.state) == ["T", "T"]
        }
        #expect(bash.isAtPrompt)
      }
      try bash.command("fg")
      try await eventually("it has the terminal") { bash.terminal.foregroundGroup == pid }
    }
  }

  @Test func `a group that the command has made keeps the terminal until it is gone`() async throws
  {
    try await withProject { project in
      let session = try await TerminalSession(
        project, ["-I", "--", "bash", "--norc", "--noprofile", "-i"],
        environment: ["PS1": "ready> "])
      try await session.shows("ready> ")
      let bash = try #require(session.terminal.foregroundGroup)
      try session.type("sleep 1000" + Keystroke.enter)
      try await eventually("it runs in a group of its own") {
        session.terminal.foregroundGroup.flatMap(ProcessTable.name) == "sleep"
      }
      kill(bash, SIGKILL)
      try await session.shows("SIGKILL")
      try await eventually("watchrun has the terminal") {
        session.terminal.foregroundGroup == session.group
      }
    }
  }

  @Test func `a command that waits for the terminal in an orphaned group stays stopped`()
    async throws
  {
    try await withProject { project in
      try project.write(
        "reader",
        #"trap 'echo continued >> "$LOG"' CONT; echo $$ >> "$LOG"; while :; do read -r line; done"#)
      let bash = try await Shell(project)
      // Nothing could resume the group: its parent has ended.
      try bash.command(#"bash -c 'set -m; watchrun -I "sh reader" & exit'"#)
      let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      try await eventually("it waits") { ProcessTable.state(of: pid) == "T" }
      try await Task.sleep(for: .milliseconds(300))
      #expect(ProcessTable.state(of: pid) == "T")
      #expect(project.logged.count < 4)
      try bash.command("echo typed-$((1 + 1))")
      try await bash.shows("typed-2")
    }
  }

  @Test func `a command that is stopped several times continues each time`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start("-I", #"echo $$ >> "$LOG"; exec cat"#)
      let watchrun = try await bash.watchrun()
      let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      for _ in 1...20 {
        try await eventually("it has the terminal") { bash.terminal.foregroundGroup == pid }
        try bash.terminal.type(Keystroke.controlZ)
        try await bash.hasPrompt()
        try await eventually("all have stopped") {
          [pid, watchrun].map(ProcessTable.state) == ["T", "T"]
        }
        try bash.command("fg")
      }
      try await eventually("it has the terminal") { bash.terminal.foregroundGroup == pid }
    }
  }

  @Test func `Ctrl-Z also stops a script that started watchrun`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try project.write(project.outside + "/script", "watchrun -I '\(Self.reader)'; true\n")
      try bash.command(#"sh "$OUTSIDE/script""#)
      try await project.logged("up")
      try bash.terminal.type(Keystroke.controlZ)
      try await bash.hasPrompt()
      try bash.command("fg")
      try await readerHasTerminal(bash, project)
      try bash.command("hello")
      try await project.logged("read hello")
    }
  }

  @Test func `Ctrl-Z leaves a browser alone that watchrun has opened`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      let browser = project.outside + "/browser"
      try project.place(browser, "#!/bin/sh\necho $$ >> $LOG; exec sleep 1000\n")
      try await project.shell("chmod +x $OUTSIDE/browser")
      let bash = try await Shell(project)
      try bash.command("export BROWSER='\(browser)'")
      try bash.start("--serve", "public", "--open")
      let pid = try await value("it is opened") { project.logged.first.flatMap { pid_t($0) } }
      defer { kill(pid, SIGKILL) }
      let watchrun = try await bash.watchrun()
      try bash.terminal.type(Keystroke.controlZ)
      try await bash.hasPrompt()
      #expect(ProcessTable.state(of: watchrun) == "T")
      // It may be loading its program yet.
      #expect(ProcessTable.state(of: pid).map { $0 != "T" } == true)
    }
  }

  @Test func `with a list on standard input, the command has the terminal`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try project.write("file")
      try bash.command(#"ls | watchrun -I --files-from - 'cat; echo end >> "$LOG"'"#)
      try await eventually("it reads the terminal") {
        bash.terminal.foregroundGroup.flatMap(ProcessTable.children)?
          .contains { ProcessTable.name(of: $0) == "cat" } ?? false
      }
      try bash.terminal.type(Keystroke.controlD)
      try await project.logged("end")
    }
  }

  @Test(arguments: [false, true])
  func `in the background, the command waits for the terminal`(_ isInScript: Bool) async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try project.write(project.outside + "/script", "watchrun -I '\(Self.reader)'; true\n")
      let line = isInScript ? #"sh "$OUTSIDE/script""# : #"watchrun -I "$(cat reader)""#
      try project.write("reader", Self.reader)
      try bash.command(line + " &")
      try await eventually("it stops") {
        try bash.command("jobs > jobs")
        return project.read("jobs").contains("Stopped")
      }
      try bash.command("fg")
      try await readerHasTerminal(bash, project)
      try bash.command("hello")
      try await project.logged("read hello")
    }
  }

  @Test func `a command that fg takes out of the background has the terminal at once`()
    async throws
  {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start("-I", #"echo $$ >> "$LOG"; exec sleep 1000"#)
      let watchrun = try await bash.watchrun()
      let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      for _ in 1...3 {
        try await eventually("it has the terminal") { bash.terminal.foregroundGroup == pid }
        try bash.terminal.type(Keystroke.controlZ)
        try await bash.hasPrompt()
        try bash.command("bg")
        try await eventually("they go on") {
          ![pid, watchrun].map(ProcessTable.state).contains("T")
        }
        // The command does not read, and the shell does not signal a job that runs.
        try bash.command("fg")
      }
      try await eventually("it has the terminal") { bash.terminal.foregroundGroup == pid }
    }
  }

  @Test func `a command that was started in the background has the terminal after fg`()
    async throws
  {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start("-I", #"echo $$ >> "$LOG"; exec sleep 1000"#, isInBackground: true)
      let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      try bash.command("fg")
      try await eventually("it has the terminal") { bash.terminal.foregroundGroup == pid }
    }
  }

  @Test func `a command that reads after bg and fg is not stopped`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      // It reads the terminal only once told to. Until then it starts nothing: what is stopped between vfork and exec
      // keeps the shell from being stopped.
      try bash.start(
        "-I",
        #"mkfifo go; echo up >> "$LOG"; read -r word < go; "#
          + #"read -r line; echo "read $line" >> "$LOG"; sleep 1000"#)
      let watchrun = try await bash.watchrun()
      try await project.logged("up")
      try bash.terminal.type(Keystroke.controlZ)
      try await bash.hasPrompt()
      try bash.command("bg")
      try await eventually("it goes on") { ProcessTable.state(of: watchrun) != "T" }
      try bash.command("fg")
      try await eventually("the shell has given the terminal away") { !bash.isAtPrompt }
      let prompts = try await bash.prompts()
      try await project.shell("echo go > go")
      try bash.command("abc")
      try await project.logged("read abc")
      try await #expect(bash.prompts() == prompts)
    }
  }

  @Test(.enabled(if: Tool.vim))
  func `an editor can be stopped and continued`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start("-I", "--", "vim", "-u", "NONE", "-N", "-n", "-i", "NONE", "file")
      try await bash.shows("~")
      try bash.terminal.type("ihello\(Keystroke.escape)\(Keystroke.controlZ)")
      try await bash.hasPrompt()
      try bash.command("fg")
      try await eventually("the editor has the terminal") {
        bash.terminal.foregroundGroup.flatMap(ProcessTable.name) == "vim"
      }
      try bash.terminal.type("o\(Keystroke.escape):wq\(Keystroke.enter)")
      try await eventually("it writes") { project.read("file") == "hello\n\n" }
    }
  }

  @Test(.enabled(if: Tool.python))
  func `a read-eval-print loop works`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("-I", "--", "python3", "-q", "-i")
      try await session.shows(">>>")
      try session.type("print(6 * 7)" + Keystroke.enter)
      try await session.shows("42")
      // An interrupt before its next prompt is noticed only with the next key.
      try await eventually("the next prompt") {
        session.terminal.output.text.components(separatedBy: ">>>").count > 2
      }
      try session.type(Keystroke.controlC)
      try await session.shows("KeyboardInterrupt")
      try session.type("exit(5)" + Keystroke.enter)
      try await session.shows("failed with status 5")
      try session.type("q")
      try await #expect(session.ended() == 0)
      #expect(try session.terminal.modes == session.modes)
    }
  }

  @Test func `a shell with job control works`() async throws {
    try await withProject { project in
      let session = try await TerminalSession(
        project, ["-I", "--", "bash", "--norc", "--noprofile", "-i"],
        environment: ["PS1": "ready> "])
      try await session.shows("ready> ")
      try session.type("sleep 1000" + Keystroke.enter)
      try await eventually("it runs in a group of its own") {
        session.terminal.foregroundGroup.flatMap(ProcessTable.name) == "sleep"
      }
      try session.type(Keystroke.controlZ)
      try await session.shows("Stopped")
      try session.type("fg" + Keystroke.enter)
      try await eventually("it goes on") {
        session.terminal.foregroundGroup.flatMap(ProcessTable.name) == "sleep"
      }
      try session.type(Keystroke.controlC)
      try await session.shows("^C")
      try session.type("exit 4" + Keystroke.enter)
      try await session.shows("failed with status 4")
      #expect(session.terminal.foregroundGroup == session.group)
      try session.type("q")
      try await #expect(session.ended() == 0)
      #expect(try session.terminal.modes == session.modes)
    }
  }
}
