import Foundation
import SystemCalls
import Testing

/// Errors in the output: closing line, answers, hooks, the file of `--diagnostics`, and `--output failed`.
@Suite struct DiagnosticsTests {
  /// A shell line that prints the file `state`, and fails if that holds an error.
  private static let compiler = "cat state; ! grep -q error state"

  private func writeState(_ lines: String..., in project: Project) throws {
    try project.place("state", lines.map { $0 + "\n" }.joined())
  }

  private func makeTasks(in project: Project, _ keys: String = "") throws {
    try project.place("a.c", "")
    try project.writeTasks(
      """
      build: { run: "\(Self.compiler)", watch: ["state"], \(keys) },
      other: { run: "true", watch: ["none"] },
      """)
  }

  @Test func `the closing line counts errors, names the first, and says what is fixed`()
    async throws
  {
    try await withProject { project in
      try writeState(
        "a.c:3:5: error: no x", "a.c:4:1: error: no y", "a.c:9: warning: w", in: project)
      try makeTasks(in: project)
      let watchrun = try await project.startTasks()
      try await watchrun.said(": 2 errors, 1 warning · a.c:3:5 no x")
      try writeState("a.c:7:5: error: no x", "a.c:1:1: error: no z", in: project)
      try await watchrun.said(": 2 errors (1 new), 1 error fixed · a.c:1:1 no z")
      try writeState("fine", in: project)
      try await watchrun.said(": 2 errors fixed")
      // What tools print is printed as before.
      try await eventually("all is printed") {
        watchrun.process.output.lines == [
          "build | a.c:3:5: error: no x", "build | a.c:4:1: error: no y",
          "build | a.c:9: warning: w", "build | a.c:7:5: error: no x",
          "build | a.c:1:1: error: no z", "build | fine",
        ]
      }
    }
  }

  @Test func `the first error of a long output is found`() async throws {
    try await withProject { project in
      try project.place("a.c", "")
      // 3 MB.
      let rest = "awk 'BEGIN { for (i = 0; i < 20000; i++) printf \"%0150d\\n\", i }'"
      for (line, expected) in [
        ("echo a.c:3:5: error: no x", "1 error · a.c:3:5 no x"),
        ("seq -f 'a.c:%g: error: x' 1200", "1000 errors or more · a.c:1 x"),
      ] {
        let watchrun = try await project.start(
          "--once", "--output", "failed", "--", "sh", "-c", "\(line); \(rest); exit 1")
        try await #expect(watchrun.ended() == .exited(1))
        #expect(watchrun.errors.contains { $0.hasSuffix(": " + expected) }, "\(watchrun.errors)")
      }
    }
  }

  @Test func `in GitHub Actions, failures are grouped and shown beside the code`() async throws {
    try await withProject { project in
      try writeState("a.c:3:5: error: no x", "a.c:9: warning: w", in: project)
      try makeTasks(in: project)
      let watchrun = try await project.start(
        ["--once", "--output", "failed", "-q"],
        environment: ["GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": project.root])
      try await #expect(watchrun.ended() == .exited(1))
      #expect(
        watchrun.process.output.lines == [
          "::group::build: \(Self.compiler)", "build | a.c:3:5: error: no x",
          "build | a.c:9: warning: w", "::endgroup::",
        ])
      #expect(
        watchrun.errors.suffix(2) == [
          "::error file=a.c,line=3,col=5::no x", "::warning file=a.c,line=9::w",
        ])
    }
  }

  @Test func `a command whose output is not read has the closing line that it had`() async throws {
    try await withProject { project in
      try project.place("a.c", "")
      let watchrun = try await project.start(
        "--once", "--", "sh", "-c", "echo a.c:3: error: x; exit 3")
      try await #expect(watchrun.ended() == .exited(3))
      #expect(watchrun.process.output.text == "a.c:3: error: x\n")
      let closing = try #require(watchrun.errors.last { $0.contains("failed") })
      #expect(closing.wholeMatch(of: /watchrun: failed with status 3 after \S+ \S+/) != nil)
    }
  }

  @Test func `answers and hooks have the list`() async throws {
    try await withProject { project in
      try writeState("a.c:3:5: error: no x", "a.c:9: warning: w", in: project)
      let hook = #"printf '%s;%s\n' \"$WATCHRUN_ERRORS\" \"$WATCHRUN_WARNINGS\" >> $LOG"#
      try makeTasks(in: project, #"onFailure: "\#(hook)", onSuccess: "\#(hook)""#)
      let watchrun = try await project.startTasks()
      try await watchrun.said(": 1 error, 1 warning · a.c:3:5 no x")
      try await project.logged("a.c:3:5: error: no x;a.c:9:1: warning: w")
      let answer = try await project.start("--wait", "--json", "build")
      try await #expect(answer.ended() == .exited(1))
      let text = answer.process.output.text
      let path = project.path("a.c")
      #expect(
        text.contains(
          #""diagnostics":[{"path":"\#(path)","line":3,"column":5,"severity":"error","message":"no x"},"#
            + #"{"path":"\#(path)","line":9,"column":null,"severity":"warning","message":"w"}]"#),
        "\(text)")
      let shown = try await project.start("--wait", "--lines", "1", "build")
      try await #expect(shown.ended() == .exited(1))
      let lines = shown.process.output.lines
      #expect(lines.first?.contains(": 1 error, 1 warning") == true)
      #expect(lines.dropFirst() == ["  a.c:3:5: error: no x", "  a.c:9: warning: w"])
      try writeState("fine", in: project)
      try await project.logged(";")
    }
  }

  @Test func `a file for editors is kept up to date, and starts no run`() async throws {
    try await withProject { project in
      try project.place("a.c", "")
      try writeState("a.c:3:5: error: no x", "a.c:9: warning: w", in: project)
      let watchrun = try await project.startRunning(
        ["--diagnostics", "errors.txt"], "sh", "-c", "echo run >> $LOG; \(Self.compiler)")
      try await eventually("the file is written") {
        project.read("errors.txt") == "a.c:3:5: error: no x\na.c:9:1: warning: w\n"
      }
      try writeState("fine", in: project)
      try await eventually("the file is empty") {
        project.exists("errors.txt") && project.read("errors.txt").isEmpty
      }
      try writeState("b.c:1: error: y", in: project)
      try await eventually("the file is written") {
        project.read("errors.txt") == "b.c:1:1: error: y\n"
      }
      try await watchrun.said(": 1 error · b.c:1 y")
      try project.place("last")
      try await eventually("another run") { project.logged.count >= 4 }
      let answer = try await project.start("--wait")
      try await answer.ended()
      #expect(project.logged.count == 4)
      // Nothing is left beside it.
      let names = try FileManager.default.contentsOfDirectory(atPath: project.root)
      #expect(Set(names) == ["a.c", "state", "errors.txt", "last"])
    }
  }

  @Test func `the errors of a removed task are not in the file any more`() async throws {
    try await withProject { project in
      try project.write("a.c", "")
      let task = "a: { run: 'echo a.c:3:5: error: no; exit 1', watch: ['a.c'] }"
      let other = "b: { run: 'true', watch: ['a.c'] }"
      try project.write(
        "watchrun.json", "{ diagnostics: 'errors.txt', tasks: { \(task), \(other) } }")
      let watchrun = try await project.startTasks()
      try await eventually("the file is written") {
        project.read("errors.txt") == "a.c:3:5: error: no\n"
      }
      try project.place("watchrun.json", "{ diagnostics: 'errors.txt', tasks: { \(other) } }")
      try await watchrun.said("watchrun.json read again")
      try await eventually("the file is empty") { project.read("errors.txt").isEmpty }
    }
  }

  @Test func `a file that cannot be written is refused`() async throws {
    try await withProject { project in
      for path in ["none/errors.txt", "/dev/null", "."] {
        let watchrun = try await project.start("--once", "--diagnostics", path, "true")
        try await #expect(watchrun.ended() == .exited(64))
        #expect(watchrun.errors.first?.contains("cannot write ") == true)
      }
    }
  }

  @Test(arguments: ["queue", "restart"])
  func `with --output failed, only failed runs print, and the closing line is there`(
    policy: String
  ) async throws {
    try await withProject { project in
      try writeState("fine", in: project)
      let watchrun = try await project.start(
        "-o", policy, "--output", "failed", "--", "sh", "-c", Self.compiler)
      try await watchrun.said("succeeded in")
      #expect(watchrun.process.output.text.isEmpty)
      try writeState("one", "a.c:1: error: two", in: project)
      try await watchrun.said("failed with status 1")
      // Each of the pipes is read on its own.
      try await eventually("the output of the failed run") {
        watchrun.process.output.text == "one\na.c:1: error: two\n"
      }
      try writeState("fine again", in: project)
      try await eventually("a success") { watchrun.errors.count { $0.contains("succeeded") } == 2 }
      #expect(watchrun.process.output.text == "one\na.c:1: error: two\n")
    }
  }

  @Test func `a long output is printed in part, and it is said what is left out`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "--once", "--output", "failed", "--", "sh", "-c", "seq -f %099.0f 70000; exit 1")
      try await #expect(watchrun.ended() == .exited(1))
      let lines = watchrun.process.output.lines
      #expect(lines.first?.suffix(3) == "001" && lines.last?.suffix(6) == "070000")
      let said = try #require(watchrun.errors.first { $0.contains("left out") })
      let words = try #require(said.firstMatch(of: /(\d+) lines of output \(5 MB\) are left out/))
      #expect(Int(words.1) == 70_000 - lines.count)
    }
  }

  @Test func `one task of several may print only its failures`() async throws {
    try await withProject { project in
      try project.writeTasks(
        """
        quiet: { run: "echo hidden", output: "failed" },
        loud: { run: "echo shown" },
        bad: { run: "echo bad; exit 3", output: "failed" },
        """)
      let watchrun = try await project.start("--once")
      try await #expect(watchrun.ended() == .exited(3))
      #expect(Set(watchrun.process.output.lines) == ["loud  | shown", "bad   | bad"])
    }
  }
}
