import Foundation
import Support
import SystemCalls
import TestSupport
import Testing

/// Questions to a running session: `--status` and `--wait`.
@Suite struct SessionQuestionTests {
  /// Asks, and returns what was printed.
  private func ask(
    _ arguments: String..., status: Int32 = 0, in project: Project, directory: String? = nil
  ) async throws -> String {
    let watchrun = try await project.start(arguments, in: directory)
    let end = try await watchrun.ended()
    let text = watchrun.process.output.text + watchrun.process.errors.text
    #expect(end == .exited(status), "\(arguments): \(text)")
    return text
  }

  /// A command that takes a while and fails if the file says so.
  private static let command = #"sleep 0.1; cat status >> "$LOG"; exit "$(cat status)""#

  @Test func `a slow test that fails is not green, though a change restarts it`() async throws {
    try await withProject { project in
      let steps = String(repeating: "sleep 0.4; ", count: 6)
      _ = try await project.startRunning(["-r"], "sh", "-c", #"echo >> "$LOG"; \#(steps)exit 3"#)
      let question = try await project.start("--wait")
      try await #expect(question.ended() == .exited(1))
    }
  }

  @Test func `a wait includes the save before it, and its status is the result`() async throws {
    try await withProject { project in
      try project.place("status", "0\n")
      let watchrun = try await project.startRunning([], "sh", "-c", Self.command)
      #expect(try await ask("--wait", in: project).hasPrefix("sh: succeeded in "))
      #expect(try await ask("--wait=0", in: project).hasPrefix("sh: succeeded in "))
      for status in ["3", "0", "4"] {
        try project.place("status", status + "\n")
        let text = try await ask("--wait", status: status == "0" ? 0 : 1, in: project)
        #expect(
          text.hasPrefix(status == "0" ? "sh: succeeded" : "sh: failed with status \(status)"))
        #expect(project.logged.last == status)
      }
      #expect(
        try await ask("--status", status: 1, in: project).hasPrefix("sh: failed with status 4"))
      kill(watchrun.process.pid, SIGINT)
      try await watchrun.ended()
      #expect(
        try await ask("--status", status: 3, in: project).contains("no session of watchrun in"))
    }
  }

  /// While a hook runs, git holds the lock of its index for `-a` and for paths, and waits for the hook.
  @Test(.enabled(if: Tool.git), arguments: ["-a", "--only"])
  func `a wait in a hook of git does not wait for the lock of that git`(
    _ option: String
  ) async throws {
    try await withProject { project in
      try project.write("status", "0\n")
      try await project.shell(
        #"""
        git init -q .; git config user.email a@b.c; git config user.name a; git add .
        git commit -qm start; echo "'\#(Watchrun.program)' --wait" > .git/hooks/pre-commit
        chmod +x .git/hooks/pre-commit
        """#)
      _ = try await project.startRunning([], "sh", "-c", Self.command)
      var statuses = ["0"]
      // A lock holds a burst open for 5 s.
      let isDelayed = try await !isFaster(than: .seconds(4)) {
        statuses.append("0" + (statuses.last ?? ""))
        try project.place("status", (statuses.last ?? "") + "\n")
        try await project.shell(
          "git commit -qm save \(option)" + (option == "-a" ? "" : " status"))
      }
      #expect(!isDelayed)
      #expect(project.logged == statuses)
    }
  }

  @Test func `a run under way is awaited for the time that is given`() async throws {
    try await withProject { project in
      _ = try await project.startRunning([], "sh", "-c", #"echo run >> "$LOG"; exec sleep 1000"#)
      #expect(try await ask("--status", status: 2, in: project).hasPrefix("sh: running for "))
      let text = try await ask("--wait=50ms", status: 124, in: project)
      #expect(text.hasSuffix("not at rest yet: the time is over\n"))
    }
  }

  @Test func `a run that has exceeded its time is said to, whatever its status`() async throws {
    try await withProject { project in
      _ = try await project.startRunning(
        ["--timeout", "300ms"], "sh", "-c",
        #"trap 'exit 0' TERM; echo run >> "$LOG"; sleep 1000 & wait"#)
      #expect(try await ask("--wait", status: 1, in: project).hasPrefix("sh: timed out after "))
      let answer = try await ask("--status", "--json", status: 1, in: project)
      #expect(answer.contains(#","timedOut":true,"#), "\(answer)")
    }
  }

  @Test func `a session is found from below, and by -C`() async throws {
    try await withProject { project in
      try project.makeDirectory("a/b")
      _ = try await project.startRunning([], "sh", "-c", #"echo run >> "$LOG""#)
      #expect(try await ask("--wait", in: project, directory: project.path("a/b")).hasPrefix("sh:"))
      #expect(
        try await ask("-C", project.root, "--wait", in: project, directory: project.outside)
          .hasPrefix("sh: succeeded"))
      _ = try await ask("--wait", status: 3, in: project, directory: project.outside)
    }
  }

  @Test func `a session that starts meanwhile is awaited for the time that is given`() async throws
  {
    try await withProject { project in
      let question = try await project.start("--wait=60s")
      _ = try await project.start("sh", "-c", #"echo run >> "$LOG""#)
      try await #expect(question.ended() == .exited(0))
      #expect(question.process.output.text.hasPrefix("sh: succeeded"))
    }
  }

  @Test(arguments: ["--wait", "--wait=0", "--wait=50ms"])
  func `without a time, and when it is over, there is no session`(question: String) async throws {
    try await withProject { project in
      let text = try await ask(question, status: 3, in: project)
      #expect(text.contains("no session of watchrun in"))
    }
  }

  @Test func `two sessions of a directory both count`() async throws {
    try await withProject { project in
      _ = try await project.startRunning([], "sh", "-c", #"echo run >> "$LOG""#)
      _ = try await project.startRunning([], "false")
      let text = try await ask("--wait", status: 1, in: project)
      #expect(text.contains("sh: succeeded in ") && text.contains("false: failed with status 1"))
      #expect(text.components(separatedBy: "session ").count == 3)
      #expect(try await ask("--wait", "sh", in: project).hasPrefix("sh: succeeded"))
    }
  }

  @Test func `a session that was killed is not found, and its socket is removed`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning([], "sh", "-c", #"echo run >> "$LOG""#)
      kill(watchrun.process.pid, SIGKILL)
      try await watchrun.ended()
      _ = try await ask("--wait", status: 3, in: project)
      let sockets = try await project.shell(#"ls "$XDG_RUNTIME_DIR/watchrun""#)
      #expect(sockets == "")
    }
  }

  @Test func `the end of the output of a task that failed is printed`() async throws {
    try await withProject { project in
      try project.write(
        "watchrun.json",
        #"{ tasks: { test: { run: "for i in 1 2 3 4; do echo line $i; done; false" },"#
          + #" late: { run: "true", after: ["test"] }, good: { run: "echo fine" } } }"#)
      _ = try await project.start(["-v"]).watching()
      let text = try await ask("--wait", "--lines", "2", status: 1, in: project)
      let lines = text.split(separator: "\n")
      #expect(lines.contains { $0.hasPrefix("test: failed with status 1 after ") })
      #expect(lines.filter { $0.hasPrefix("  ") } == ["  line 3", "  line 4"])
      #expect(lines.contains("late: skipped, since a task that it depends on failed"))
      #expect(try await ask("--wait", "good", in: project).hasPrefix("good: succeeded in "))
      let unknown = try await ask("--wait", "nosuch", status: 64, in: project)
      #expect(unknown.contains("no task 'nosuch' in this session; tasks: test, late, good"))
    }
  }

  @Test(arguments: Effort.rows([["-r"], ["-r", "--keep-alive"], nil], quick: 1))
  func `a server that is restarted is awaited until it has run for a second`(
    options: [String]?
  ) async throws {
    try await withProject { project in
      let server =
        #"cat status >> "$LOG"; read status < status; "#
        + #"[ $status = 0 ] || exit $status; exec sleep 1000"#
      try project.place("status", "0\n")
      if options == nil {
        try project.place("sh.sh", server)
        try project.write(
          "watchrun.json", #"{ tasks: { sh: { run: ". ./sh.sh", service: true } } }"#)
      }
      if let options {
        _ = try await project.startRunning(options, "sh", "-c", server)
      } else {
        _ = try await project.start(["-v"]).watching()
      }
      #expect(try await ask("--wait", in: project) == "sh: ready\n")
      for status in ["0", "7", "0"] {
        try project.place("status", status + "\n")
        let text = try await ask("--wait", status: status == "0" ? 0 : 1, in: project)
        #expect(text.hasPrefix(status == "0" ? "sh: ready\n" : "sh: failed with status 7"))
        #expect(project.logged.last == status)
      }
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `a save for which the run is delayed is run before the answer`() async throws {
    try await withProject { project in
      try project.write("src", "0\n")
      let command = #"date +%N >> src; cat src >> "$LOG"; echo end >> "$LOG"; sleep 0.5"#
      let session = try await project.start("sh", "-c", command)
      try await session.said("the next one starts in", within: patienceForLoops)
      let runs = { project.logged.count { $0 == "end" } }
      let before = runs()
      try project.write("other", "saved")
      try await eventually("the next run has read the file") { runs() > before }
      try project.write("src", "saved\n")
      #expect(try await ask("--wait", in: project).hasPrefix("sh: succeeded"))
      #expect(project.logged.contains("saved"))
    }
  }

  @Test(arguments: [[], ["--build", "true"]])
  func `a save that a run has ignored is run before the answer`(build: [String]) async throws {
    try await withProject { project in
      try project.place("status", "0\n")
      let command =
        #"read status < status; echo "read $status" >> "$LOG"; "#
        + #"until test -e go; do sleep 0.1; done; exit $status"#
      _ = try await project.startRunning(["-o", "ignore"] + build, "sh", "-c", command)
      try await eventually("the command has read the file") { project.logged == ["read 0"] }
      try project.place("status", "5\n")
      try project.write("go", "")
      let answer = try await ask("--wait", status: 1, in: project)
      #expect(answer.contains("sh: failed with status 5"))
      #expect(project.logged == ["read 0", "read 5"])
      // Nothing was dropped since: no further run.
      _ = try await ask("--wait", status: 1, in: project)
      #expect(project.logged == ["read 0", "read 5"])
    }
  }

  @Test func `what has not run yet is not green`() async throws {
    try await withProject { project in
      try project.write(
        "watchrun.json",
        #"{ tasks: { a: { run: "true", watch: "fa" }, b: { run: "true", watch: "fb" } } }"#)
      _ = try await project.start(["-v", "-p"]).watching()
      #expect(try await ask("--wait", status: 2, in: project).hasPrefix("a: has not run yet\n"))
      #expect(
        try await ask("--status", "--json", status: 2, in: project).contains(#""green":false"#))
      try project.write("fa", "")
      #expect(try await ask("--wait", in: project).contains("b: has not run yet\n"))
      #expect(try await ask("--wait", "b", status: 2, in: project) == "b: has not run yet\n")
    }
  }

  @Test func `a paused session is reported at once`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("true")
      try await session.readsKeys()
      try await session.shows("succeeded")
      try session.type("p")
      try await session.shows("paused")
      try project.place("file")
      #expect(try await ask("--wait", status: 2, in: project).contains("paused: the key p"))
    }
  }

  @Test func `answers in JSON are as the schema says`() async throws {
    try await withProject { project in
      _ = try await project.startRunning([], "sh", "-c", #"echo run >> "$LOG""#)
      let schema = try SchemaEvaluator(documented: "session.schema.json")
      let text = try await ask("--wait", "--json", in: project)
      #expect(try schema.accepts(text: text), "\(text)")
      let answer = try JSONValue(parsing: Array(text.utf8))
      #expect(answer["directory"]?.content == .string(project.root))
      #expect(answer["state"]?.content == .string("rest"))
      #expect(answer["green"]?.content == .boolean(true))
    }
  }

  @Test func `a task is run, and a service restarted, by another program`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: "echo a >> $LOG" }, b: { run: "echo b >> $LOG", after: ["a"] },"#
          + #" s: { run: "echo s >> $LOG; exec sleep 1000", service: true },"#
          + #" d: { run: "echo d >> $LOG", postpone: true }"#)
      let watchrun = try await project.start("-v")
      try await watchrun.watching()
      #expect(try await ask("--wait", in: project).contains("d: has not run yet"))
      #expect(try await ask("--send", "run", "b", in: project) == "")
      #expect(try await ask("--wait", "b", in: project).hasPrefix("b: succeeded"))
      #expect(project.logged.count { $0 == "b" } == 2 && project.logged.count { $0 == "a" } == 1)
      _ = try await ask("--send", "restart", "s", in: project)
      _ = try await ask("--wait", in: project)
      #expect(project.logged.count { $0 == "s" } == 2)
      try await watchrun.said("restart requested by another program: s")
      _ = try await ask("--send", "run", "d", in: project)
      #expect(try await ask("--wait", in: project).contains("d: succeeded"))
      _ = try await ask("--send", "stop", in: project)
      #expect(try await ask("--wait", status: 1, in: project).contains("s: stopped"))
      #expect(
        try await ask("--send", "reload", status: 64, in: project).contains("has no page"))
    }
  }

  /// Logs the messages that a page receives.
  private static let listener = #"""
    import http.client, json, os, sys
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
    connection.request("GET", "/__watchrun/events", headers={"Host": "localhost"})
    for line in connection.getresponse():
        if line.startswith(b"data: "):
            with open(os.environ["LOG"], "a") as log:
                log.write(json.loads(line[6:])["type"] + "\n")
    """#

  @Test(.enabled(if: Tool.python), arguments: ["serve: 'public'", "proxy: 1"])
  func `pages reload as often as another program asks for it`(source: String) async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      try project.place("public/style.css")
      try project.place(project.outside + "/listener.py", Self.listener)
      try project.writeTasks("p: { \(source) },")
      let watchrun = try await project.startTasks()
      let line = try await watchrun.said("at http://localhost:")
      let port = line.split(separator: ":").last.map { $0.filter(\.isNumber) } ?? ""
      _ = try project.startBeside(["python3", project.outside + "/listener.py", port])
      try await project.logged("hello")
      for _ in 0..<2 { _ = try await ask("--send", "reload", in: project) }
      try await project.logged("reload", times: 2)
      // A page that waits for a server tries again.
      let greeting = source == "proxy: 1" ? ["hello", "retry"] : ["hello"]
      #expect(project.logged == greeting + ["reload", "reload"])
    }
  }

  @Test func `changes are held for a client, until its time is over or it waits`() async throws {
    try await withProject { project in
      _ = try await project.startRunning([], "sh", "-c", Project.record)
      _ = try await ask("--send", "hold", in: project)
      try project.place("one")
      #expect(try await ask("--status", status: 2, in: project).contains("held: "))
      // This test is the client of both.
      #expect(try await ask("--wait", in: project).hasPrefix("sh: succeeded"))
      #expect(project.recordedRuns == [["one"]])
      // Another client's hold ends by itself.
      try await project.shell("'\(Watchrun.program)' --send hold=200ms; true")
      try project.place("two")
      try await project.logged("change \(project.path("two"))")
      #expect(try await ask("--wait", in: project).hasPrefix("sh: succeeded"))
    }
  }

  @Test func `a shell that is replaced by its last command releases what it held`() async throws {
    try await withProject { project in
      _ = try await project.startRunning([], "sh", "-c", Project.record)
      let program = "'\(Watchrun.program)'"
      _ = try await project.shell(
        "bash -c \"\(program) --send hold; echo text > one; \(program) --wait\"")
      #expect(project.recordedRuns == [["one"]])
    }
  }

  @Test func `a session that another program has paused is reported at once`() async throws {
    try await withProject { project in
      _ = try await project.startRunning([], "sh", "-c", Project.record)
      _ = try await ask("--send", "pause", in: project)
      try project.place("file")
      #expect(try await ask("--wait", status: 2, in: project).contains("paused: "))
      _ = try await ask("--send", "resume", in: project)
      _ = try await ask("--wait", in: project)
      #expect(project.recordedRuns == [["file"]])
    }
  }

  @Test func `the output of each task is printed`() async throws {
    try await withProject { project in
      try project.writeTasks(#"a: { run: "echo 1; echo 2" }, b: { run: "echo 3" }"#)
      _ = try await project.start(["-v"]).watching()
      _ = try await ask("--wait", in: project)
      #expect(try await ask("--logs", in: project) == "==> a <==\n1\n2\n==> b <==\n3\n")
      #expect(try await ask("--logs", "--lines", "1", "a", in: project) == "2\n")
    }
  }

  @Test func `what happens is printed until the session ends`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: "echo out; cat $OUTSIDE/status; exit 3" }, b: { run: "true" }"#)
      let watchrun = try await project.start(["-v"])
      try await watchrun.watching()
      _ = try await ask("--wait", status: 1, in: project)
      let followers = [
        try await project.start("--status", "--follow"),
        try await project.start("--status", "--follow", "--json"),
        try await project.start("--logs", "--follow", "a"),
      ]
      for follower in followers {
        try await eventually("it has its first answer") { !follower.process.output.text.isEmpty }
      }
      try project.place("file")
      try await eventually("the end of the round is printed") {
        followers[0].process.output.text.contains("round ended: failed")
      }
      try await eventually("the session is at rest") {
        followers[0].process.output.lines.last == "state: rest, red"
      }
      kill(watchrun.process.pid, SIGINT)
      try await #expect(followers[0].ended() == .exited(1))
      let lines = followers[0].process.output.lines
      #expect(lines.contains("round: change (file)") && lines.contains("a: started"))
      #expect(lines.contains { $0.hasPrefix("a: failed with status 3 after ") })
      try await #expect(followers[1].ended() == .exited(1))
      let schema = try SchemaEvaluator(documented: "session-event.schema.json")
      for line in followers[1].process.output.lines.dropFirst() {
        #expect(try schema.accepts(text: line), "\(line)")
      }
      try await #expect(followers[2].ended() == .exited(0))
      #expect(followers[2].process.output.lines.filter { $0 == "out" }.count == 2)
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `a follower that stops reading costs the session nothing`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: "head -c 12000000 /dev/zero | tr '\\0' x | fold -w 1000" }, b: { run: "true" }"#
      )
      let watchrun = try await project.start(["-v", "-p"])
      try await watchrun.watching()
      let follower = try await project.start("--logs", "--follow")
      try await eventually("it follows") { !follower.process.output.text.isEmpty }
      kill(follower.process.pid, SIGSTOP)
      _ = try await ask("--send", "run", in: project)
      #expect(try await ask("--wait", in: project).contains("a: succeeded in "))
      kill(follower.process.pid, SIGCONT)
      try await #expect(follower.ended() == .exited(0))
    }
  }

  @Test func `the directory of sockets is not watched`() async throws {
    try await withProject { project in
      let runtime = ["XDG_RUNTIME_DIR": project.root]
      try await project.shell("mkdir -m 700 watchrun")
      _ = try await project.start(["-v", "--", "sh", "-c", Project.record], environment: runtime)
        .watching()
      let sockets = Path(project.root).appending("watchrun")
      // Until it can be connected to, a socket has another name.
      try await eventually("the session can be asked") {
        try directoryNames(of: sockets).contains { !$0.description.hasPrefix("new-") }
      }
      try project.place("file")
      let question = try await project.start(["--wait"], environment: runtime)
      try await #expect(question.ended() == .exited(0))
      #expect(project.recordedRuns == [["file"]])
    }
  }

  @Test func `a follower learns of errors in the project file, and that they are gone`()
    async throws
  {
    try await withProject { project in
      let task = #"a: { run: "true", watch: ["x"] }"#
      try project.writeTasks(task)
      try await project.start(["-v"]).watching()
      _ = try await ask("--wait", in: project)
      let follower = try await project.start("--status", "--follow")
      try await eventually("it follows") { !follower.process.output.text.isEmpty }
      try project.place("watchrun.json", "{")
      try await eventually("it is red") {
        follower.process.output.lines.last == "state: rest, red"
      }
      try project.writeTasks(task)
      try await eventually("it is green") { follower.process.output.lines.last == "state: rest" }
    }
  }

  @Test func `a follower of a service in which make works is sent looks one after the other`()
    async throws
  {
    try await withProject { project in
      // The service is looked at five times a second, since it starts processes.
      try project.place("Makefile", "serve:\n\twhile :; do sleep 0.3; done\n")
      try project.writeTasks(
        "srv: { run: 'make serve', service: true, watch: ['x'] }, a: { run: 'true', watch: ['y'] }")
      let watchrun = try await project.start(["-v"])
      try await watchrun.watching()
      let follower = try await project.start(["--status", "--follow"])
      try await eventually("it follows") { !follower.process.output.text.isEmpty }
      for _ in 0..<12 { _ = try await ask("--send", "run", "a", in: project) }
      func wakeups() -> Int {
        ProcessTable.wakeups(of: watchrun.process.pid).values.reduce(0) {
          $0 + (Int($1.filter(\.isNumber)) ?? 0)
        }
      }
      let before = wakeups()
      // Not a wait for something, but the time in which little may happen.
      try await Task.sleep(for: .seconds(2))
      #expect(wakeups() - before < 120)
    }
  }

  @Test func `a session whose project file has errors is not green`() async throws {
    try await withProject { project in
      try project.writeTasks(#"a: { run: "true" }"#)
      _ = try await project.start(["-v"]).watching()
      _ = try await ask("--wait", in: project)
      try project.place("watchrun.json", "{ tasks: { a: { rum: 1 } } }")
      #expect(
        try await ask("--wait", status: 1, in: project).hasPrefix("out of date: watchrun.json"))
      try project.place("watchrun.json", #"{ tasks: { b: { run: "true" } } }"#)
      #expect(try await ask("--wait", in: project).hasPrefix("b: succeeded"))
    }
  }

  @Test func `a question about a task is judged by the project file of its moment`() async throws {
    try await withProject { project in
      let gone = #"gone: { run: "echo gone >> $LOG; until test -e go; do sleep 0.1; done" }"#
      try project.writeTasks(#"a: { run: "true" }, "# + gone)
      _ = try await project.start(["-v"]).watching()
      try await eventually("the task runs") { project.logged == ["gone"] }
      // A task that the file has just got is known.
      try project.writeTasks(#"a: { run: "true" }, red: { run: "exit 4" }, "# + gone)
      #expect(
        try await ask("--wait", "red", status: 1, in: project)
          .hasPrefix("red: failed with status 4"))
      try project.writeTasks(#"a: { run: "true" }, new: { run: "true" }, "# + gone)
      _ = try await ask("--send", "run", "new", in: project)
      #expect(try await ask("--wait", "new", in: project).hasPrefix("new: succeeded"))
      // One that it has just lost is none.
      try project.writeTasks(#"a: { run: "true" }"#)
      #expect(
        try await ask("--wait", "gone", status: 64, in: project)
          .contains("no task 'gone' in this session; tasks: a"))
    }
  }
}
