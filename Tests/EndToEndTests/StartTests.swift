import SystemCalls
import Testing

/// Changes from the start on.
@Suite struct StartTests {
  /// Changes are made while the tree is scanned.
  @Test func `changes during the initial scan are reported`() async throws {
    try await withProject { project in
      try await project.shell(
        """
        for i in $(seq 20); do for j in $(seq 5); do for k in $(seq 5); do echo $i/$j/$k; done
        done; done | tee $OUTSIDE/list | xargs mkdir -p
        sed 's|$|/old|' $OUTSIDE/list | xargs touch
        """)
      try await aTickPasses()
      let watchrun = try await project.start("--print", "json")
      var made: Set<String> = []
      for number in 1...20 {
        let directory = "\(number)/\(number % 5 + 1)/\(5 - number / 5)"
        try project.write(directory + "/old", "new text\n")
        try project.place(directory + "/new")
        try project.makeDirectory(directory + "/deep/er")
        try project.write(directory + "/deep/er/file")
        made.formUnion([directory + "/old", directory + "/new", directory + "/deep/er/file"])
      }
      // The scan reports in no order, so each change is awaited.
      var missing = made
      do {
        try await eventually("all that was made is reported") {
          missing = made.subtracting(try project.changes(by: watchrun).map(\.path))
          return missing.isEmpty
        }
      } catch {
        Issue.record(error, "not reported: \(missing)")
        return
      }
      // Unchanged files are not reported.
      let old = try project.changes(by: watchrun).map(\.path).filter { $0.hasSuffix("/old") }
      #expect(Set(old) == made.filter { $0.hasSuffix("/old") })
    }
  }

  @Test func `existing files are not reported`() async throws {
    try await withProject { project in
      try project.makeDirectory("directory")
      try project.write("directory/file")
      try await aTickPasses()
      let watchrun = try await project.startPrinting()
      try await project.settle(watchrun)
      #expect(try project.changes(by: watchrun).isEmpty)
    }
  }

  /// Changes are made while the tree is scanned.
  @Test func `a run sees the last change since the start`() async throws {
    try await withProject { project in
      for number in 1...300 { try project.makeDirectory("directory-\(number)") }
      try project.write("last", "0")
      _ = try await project.start(#"echo "$(cat last)" >> "$LOG""#)
      for number in 1...50 { try project.write("last", "\(number)") }
      try await eventually("a run sees the last change") { project.logged.last == "50" }
    }
  }

  @Test func `the first run does not wait for a change`() async throws {
    try await withProject { project in
      _ = try await project.start(Project.record)
      try await project.logged("start ")
    }
  }

  @Test func `with --postpone nothing runs before the first change`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("-v", "--postpone", Project.record)
      try await watchrun.watching()
      try project.place("file")
      try await eventually("the change leads to a run") { !project.logged.isEmpty }
      #expect(project.logged == ["change \(project.path("file"))"])
    }
  }

  @Test func `two watchers of one directory both report everything`() async throws {
    try await withProject { project in
      let watchruns = [
        try await project.startPrinting(), try await project.startPrinting(),
      ]
      for number in 1...20 { try project.place("file-\(number)") }
      for watchrun in watchruns {
        for number in 1...20 {
          try await project.reported("file-\(number)", "created", by: watchrun)
        }
      }
    }
  }

  @Test func `-W watches a directory without its subdirectories`() async throws {
    try await withProject { project in
      try project.makeDirectory("sub")
      let watchrun = try await project.startPrinting("-W", ".")
      try project.place("sub/file")
      try await project.settle(watchrun)
      #expect(!(try project.changes(by: watchrun).contains { $0.path == "sub/file" }))
    }
  }

  @Test func `overlapping watched paths report a change once`() async throws {
    try await withProject { project in
      try project.makeDirectory("sub/deep")
      let watchrun = try await project.startPrinting("-w", ".", "-w", "sub", "-w", "./sub/deep")
      try project.place("sub/deep/file")
      try await project.settle(watchrun)
      let count = try project.changes(by: watchrun).count { $0.path == "sub/deep/file" }
      #expect(count == 1)
    }
  }

  /// Symbolic links form cycles, and lead out of the tree.
  @Test func `symbolic links in the tree are not followed`() async throws {
    try await withProject { project in
      try project.makeDirectory("sub/deep")
      try project.makeLink("sub/up", to: "..")
      try project.makeLink("everything", to: "/")
      let watchrun = try await project.startPrinting()
      #expect(ProcessTable.watchCount(of: watchrun.process.pid) == 3)
      try project.place("sub/deep/file")
      try await project.settle(watchrun)
      let changes = try project.changes(by: watchrun)
      #expect(changes.map(\.path).filter { $0.hasSuffix("file") } == ["sub/deep/file"])
    }
  }

  /// Waits until the times of files distinguish a change made now from an earlier one.
  private func aTickPasses() async throws {
    let wanted = FileTime(nanoseconds: FileTime.latest().nanoseconds + 20_000_000)
    try await eventually("the clock ticks") { FileTime.now() > wanted }
  }
}
