import SystemCalls
import Testing

extension Project {
  /// Writes `watchrun.json`.
  func writeTasks(_ tasks: String, _ rest: String = "") throws {
    try place("watchrun.json", "{ tasks: {\n\(tasks)\n}, \(rest) }\n")
  }

  /// Starts watchrun for the project and waits until everything is watched.
  func startTasks(_ options: String...) async throws -> Watchrun {
    let watchrun = try await start(["--verbose"] + options)
    try await watchrun.watching()
    return watchrun
  }
}

extension Watchrun {
  /// Waits until this many rounds have ended whose closing line contains this text.
  func closed(_ text: String, times: Int = 1) async throws {
    try await eventually("'\(text)' closes a round") {
      errors.count { $0.contains(text) } >= times
    }
  }
}

/// Runs of the tasks of a project.
struct ProjectRunTests {
  @Test func `arguments after a task and -- are added to its command, also when the file changes`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(#"test: { run: "printf '%s;' a", watch: ["src"] }"#)
      try project.makeDirectory("src")
      let watchrun = try await project.start(["-v", "test", "--", "-k", "b c", "$HOME"])
      try await watchrun.said("running printf '%s;' a -k 'b c' '$HOME'")
      try await watchrun.watching()
      try await eventually("it has run") {
        watchrun.process.output.text.hasPrefix("a;-k;b c;$HOME;")
      }
      try project.writeTasks(#"test: { run: "printf '%s.' z", watch: ["src"] }"#)
      try await eventually("it runs again") {
        watchrun.process.output.text.hasSuffix("z.-k.b c.$HOME.")
      }
    }
  }

  @Test func `a change runs the tests that its file maps to, and those that failed last time`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(
        #"""
        test: {
          run: "for t in {tests}; do echo $t; sh \"$t\" || exit 1; done; echo end", watch: ["src", "t"],
          map: { "src/(.*)[.]c": "t/$1.sh", "t/.*": "$0" },
        }
        """#)
      for name in ["src", "t"] { try project.makeDirectory(name) }
      for name in ["a b", "c"] { try project.place("t/\(name).sh", "exit 0") }
      let watchrun = try await project.startTasks()
      // What is saved before the end of a run may be in it.
      func ran(_ output: String, _ runs: Int) async throws {
        try await eventually("the output ends with \(output)") {
          watchrun.process.output.text.hasSuffix(output)
            && watchrun.errors.count { $0.contains("succeeded in") || $0.contains("failed with") }
              >= runs
        }
      }
      try await ran("end\n", 1)
      try project.place("t/a b.sh", "exit 1")
      try await ran("end\nt/a b.sh\n", 2)
      try project.place("src/c.c", "")
      try await ran("t/a b.sh\nt/a b.sh\n", 3)
      try project.place("t/a b.sh", "exit 0")
      try await ran("t/a b.sh\nt/c.sh\nend\n", 4)
      try project.place("src/c.c", "x")
      try await ran("end\nt/c.sh\nend\n", 5)
      // No test of this name.
      try project.place("src/d.c", "")
      try await ran("end\nend\n", 6)
      #expect(
        watchrun.errors.contains {
          $0.contains("do echo $t") && $0.contains("in 't/a b.sh' t/c.sh;")
        })
    }
  }

  @Test func `tasks run in order and their output is prefixed with their names`() async throws {
    try await withProject { project in
      try project.writeTasks(
        """
        build: { run: "echo build >> $LOG; echo one; printf two" },
        test: { run: ["sh", "-c", "echo test >> $LOG; echo three"], after: ["build"] },
        """)
      let watchrun = try await project.start("--once", "--color", "never")
      try await #expect(watchrun.ended() == .exited(0))
      #expect(project.logged == ["build", "test"])
      #expect(watchrun.process.output.lines == ["build | one", "build | two", "test  | three"])
      let said = watchrun.errors
      #expect(said.contains { $0.hasPrefix("watchrun: build: running echo build") })
      #expect(said.contains { $0.hasPrefix("watchrun: build: succeeded in ") })
      let closing = try #require(said.last { $0.contains(" · ") })
      let form = /watchrun: build ok \d+ ms · test ok \d+ ms/
      #expect(closing.wholeMatch(of: form) != nil, "\(closing)")
    }
  }

  @Test func `each task has its color`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'echo x' }, b: { run: 'echo y', after: ['a'] },")
      let watchrun = try await project.start("--once", "--color", "always")
      try await #expect(watchrun.ended() == .exited(0))
      #expect(
        watchrun.process.output.lines == ["\u{1B}[36ma\u{1B}[0m | x", "\u{1B}[35mb\u{1B}[0m | y"])
    }
  }

  @Test func `a color that a command leaves on ends with its line`() async throws {
    try await withProject { project in
      try project.writeTasks(
        "a: { run: \"printf '\\u001b[31mx'\" }, b: { run: 'echo y', after: ['a'] },")
      let watchrun = try await project.start("--once", "--color", "always")
      try await #expect(watchrun.ended() == .exited(0))
      #expect(
        watchrun.process.output.lines == [
          "\u{1B}[36ma\u{1B}[0m | \u{1B}[31mx\u{1B}[0m", "\u{1B}[35mb\u{1B}[0m | y",
        ])
    }
  }

  @Test func `a missing working directory is named`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'make', directory: 'none' },")
      let watchrun = try await project.start("--once")
      try await #expect(watchrun.ended() == .exited(127))
      #expect(
        watchrun.errors.last == "watchrun: cannot run make: there is no directory none")
    }
  }

  @Test func `a single task is reported as a command is`() async throws {
    try await withProject { project in
      try project.writeTasks("only: { run: 'echo out; exit 3' },")
      let watchrun = try await project.start("--once")
      try await #expect(watchrun.ended() == .exited(3))
      #expect(watchrun.process.output.lines == ["out"])
      #expect(watchrun.errors.count == 2)
      #expect(watchrun.errors.first == "watchrun: running echo out; exit 3")
      #expect(watchrun.errors.last?.hasPrefix("watchrun: failed with status 3 after ") == true)
    }
  }

  @Test func `a service is restarted when its dependency has succeeded`() async throws {
    try await withProject { project in
      try project.makeDirectory("src")
      try project.writeTasks(
        """
        build: { run: "echo build >> $LOG; test ! -e src/broken", watch: ["src"] },
        server: {
          run: ["sh", "-c", "echo server >> $LOG; echo up; exec sleep 1000"],
          after: ["build"], service: true, ready: { line: "up" },
        },
        client: { run: "echo client >> $LOG", after: ["server"] },
        """)
      let watchrun = try await project.startTasks()
      try await project.logged("client")
      #expect(project.logged == ["build", "server", "client"])
      try project.place("src/file")
      try await project.logged("client", times: 2)
      #expect(project.logged == ["build", "server", "client", "build", "server", "client"])
      try project.place("src/broken")
      try await watchrun.said("watchrun: server: not restarted: build failed")
      try await watchrun.closed("server kept")
      #expect(project.logged.last == "build")
      #expect(project.commandProcesses.count == 1)
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(project.commandProcesses.isEmpty)
    }
  }

  @Test
  func `a service is not restarted before what it depends on has run with the latest changes`()
    async throws
  {
    try await withProject { project in
      try project.makeDirectory("src")
      try project.writeTasks(
        """
        a: { run: "echo a >> $LOG; until [ ! -e wait ]; do sleep 0.1; done", watch: ["src"] },
        b: { run: "echo b >> $LOG", after: ["a"] },
        server: { run: "echo server >> $LOG; exec sleep 1000", after: ["b"], service: true },
        """)
      let watchrun = try await project.start("-v")
      try await watchrun.watching()
      try await project.logged("server")
      try project.write("wait")
      try project.place("src/one")
      try await project.logged("a", times: 2)
      try project.place("src/two")
      try await watchrun.said("created src/two")
      try project.remove("wait")
      try await project.logged("server", times: 2)
      #expect(project.logged == ["a", "b", "server", "a", "a", "b", "server"])
    }
  }

  @Test func `that a service is not restarted is said once in a round`() async throws {
    try await withProject { project in
      try project.makeDirectory("src")
      try project.writeTasks(
        """
        b: { run: "test ! -e src/broken", watch: ["src"] },
        c: { run: "sleep 0.3; echo c >> $LOG", watch: ["src"] },
        app: { run: "echo app >> $LOG; exec sleep 1000", after: ["b", "c"], service: true },
        """, "jobs: 2")
      let watchrun = try await project.startTasks()
      try await project.logged("app")
      try project.place("src/broken")
      try await watchrun.closed("app kept")
      #expect(watchrun.errors.count { $0.contains("app: not restarted: b failed") } == 1)
    }
  }

  @Test func `only the selected tasks and their dependencies run`() async throws {
    try await withProject { project in
      try project.writeTasks(
        """
        a: { run: "echo a >> $LOG" }, b: { run: "echo b >> $LOG", after: ["a"] },
        c: { run: "echo c >> $LOG" },
        """)
      let watchrun = try await project.start("--once", "-t", "b")
      try await #expect(watchrun.ended() == .exited(0))
      #expect(project.logged == ["a", "b"])
    }
  }

  @Test func `a task runs only on changes that pass its own keys`() async throws {
    try await withProject { project in
      try project.makeDirectory("src")
      try project.makeDirectory("doc/drafts")
      try project.writeTasks(
        """
        c: { run: ["sh", "-c", "echo c $(basename $WATCHRUN_FIRST .) >> $LOG"],
             watch: ["src"], exts: ["c"], postpone: true },
        made: { run: ["sh", "-c", "echo made $(basename $WATCHRUN_FIRST .) >> $LOG"],
             watch: ["src"], events: ["create"], postpone: true },
        doc: { run: ["sh", "-c", "echo doc $(basename $WATCHRUN_FIRST .) >> $LOG"],
             watch: ["doc"], filter: ["doc/*.txt"], ignore: ["x*"], postpone: true },
        """, "ignore: ['drafts']")
      _ = try await project.startTasks()
      for name in ["doc/drafts/a.txt", "doc/a.md", "doc/x.txt"] { try project.place(name) }
      try project.place("doc/b.txt")
      try await project.logged("doc b.txt")
      try project.place("src/d.c")
      try await project.logged("c d.c")
      try await project.logged("made d.c")
      try project.place("src/e.h")
      try await project.logged("made e.h")
      try project.write("src/d.c", "more", appending: true)
      try await project.logged("c d.c", times: 2)
      #expect(
        project.logged.sorted() == ["c d.c", "c d.c", "doc b.txt", "made d.c", "made e.h"])
    }
  }

  @Test func `a project is detected and its tasks run`() async throws {
    try await withProject { project in
      try project.write(
        "Makefile",
        "all: out\nout: in\n\tcp in out; echo built >> $$LOG\n"
          + "test: out\n\techo tested $$(cat out) >> $$LOG\n")
      try project.write("in", "1\n")
      let watchrun = try await project.startTasks()
      try await watchrun.said(
        "this is a Makefile: build, then test; to change that: watchrun --init")
      try await project.logged("tested 1")
      try project.place("in", "2\n")
      try await project.logged("tested 2")
      // The output of the build may be noticed after the tests have begun, which then run once more.
      let order = project.logged.reduce(into: [String]()) { order, line in
        if order.last != line { order.append(line) }
      }
      #expect(order == ["built", "tested 1", "built", "tested 2"])
    }
  }

  @Test func `a path that does not exist yet is watched as soon as it exists`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'echo a >> $LOG', watch: ['src'], postpone: true },")
      let watchrun = try await project.startTasks()
      try await watchrun.said(
        "watchrun: a: no such path to watch: src; it is watched as soon as it exists")
      try project.makeDirectory("src")
      try project.place("src/file")
      try await project.logged("a")
    }
  }

  @Test func `files beside a missing path are not reported as new`() async throws {
    try await withProject { project in
      try project.writeTasks(
        "a: { run: 'echo a >> $LOG', postpone: true }, b: { run: 'true', watch: ['missing'] },")
      try project.write("old")
      let watchrun = try await project.startTasks()
      try project.place("new")
      try await watchrun.said("watchrun: created new")
      #expect(!watchrun.errors.contains { $0.contains("created old") })
    }
  }

  @Test func `options without a command apply to every task`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'echo a >> $LOG' }, b: { run: 'echo b >> $LOG' },")
      let watchrun = try await project.startTasks("-e", "c", "-p")
      for name in ["x.md", "y.h"] { try project.place(name) }
      try project.place("x.c")
      try await project.logged("a")
      try await project.logged("b")
      #expect(project.logged.count == 2)
      // The project file is read whatever its extension.
      try project.writeTasks("a: { run: 'echo c >> $LOG' },")
      try await watchrun.said("watchrun.json read again (changed: a; removed: b)")
    }
  }

  @Test func `options without a command apply to a detected project`() async throws {
    try await withProject { project in
      try project.write("Makefile", "all:\n\techo made >> $$LOG\n")
      try project.makeDirectory("src")
      _ = try await project.startTasks("-w", "src", "-r")
      try await project.logged("made")
      try project.place("beside")
      try project.place("src/file")
      try await project.logged("made", times: 2)
      #expect(project.logged.count == 2)
    }
  }
}
