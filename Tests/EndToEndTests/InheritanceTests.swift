import SystemCalls
import Testing

/// What the command inherits from the caller of watchrun: descriptors, and the directory.
@Suite struct InheritanceTests {
  /// Starts watchrun from this line of bash, in which `"$@"` is watchrun and its arguments.
  private static func caller(_ line: String) -> [String] { ["bash", "-c", line, "bash"] }

  @Test(.enabled(if: Tool.bash))
  func `each run writes to a descriptor that the caller has opened`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["-v", #"echo run >&3"#],
        prefix: Self.caller(#"exec 3>>"$LOG" 9</dev/null 15>>"$LOG"; exec "$@""#))
      try await watchrun.watching()
      try await project.logged("run")
      try project.place("file")
      try await project.logged("run", times: 2)
    }
  }

  @Test(.enabled(if: Tool.bash))
  func `a command reads a process substitution`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["--once", "--", "cat"], prefix: Self.caller(#"exec "$@" <(echo substituted)"#))
      try await #expect(watchrun.ended() == .exited(0))
      #expect(watchrun.process.output.lines == ["substituted"])
    }
  }

  @Test(.enabled(if: Tool.bash))
  func `a command inherits the caller's descriptors and none of watchrun's`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["-v", "--", "ls", "/proc/self/fd"],
        prefix: Self.caller(#"exec 4</dev/null 7</dev/null 200</dev/null; exec "$@""#))
      try await watchrun.watching()
      try project.place("file")
      // The directory that ls reads has the first number that is free.
      let numbers = ["0", "1", "2", "200", "3", "4", "7"]
      try await eventually("two runs") { watchrun.process.output.lines.count >= 2 * numbers.count }
      #expect(watchrun.process.output.lines == numbers + numbers)
    }
  }

  @Test func `each descriptor of watchrun itself is closed on exec`() async throws {
    try await withProject { project in
      try project.writeTasks(
        "a: { run: 'exec sleep 1000', service: true }, page: { serve: '.' },")
      let watchrun = try await project.start("-v")
      try await watchrun.watching()
      let pid = watchrun.process.pid
      let inherited = ProcessTable.descriptors(of: pid).filter {
        !ProcessTable.isClosedOnExec($0, of: pid)
      }
      #expect(Set(inherited) == ["0", "1", "2"])
    }
  }

  @Test(.enabled(if: Tool.bash))
  func `sockets that a service manager has opened are passed on to each run`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["-v", #"[ -e /proc/$$/fd/3 ] && echo "$LISTEN_FDS $((LISTEN_PID - $$))" >> "$LOG""#],
        prefix: Self.caller(#"exec 3</dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@""#))
      try await watchrun.watching()
      try await project.logged("1 0")
      try project.place("file")
      try await project.logged("1 0", times: 2)
    }
  }

  @Test(.enabled(if: Tool.bash))
  func `the PID of another process in LISTEN_PID is left alone`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["--once", #"echo "$LISTEN_PID" >> "$LOG""#],
        prefix: Self.caller(#"LISTEN_FDS=1 LISTEN_PID=1 exec "$@""#))
      try await watchrun.ended()
      #expect(project.logged == ["1"])
    }
  }

  @Test(.enabled(if: Tool.succeeds("make", "--version")))
  func `a recipe of make shares its job server with the command`() async throws {
    try await withProject { project in
      try project.write(
        project.outside + "/Makefile",
        "all:\n\t+\"$(WATCHRUN)\" --once -- $(MAKE) -f $(OUTSIDE)/Makefile inner\n"
          + "inner: one two\none two:\n\techo $@ >> \"$(LOG)\"\n")
      let make = try await project.start(
        [],
        prefix: [
          "sh", "-c",
          #"exec make -j2 -f "$OUTSIDE/Makefile" WATCHRUN="$1" 2>&1"#, "sh",
        ])
      try await #expect(make.ended() == .exited(0))
      #expect(!make.process.output.text.contains("jobserver"), "\(make.process.output.text)")
      #expect(Set(project.logged) == ["one", "two"])
    }
  }

  @Test(
    arguments: [
      ([], "project"), (["-C", "sub"], "project/sub"), (["-C", "link"], "project/sub"),
    ] as [([String], String)])
  func `PWD names the directory in which the command runs`(
    _ options: [String], _ directory: String
  ) async throws {
    try await withProject { project in
      try project.makeDirectory("sub")
      try project.makeLink("link", to: "sub")
      let watchrun = try await project.start(
        options + ["--once", "--", "env"], environment: ["PWD": project.outside])
      try await watchrun.ended()
      let parent = project.root.dropLast("project".count)
      #expect(watchrun.process.output.lines.contains("PWD=\(parent)\(directory)"))
    }
  }

  @Test func `PWD stays as it is if it names the directory by way of a link`() async throws {
    try await withProject { project in
      let link = project.outside + "/link"
      try project.makeLink(link, to: project.root)
      let watchrun = try await project.start(["--once", "--", "env"], environment: ["PWD": link])
      try await watchrun.ended()
      #expect(watchrun.process.output.lines.contains("PWD=\(link)"))
    }
  }

  @Test func `PWD names the directory of a task, unless the task sets it`() async throws {
    try await withProject { project in
      try project.makeDirectory("sub")
      try project.writeTasks(
        #"""
        a: { run: ['sh', '-c', 'env | grep ^PWD= >> "$LOG"'], directory: "sub" },
        b: { run: ['sh', '-c', 'env | grep ^PWD= >> "$LOG"'], directory: "sub", env: { PWD: "/" } },
        """#)
      let watchrun = try await project.start(["--once"], environment: ["PWD": project.root])
      try await watchrun.ended()
      #expect(project.logged.contains("PWD=\(project.root)/sub"))
    }
  }
}
