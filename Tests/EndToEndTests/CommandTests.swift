import SystemCalls
import TestSupport
import Testing

/// How a command receives the changed paths.
@Suite struct CommandTests {
  /// Logs a line with each of its arguments in brackets.
  private static let script = #"for a; do printf '[%s]' "$a" >> "$LOG"; done; echo >> "$LOG""#

  @Test func `placeholders are replaced by changed paths`() async throws {
    let words = ["{}", "x", "{first}", "/_", "{}", "{}x", "{ }"]
    let expected = "[a][b][x][a][a][a][b][{}x][{ }]"
    try await withProject { project in
      let command = ["sh", "-c", Self.script, "sh"] + words
      let watchrun = try await project.start(["-v", "-p", "-d", "300ms", "--"] + command)
      try await watchrun.watching()
      try project.place("a")
      try project.place("b")
      try await eventually("a run") { !project.logged.isEmpty }
      // A busy machine may have made two bursts of them.
      if watchrun.errors.contains(where: { $0.contains("(a and 1 more changed)") }) {
        #expect(project.logged == [expected])
      }
    }
  }

  @Test func `placeholders beside --shell are arguments of the shell`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "-v", "-p", "--shell", "sh", "printf", "'[%s]'", "{}", "{first}", #">> "$LOG";"#,
        "echo", #">> "$LOG""#)
      try await watchrun.watching()
      try project.place("a  'b' $(c)")
      try await project.logged("[a  'b' $(c)][a  'b' $(c)]")
    }
  }

  @Test func `the environment holds the changed paths`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "-v", "-d", "300ms",
        #"""
        { env | grep ^WATCHRUN_ | grep -v PATHS; printf '%s\n' "$WATCHRUN_PATHS"
        [ -n "$WATCHRUN_PATHS_FILE" ] && tr '\0' '!' < "$WATCHRUN_PATHS_FILE"; echo; } > "$LOG.new"
        mv "$LOG.new" "$LOG.$WATCHRUN_REASON"
        """#)
      try await watchrun.watching()
      let first = project.log + ".start"
      try await eventually("the first run") { project.exists(first) }
      let lines = project.read(first).split(separator: "\n")
      #expect(lines.contains("WATCHRUN_REASON=start"))
      #expect(lines.contains("WATCHRUN_COUNT=0"))
      #expect(!lines.contains { $0.hasPrefix("WATCHRUN_TRUNCATED") })

      try project.place("file")
      let second = project.log + ".change"
      try await eventually("the second run") { project.exists(second) }
      let path = project.path("file")
      let passed = project.read(second).split(separator: "\n").map(String.init)
        .filter { !$0.hasPrefix("WATCHRUN_RUN=") }
      let expected: Set = [
        "WATCHRUN_REASON=change", "WATCHRUN_COUNT=1", "WATCHRUN_FIRST=" + path, path, path + "!",
      ]
      #expect(Set(passed) == expected)
    }
  }

  @Test func `-E sets variables of the command`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "--once", "-E", "FIRST=a=b c", "--env", "HOME=elsewhere", "-E", "EMPTY=",
        #"echo "$FIRST|$HOME|${EMPTY-unset}" >> "$LOG""#)
      try await watchrun.ended()
      #expect(project.logged == ["a=b c|elsewhere|"])
    }
  }

  @Test(
    arguments: [
      ["sh", "-c", "true", "sh", "{}", "{first}"], ["--shell", "sh", "true", "{}", "{first}"],
      ["true $WATCHRUN_PATHS $WATCHRUN_FIRST"],
    ])
  func `a file name is never run as a command`(_ command: [String]) async throws {
    try await withProject { project in
      let watchrun = try await project.start(["-v", "-p"] + command)
      try await watchrun.watching()
      for name in ["$(touch pwned)", "`touch pwned`", ";touch pwned;", "'; touch pwned #"] {
        let before = watchrun.errors.count { $0.contains("succeeded") }
        try project.place(name)
        try await eventually("a run has ended") {
          watchrun.errors.count { $0.contains("succeeded") } > before
        }
      }
      #expect(!project.exists("pwned"))
    }
  }

  @Test func `a file name that is not UTF-8 reaches the command unchanged`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "-v", "-p",
        #"""
        p=$(od -An -tx1 < "$WATCHRUN_PATHS_FILE" | tr -d ' \n'); \
        cat "$WATCHRUN_FIRST" >/dev/null && echo "${p##*2f}" >> "$LOG"
        """#)
      try await watchrun.watching()
      try await project.shell(#"echo x > $OUTSIDE/x; mv $OUTSIDE/x "$(printf 'bad\377.txt')""#)
      try await project.logged("626164ff2e74787400")
    }
  }

  @Test(
    arguments: Effort.rows([["-r", "nosuch"], ["nosuch"], ["--keep-alive", "nosuch"]], quick: 1))
  func `a command that no change can make runnable ends watchrun with its status`(
    _ arguments: [String]
  ) async throws {
    try await withProject { project in
      try project.makeDirectory("tests")
      let watchrun = try await project.start(arguments)
      try await #expect(watchrun.ended() == .exited(127))
      #expect(watchrun.errors.count { $0.contains("cannot run") } == 1)
      #expect(!watchrun.errors.contains { $0.contains("restarting") })
    }
  }

  /// `FirstCommands.txt` has the answers.
  @Test func `a first word that is no program is answered before anything runs`() async throws {
    try await withProject { project in
      try project.makeDirectory("tests")
      let watchrun = try await project.start("tests/")
      try await #expect(watchrun.ended() == .exited(64))
      #expect(watchrun.errors.count == 1)
    }
  }

  @Test func `a program that does not exist yet is waited for where a build may make it`()
    async throws
  {
    try await withProject { project in
      let watchrun = try await project.start("-v", "build/app")
      try await watchrun.watching()
      try await watchrun.said("cannot run build/app: there is no file build/app")
      try project.makeDirectory("build")
      try project.write("build/app", "#!/bin/sh\necho app >> $LOG\n")
      try await watchrun.said("it is not executable")
      try await project.shell("chmod +x build/app; touch source")
      try await project.logged("app")
    }
  }

  @Test func `at a terminal, nothing is waited for then`() async throws {
    try await withProject { project in
      let session = try await TerminalSession(project, ["-r", "nosuch"])
      try await #expect(session.ended() == 127)
      #expect(!session.terminal.output.text.contains("waiting for changes"))
    }
  }

  @Test func `at a terminal, it is said that changes are waited for`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("./app")
      try await session.shows("cannot run ./app")
      try await session.shows("waiting for changes")
    }
  }
}
