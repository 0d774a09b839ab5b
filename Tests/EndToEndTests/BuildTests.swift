import SystemCalls
import TestSupport
import Testing

/// `--build`: runs first, and decides whether the command starts.
@Suite struct BuildTests {
  /// A server that logs the version that was built.
  private static let server = #"echo "serve $(cat "$OUTSIDE/built")" >> "$LOG"; exec sleep 1000"#
  /// Fails unless `source` contains "good".
  private static let build = #"grep -q good source && cp source "$OUTSIDE/built""#

  @Test func `a server keeps running until its next version is built`() async throws {
    try await withProject { project in
      try project.write("source", "good 1")
      let watchrun = try await project.startRunning(
        ["-r", "--build", Self.build], "sh", "-c", Self.server)
      let server = try #require(project.commandProcesses.first)
      try project.place("source", "bad")
      try await watchrun.said("the build failed with status 1")
      #expect(ProcessTable.isAlive(server))
      try project.place("source", "good 2")
      try await project.logged("serve good 2")
      #expect(!ProcessTable.isAlive(server))
      #expect(project.logged == ["serve good 1", "serve good 2"])
      #expect(watchrun.errors.contains { $0.hasPrefix("watchrun: building: grep -q good source") })
    }
  }

  @Test(arguments: Effort.rows(["queue", "restart", "ignore", "signal"], quick: 2))
  func `the build precedes the command with every busy policy`(_ policy: String) async throws {
    try await withProject { project in
      try project.write("source", "good 1")
      // The two writes below are one batch: with `ignore`, a second one would lead to nothing.
      let watchrun = try await project.startRunning(
        ["-o", policy, "-d", "300ms", "--build", Self.build], "sh", "-c",
        #"cat "$OUTSIDE/built" >> "$LOG"; echo >> "$LOG""#)
      for number in 2...3 {
        // With `ignore`, a change during the run leads to nothing.
        try await eventually("the run has ended") { watchrun.runsEnded == number - 1 }
        try await project.rests()
        try project.place("source", "bad")
        try project.place("source", "good \(number)")
        try await project.logged("good \(number)")
      }
    }
  }

  @Test func `a change during the build starts it again`() async throws {
    try await withProject { project in
      try project.write("source", "1")
      let watchrun = try await project.startRunning(
        [
          "--build",
          #"""
          key=$(head -n 1 source); echo "build $key" >> "$LOG"
          [ $key = 1 ] && while :; do sleep 0.1; done; echo "$key" > "$OUTSIDE/built"
          """#,
        ], "sh", "-c", #"echo "run $(cat "$OUTSIDE/built")" >> "$LOG""#)
      try await project.logged("build 1")
      // The build cannot have written so much.
      try project.place("source", "2\n" + String(repeating: "x", count: 1000))
      try await project.logged("run 2")
      #expect(project.logged == ["build 1", "build 2", "run 2"])
      try await watchrun.said("the build stopped after")
    }
  }

  /// Reads the source, and writes down what it has read, the first time so late that a save meets it on a busy machine
  /// as well.
  private static let makefile =
    "app: source\n\tx=$$(cat source); echo begun >> \"$$LOG\"; sleep $$((4 / (x * x))); echo \"$$x\" > app\n"

  @Test(
    arguments: Effort.rows(
      [
        ["make"], ["-r", "-d", "10s", "make"], ["cd . && make | cat"], ["--build", "make", "true"],
        ["sh", "build.sh"], ["-r", "make"], ["-d", "10s", "make"], ["-o", "queue", "make"],
        ["true && make && true"],
      ], quick: 4))
  func `what is saved while make compiles is in the result`(_ words: [String]) async throws {
    try await withProject { project in
      try project.write("source", "1")
      try project.write("Makefile", Self.makefile)
      try project.write("build.sh", "make")
      try project.write(".gitignore", "app")
      let watchrun = try await project.startRunning(words.dropLast(), words[words.count - 1])
      try await project.logged("begun")
      try project.place("source", "2")
      if words.contains("10s") {
        // The run is stopped long before the burst has ended.
        try await watchrun.said("stopped after")
        return
      }
      if words == ["make"] {
        try await watchrun.said(
          "running make (source changed during the build, which may have missed it)")
      }
      try await eventually("the save is in the result") { project.read("app") == "2\n" }
      #expect(project.logged == ["begun", "begun"])
    }
  }

  @Test func `what is saved while make compiles stops it, also while git holds its lock`()
    async throws
  {
    try await withProject { project in
      try project.write("source", "1")
      try project.write(
        "Makefile",
        "app: source\n\tx=$$(cat source); echo begun >> \"$$LOG\"; sleep 2; echo $$x > app\n")
      try await project.shell("git init -q .")
      let watchrun = try await project.startRunning([], "make")
      try await project.logged("begun")
      try project.write(".git/index.lock", "")
      try project.place("source", "2")
      try await watchrun.said("stopped after")
      try project.remove(".git/index.lock")
      try await eventually("the save is in the result") { project.read("app") == "2\n" }
      #expect(project.logged == ["begun", "begun"])
    }
  }

  /// The options of an observer are fixed, so that there is another one after a change of them.
  @Test func `what is saved while make compiles stops it after the project file was read again`()
    async throws
  {
    try await withProject { project in
      let tasks = "tasks: { app: { run: 'make', postpone: true, watch: ['source'] } }"
      try project.write("source", "1")
      try project.write(
        "Makefile",
        "app: source\n\tx=$$(cat source); echo begun >> \"$$LOG\"; sleep 2; echo $$x > app\n")
      try project.write("watchrun.json", "{ \(tasks) }")
      let watchrun = try await project.startTasks("-v", "-d", "3s")
      try await watchrun.watching()
      try project.place("watchrun.json", "{ ignore: ['none'], \(tasks) }")
      try await watchrun.said("watchrun.json read again")
      try await project.start("--send", "run").ended()
      try await project.logged("begun")
      try project.place("source", "2")
      // Long before the burst has ended, when make has.
      try await watchrun.said("stopped after")
    }
  }

  /// Makes `out/a.o` of the source, then `app`, which takes four seconds each, and one the second time. A stop does not
  /// remove the object.
  private static func steps(_ source: String, _ compile: String) -> String {
    """
    app: out/a.o
    \techo linking >> "$$LOG"; x=$$(cat out/a.o); sleep $$((4 / (x * x))); echo "$$x" > app
    out/a.o: \(source)
    \tmkdir -p out; x=$$(cat $<); \(compile) echo compiling >> "$$LOG"; sleep $$((4 / (x * x))); echo "$$x" > $@
    .PRECIOUS: out/a.o

    """
  }

  @Test(
    arguments: Effort.rows(
      [
        // The object is written after the file that is renamed to the source, and before that.
        (#"echo 2 > "$$OUTSIDE/a.c";"#, "linking", "app\n*.o\n"),
        // It is written after the save, by a compiler that takes its time to end.
        ("trap '' TERM;", "compiling", "app\nout\n"),
        (#"echo 2 > "$$OUTSIDE/a.c";"#, "linking", "app\n"),
        // And in a directory that is not watched.
        ("trap '' TERM;", "compiling", "outside"),
      ], quick: 2))
  func `what a stopped build has written after a save is made again`(
    _ compile: String, _ moment: String, _ place: String
  ) async throws {
    try await withProject { project in
      let isOutside = place == "outside"
      let directory = isOutside ? project.outside : project.root
      try project.write("a.c", "1")
      if !isOutside { try project.write(".gitignore", place) }
      try project.write(directory + "/Makefile", Self.steps(project.path("a.c"), compile))
      _ = try await project.startRunning([], "make", "-C", directory)
      try await project.logged(moment)
      if moment == "linking" {
        try project.move(project.outside + "/a.c", to: "a.c")
      } else {
        try project.place("a.c", "2")
      }
      let question = try await project.start("--wait")
      try await #expect(question.ended() == .exited(0))
      #expect(project.read(directory + "/app") == "2\n", "\(project.transcript)")
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `what is saved while a build is being stopped is in the result`() async throws {
    try await withProject { project in
      try project.write("a.c", "1")
      try project.write(".gitignore", "app\nout\n")
      try project.write("Makefile", Self.steps(project.path("a.c"), "trap '' TERM;"))
      let watchrun = try await project.startRunning([], "make")
      try await project.logged("compiling")
      try await #expect(project.start("--send", "restart").ended() == .exited(0))
      try await watchrun.said("stopping the command with SIGTERM")
      try project.place("a.c", "2")
      let question = try await project.start("--wait")
      try await #expect(question.ended() == .exited(0))
      #expect(project.read("app") == "2\n")
    }
  }

  /// As on a machine that is so busy that watchrun learns of the save when make has ended.
  @Test(arguments: [["make"], ["make && true"], ["-r", "make"]])
  func `what is saved in the last moments of make is in the result`(_ words: [String]) async throws
  {
    try await withProject { project in
      try project.write("source", "1")
      try project.write(".gitignore", "*.o")
      try project.write(
        "Makefile",
        "app.o: source\n\tx=$$(cat source); echo begun >> \"$$LOG\"; "
          + "while ! [ -e $$OUTSIDE/go ]; do sleep 0.1; done; echo \"$$x\" > app.o\n")
      let watchrun = try await project.startRunning(words.dropLast(), words[words.count - 1])
      try await saveInLastMoments(of: watchrun, in: project)
      #expect(project.read("app.o") == "2\n")
    }
  }

  /// Saves while watchrun does not look and make still works, and waits for the result.
  private func saveInLastMoments(of watchrun: Watchrun, in project: Project) async throws {
    try await project.logged("begun")
    try await watchrun.process.suspend()
    try project.place("source", "2")
    try project.write(project.outside + "/go")
    try await eventually("make has ended") { project.commandProcesses.isEmpty }
    watchrun.process.send(SIGCONT)
    let question = try await project.start("--wait")
    try await #expect(question.ended() == .exited(0))
  }

  @Test func `a text that make writes in its last moments is made again if it is declared`()
    async throws
  {
    try await withProject { project in
      try project.write("source", "1")
      try project.writeTasks("app: { run: 'make', writes: ['/app.js'] }")
      try project.write(
        "Makefile",
        "app.js: source\n\tx=$$(cat source); echo begun >> \"$$LOG\"; "
          + "while ! [ -e $$OUTSIDE/go ]; do sleep 0.1; done; echo \"$$x\" > app.js\n")
      try await saveInLastMoments(of: project.startTasks(), in: project)
      #expect(project.read("app.js") == "2\n")
    }
  }

  /// While something writes, it is not known who has saved a file.
  @Test(.enabled(if: Effort.isFull))
  func `what is saved in a build is in the result, whoever may have saved it`()
    async throws
  {
    try await withProject { project in
      for name in ["a.c", "b.c"] { try project.write(name, "1") }
      try project.write(".gitignore", "*.o")
      try project.write(
        "noise.sh",
        #"timeout --foreground ${1:-0.4} sh -c 'while :; do echo > "$OUTSIDE/noise"; done'"#)
      try project.write(
        "Makefile",
        """
        all: a.o b.o
        %.o: %.c
        \tx=$$(cat $<); echo "compiling $<" >> "$$LOG"; sh noise.sh; echo "$$x" > $@

        """)
      let watchrun = try await project.startRunning(
        [], "sh", "-c", #"echo busy >> "$LOG"; sh noise.sh 3; make"#)
      try await eventually("the first run has ended") { watchrun.runsEnded == 1 }
      try await project.rests()
      try project.place("a.c", "2")
      // Each before make reads it, so that it is judged when the run has ended.
      for number in 2...3 {
        try await project.logged("busy", times: number)
        try project.place("b.c", "\(number)")
      }
      try await eventually("make reads it in the third run") {
        let third = project.logged.split(separator: "busy", omittingEmptySubsequences: false)
          .dropFirst(3)
        return third.joined().contains("compiling b.c")
      }
      try project.place("b.c", "4")
      let question = try await project.start("--wait")
      try await #expect(question.ended() == .exited(0))
      #expect(project.read("b.o") == "4\n")
    }
  }

  @Test func `what a build rewrites itself leaves its objects as they are`() async throws {
    try await withProject { project in
      for name in ["a.c", "b.c", "a.d", "b.d"] { try project.write(name, "1") }
      try project.write(".gitignore", "*.o")
      try project.write(
        "Makefile",
        "all: a.o b.o\n%.o: %.c\n\techo $@ >> \"$$LOG\"; echo > $*.d; sleep 0.3; cp $< $@\n")
      let watchrun = try await project.startRunning(["-o", "ignore"], "make")
      try await eventually("the first run has ended") { watchrun.runsEnded == 1 }
      try await project.rests()
      try project.place("a.c", "2")
      try await project.rests()
      #expect(project.logged == ["a.o", "b.o", "a.o"])
    }
  }

  @Test func `the reason after a stopped build is what was saved, and not what the build has made`()
    async throws
  {
    try await withProject { project in
      try project.write("source", "1")
      let makefile =
        "app: made.o source\n\tx=$$(cat source); sleep 9; echo \"$$x\" > app\n"
        + "made.o:\n\techo > made.o; sleep 0.3; echo begun >> \"$$LOG\"\n"
      try project.write("Makefile", makefile)
      let watchrun = try await project.startRunning([], "make")
      try await project.logged("begun")
      try project.place("source", "2")
      try await watchrun.said(
        "running make (source and 1 more changed during the build, which may have missed it)")
    }
  }

  @Test func `what is saved while make ignores it is named, and not green until it is saved again`()
    async throws
  {
    try await withProject { project in
      try project.write("source", "3")
      try project.write("Makefile", Self.makefile)
      try project.write(".gitignore", "app")
      let watchrun = try await project.startRunning(["-o", "ignore"], "make")
      try await eventually("the first run has ended") { watchrun.runsEnded == 1 }
      try await project.rests()
      try project.place("source", "1")
      try await eventually("the second run reads it") { project.logged == ["begun", "begun"] }
      try project.place("source", "4")
      try await watchrun.said("source saved in a build, which may take it for up to date")
      let question = try await project.start("--wait")
      try await #expect(question.ended() == .exited(1))
      #expect(project.read("app") == "1\n")
      try project.place("source", "5")
      let second = try await project.start("--wait")
      try await #expect(second.ended() == .exited(0))
      #expect(project.read("app") == "5\n")
    }
  }

  @Test func `what make makes does not stop it, where changes restart it`() async throws {
    try await withProject { project in
      let names = ["a", "b", "c"]
      for name in names { try project.write(name + ".c", "1") }
      try project.write(
        "Makefile",
        "all: a.o b.o c.o\n\techo made >> \"$$LOG\"\n"
          + "%.o: %.c\n\techo $@ >> \"$$LOG\"; sleep 0.3; cp $< $@; sleep 0.2\n")
      for name in names { try project.write(name + ".o", "1") }
      let watchrun = try await project.startRunning(["-r"], "make")
      try await project.rests()
      #expect(project.logged == ["made"])
      for name in names {
        let runs = watchrun.runsEnded
        try project.place(name + ".c", "2")
        try await project.rests()
        #expect(watchrun.runsEnded <= runs + 2)
      }
      #expect(project.logged.filter { $0 != "made" } == ["a.o", "b.o", "c.o"])
    }
  }

  @Test func `the first build of a command that a change restarts is awaited to its end`()
    async throws
  {
    try await withProject { project in
      let steps = String(repeating: "\tsleep 0.4\n", count: 6)
      try project.write("Makefile", "app:\n\techo begun >> \"$$LOG\"\n\(steps)\ttouch app\n")
      _ = try await project.startRunning(["-r"], "make")
      let question = try await project.start("--wait")
      try await #expect(question.ended() == .exited(0))
      #expect(project.read("app") == "")
    }
  }

  @Test func `build and command receive the same changes`() async throws {
    try await withProject { project in
      let line = #"echo "$0 $WATCHRUN_REASON ${WATCHRUN_FIRST##*/} $WATCHRUN_COUNT" >> "$LOG""#
      _ = try await project.startRunning(
        ["--build", "sh -c '\(line)' build"], "sh", "-c", line, "run")
      try await project.logged("run start  0")
      try project.place("file")
      try await project.logged("run change file 1")
      #expect(
        project.logged == [
          "build start  0", "run start  0", "build change file 1", "run change file 1",
        ])
    }
  }

  @Test func `the build's output is shown, and its failure is the exit status`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "--once", "--build", "echo compiling; exit 3", "--", "sh", "-c", #"echo run >> "$LOG""#)
      try await #expect(watchrun.ended() == .exited(3))
      #expect(watchrun.process.output.lines == ["compiling"])
      #expect(project.logged.isEmpty)
    }
  }

  @Test func `SIGINT also stops the build`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-r", "--build", #"[ -e slow ] || exit 0; echo slow >> "$LOG"; sleep 1000"#], "sh", "-c",
        #"echo run >> "$LOG"; exec sleep 1000"#)
      try project.place("slow")
      try await project.logged("slow")
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(project.commandProcesses.isEmpty)
    }
  }

  @Test func `a build without a command is refused`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("--build", "make")
      try await #expect(watchrun.ended() == .exited(64))
      #expect(watchrun.errors.count == 1)
    }
  }
}
