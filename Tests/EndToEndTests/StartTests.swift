import SystemCalls
import Testing

/// Changes from the start on.
@Suite struct StartTests {
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

  @Test func `with --postpone nothing runs before the first change`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("-v", "--postpone", Project.record)
      try await watchrun.watching()
      try project.place("file")
      try await eventually("the change leads to a run") { !project.logged.isEmpty }
      #expect(project.logged == ["change \(project.path("file"))"])
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
}
