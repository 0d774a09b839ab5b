import SystemCalls
import TestSupport
import Testing

/// Ignore files and `--explain`.
@Suite struct IgnoreTests {
  @Test func `--explain prints the rule that decides for each path`() async throws {
    try await withProject { project in
      try project.makeDirectory(".git")
      try project.write(".gitignore", "# objects\n*.o\n!keep.o\n")
      let watchrun = try await project.start([
        "-i", "*.tmp", "-e", "c,o", "--explain", "--", "a.c", "a.o", "keep.o", "a.tmp", "a.txt",
        "node_modules/x",
      ])
      #expect(try await watchrun.ended() == .exited(0))
      #expect(
        watchrun.process.output.lines == [
          "--exts:1:!*.c\ta.c", ".gitignore:2:*.o\ta.o", ".gitignore:3:!keep.o\tkeep.o",
          "--ignore:1:*.tmp\ta.tmp", "--exts:0:*\ta.txt",
          "built-in:12:node_modules/\tnode_modules/x",
        ])
    }
  }

  @Test func `--explain says that a directory below a shallow one is not watched`() async throws {
    try await withProject { project in
      try project.makeDirectory("src/a")
      for name in ["src/a/b.c", "src/a.c"] { try project.write(name) }
      let watchrun = try await project.start(["-W", "src", "--explain", "src/a.c", "src/a/b.c"])
      try await #expect(watchrun.ended() == .exited(0))
      try await watchrun.said("src/a/b.c is not watched")
      #expect(!watchrun.errors.contains { $0.contains("src/a.c is not watched") })
    }
  }

  @Test func `--explain names the rules of the project, and their lines`() async throws {
    try await withProject { project in
      try project.place(
        "watchrun.json",
        "{\n  ignore: ['*.{md,txt}',\n    '/app'],\n  tasks: { a: { run: 'true' } },\n}\n")
      let watchrun = try await project.start([
        "-i", "*.tmp", "--explain", "a.txt", "app", "b.tmp", "a.c",
      ])
      try await #expect(watchrun.ended() == .exited(0))
      #expect(
        watchrun.process.output.lines == [
          "watchrun.json:2:*.txt\ta.txt", "watchrun.json:3:/app\tapp", "--ignore:1:*.tmp\tb.tmp",
          "::\ta.c",
        ])
      try project.remove("watchrun.json")
      try project.place("Makefile", "app: a.c\n\tcc a.c\n")
      let detected = try await project.start(["--explain", "app"])
      try await #expect(detected.ended() == .exited(0))
      #expect(detected.process.output.lines.first?.hasPrefix("detected:") == true)
      try project.place("watchrun.json", "{ tasks: { a: { rum: 1 } } }")
      let broken = try await project.start(["--explain", "app", "../b"])
      try await #expect(broken.ended() == .exited(0))
      #expect(broken.process.output.lines == ["::\tapp", "::\t../b"])
      #expect(broken.errors.first?.contains("watchrun.json:1:") == true)
      #expect(!broken.errors.contains { $0.contains("no task watches it") }, "that is not known")
    }
  }

  @Test func `--explain names the rules of tasks, and for which tasks a path counts`() async throws
  {
    try await withProject { project in
      try project.makeDirectory("src")
      for name in ["src/a.css", "src/a.c", "a.txt"] { try project.write(name) }
      try project.place(
        "watchrun.json",
        """
        { tasks: {
            css: { run: "true", exts: "less,css", watch: ["src"] },
            test: { run: "true", ignore: ["*.css"],
              filter: ["src/**"] },
            web: { serve: "src", after: ["css"] },
        } }
        """)
      let watchrun = try await project.start([
        "--explain", "src/a.css", "src/a.c", "a.txt", "../b",
      ])
      try await #expect(watchrun.ended() == .exited(0))
      #expect(
        watchrun.process.output.lines == [
          "watchrun.json:2:!*.css\tsrc/a.css", "watchrun.json:4:!src/**\tsrc/a.c",
          "watchrun.json:4:*\ta.txt", "::\t../b",
        ])
      #expect(
        watchrun.errors == [
          "watchrun: src/a.css counts for css (watchrun.json:2:!*.css), web; "
            + "not for test (watchrun.json:3:*.css)",
          "watchrun: src/a.c counts for test (watchrun.json:4:!src/**), web; "
            + "not for css (watchrun.json:2:*)",
          "watchrun: ../b is not watched: no task watches it; to watch it, "
            + "add it to 'watch' of a task",
          "watchrun: ../b does not exist; the answer is for such a file",
        ])
    }
  }

  @Test func `--explain says that a path outside of the watched directories is not watched`()
    async throws
  {
    try await withProject { project in
      try project.makeDirectory("src")
      for name in ["src/a.c", "b.c"] { try project.write(name) }
      let watchrun = try await project.start(["-w", "src", "--explain", "src/a.c", "b.c", "src/no"])
      #expect(try await watchrun.ended() == .exited(0))
      #expect(watchrun.process.output.lines == ["::\tsrc/a.c", "::\tb.c", "::\tsrc/no"])
      // Its messages may be read later than its end.
      try await watchrun.said("src/no does not exist")
      #expect(
        watchrun.errors == [
          "watchrun: b.c is not watched: it is outside of the watched directories; "
            + "to watch it: -w b.c",
          "watchrun: src/no does not exist; the answer is for such a file",
        ])
    }
  }

  /// More than one batch would run a command more than once.
  @Test(
    arguments: Effort.rows(
      [["-w", ".", "-w", "sub"], ["-w", "."], ["-w", "sub", "-w", "."]], quick: 1))
  func `an edit of an ignore file is reported in one batch`(_ roots: [String]) async throws {
    try await withProject { project in
      try project.makeDirectory("sub/deep")
      try project.write(".gitignore", "*.o\n")
      try project.write("sub/.gitignore", "*.o\n")
      let watchrun = try await project.start(["--print", "json"] + roots)
      try await watchrun.ready()
      for edit in 1...6 {
        let name = edit % 2 == 0 ? "sub/.gitignore" : ".gitignore"
        try project.place(name, "*.o\n/\(edit)\n")
        try await project.settle(watchrun)
      }
      let changes = try project.changes(by: watchrun)
      for name in [".gitignore", "sub/.gitignore"] {
        #expect(changes.count { $0.path == name && $0.kind == "modified" } == 3)
      }
    }
  }

  @Test(arguments: [
    ["--no-vcs-ignore"], ["--ignore-nothing"], ["-i", "!*.log"],
  ])
  func `files ignored by git count if an option says so`(_ options: [String]) async throws {
    try await withProject { project in
      try project.write(".gitignore", "*.log\n")
      let watchrun = try await project.start(["--print", "json"] + options)
      try await watchrun.ready()
      try project.place("a.log")
      try await project.reported("a.log", "created", by: watchrun)
    }
  }

  @Test func `a burst is held open while git holds its index lock`() async throws {
    try await withProject { project in
      try project.makeDirectory(".git")
      let watchrun = try await project.startPrinting()
      // Only a lock younger than five seconds holds a burst open. Git fills it when it is done.
      try project.write(".git/index.lock", "")
      for number in 1...5 {
        try project.place("file-\(number)")
        try await Task.sleep(for: .milliseconds(40))
      }
      try project.remove(".git/index.lock")
      try await project.reported("file-5", by: watchrun)
      #expect(try watchrun.batches().count == 1)
    }
  }
}
