import SystemCalls
import TestSupport
import Testing

import enum SystemCalls.ExitStatus

/// Output that cannot be written, and readers that have gone.
@Suite struct LostOutputTests {
  /// Starts watchrun from this shell line, in which `"$@"` is watchrun and its arguments.
  private static func caller(_ line: String) -> [String] { ["/bin/sh", "-c", line, "sh"] }

  @Test(
    arguments: Effort.rows(
      [
        ["--help"], ["--list-tasks"], ["--print", "json"], ["--once"], ["--version"], ["--man"],
        ["--completions", "bash"], ["--schema"], ["--list-tasks", "--json"], ["--check"],
        ["--doctor"], ["--explain", "x"],
      ], quick: 4))
  func `output that cannot be written is an error with status 74`(_ arguments: [String])
    async throws
  {
    try await withProject { project in
      try project.writeTasks("a: { run: 'echo out' }, b: { run: 'true' },")
      let watchrun = try await project.start(
        arguments, prefix: Self.caller(#"exec "$@" > /dev/full"#))
      try await #expect(watchrun.ended() == .exited(74))
      let said = watchrun.errors.filter { $0.contains("cannot write to standard output") }
      #expect(
        said == [
          "watchrun: cannot write to standard output: No space left on device; "
            + "the output is incomplete"
        ], "\(watchrun.errors)")
    }
  }

  @Test func `messages that cannot be written are an error with status 74`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["--once", "--", "echo", "out"], prefix: Self.caller(#"exec "$@" 2> /dev/full"#))
      try await #expect(watchrun.ended() == .exited(74))
      #expect(watchrun.process.output.lines == ["out"])
    }
  }

  @Test(arguments: [["--status", "--follow"], ["--logs", "--follow", "--json"], ["--status"]])
  func `an answer of a session that cannot be written is an error with status 74`(
    _ question: [String]
  ) async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'echo out' }")
      _ = try await project.start(["-v"]).watching()
      let asking = try await project.start(question, prefix: Self.caller(#"exec "$@" > /dev/full"#))
      try await #expect(asking.ended() == .exited(74))
      #expect(asking.errors.contains { $0.contains("cannot write to standard output: No space") })
    }
  }

  @Test func `what the stop command and leftovers print last is not lost`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"""
        s: {
          run: ["sh", "-c", "(trap 'seq 50000; echo last; exit' TERM; echo up; while :; do sleep 0.05; done) & echo $! > pid; wait"],
          stop: "kill $(cat pid); seq 50000; echo end", service: true, ignore: ["pid"],
        },
        other: { run: "true" },
        """#)
      let watchrun = try await project.start()
      try await eventually("it runs") { watchrun.process.output.lines.contains("s     | up") }
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      let missing = ["last", "end"].filter {
        !watchrun.process.output.lines.contains("s     | \($0)")
      }
      #expect(missing.isEmpty)
    }
  }

  @Test func `the status of a command that fails is more important than lost output`()
    async throws
  {
    try await withProject { project in
      let watchrun = try await project.start(
        ["--once", "--", "sh", "-c", "exit 3"], prefix: Self.caller(#"exec "$@" 2> /dev/full"#))
      try await #expect(watchrun.ended() == .exited(3))
    }
  }

  @Test func `tasks whose output cannot be written run to their ends`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: 'seq 20000; echo end >> "$LOG"' }, b: { run: 'echo b >> "$LOG"' },"#)
      let watchrun = try await project.start(
        ["--once"], prefix: Self.caller(#"exec "$@" > /dev/full"#))
      try await #expect(watchrun.ended() == .exited(74))
      #expect(Set(project.logged) == ["end", "b"])
      #expect(watchrun.errors.count { $0.contains("cannot write") } == 1)
    }
  }

  @Test func `a line of more than 64 KiB has one prefix`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'seq -s , 40000' }, b: { run: 'true', after: ['a'] },")
      let watchrun = try await project.start("--once")
      try await #expect(watchrun.ended() == .exited(0))
      let lines = watchrun.process.output.lines
      #expect(lines.map { $0.prefix(8) } == ["a | 1,2,"])
      #expect(lines.last?.hasSuffix(",40000") == true)
    }
  }

  @Test func `output that nothing reads keeps only the task from running that writes it`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(
        #"""
        loud: { run: "seq 1 10000000", watch: ["none"], service: true },
        other: { run: "echo run >> $LOG; echo said" },
        """#, "jobs: 2")
      // Reads nothing before it is told to, and then everything.
      let pipeline = try await project.start(
        [],
        prefix: Self.caller(
          #""$@" | { "#
            + #"while ! [ -e "$OUTSIDE/end" ]; do sleep 0.1; done; cat; }"#))
      for number in 1...4 {
        try await project.logged("run", times: number)
        try project.place("file-\(number)")
      }
      try await project.logged("run", times: 5)
      let pid = try #require(
        ProcessTable.children(of: pipeline.process.pid).first {
          ProcessTable.name(of: $0) == "watchrun"
        })
      kill(pid, SIGTERM)
      try await eventually("watchrun ends though nothing reads") { !ProcessTable.isAlive(pid) }
      #expect(project.commandProcesses.allSatisfy { ProcessTable.name(of: $0) != "seq" })
      try project.write(project.outside + "/end")
      _ = try await pipeline.ended()
    }
  }

  @Test func `the last lines of commands are not lost after Ctrl-C`() async throws {
    try await withProject { project in
      try project.writeTasks(
        ["a", "b"].map { name in
          "\(name): { run: \"trap 'seq 20000; exit' TERM; echo up >> $LOG; while :; do sleep 0.1; done\" },"
        }.joined(), "jobs: 2")
      // Reads slowly.
      let pipeline = try await project.start(
        ["-q"],
        prefix: Self.caller(
          #"sh -c 'echo $$; exec "$@"' sh "$@" | { read pid; echo $pid > "$OUTSIDE/pid"; "#
            + #"while dd bs=16k count=1 2> "$OUTSIDE/dd"; do grep -q '^0+0' "$OUTSIDE/dd" && break; sleep 0.02; done; }"#
        ))
      try await project.logged("up", times: 2)
      let pid = try await value("it runs") {
        pid_t(project.read(project.outside + "/pid").split(separator: "\n").first ?? "")
      }
      kill(pid, SIGINT)
      _ = try await pipeline.ended()
      let lines = pipeline.process.output.lines
      for name in ["a", "b"] {
        #expect(lines.count { $0.hasPrefix("\(name) | ") && Int($0.dropFirst(4)) != nil } == 20000)
      }
      #expect(lines.count { $0.hasSuffix("| 20000") } == 2)
    }
  }

  @Test(arguments: [(["true"], []), (["false"], ["failed"]), (["sleep", "1000"], ["timed out"])])
  func `with -q, one line says that a run has failed or timed out`(
    _ command: [String], _ said: [String]
  ) async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["-q", "--once", "--timeout", "3s", "--stop-timeout", "5s", "--"] + command)
      try await watchrun.ended()
      #expect(watchrun.errors.count == said.count, "\(watchrun.errors)")
      for text in said { #expect(watchrun.errors.contains { $0.contains(text) }) }
    }
  }

  // MARK: - Readers

  /// Starts watchrun with its standard output, and its messages where the line says so, in a pipe whose reader
  /// ends as soon as `$OUTSIDE/end` exists.
  private static func piped(_ redirection: String = "") -> [String] {
    caller(
      #"{ "$@" \#(redirection); echo "$?" > "$OUTSIDE/status"; } | "#
        + #"{ while ! [ -e "$OUTSIDE/end" ]; do sleep 0.1; done; }"#)
  }

  @Test(
    arguments: Effort.rows(
      [
        ([], ""), (["-r"], "2>&1"), (["-q"], ""), (["-q"], "2>&1"), (["-r"], "2> /dev/null"),
      ] as [([String], String)], quick: 2))
  func `watchrun ends when the last reader of its output has gone`(
    _ options: [String], _ redirection: String
  ) async throws {
    try await withProject { project in
      let line = #"echo $$ >> "$LOG"; exec sleep 1000"#
      let pipeline = try await project.start(options + [line], prefix: Self.piped(redirection))
      let pid = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      #expect(!project.exists(project.outside + "/status"))
      try project.write(project.outside + "/end")
      try await pipeline.ended()
      #expect(project.read(project.outside + "/status") == "0\n")
      #expect(!ProcessTable.isAlive(pid))
      #expect(project.temporaryFiles.isEmpty)
    }
  }

  @Test func `--print ends when its reader has gone, though nothing changes`() async throws {
    try await withProject { project in
      let pipeline = try await project.start(["--print", "lines"], prefix: Self.piped())
      try await eventually("it watches") {
        ProcessTable.children(of: pipeline.process.pid).contains { shell in
          ProcessTable.children(of: shell).contains { ProcessTable.watchCount(of: $0) > 0 }
        }
      }
      try project.write(project.outside + "/end")
      try await pipeline.ended()
      #expect(project.read(project.outside + "/status") == "0\n")
    }
  }

  @Test(.enabled(if: Tool.python))
  func `watchrun ends when the peer of a socket has gone`() async throws {
    try await withProject { project in
      let connection = """
        import os, socket, subprocess, sys, time
        ours, theirs = socket.socketpair()
        child = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=theirs)
        theirs.close()
        deadline = time.time() + 30
        while not os.path.exists(os.environ["LOG"]) and time.time() < deadline: time.sleep(0.02)
        ours.close()
        sys.exit(child.wait())
        """
      let watchrun = try await project.start(
        ["-r", #"echo run >> "$LOG"; exec sleep 1000"#], prefix: ["python3", "-c", connection])
      try await #expect(watchrun.ended() == .exited(0))
      #expect(project.commandProcesses.isEmpty)
    }
  }

  @Test(arguments: ["HUP", "PIPE"])
  func `a watchrun that ignores hang-ups or closed pipes goes on without a reader`(
    _ signal: String
  ) async throws {
    try await withProject { project in
      let pipeline = try await project.start(
        ["-q", #"echo run >> "$LOG""#],
        prefix: Self.caller("trap '' \(signal); exec \"$@\"") + Self.piped())
      try await project.logged("run")
      try project.write(project.outside + "/end")
      for number in 1...3 {
        try project.place("file-\(number)")
        try await project.logged("run", times: number + 1)
      }
      #expect(!project.exists(project.outside + "/status"))
      _ = pipeline
    }
  }

  @Test func `messages without a reader do not matter while output has one`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        [#"echo run >> "$LOG""#],
        prefix: Self.caller(
          #"mkfifo "$OUTSIDE/p"; { read line; echo gone >> "$LOG"; } < "$OUTSIDE/p" & "#
            + #"exec "$@" 2> "$OUTSIDE/p""#))
      try await project.logged("gone")
      try await project.logged("run")
      for number in 1...3 {
        try project.place("file-\(number)")
        try await project.logged("run", times: number + 1)
      }
      #expect(watchrun.process.exitStatus == nil)
    }
  }
}
