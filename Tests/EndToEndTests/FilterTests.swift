import SystemCalls
import Testing

/// The options that select which changes count.
@Suite struct FilterTests {
  @Test(arguments: [["-e", "swift", "--exts=md"]])
  func `only files with a listed extension count`(_ options: [String]) async throws {
    try await withProject { project in
      let watchrun = try await project.start(["--print", "json"] + options)
      try await watchrun.ready()
      for name in ["a.swift", "a.md", "a.txt", "swift", "a.swift.bak"] { try project.place(name) }
      try await project.settle(watchrun, suffix: ".swift")
      #expect(Set(try project.changes(by: watchrun).map(\.path)) == ["a.swift", "a.md"])
    }
  }

  @Test func `only paths that match a filter count`() async throws {
    try await withProject { project in
      try project.makeDirectory("c1/x")
      try project.makeDirectory("c2")
      let watchrun = try await project.startPrinting("-f", "c1/**", "-f", "*.end")
      try project.place("c2/file")
      try project.place("c1/x/file")
      try project.place("file")
      try await project.settle(watchrun, suffix: ".end")
      #expect(try project.changes(by: watchrun).map(\.path) == ["c1/x/file"])
    }
  }

  @Test func `ignored paths do not count`() async throws {
    try await withProject { project in
      try project.makeDirectory("out/deep")
      try project.makeDirectory("sub")
      let watchrun = try await project.startPrinting("-i", "out/", "--ignore=*.log", "-i/top")
      for name in ["out/file", "out/deep/file", "a.log", "sub/b.log", "top", "sub/top"] {
        try project.place(name)
      }
      try await project.settle(watchrun)
      #expect(try project.changes(by: watchrun).map(\.path) == ["sub/top"])
    }
  }

  @Test func `an ignored directory has no watch`() async throws {
    try await withProject { project in
      try await project.shell(
        "mkdir -p .git/objects .git/info Sources; for i in $(seq 100); do mkdir -p node_modules/$i/lib; done"
      )
      let watchrun = try await project.startPrinting()
      // That of the exclude file of the repository is the third.
      #expect(ProcessTable.watchCount(of: watchrun.process.pid) == 3)
      try await project.shell("mkdir -p .build/debug node_modules/new/lib; touch .build/debug/x")
      try await project.settle(watchrun)
      #expect(ProcessTable.watchCount(of: watchrun.process.pid) == 3)
      #expect(try project.changes(by: watchrun).isEmpty)
    }
  }

  @Test func `only listed events count`() async throws {
    try await withProject { project in
      try project.write("written")
      try project.write("removed")
      let watchrun = try await project.startPrinting("--events", "create,remove")
      try project.write("written", "more\n", appending: true)
      try await project.shell("chmod 600 written")
      try project.remove("removed")
      try await project.settle(watchrun)
      let changes = try project.changes(by: watchrun)
      #expect(changes == [Batch.Change(path: "removed", kind: "removed", type: "unknown")])
    }
  }
}
