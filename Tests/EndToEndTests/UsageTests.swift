import SystemCalls
import Testing

/// Usage errors, the help, and how the command line becomes a command.
@Suite struct UsageTests {
  /// `UsageErrorTests` has all errors.
  @Test(arguments: [
    (["--restrat", "make"], "--restart"), (["-w"], "-w"), ([], "no command given"),
  ])
  func `a usage error is one line that names the word, and the status is 64`(
    _ arguments: [String], _ word: String
  ) async throws {
    try await withProject { project in
      let watchrun = try await project.start(arguments)
      try await #expect(watchrun.ended() == .exited(64))
      try await eventually("the line is complete") { !watchrun.errors.isEmpty }
      #expect(watchrun.errors.count == 1)
      let line = try #require(watchrun.errors.first)
      #expect(line.hasPrefix("watchrun: "))
      #expect(line.contains(word))
      #expect(watchrun.process.output.bytes.isEmpty)
    }
  }

  @Test func `options after the command belong to the command`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "--once", "-q", "printf", "%s\n", "--help", "-r", "--", "--no-such-option")
      try await #expect(watchrun.ended() == .exited(0))
      let lines = watchrun.process.output.lines
      #expect(lines == ["--help", "-r", "--", "--no-such-option"])
    }
  }

  /// Starts a program where `/proc` is empty.
  private static let withoutProc = [
    "unshare", "-Urm", "sh", "-c", #"mount -t tmpfs none /proc && exec "$@""#, "sh",
  ]

  @Test(.enabled(if: Tool.succeeds(withoutProc + ["true"])))
  func `the command line is read where /proc is not mounted`() async throws {
    try await withProject { project in
      try project.write("Makefile", "all:\n\techo make >> $(LOG)\n")
      let watchrun = try await project.start(
        ["--once", "--", "sh", "-c", #"echo "command $1" >> "$LOG""#, "sh", "word"],
        prefix: Self.withoutProc)
      try await #expect(watchrun.ended() == .exited(0))
      #expect(project.logged == ["command word"])
    }
  }

  @Test func `a word that names a task runs it with its dependencies`() async throws {
    try await withProject { project in
      try project.write(
        "watchrun.json",
        #"""
        { "tasks": {
          "build": { "run": "echo build >> $LOG" },
          "test": { "run": "echo test >> $LOG", "after": ["build"] },
          "other": { "run": "echo other >> $LOG" }
        } }
        """#)
      let watchrun = try await project.start("--once", "test")
      try await #expect(watchrun.ended() == .exited(0))
      #expect(project.logged == ["build", "test"])
      #expect(watchrun.errors.contains { $0.contains("for the program: watchrun -- test") })
      let program = try await project.start("--once", "--", "test", "-d", ".")
      try await #expect(program.ended() == .exited(0))
      #expect(project.logged == ["build", "test"])
    }
  }

  @Test func `a list of files on standard input is recognised`() async throws {
    try await withProject { project in
      try project.place("a")
      let watchrun = try await project.start(
        ["sleep", "1000"], prefix: ["/bin/sh", "-c", #"(ls; sleep 1000) | "$@""#, "sh"])
      try await watchrun.said("standard input lists files (a")
    }
  }

  @Test func `the help is printed on standard output in at most 80 columns`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("-w", ".", "--help")
      try await #expect(watchrun.ended() == .exited(0))
      try await eventually("the help is there") { watchrun.process.output.lines.count > 20 }
      let lines = watchrun.process.output.lines
      #expect(lines.allSatisfy { $0.count <= 80 })
      #expect(lines.contains { $0.contains("--watch PATH") })
      #expect(watchrun.errors.isEmpty)
    }
  }

  @Test func `the version is one line`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("--version")
      try await #expect(watchrun.ended() == .exited(0))
      try await eventually("the line is there") { !watchrun.process.output.lines.isEmpty }
      #expect(watchrun.process.output.lines.count == 1)
      #expect(watchrun.process.output.text.hasPrefix("watchrun "))
    }
  }

  @Test func `short options can be combined and hold a value`() async throws {
    try await withProject { project in
      try project.makeDirectory("sub")
      let watchrun = try await project.start("-vrpwsub", "-d0", Project.record)
      try await watchrun.watching()
      try project.place("outside-of-it")
      try project.place("sub/file")
      try await eventually("a run") { !project.recordedRuns.isEmpty }
      #expect(project.recordedRuns.allSatisfy { $0 == ["sub/file"] })
    }
  }

  @Test func `-C changes the directory before anything else`() async throws {
    try await withProject { project in
      try project.makeDirectory("sub")
      let watchrun = try await project.start(
        ["-v", "-C", project.root + "/sub", #"pwd >> "$LOG""#], in: project.outside)
      try await watchrun.watching()
      try await project.logged(project.root + "/sub")
      try project.place("sub/file")
      try await project.logged(project.root + "/sub", times: 2)
    }
  }

  @Test(
    arguments: [
      // A single argument that needs a shell is a shell line; several arguments never are.
      ([#"echo "a  b" | tr a x"#], ["x  b"]), (["echo", "a  b", "|", "$HOME"], ["a  b | $HOME"]),
      (["--shell", "sh", "echo", "a", "|", "tr", "a", "x"], ["x"]),
    ] as [([String], [String])])
  func `only a single argument that needs a shell is run by one`(
    _ arguments: [String], _ expected: [String]
  ) async throws {
    try await withProject { project in
      let watchrun = try await project.start(["--once", "-q"] + arguments)
      try await #expect(watchrun.ended() == .exited(0))
      try await eventually("it prints \(expected)") {
        watchrun.process.output.lines == expected
      }
    }
  }

  @Test func `a shell line is run by the shell of the user`() async throws {
    try await withProject { project in
      try await project.shell(
        """
        printf '#!/bin/sh\\necho "mine: $1 $2"\\n' > $OUTSIDE/mine; chmod +x $OUTSIDE/mine
        """)
      let watchrun = try await project.start(
        ["--once", "-q", "echo $HOME"], environment: ["SHELL": project.outside + "/mine"])
      try await #expect(watchrun.ended() == .exited(0))
      try await eventually("its shell prints") {
        watchrun.process.output.lines == ["mine: -c echo $HOME"]
      }
    }
  }
}
