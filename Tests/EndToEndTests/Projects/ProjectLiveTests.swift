import SystemCalls
import Testing

/// The project file, changed while it is in force.
@Suite struct ProjectLiveTests {
  private static let server = """
    server: { run: ["sh", "-c", "echo server >> $LOG; exec sleep 1000"], service: true,
              watch: ["server"] },
    """

  @Test func whatHasNotChangedKeepsRunning() async throws {
    try await withProject { project in
      try project.writeTasks(Self.server + "a: { run: 'echo a >> $LOG', watch: ['a'] },")
      let watchrun = try await project.startTasks()
      try await project.logged("server")
      try await project.logged("a")
      let servers = project.commandProcesses
      try project.writeTasks(
        Self.server + "a: { run: 'echo other >> $LOG', watch: ['a'] }, "
          + "b: { run: 'echo b >> $LOG', watch: ['b'] },")
      try await watchrun.said("watchrun.json read again (new: b; changed: a)")
      try await project.logged("other")
      try await project.logged("b")
      #expect(project.logged.filter { $0 == "server" }.count == 1)
      #expect(project.commandProcesses == servers)
      // What is new is watched.
      try project.place("b")
      try await project.logged("b", times: 2)
    }
  }

  @Test func whatIsGoneIsStopped() async throws {
    try await withProject { project in
      try project.writeTasks(Self.server + "a: { run: 'echo a >> $LOG' },")
      let watchrun = try await project.startTasks()
      try await project.logged("server")
      try project.writeTasks("a: { run: 'echo a >> $LOG' },")
      try await watchrun.said("watchrun.json read again (gone: server)")
      try await eventually("the server is stopped") { project.commandProcesses.isEmpty }
    }
  }

  @Test func aBrokenFileIsToldOfAndTheLastGoodOneStays() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'echo a >> $LOG', watch: ['src'] },")
      try project.makeDirectory("src")
      let watchrun = try await project.startTasks()
      try await project.logged("a")
      try project.place("watchrun.json", "{\n  tasks: {\n    a: { rnu: 'x' },\n  },\n}\n")
      try await watchrun.said("watchrun: watchrun.json:3:10: the task 'a' has no key 'rnu'")
      try await watchrun.said("going on with watchrun.json as it was before")
      try project.place("src/file")
      try await project.logged("a", times: 2)
      try project.writeTasks("a: { run: 'echo a >> $LOG', watch: ['src'] },")
      try await watchrun.said("watchrun.json is right again")
      try project.remove("watchrun.json")
      try await watchrun.said("watchrun.json is gone: going on as before")
      try project.place("src/other")
      try await project.logged("a", times: 3)
    }
  }

  @Test func theFileItselfStartsNothing() async throws {
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

  @Test func whatIsIgnoredChangesWithTheFile() async throws {
    try await withProject { project in
      let task = #"a: { run: ["sh", "-c", "echo $(basename $WATCHRUN_FIRST .) >> $LOG"] },"#
      try project.makeDirectory("x")
      try project.writeTasks(task, "ignore: ['x']")
      let watchrun = try await project.startTasks()
      try await project.logged(".")
      try project.writeTasks(task, "ignore: ['y']")
      try await watchrun.said("watchrun.json read again")
      try await eventually("it is watched anew") {
        watchrun.errors.count { $0.contains("watching ") } == 2
      }
      try project.place("x/file")
      try await project.logged("file")
    }
  }

  @Test func aFileThatComesTakesThePlaceOfWhatWasRecognised() async throws {
    try await withProject { project in
      try project.write("Makefile", "all:\n\techo made >> $$LOG\n")
      let watchrun = try await project.startTasks()
      try await project.logged("made")
      try project.writeTasks("mine: { run: 'echo mine >> $LOG' },")
      try await watchrun.said("watchrun.json read again (new: mine; gone: build; for all: ignore)")
      try await project.logged("mine")
    }
  }
}
