import SystemCalls
import Testing

/// Why a change did not count, as it happens.
@Suite struct IgnoredChangeTests {
  @Test(
    arguments: [
      (
        ["-i", "*.md"],
        [
          ("a.md", "--ignore:1:*.md"), ("a.log", ".gitignore:2:*.log"), ("a.c~", "built-in:"),
        ]
      ),
      (["-f", "*.c"], [("a.md", "--filter:0:*")]),
      (["--events", "remove"], [("a.c", "--events leaves out created")]),
      (["--poll=20ms", "-e", "c"], [("a.md", "--exts:0:*")]),
    ] as [([String], [(String, String)])])
  func `verbosely, the rule is named`(_ options: [String], _ rules: [(String, String)])
    async throws
  {
    try await withProject { project in
      try project.makeDirectory(".git")
      try project.write(".gitignore", "x\n*.log\n")
      let watchrun = try await project.start(["-v"] + options + ["--", "true"])
      try await watchrun.watching()
      for (name, rule) in rules {
        try project.place(name)
        try await watchrun.said("watchrun: \(name) did not count: \(rule)")
      }
    }
  }

  @Test func `verbosely, the policy is named`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-o", "ignore"], #"echo run >> "$LOG"; exec sleep 1000"#)
      try project.place("file")
      try await watchrun.said("file did not count: --on-busy ignore: a run is under way")
    }
  }

  @Test func `in a project, the reason why a change starts no task is named`() async throws {
    try await withProject { project in
      for name in ["src", "doc"] { try project.makeDirectory(name) }
      try project.writeTasks(
        #"a: { run: "true", exts: ["c"], watch: ["src"] },"#
          + #"b: { run: "true", watch: ["src/x"], events: ["remove"] }, web: { serve: "doc" },"#)
      let watchrun = try await project.startTasks()
      try project.place("doc/shown.md")
      try project.place("src/a.md")
      try await watchrun.said("src/a.md did not count: watchrun.json:2:*")
      try project.place("src/x")
      try await watchrun.said("src/x did not count: \"events\" of b leaves out created")
      #expect(!watchrun.errors.contains { $0.contains("shown.md did not count") })
    }
  }

  @Test func `the line of a rule is that of the file as it is now`() async throws {
    try await withProject { project in
      let rule = "ignore: ['*.md'], tasks: { a: { run: 'true' } } }\n"
      try project.place("watchrun.json", "{\n" + rule)
      let watchrun = try await project.startTasks()
      try project.place("a.md")
      try await watchrun.said("a.md did not count: watchrun.json:2:*.md")
      try project.place("watchrun.json", "{\n\n\n" + rule)
      try await watchrun.said("watchrun: modified watchrun.json")
      try project.place("b.md")
      try await watchrun.said("b.md did not count: watchrun.json:4:*.md")
    }
  }

  @Test func `a key lists what did not count`() async throws {
    try await withProject { project in
      let session = try await project.startOnTerminal("-e", "c", "true")
      try await session.readsKeys()
      try await session.shows("succeeded")
      try project.place("a.md")
      try project.place("b.c")
      try await session.shows("succeeded", times: 2)
      try session.type("e")
      try await session.shows("changes that did not count:")
      try await session.shows("  a.md: --exts:0:*")
      #expect(!session.terminal.output.text.contains("a.md did not count"))
    }
  }

  @Test func `output that goes to a watched file does not lead to more of it`() async throws {
    try await withProject { project in
      _ = try await project.start(
        ["-v", "true"], prefix: ["sh", "-c", #"exec "$0" "$@" 2>messages"#])
      try await eventually("all is watched") { project.read("messages").contains("watching ") }
      try project.place("mark")
      try await eventually("the mark is seen") { project.read("messages").contains("created mark") }
      #expect(!project.read("messages").contains("messages did not count"))
    }
  }
}
