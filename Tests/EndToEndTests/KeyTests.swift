import SystemCalls
import TestSupport
import Testing

/// Keys that are pressed while watchrun runs at a terminal.
@Suite struct KeyTests {
  @Test(arguments: Effort.rows(["r", Keystroke.enter], quick: 1))
  func `a key runs the command`(_ key: String) async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(Project.record)
      try await session.readsKeys()
      try await project.logged("start ")
      try await session.shows("succeeded")
      try session.type(key)
      try await project.logged("key ")
    }
  }

  @Test func `a key stops the command, and another one starts it again`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal(#"echo $$ >> "$LOG"; exec sleep 1000"#)
      try await session.readsKeys()
      let first = try await value("a run") { project.logged.first.flatMap { pid_t($0) } }
      try session.type("s")
      try await eventually("it is stopped") { !ProcessTable.isAlive(first) }
      #expect(ProcessTable.isAlive(session.pid))
      try session.type("r")
      try await eventually("another run") { project.logged.count == 2 }
    }
  }

  @Test func `a change during a run that a key stops is named, and the next run receives it`()
    async throws
  {
    try await withProject { project in
      let session = try await project.startOnTerminal(
        "-v", #"echo "run $WATCHRUN_COUNT" >> "$LOG"; exec sleep 1000"#)
      try await session.readsKeys()
      try await project.logged("run 0")
      try await session.shows("watching 1 directory")
      try project.place("source")
      try await session.shows("created source")
      try session.type("s")
      try await session.shows("source has changed since; r runs it")
      try await session.shows("waiting for changes")
      #expect(project.logged == ["run 0"])
      try session.type("r")
      try await project.logged("run 1")
    }
  }

  @Test func `a key that cancels a restart leads to the message that changes are waited for`()
    async throws
  {
    try await withProject { project in
      let session = try await project.startOnTerminal("--keep-alive", "exit 1")
      try await session.readsKeys()
      try await session.shows("restarting in 2.0 s")
      try session.type("s")
      try await session.shows("not restarted; the next change starts it")
      try await session.shows("waiting for changes")
    }
  }

  @Test func `a key explains why the command ran`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("-q", Project.record)
      try await session.readsKeys()
      try await project.logged("start ")
      try session.type("e")
      try await session.shows("watchrun: run 1 started when watchrun did")
      try await project.settleRuns()
      try session.type("e")
      try await session.shows("watchrun: run 2 started because of 1 change:")
      try await session.shows("watchrun:   created settled-1")
    }
  }

  @Test func `a key explains why the tasks of a round ran`() async throws {
    try await withProject { project in
      try project.makeDirectory("src")
      try project.writeTasks(
        """
        build: { run: "echo build >> $LOG", watch: ["src"] },
        test: { run: "echo test >> $LOG", after: ["build"] },
        """)
      let session = try await project.startOnTerminal("-q")
      try await session.readsKeys()
      try await project.logged("test")
      try project.place("src/file")
      try await project.logged("test", times: 2)
      try session.type("e")
      try await session.shows("watchrun: run 2 of build started because of 1 change:")
      try await session.shows("watchrun:   created src/file")
      try await session.shows(
        "watchrun: run 2 of test started because build succeeded")
    }
  }

  @Test(arguments: Effort.rows(["h", "?"], quick: 1))
  func `a key lists the keys`(_ key: String) async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("-q", "true")
      try await session.readsKeys()
      try session.type(key)
      for line in ["r, Enter", "s  ", "p  ", "c  ", "e  ", "h, ?", "q  "] {
        try await session.shows("watchrun: " + line)
      }
    }
  }

  @Test func `a key clears the screen`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("true")
      try await session.shows("press h for a list of keys")
      try session.type("c")
      try await session.shows("\u{1B}[H\u{1B}[2J")
    }
  }

  @Test func `after the screen is cleared, an unfinished line begins with its task again`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(
        "ask: { run: 'printf \"Sure? \"; until test -e go; do sleep 0.1; done; echo yes' }, "
          + "other: { run: 'true' },")
      let session = try await project.startOnTerminal("--color", "never")
      try await session.shows("ask   | Sure?")
      try session.type("c")
      try await session.shows("\u{1B}[H\u{1B}[2J")
      try project.place("go")
      try await session.shows("ask   | yes")
    }
  }

  @Test func `a key pauses and resumes`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("-v", Project.record)
      try await session.readsKeys()
      try await project.logged("start ")
      try session.type("p")
      try await session.shows("watchrun: paused")
      for name in ["one", "two"] {
        try project.place(name)
        try await session.shows("created " + name)
      }
      #expect(project.logged == ["start "])
      try session.type("p")
      try await session.shows("watchrun: resumed")
      try await eventually("one run for all") { project.recordedRuns == [["one", "two"]] }
    }
  }

  @Test func `other keys and pasted text do nothing`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("-q", Project.record)
      try await session.readsKeys()
      try await project.logged("start ")
      for typed in ["x", Keystroke.escape + "q", "quick brown fox", "\u{FF}"] {
        try session.type(typed)
        // What comes at once is taken for one text.
        try await Task.sleep(for: .milliseconds(100))
      }
      // On a busy machine a key may still be read together with the text before it.
      for _ in 0..<20 where !session.terminal.output.text.contains("watchrun: h, ?") {
        try session.type("h")
        try await Task.sleep(for: .milliseconds(500))
      }
      try await session.shows("watchrun: h, ?")
      #expect(project.logged == ["start "])
      #expect(!session.terminal.output.text.contains("quick"))
    }
  }

  @Test func `with --no-keys, no keys are read`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("--no-keys", "-v", "true")
      try await session.shows("watching 1 directory")
      try await session.shows("succeeded")
      try session.type("q")
      try await project.settle(session)
      #expect(try session.terminal.modes == session.modes)
      #expect(!session.terminal.output.text.contains("press h"))
      #expect(ProcessTable.isAlive(session.pid))
    }
  }

  @Test func `with --once, what is typed during the run reaches the shell`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try bash.start("--once", "echo up-$((1 + 1)); until test -e go; do sleep 0.1; done")
      try await bash.shows("up-2")
      try bash.command("echo typed-$((1 + 1))")
      try project.place("go")
      try await bash.shows("succeeded")
      try await bash.shows("typed-2")
    }
  }

  @Test func `with a list on standard input, keys are read from the terminal`() async throws {
    try await withProject { project in
      let bash = try await Shell(project)
      try project.write("file")
      try bash.command("ls | watchrun --files-from - true")
      try await bash.shows("press h for a list of keys")
      try bash.terminal.type("q")
      try await bash.hasPrompt()
    }
  }

  @Test func `output looks the same while keys are read`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("-q", "sleep 0.3; printf 'a\\nb\\n'; cat")
      try await session.readsKeys()
      try await eventually("it prints") { session.terminal.output.text.contains("a\r\nb\r\n") }
      #expect(session.terminal.output.lines == ["a", "b"])
    }
  }
}
