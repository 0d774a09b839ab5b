import SystemCalls
import Testing

/// From the first moment on, whatever else is going on.
@Suite struct StartTests {
  /// Changes are made while the tree is scanned.
  @Test func changesMadeWhileTheTreeIsStillBeingReadAreReported() async throws {
    try await withProject { project in
      try await project.shell(
        """
        for i in $(seq 20); do for j in $(seq 10); do for k in $(seq 10); do echo $i/$j/$k; done
        done; done | xargs mkdir -p
        for i in $(seq 20); do for j in $(seq 10); do for k in $(seq 10); do echo $i/$j/$k/old; done
        done; done | xargs touch
        """)
      try await aTickPasses()
      let watchrun = try await project.start("--print", "json")
      var made: Set<String> = []
      for number in 1...20 {
        let folder = "\(number)/\(number % 10 + 1)/\(21 - number > 10 ? 1 : 21 - number)"
        try project.write(folder + "/old", "new text\n")
        try project.place(folder + "/new")
        try project.makeDirectory(folder + "/deep/er")
        try project.write(folder + "/deep/er/file")
        made.formUnion([folder + "/old", folder + "/new", folder + "/deep/er/file"])
      }
      // What the walk finds comes in no order, so there is nothing else to wait for.
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
      // What is as it was is not reported.
      let old = try project.changes(by: watchrun).map(\.path).filter { $0.hasSuffix("/old") }
      #expect(Set(old) == made.filter { $0.hasSuffix("/old") })
    }
  }

  @Test func whatWasThereBeforeIsNotReported() async throws {
    try await withProject { project in
      try project.makeDirectory("folder")
      try project.write("folder/file")
      try await aTickPasses()
      let watchrun = try await project.startPrinting()
      try await project.settle(watchrun)
      #expect(try project.changes(by: watchrun).isEmpty)
    }
  }

  /// Changes are made while the tree is scanned.
  @Test func aRunSeesTheLastOfTheChangesMadeSinceTheStart() async throws {
    try await withProject { project in
      for number in 1...300 { try project.makeDirectory("folder-\(number)") }
      try project.write("last", "0")
      _ = try await project.start(#"echo "$(cat last)" >> "$LOG""#)
      for number in 1...50 { try project.write("last", "\(number)") }
      try await eventually("a run sees the last change") { project.logged.last == "50" }
    }
  }

  @Test func theFirstRunDoesNotWaitForAChange() async throws {
    try await withProject { project in
      _ = try await project.start(Project.record)
      try await project.logged("start ")
    }
  }

  @Test func withPostponeNothingRunsBeforeTheFirstChange() async throws {
    try await withProject { project in
      let watchrun = try await project.start("-v", "--postpone", Project.record)
      try await watchrun.watching()
      try project.place("file")
      try await eventually("the change leads to a run") { !project.logged.isEmpty }
      #expect(project.logged == ["change \(project.path("file"))"])
    }
  }

  @Test func twoInOneFolderBothSeeEverything() async throws {
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

  @Test func aFolderWatchedShallowlyIsWatchedWithoutItsSubfolders() async throws {
    try await withProject { project in
      try project.makeDirectory("sub")
      let watchrun = try await project.startPrinting("-W", ".")
      try project.place("sub/file")
      try await project.settle(watchrun)
      #expect(!(try project.changes(by: watchrun).contains { $0.path == "sub/file" }))
    }
  }

  @Test func overlappingPathsToWatchReportAChangeOnce() async throws {
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
  @Test func linksInTheTreeAreNotFollowed() async throws {
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

  /// Until a change made now is told from one made before by the files' times.
  private func aTickPasses() async throws {
    let wanted = FileTime(nanoseconds: FileTime.latest().nanoseconds + 20_000_000)
    try await eventually("the clock ticks") { FileTime.now() > wanted }
  }
}
