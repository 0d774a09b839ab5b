import SystemCalls
import TestSupport
import Testing

/// Changes of the project file while watchrun runs.
struct ProjectLiveTests {
  private static let server = """
    server: { run: ["sh", "-c", "echo server >> $LOG; exec sleep 1000"], service: true,
              watch: ["server"] },
    """

  @Test func `an unchanged task keeps running`() async throws {
    try await withProject { project in
      try project.writeTasks(Self.server + "a: { run: 'echo a >> $LOG', watch: ['a'] },")
      let watchrun = try await project.startTasks()
      try await project.logged("server")
      try await project.logged("a")
      // A process that has logged may still be there.
      try await project.rests()
      let servers = project.commandProcesses
      try project.writeTasks(
        Self.server + "a: { run: 'echo other >> $LOG', watch: ['a'] }, "
          + "b: { run: 'echo b >> $LOG', watch: ['b'] },")
      try await watchrun.said("watchrun.json read again (new: b; changed: a)")
      try await project.logged("other")
      try await project.logged("b")
      try await project.rests()
      #expect(project.logged.filter { $0 == "server" }.count == 1)
      #expect(project.commandProcesses == servers)
      // The new task's path is watched.
      try project.place("b")
      try await project.logged("b", times: 2)
    }
  }

  @Test(.enabled(if: Tool.python))
  func `a page that changes still shows which task has failed`() async throws {
    try await withProject { project in
      let port = try freePort()
      let page = "p: { serve: '.', port: \(port), after: ['a']"
      try project.writeTasks("a: { run: 'exit 3', watch: ['a'] }, \(page) },")
      let watchrun = try await project.startTasks()
      try await watchrun.said("failed with status 3")
      try project.writeTasks(
        "a: { run: 'exit 3', watch: ['a'] }, \(page), headers: { 'X-A': 'b' } },")
      try await watchrun.said("watchrun.json read again")
      try project.startBeside([
        "python3", "-c",
        """
        import http.client, os, sys
        connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
        connection.request("GET", "/__watchrun/events", headers={"Host": "localhost"})
        for line in connection.getresponse():
            if b"failure" in line:
                open(os.environ["LOG"], "a").write("failure\\n")
                break
        """, "\(port)",
      ])
      try await project.logged("failure")
    }
  }

  @Test func `a removed task is stopped`() async throws {
    try await withProject { project in
      try project.writeTasks(Self.server + "a: { run: 'echo a >> $LOG' },")
      let watchrun = try await project.startTasks()
      try await project.logged("server")
      try project.writeTasks("a: { run: 'echo a >> $LOG' },")
      try await watchrun.said("watchrun.json read again (removed: server)")
      try await eventually("the server is stopped") { project.commandProcesses.isEmpty }
    }
  }

  @Test func `an invalid file is reported and the last valid one stays in force`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'echo a >> $LOG', watch: ['src'] },")
      try project.makeDirectory("src")
      let watchrun = try await project.startTasks()
      try await project.logged("a")
      try project.place("watchrun.json", "{\n  tasks: {\n    a: { rnu: 'x' },\n  },\n}\n")
      try await watchrun.said("watchrun: watchrun.json:3:10: the task 'a' has no key 'rnu'")
      try await watchrun.said("the tasks stay as they were until watchrun.json is correct")
      try project.place("src/file")
      try await project.logged("a", times: 2)
      try project.writeTasks("a: { run: 'echo a >> $LOG', watch: ['src'] },")
      try await watchrun.said("watchrun.json has no errors any more")
      try project.remove("watchrun.json")
      try await watchrun.said("watchrun.json was removed; its tasks stay as they were")
      try project.place("src/other")
      try await project.logged("a", times: 3)
    }
  }

  @Test func `a change of the file starts no unchanged task`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'echo a >> $LOG' },")
      let watchrun = try await project.startTasks()
      try await project.logged("a")
      try project.writeTasks("a: { run: 'echo a >> $LOG' },\n// No more than a comment.")
      try project.write("watchrun.json", " ", appending: true)
      try await watchrun.said("watchrun: modified watchrun.json")
      try project.place("file")
      try await project.logged("a", times: 2)
      #expect(project.logged == ["a", "a"])
    }
  }

  @Test func `the ignored paths change with the file`() async throws {
    try await withProject { project in
      let task = #"a: { run: ["sh", "-c", "echo $(basename $WATCHRUN_FIRST .) >> $LOG"] },"#
      try project.makeDirectory("x")
      try project.writeTasks(task, "ignore: ['x']")
      let watchrun = try await project.startTasks()
      try await project.logged(".")
      try project.writeTasks(task, "ignore: ['y']")
      try await watchrun.said("watchrun.json read again")
      try await eventually("the tree is watched again") {
        watchrun.errors.count { $0.contains("watching ") } == 2
      }
      try project.place("x/file")
      try await project.logged("file")
    }
  }

  @Test func `a new file replaces the detected project`() async throws {
    try await withProject { project in
      try project.write("Makefile", "all:\n\techo made >> $$LOG\n")
      let watchrun = try await project.startTasks()
      try await project.logged("made")
      try project.writeTasks("mine: { run: 'echo mine >> $LOG' },")
      try await watchrun.said(
        "watchrun.json read again (new: mine; removed: build; for all tasks: ignore)")
      try await project.logged("mine")
    }
  }

  @Test func `a detected project is detected again when its file changes`() async throws {
    try await withProject { project in
      try project.write("Makefile", "all:\n\techo made >> $$LOG\n")
      let watchrun = try await project.startTasks()
      try await project.logged("made")
      // It is a source as well.
      try project.place("Makefile", "all:\n\techo again >> $$LOG\n")
      try await project.logged("again")
      try project.place(
        "Makefile", "all:\n\techo bad >> $$LOG\n\ntest:\n\techo t >> $$LOG; : ; ssh\n")
      try await project.logged("bad")
      // Nothing that others see is run.
      try project.place(
        "Makefile", "all: deploy\n\techo no >> $$LOG\ndeploy:\n\techo no >> $$LOG\n")
      try await watchrun.said("the tasks are not detected any more, so they are not run")
      try await watchrun.said("Makefile read again (removed: build)")
      try project.place("x.c")
      try await watchrun.said("created x.c")
      try project.place("Makefile", "all:\n\techo new >> $$LOG\n")
      try await watchrun.said("Makefile read again (new: build)")
      try await project.logged("new")
      #expect(!project.logged.contains("no") && !project.logged.contains("t"))
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `a target that adds and removes another one is made again more and more rarely`()
    async throws
  {
    try await withProject { project in
      let recipe =
        "if grep -q ^test: Makefile; then sed -i '/^test:/,$$ d' Makefile; "
        + "else printf 'test:\\n\\ttrue\\n' >> Makefile; fi"
      try project.write("Makefile", "all:\n\techo made >> $$LOG; \(recipe)\n\n")
      let watchrun = try await project.startTasks()
      try await watchrun.said("Makefile: another run in 9.8 s", within: patienceForLoops)
      #expect(project.logged.count < 40)
    }
  }

  @Test func `the file that was removed is named`() async throws {
    try await withProject { project in
      try project.place("watchrun.json5", "{ tasks: { a: { run: 'echo a >> $LOG' } } }")
      let watchrun = try await project.startTasks()
      try await project.logged("a")
      try project.remove("watchrun.json5")
      try await watchrun.said("watchrun.json5 was removed; its tasks stay as they were")
    }
  }

  @Test func `defaults for options change with the file`() async throws {
    try await withProject { project in
      let task = "a: { run: 'echo a >> $LOG' },"
      try project.writeTasks(task, "debounce: '50ms'")
      let watchrun = try await project.startTasks()
      try await project.logged("a")
      try project.writeTasks(task, "skipUnchanged: true")
      try await watchrun.said("watchrun.json read again (for all tasks: debounce, skipUnchanged)")
      try await eventually("the tree is watched again") {
        watchrun.errors.count { $0.contains("watching ") } == 2
      }
      try project.place("file", "1")
      try await project.logged("a", times: 2)
      try project.write("file", "1")
      try project.place("other", "2")
      try await project.logged("a", times: 3)
    }
  }

  @Test func `a file of one's own is merged over the project, and read again`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'echo a$X >> $LOG', watch: ['src'], ignore: ['x'] },")
      try project.makeDirectory("src")
      let watchrun = try await project.startTasks()
      try await project.logged("a")
      try project.place(
        "watchrun.local.json", "{ tasks: { a: { env: { X: '1' },\n ignore: ['y'] } } }")
      try await watchrun.said("watchrun.local.json read again (changed: a)")
      try await project.logged("a1")
      try project.place("watchrun.local.json", "{ tasks: { a: { evn: {} } } }")
      try await watchrun.said("watchrun.local.json:1:17: the task 'a' has no key 'evn'")
      try await watchrun.said("the tasks stay as they were until watchrun.local.json is correct")
      let check = try await project.start(["--check"])
      try await #expect(check.ended() == .exited(64))
      try project.place(
        "watchrun.local.json", "{ tasks: { a: { env: { X: '1' },\n ignore: ['y'] } } }")
      try await watchrun.said("watchrun.local.json has no errors any more")
      let explained = try await project.start(["--explain", "src/y"])
      try await explained.ended()
      #expect(explained.process.output.lines.first?.hasPrefix("watchrun.local.json:2:y\t") == true)
      try project.remove("watchrun.local.json")
      try await project.logged("a", times: 2)
    }
  }
}
