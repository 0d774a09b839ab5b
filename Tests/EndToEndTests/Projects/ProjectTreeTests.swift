import SystemCalls
import Testing

/// A project of some size: 20 packages in one another, 1,000 files, four tasks.
@Suite struct ProjectTreeTests {
  private static let tasks = """
    compile: { run: "! grep -rqs BROKEN pkg && echo compile >> $LOG", watch: ["pkg"],
               exts: ["src"] },
    unit: { run: "! grep -rqs FAILING pkg && echo unit >> $LOG", watch: ["pkg"], exts: ["check"],
            after: ["compile"] },
    docs: { run: "echo docs >> $LOG", watch: ["pkg"], exts: ["txt"] },
    bundle: { run: "echo bundle >> $LOG", after: ["unit", "docs"] },
    """

  private func makeTree(_ project: Project) async throws {
    try await project.shell(
      """
      for i in $(seq 4); do for j in $(seq 5); do
        d=pkg/p$i/sub$j/deep; mkdir -p $d/.build
        for k in $(seq 20); do echo text > $d/f$k.src; echo text > $d/f$k.txt; done
        for k in $(seq 9); do echo text > $d/t$k.check; done; echo made > $d/.build/x.src
      done; done
      """)
  }

  /// The lines logged after the first `count`, once the round has ended.
  private func runs(
    _ project: Project, _ watchrun: Watchrun, since count: Int, round: Int
  ) async throws -> [String] {
    try await eventually("round \(round) ends") {
      watchrun.errors.count { $0.hasPrefix("watchrun: ") && $0.contains(" · ") } >= round
    }
    return Array(project.logged.dropFirst(count))
  }

  @Test func `edits, failures, fixes and renames run the affected tasks in order`() async throws {
    try await withProject { project in
      try await makeTree(project)
      try project.writeTasks(Self.tasks)
      let watchrun = try await project.startTasks("-d", "100ms")
      var seen = 0
      var round = 0
      /// Does something, and expects these runs, in this order where it is given by 'after'.
      func expect(_ runs: Set<[String]>, _ change: () async throws -> Void) async throws {
        try await change()
        round += 1
        let found = try await self.runs(project, watchrun, since: seen, round: round)
        seen += found.count
        #expect(runs.contains(found), "round \(round): \(found)")
      }
      let deep = "pkg/p3/sub2/deep"
      // At the start, docs runs beside the chain of the other two.
      try await expect([
        ["compile", "unit", "docs", "bundle"], ["compile", "docs", "unit", "bundle"],
        ["docs", "compile", "unit", "bundle"],
      ]) {}
      // An edit of a source runs all dependents.
      try await expect([["compile", "unit", "bundle"]]) { try project.place(deep + "/f1.src") }
      // An edit of a test runs only its dependents.
      try await expect([["unit", "bundle"]]) { try project.place(deep + "/t1.check") }
      try await expect([["docs", "bundle"]]) { try project.place(deep + "/f1.txt") }
      // A failure logs nothing, and its dependents are skipped.
      try await expect([[]]) { try project.place(deep + "/f2.src", "BROKEN\n") }
      try await watchrun.said("watchrun: unit: skipped: compile failed")
      try await watchrun.said("watchrun: bundle: skipped: compile failed")
      // Removing the file fixes it, and runs all of them.
      try await expect([["compile", "unit", "bundle"]]) { try project.remove(deep + "/f2.src") }
      // Files of build tools start nothing; a rename does.
      try project.place(deep + "/.build/y.src")
      try await expect([["compile", "unit", "bundle"]]) {
        try project.move(deep + "/f3.src", to: "pkg/p1/renamed.src")
      }
      try await expect([["unit", "bundle"]]) {
        try project.move(deep + "/t2.check", to: "pkg/p1/renamed.check")
      }
      // Under the directory's new name, changes are reported as before.
      try project.makeDirectory("pkg/p9")
      try project.move("pkg/p4/sub1", to: "pkg/p9/moved")
      try await eventually("the directory is reported") {
        watchrun.errors.contains { $0.contains("renamed pkg/p9/moved") || $0.contains("moved/") }
      }
      try await eventually("it is quiet") {
        project.logged.last == "bundle" && watchrun.errors.last?.contains(" · ") == true
      }
      seen = project.logged.count
      round = watchrun.errors.count { $0.hasPrefix("watchrun: ") && $0.contains(" · ") }
      try await expect([["unit", "bundle"]]) { try project.place("pkg/p9/moved/deep/t3.check") }
    }
  }

  @Test func `a manifest that is broken for a while changes no tasks, and is said to be`()
    async throws
  {
    try await withProject { project in
      for name in ["a", "b"] {
        try project.makeDirectory("pkg/\(name)")
        try project.place("pkg/\(name)/package.json", #"{"name": "\#(name)"}"#)
      }
      try project.writeTasks(
        #"""
        t: { run: "echo ${PWD##*/} >> $LOG", each: "pkg/*/package.json" },
        deploy: { run: "echo deploy >> $LOG; test -e $OUTSIDE/ok", manual: true }
        """#)
      let watchrun = try await project.startTasks()
      try await project.rests()
      try await project.start("--send", "run", "deploy").ended()
      try await project.logged("deploy")
      try project.place("pkg/b/package.json", #"{"name":"#)
      try await watchrun.said("pkg/b/package.json:1: expected a value")
      let question = try await project.start("--wait")
      try await #expect(question.ended() == .exited(1))
      // Nor does a change of another one.
      try project.place("pkg/a/package.json", #"{"name": "a", "version": "1"}"#)
      try await project.rests()
      #expect(!watchrun.errors.contains { $0.contains("removed") })
      try project.place("pkg/b/package.json", #"{"name": "b"}"#)
      try await watchrun.said("pkg/b/package.json has no errors any more")
      #expect(project.logged.count { $0 == "deploy" } == 1)
      try await project.shell("touch $OUTSIDE/ok")
      try await project.start("--send", "run", "deploy").ended()
      let last = try await project.start("--wait")
      try await #expect(last.ended() == .exited(0))
    }
  }

  @Test func `an edit of the project is not lost while its variables have an error`() async throws {
    try await withProject { project in
      func write(_ text: String) throws {
        try project.writeTasks("a: { run: 'echo \(text) >> $LOG', envFile: '.env', watch: ['x'] }")
      }
      try project.place(".env", "A=1\n")
      try write("one")
      let watchrun = try await project.startTasks()
      try await project.logged("one")
      try project.place(".env", "no variable\n")
      try await watchrun.said("the variables stay as they were")
      try write("two")
      try await watchrun.said("the tasks stay as they were until .env is correct")
      try project.place(".env", "A=2\n")
      try await project.logged("two")
    }
  }

  @Test func `an error in variables stays known when only the project is saved`() async throws {
    try await withProject { project in
      try project.place(".env", "A=1\n")
      try project.writeTasks("a: { run: 'echo $A >> $LOG', envFile: '.env', watch: ['x'] }")
      let watchrun = try await project.startTasks()
      try await project.logged("1")
      try project.place(".env", "no variable\n")
      try await watchrun.said("the variables stay as they were")
      try project.write("watchrun.json", "\n", appending: true)
      let question = try await project.start("--wait")
      try await #expect(question.ended() == .exited(1))
      #expect(question.process.output.text.contains(".env:1: 'no variable'"))
      try project.place(".env", "A=1\n")
      try await watchrun.said(".env has no errors any more")
      let last = try await project.start("--wait")
      try await #expect(last.ended() == .exited(0))
      #expect(project.logged == ["1"])
    }
  }

  @Test func `variables that change while a manifest is broken are used when it is correct`()
    async throws
  {
    try await withProject { project in
      try project.makeDirectory("pkg/a")
      try project.place("pkg/a/package.json", "{}")
      try project.place(".env", "A=1\n")
      try project.writeTasks(
        "t: { run: 'echo $A >> $LOG', each: 'pkg/*/package.json', envFile: '.env' }")
      let watchrun = try await project.startTasks("-d", "300ms")
      try await project.logged("1")
      // In one batch.
      try project.write("pkg/a/package.json", "{")
      try project.write(".env", "A=2\n")
      try await watchrun.said("pkg/a/package.json:1: ")
      try project.write("pkg/a/package.json", "{}")
      try await watchrun.said("read again (for t:pkg/a)")
      try await project.logged("2")
    }
  }

  @Test func `a task for each directory runs in those that changed and in what depends on them`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(
        #"t: { run: "echo ${PWD##*/} >> $LOG", each: "pkg/*/package.json" }"#)
      func place(_ name: String, _ manifest: String) throws {
        try project.makeDirectory("pkg/\(name)")
        try project.place("pkg/\(name)/package.json", manifest)
      }
      try place("a", #"{"name": "a"}"#)
      try place("b", #"{"dependencies": {"a": "*"}}"#)
      try place("c", "{}")
      let watchrun = try await project.startTasks("--jobs", "1")
      func logged(_ lines: String...) async throws {
        try await eventually("\(lines) have run") {
          project.logged.count >= lines.count && project.logged.suffix(lines.count) == lines[...]
        }
      }
      try await watchrun.closed(" · ")
      #expect(project.logged.sorted() == ["a", "b", "c"])
      try project.place("pkg/c/x")
      try await logged("c")
      try project.place("pkg/a/x")
      try await logged("c", "a", "b")
      try place("d", #"{"dependencies": {"a": "*"}}"#)
      try await watchrun.said("new: t:pkg/d")
      try await eventually("it runs") { project.logged.last == "d" }
      _ = try await project.shell("rm -r pkg/b")
      try await watchrun.said("removed: t:pkg/b")
      try await #expect(project.start("--wait", "t").ended() == .exited(0))
      let count = project.logged.count
      try project.place("pkg/a/x", "y")
      try await eventually("what depends on it runs") {
        project.logged.dropFirst(count).contains("d")
      }
      #expect(project.logged.dropFirst(count) == ["a", "d"])
    }
  }

  @Test func `the tasks of a removed file stay when a member changes, and a colon makes no group`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(
        #"t: { run: "echo t >> $LOG", each: "pkg/*/package.json" }, "#
          + #""d:x": { run: "echo d >> $LOG", manual: true }"#)
      let manifest = #"{"scripts": {"test": "echo test >> $LOG"}}"#
      try project.makeDirectory("pkg/a")
      try project.place("pkg/a/package.json", manifest)
      try project.place("package.json", #"{"workspaces": ["pkg/*"]}"#)
      let watchrun = try await project.startTasks()
      try await project.logged("t")
      try await #expect(project.start("--send", "run", "d").ended() != .exited(0))
      try project.remove("watchrun.json")
      try await watchrun.said("watchrun.json was removed; its tasks stay as they were")
      try project.place("pkg/a/package.json", manifest + "\n")
      try await project.logged("t", times: 2)
      try await eventually("the manifest is seen") {
        watchrun.errors.count { $0.contains("its tasks stay as they were") } == 2
      }
      #expect(!project.logged.contains("d") && !project.logged.contains("test"))
    }
  }
}
