import SystemCalls
import TestSupport
import Testing

extension Project {
  /// Waits until as many lines are logged as runs are due, and expects no more for a while.
  fileprivate func rests(after runs: Int) async throws {
    try await eventually("\(runs) runs") { logged.count >= runs }
    try await Task.sleep(for: .seconds(1))
    #expect(logged.count == runs, "\(transcript)")
  }

  /// Waits until something has been logged, and nothing more for so long.
  fileprivate func rests(for time: Duration) async throws {
    for _ in 0..<20 {
      let before = logged.count
      try await Task.sleep(for: time)
      if before > 0 && logged.count == before { return }
    }
    Issue.record("it does not come to rest")
  }
}

/// Commands that write watched files: they come to rest, and no edit is lost.
@Suite struct RoundTests {
  /// The starts of a server that changes a watched file at each start, until it is seen: 7 to 9 on a machine at
  /// rest. The more its times vary, the more are needed, as when these tests run side by side; hundreds, if
  /// each change led to a restart at once. The exact numbers are tested in virtual time.
  fileprivate static let mostStarts = 60

  /// The runs until a message says that each run changes a file: 14 on a machine at rest. On a busy one the times
  /// vary at which runs change the file, as those of a person's saves do (`Suspicion`), and the
  /// message comes after a hundred. The exact numbers are tested in virtual time.
  fileprivate static let mostRuns = 140

  @Test(
    arguments: Effort.rows(
      [
        #"echo run >> "$LOG"; echo 1 > out; sleep 0.05; echo 2 > out; sleep 0.05; echo 3 > other"#,
        #"echo run >> "$LOG"; rm -rf dir; mkdir dir; echo x > dir/out; ln -sf out dir/link"#,
        #"echo run >> "$LOG"; echo x > temporary-$$; sleep 0.1; rm temporary-$$"#,
        #"echo x > out; echo run >> "$LOG""#,
      ], quick: 2))
  func `a command that leaves the same contents runs twice`(command: String) async throws {
    try await withProject { project in
      // A directory that is made while the tree is scanned is reported as a change to its parent.
      let watchrun = try await project.start("-v", "-p", "--", "sh", "-c", command)
      try await watchrun.watching()
      try project.place("first")
      // Once if what it creates and removes is not noticed in between.
      try await project.rests(for: .seconds(1.5))
      let settled = project.logged.count
      #expect(settled <= 2, "\(project.transcript)")
      try project.place("source")
      try await eventually("a run for the source") { project.logged.count > settled }
      try await project.rests(for: .seconds(1.5))
      // Once more if what it creates and removes was not noticed in the run before.
      let most = command.contains("temporary") ? 2 : 1
      #expect(project.logged.count <= settled + most, "\(project.transcript)")
      #expect(!watchrun.errors.contains { $0.contains("each run") })
    }
  }

  @Test func `a file that differs in each run is delayed when all tests are over, and says so`()
    async throws
  {
    try await withProject { project in
      let watchrun = try await project.startRunning([], #"date +%N > out; echo run >> "$LOG""#)
      try await watchrun.said(
        "each run changes out: the next one starts in 9.8 s unless something else changes; "
          + "if you do not edit it: --writes /out", within: patienceForLoops)
      let runs = project.logged.count
      #expect(runs <= Self.mostRuns)
      // An edit does not wait.
      try project.place("source")
      try await eventually("a run for the edit") { project.logged.count > runs }
      #expect(watchrun.errors.count { $0.contains("each run") } == 1)
    }
  }

  /// As build daemons do, some time after each request.
  @Test(.enabled(if: Effort.isFull))
  func `what a daemon in a session of its own writes after each run is counted`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-v"], #"setsid sh -c 'sleep 0.6; date +%N > cache' & echo run >> "$LOG""#)
      try await watchrun.said("cache: another run in ")
    }
  }

  /// What neither a run nor its children write, as of a build server or in a container: without a declaration it is
  /// delayed, with one it starts nothing.
  @Test(arguments: Effort.rows([true, false], quick: 1))
  func `what a run and a daemon outside write is counted, unless it is declared`(isDeclared: Bool)
    async throws
  {
    try await withProject { project in
      // Both write something else each time; the daemon some time after each run.
      try project.startBeside([
        "sh", "-c",
        """
        n=0
        while sleep 0.02; do
          m=$(grep -c run "$LOG" 2>/dev/null)
          if [ "$m" ] && [ "$m" -gt "$n" ]; then n=$m; sleep 0.2; date +%N > log/daemon; fi
        done
        """,
      ])
      let options = isDeclared ? ["-v", "--writes", "log/**"] : []
      let watchrun = try await project.startRunning(
        options, #"mkdir -p log; date +%N > log/x; echo run >> "$LOG""#)
      if !isDeclared {
        try await watchrun.said("each run changes log/", within: patienceForLoops)
        try await watchrun.said("if you do not edit it: --writes /log/")
        return
      }
      for save in 1...3 {
        try await project.rests(after: save)
        try project.place("source", "\(save)\n")
      }
      try await project.rests(after: 4)
      try await eventually("all is written") { project.read("log/daemon") != "" }
      try await watchrun.said(
        "log/x did not count: written by the command (--writes:1:log/**)")
      #expect(!watchrun.errors.contains { $0.contains("each run") })
    }
  }

  /// As a build does that leaves a process in a session of its own.
  @Test(.enabled(if: Effort.isFull))
  func `what is written after each run, by what the run has left behind, is delayed`()
    async throws
  {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        [], #"(setsid sh -c 'sleep 0.4; date +%N > late' &); echo run >> "$LOG"; sleep 0.2"#)
      try await watchrun.said(
        "each run changes late: the next one starts in", within: patienceForLoops)
      #expect(project.logged.count <= Self.mostRuns)
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `files with new names in each run count for their directory`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        [], #"n=$(ls | wc -l); : > tmp.$n; sleep 0.05; echo run >> "$LOG""#)
      try await watchrun.said(
        "each run changes tmp.*: the next one starts in 9.8 s", within: patienceForLoops)
      try await watchrun.said("if you do not edit it: --writes '/tmp.*'")
      #expect(project.logged.count <= Self.mostRuns)
    }
  }

  @Test func `an edit during a run of a command that rewrites its sources is seen`() async throws {
    try await withProject { project in
      try project.write("a", "x  \n")
      try project.write("b", "y\n")
      _ = try await project.startRunning(
        [], #"sed -i 's/ *$//' a; cat a >> "$LOG"; sleep 0.5"#)
      try await project.rests(after: 2)
      try project.write("b", "z\n")
      try await eventually("a run begins") { project.logged.count == 3 }
      try project.write("a", "edit  \n")
      try await project.logged("edit")
      #expect(project.read("a") == "edit\n")
    }
  }

  @Test func `saves in each of some runs are all seen`() async throws {
    try await withProject { project in
      try project.write("a", "0\n")
      _ = try await project.startRunning([], #"cat a >> "$LOG"; sleep 0.3"#)
      // The fourth follow-up in a row is the first that waits.
      for number in 1...4 {
        try project.write("a", "\(number)\n")
        try await project.logged("\(number)")
      }
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `with restart, a server that is built first comes up`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-r"],
        #"""
        echo start >> "$LOG"; echo object > a.o; sleep 0.2; rm -f app; sleep 0.05; echo app > app
        echo up >> "$LOG"; exec sleep 1000
        """#)
      try await project.rests(for: .seconds(2.5))
      try await eventually("it comes up") { project.logged.last == "up" }
      #expect(project.logged.count { $0 == "start" } <= Self.mostStarts)
      try project.place("source")
      let starts = project.logged.count { $0 == "start" }
      try await eventually("it restarts") { project.logged.count { $0 == "start" } > starts }
      #expect(!watchrun.errors.contains { $0.contains("over and over") })
    }
  }

  @Test func `five quick saves of a person all restart soon`() async throws {
    try await withProject { project in
      try project.write("a", "0")
      let watchrun = try await project.startRunning(
        ["-r"], #"echo "$(cat a)" >> "$LOG"; exec sleep 1000"#)
      // At once after each restart would be the pace of a machine.
      for (number, pause) in [350, 130, 500, 60, 280].enumerated() {
        try await Task.sleep(for: .milliseconds(pause))
        try project.place("a", "\(number)")
        try await project.logged("\(number)")
      }
      #expect(!watchrun.errors.contains { $0.contains("over and over") })
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `a server that logs on a signal is not signaled forever`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-s", "HUP"],
        #"trap 'date +%N >> log' HUP; echo up >> "$LOG"; while :; do sleep 0.1; done"#)
      try project.place("conf")
      try await watchrun.said("sent SIGHUP (log changed)")
      try await Task.sleep(for: .seconds(5))
      #expect(watchrun.errors.count { $0.contains("sent SIGHUP") } <= Self.mostStarts)
    }
  }

  @Test(arguments: Effort.rows([[], ["-r"]], quick: 1))
  func `a build that writes watched files comes to rest`(options: [String]) async throws {
    try await withProject { project in
      let command = options.isEmpty ? "true" : "exec sleep 1000"
      _ = try await project.start(
        ["-v"] + options + [
          "--build", #"echo x > out; sleep 0.2; echo y > other; echo built >> "$LOG""#, "--", "sh",
          "-c", command,
        ])
      try await project.rests(for: .seconds(1.5))
      let settled = project.logged.count
      #expect(settled <= 4)
      try project.place("source")
      try await project.rests(after: settled + 1)
    }
  }

  @Test func `with once, a command that writes its output twice runs once`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "--once", "--", "sh", "-c", #"date >> out; sleep 0.2; date >> out; echo run >> "$LOG""#)
      try await #expect(watchrun.ended() == .exited(0))
      #expect(project.logged == ["run"])
    }
  }

  @Test func `a leftover git index lock delays nothing`() async throws {
    try await withProject { project in
      try await project.shell("git init -q .; touch -d '1 minute ago' .git/index.lock")
      _ = try await project.startRunning([], #"echo run >> "$LOG""#)
      // A lock that is not left over holds a burst open for 5 s.
      let isDelayed = try await !isFaster(than: .seconds(4)) {
        let runs = project.logged.count
        try project.place("source")
        try await eventually("a run for the change") { project.logged.count == runs + 1 }
      }
      #expect(!isDelayed)
    }
  }
}

/// The same with the tasks of a project.
@Suite struct ProjectRoundTests {
  @Test func `a task that writes two files, one after the other, runs twice`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: "echo 1 > o1; sleep 0.05; echo 2 > o2; echo run >> $LOG" },"#)
      _ = try await project.startTasks()
      try await project.rests(after: 2)
    }
  }

  /// Soon and with a message if looks at the processes come in time, and after thirty runs if they do not.
  @Test(.enabled(if: Effort.isFull))
  func `the log of a service does not run a task for ever`() async throws {
    try await withProject { project in
      try project.writeTasks(
        """
        service: { run: "while sleep 0.3; do date +%N >> log; done", service: true, watch: ["*.c"] },
        test: { run: "date +%s >> $LOG" },
        other: { run: "true" },
        """)
      let watchrun = try await project.startTasks()
      try await eventually("a pause of two seconds", within: patienceForLoops) {
        let times = project.logged.compactMap { Int($0) }.suffix(2)
        return times.count == 2 && times[times.endIndex - 1] - times[times.startIndex] >= 2
      }
      let runs = project.logged.count
      #expect(runs <= 120)
      // An edit does not wait.
      try project.place("source")
      try await eventually("a run for the edit") { project.logged.count > runs }
      #expect(watchrun.errors.count { $0.contains("each run") } <= 1)
    }
  }

  @Test func `a save during a task that is restarted stops it`() async throws {
    try await withProject { project in
      try project.writeTasks(
        """
        build: {
          run: "cat source >> $LOG; until test -e go; do sleep 0.1; done", onBusy: "restart" },
        """)
      try project.place("source", "first\n")
      let watchrun = try await project.startTasks()
      try await project.logged("first")
      try project.place("source", "second\n")
      try await project.logged("second")
      try project.place("go")
      try await watchrun.said("succeeded in")
    }
  }

  @Test func `a task runs on while it becomes the only one, and one of several`() async throws {
    try await withProject { project in
      let server = #"server: { run: "echo up >> $LOG; exec sleep 1000", service: true }, "#
      func edit(_ tasks: String, adding name: String? = nil) async throws {
        try project.writeTasks(tasks)
        let question = try await project.start(["--wait"] + (name.map { [$0] } ?? []))
        try await #expect(question.ended() == .exited(0))
      }
      try project.writeTasks(server)
      _ = try await project.startTasks()
      try await project.logged("up")
      try await edit(server + #"a: { run: "echo a >> $LOG" }"#, adding: "a")
      try await edit(server)
      try await edit(server + #"b: { run: "echo b >> $LOG" }"#, adding: "b")
      #expect(project.logged == ["up", "a", "b"])
    }
  }

  /// The output of a single task goes to where watchrun writes, and that of several is read.
  @Test func `a task that becomes one of several has its output read from its next run on`()
    async throws
  {
    try await withProject { project in
      let task = #"a: { run: 'cat; echo "<$PYTHONUNBUFFERED>"', watch: "f" }, "#
      try project.writeTasks(task)
      let watchrun = try await project.startTasks()
      try await eventually("the run has ended") { watchrun.process.output.lines == ["<>"] }
      try project.writeTasks(task + #"b: { run: "true" }"#)
      try await watchrun.said("read again")
      try project.place("f")
      try await eventually("the next run has ended") {
        watchrun.process.output.lines == ["<>", "a | <1>"]
      }
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `an edit of another task leaves a delay as it is`() async throws {
    try await withProject { project in
      let loop = #"loop: { run: "date +%N > src/out; echo run >> $LOG", watch: "src" }"#
      try project.makeDirectory("src")
      try project.writeTasks(loop + #", b: { run: "true", watch: "none" }"#)
      let watchrun = try await project.startTasks()
      try await watchrun.said(
        "each run changes src/out: the next one starts in", within: patienceForLoops)
      // On a busy machine the delay of some seconds may end meanwhile, but not each time.
      var line = "true"
      let isKept = try await isOnce {
        let runs = project.logged.count
        line += "; true"
        try project.writeTasks(loop + #", b: { run: "\#(line)", watch: "none" }"#)
        let question = try await project.start(["--wait", "b"])
        try await #expect(question.ended() == .exited(0))
        return project.logged.count == runs
      }
      #expect(isKept)
      try await watchrun.said("read again")
      #expect(watchrun.errors.count { $0.contains("the next one starts in") } == 1)
    }
  }

  @Test func `a later task whose output differs each time does not start the first forever`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(
        """
        build: { run: "echo build >> $LOG" },
        test: { run: "date +%N > report.xml; sleep 0.1; date >> report.xml", after: ["build"] },
        """)
      let watchrun = try await project.startTasks()
      try await watchrun.said(
        "each run changes report.xml: the next one starts in 9.8 s unless something else "
          + "changes; to ignore it: \"ignore\": [\"/report.xml\"] in watchrun.json",
        within: patienceForLoops)
      let runs = project.logged.count
      #expect(runs <= RoundTests.mostRuns)
      try project.place("source")
      try await eventually("an edit does not wait") { project.logged.count > runs }
    }
  }

  @Test func `with once, each task runs once`() async throws {
    try await withProject { project in
      try project.writeTasks(
        """
        build: { run: "echo build >> $LOG; date +%N > out" },
        test: { run: "date > report; sleep 0.2; date >> report; echo test >> $LOG; exit 3",
                after: ["build"] },
        """)
      let watchrun = try await project.start("--once")
      try await #expect(watchrun.ended() == .exited(3))
      #expect(project.logged == ["build", "test"])
    }
  }

  @Test func `an edit does not wait for a task that has nothing to do with it`() async throws {
    try await withProject { project in
      try project.writeTasks(
        """
        slow: { run: "echo slow >> $LOG; exec sleep 1000", watch: ["nothing"] },
        quick: { run: "echo quick $(cat a) >> $LOG", watch: ["a"] },
        """, "jobs: 2")
      try project.write("a", "0")
      let watchrun = try await project.startTasks()
      for number in 1...8 {
        try await eventually("the run before has ended") {
          watchrun.errors.count { $0.contains("quick: succeeded") } == number
        }
        // Beyond the time in which the round is judged.
        try await Task.sleep(for: .milliseconds(20))
        try project.place("a", "\(number)")
        try await project.logged("quick \(number)")
      }
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `a service that logs when it starts is not restarted forever`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"server: { run: "echo up >> $LOG; date +%N > log; exec sleep 1000", service: true },"#)
      let watchrun = try await project.startTasks()
      // It is an output at once if the program is seen to have it open.
      try await eventually("it comes to rest", within: patienceForLoops) {
        watchrun.errors.contains {
          $0.contains("each run changes log: the next one starts in")
            || $0.contains("changed by the run, of which it is an output")
        }
      }
      #expect(project.logged.count <= RoundTests.mostStarts)
    }
  }

  /// The reader of the output writes when a run has ended, and nothing runs any more.
  @Test(.enabled(if: Effort.isFull))
  func `a log behind a pipe in the watched tree leads to few runs`() async throws {
    try await withProject { project in
      let count = try await project.shell(
        """
        timeout 5 '\(Watchrun.program)' -- true 2>&1 | tee said.txt >/dev/null
        grep -c running said.txt
        """)
      let runs = try #require(Int(count.filter(\.isNumber)))
      #expect((1...30).contains(runs))
    }
  }

  /// It writes the messages, which are a change, which is a message.
  @Test func `with -v, a log behind a pipe in the watched tree comes to rest during a run`()
    async throws
  {
    try await withProject { project in
      let count = try await project.shell(
        """
        timeout 4 '\(Watchrun.program)' -v -- sleep 60 2>&1 | tee said.txt >/dev/null
        grep -c 'modified said.txt' said.txt
        """)
      let lines = try #require(Int(count.filter(\.isNumber)))
      #expect((1...4).contains(lines))
    }
  }
}
