import SystemCalls
import Testing

/// The output of commands, messages and colours.
@Suite struct OutputTests {
  @Test func `the output of the command is untouched`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("-v", "-c", "--once", "echo", "hi")
      try await watchrun.ended()
      try await eventually("it prints hi") { watchrun.process.output.lines == ["hi"] }
      #expect(watchrun.process.output.text == "hi\n")
      #expect(watchrun.errors.allSatisfy { $0.hasPrefix("watchrun: ") })
    }
  }

  @Test func `the start and the end of each run are reported`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("-d", "200ms", "grep", "-q", "works", "state")
      try await watchrun.said("running grep -q works state")
      try await watchrun.said("failed with status 2 after")
      try project.place("state", "works")
      try await watchrun.said("running grep -q works state (state changed)")
      try await watchrun.said("succeeded in")
    }
  }

  @Test func `with --quiet, only problems are reported`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("--quiet", Project.record)
      try await project.logged("start ")
      try project.place("file")
      try await eventually("a run") { project.recordedRuns == [["file"]] }
      watchrun.process.send(SIGINT)
      try await watchrun.ended()
      #expect(watchrun.process.errors.bytes.isEmpty)
      let other = try await project.start("-q", "--once", "no-such-program")
      try await other.said("no program 'no-such-program' in PATH")
    }
  }

  @Test func `with --verbose, each change is reported`() async throws {
    try await withProject { project in
      try project.write("old")
      let watchrun = try await project.start("--verbose", "true")
      try await watchrun.said("watching 1 directory with inotify")
      try project.place("new")
      try await watchrun.said("created new")
      try project.move("old", to: "older")
      try await watchrun.said("renamed older from old")
      let polling = try await project.start("--verbose", "--poll", "true")
      try await polling.said("watching with polling; ignoring")
    }
  }

  /// `ColorModeTests` has all cases.
  @Test(arguments: [false, true])
  func `messages are coloured at a terminal`(isColored: Bool) async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["--once", "true"], output: isColored ? .terminal : .pipes)
      try await watchrun.ended()
      try await watchrun.said("succeeded")
      #expect(watchrun.process.errors.text.contains("\u{1B}[") == isColored)
    }
  }

  @Test func `clearing the screen keeps the scrollback`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(["-v", "-c", "echo hi"], output: .terminal)
      try await watchrun.watching()
      try project.place("file")
      try await eventually("two runs") {
        watchrun.process.output.lines.count { $0.hasSuffix("hi") } == 2
      }
      let text = watchrun.process.output.text
      #expect(text.components(separatedBy: "\u{1B}[2J").count == 3)
      #expect(!text.contains("\u{1B}[3J"))
    }
  }

  @Test func `without --clear, the screen is not cleared`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(["--once", "echo", "hi"], output: .terminal)
      try await watchrun.ended()
      try await watchrun.said("succeeded")
      #expect(!watchrun.process.output.text.contains("\u{1B}[2J"))
    }
  }

  @Test func `escape sequences in file names do not reach the terminal`() async throws {
    try await withProject { project in
      let names = ["\u{1B}]0;x\u{7}", "a\u{1B}[2Jb", "c\r\nwatchrun: forged"]
      let watchrun = try await project.start("-v", "--color", "never", "true")
      let printer = try await project.start("--print", "lines")
      try await watchrun.watching()
      try await eventually("the other watches as well") {
        ProcessTable.watchCount(of: printer.process.pid) == 1
      }
      for name in names { try project.place(name) }
      try await eventually("all names are reported") {
        watchrun.errors.count { $0.contains("created") } == names.count
          && printer.process.output.lines.count >= names.count
      }
      for collector in [watchrun.process.errors, printer.process.output] {
        #expect(!collector.bytes.contains { $0 < 0x20 && $0 != UInt8(ascii: "\n") })
        #expect(!collector.lines.contains { $0.hasPrefix("watchrun: forged") })
      }
    }
  }

  @Test(
    arguments: [
      ([], [:], "terminal"), (["--color", "never"], [:], "-"), ([], ["NO_COLOR": "1"], "-"),
      ([], ["TERM": "dumb"], "-"), (["--color", "never", "--pty"], [:], "terminal"),
    ] as [([String], [String: String], String)])
  func `several tasks have a terminal where theirs shows colours`(
    _ options: [String], _ environment: [String: String], _ seen: String
  ) async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: '[ -t 1 ] && [ -t 2 ] && echo terminal >> "$LOG" || "#
          + #"echo "$FORCE_COLOR-$CLICOLOR_FORCE" >> "$LOG"' }, b: { run: "true" },"#)
      let watchrun = try await project.start(
        ["--once"] + options, environment: environment, output: .terminal)
      try await watchrun.ended()
      try await project.logged(seen)
    }
  }

  @Test(
    arguments: [([:], "1-1"), (["FORCE_COLOR": "3"], "3-1")] as [([String: String], String)])
  func `the programs of several tasks write colours if they are asked for`(
    _ environment: [String: String], _ seen: String
  ) async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: 'echo "$FORCE_COLOR-$CLICOLOR_FORCE" >> "$LOG"' }, b: { run: "true" },"#)
      let watchrun = try await project.start(
        ["--once", "--color", "always"], environment: environment)
      try await watchrun.ended()
      try await project.logged(seen)
    }
  }

  @Test(
    arguments: [([:], "<1>"), (["PYTHONUNBUFFERED": ""], "<>")] as [([String: String], String)])
  func `Python in one of several tasks is asked not to hold its lines back`(
    _ environment: [String: String], _ seen: String
  ) async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: 'echo "<$PYTHONUNBUFFERED>" >> "$LOG"' }, b: { run: "true" },"#)
      let watchrun = try await project.start(["--once"], environment: environment)
      try await watchrun.ended()
      try await project.logged(seen)
    }
  }

  @Test func `the time precedes each line of output, and the name of its task`() async throws {
    try await withProject { project in
      let alone = try await project.start(["--once", "--timestamps", "echo a; printf 'b\nc'"])
      try await #expect(alone.ended() == .exited(0))
      let time = "[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}"
      let text = alone.process.output.text
      #expect(text.wholeMatch(of: try Regex("\(time) a\n\(time) b\n\(time) c\n")) != nil, "\(text)")
      try project.writeTasks(
        "a: { run: 'echo one' }, bb: { run: 'echo two', after: ['a'] }", "timestamps: true")
      let tasks = try await project.start(["--once", "-j", "1"])
      try await #expect(tasks.ended() == .exited(0))
      let lines = tasks.process.output.text
      #expect(
        lines.wholeMatch(of: try Regex("\(time) a  [|] one\n\(time) bb [|] two\n")) != nil,
        "\(lines)")
    }
  }

  @Test func `a service is restarted as often as it says`() async throws {
    try await withProject { project in
      try project.writeTasks(
        "a: { run: 'echo a >> $LOG; exit 1', service: true, restartLimit: 2, backOff: '10ms' }")
      let watchrun = try await project.startTasks()
      try await watchrun.said("not restarted: it has ended 3 times in a row")
      #expect(project.logged == ["a", "a", "a"])
    }
  }
}
