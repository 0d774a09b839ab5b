import SystemCalls
import TestSupport
import Testing

/// `--doctor`, which answers why watchrun is slow, deaf or hungry here.
@Suite struct DoctorTests {
  private func report(_ project: Project, _ arguments: String...) async throws -> [String] {
    let watchrun = try await project.start(["--doctor"] + arguments)
    try await #expect(watchrun.ended() == .exited(0))
    #expect(watchrun.errors.isEmpty)
    return watchrun.process.output.lines
  }

  @Test func `it reports what a command line would watch, and runs nothing`() async throws {
    try await withProject { project in
      try project.makeDirectory("src/deep")
      try project.makeDirectory("node_modules/x")
      for name in ["src/a.c", "src/deep/b.c", "README.md"] { try project.write(name) }
      let lines = try await report(project, "-e", "c", "--", "sh", "-c", #"echo run >> "$LOG""#)
      #expect(lines.contains { $0.hasPrefix("  .: 3 directories, 3 files (1 ignored); on ") })
      #expect(lines.contains { $0.hasPrefix("  1 ignored directory is not entered; scanned in ") })
      #expect(lines.contains { $0.hasSuffix("  /src/") })
      #expect(lines.contains { $0.hasPrefix("  watches: 3 needed, ") })
      #expect(lines.suffix(2) == ["Problems", "  none found"])
      #expect(project.logged.isEmpty)
    }
  }

  @Test func `an unreadable root is a problem, and the others are reported`() async throws {
    try await withProject { project in
      try project.makeDirectory("src")
      let lines = try await report(project, "-w", "nosuch", "-w", "src")
      #expect(lines.contains { $0.hasPrefix("  src: 1 directory, 0 files; on ") })
      #expect(lines.contains("  nosuch: cannot be watched"))
      #expect(lines.last?.hasPrefix("  cannot watch nosuch: No such file or directory;") == true)
    }
  }

  /// How to start a program as a user for whom the modes of files count; `nil` if that is impossible.
  private static let asNobody: [String]? = {
    if geteuid() != 0 { return [] }
    let prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    return Tool.succeeds(prefix + [Watchrun.program, "--version"]) ? prefix : nil
  }()

  @Test(.enabled(if: asNobody != nil))
  func `a directory that must not be read is a problem, and the others are reported`() async throws
  {
    try await withProject { project in
      for name in ["open", "closed"] { try project.makeDirectory(name) }
      try await project.shell("chmod 711 closed")
      let watchrun = try await project.start(
        ["--doctor", "-w", "closed", "-w", "open"], prefix: Self.asNobody ?? [])
      try await #expect(watchrun.ended() == .exited(0))
      let lines = watchrun.process.output.lines
      #expect(lines.contains { $0.hasPrefix("  open: 1 directory, 0 files; on ") })
      #expect(lines.contains("  closed: cannot be read"))
      let closed = project.path("closed")
      #expect(
        lines.last
          == "  cannot read \(closed): Permission denied; changes in it are not reported")
    }
  }

  @Test func `it counts the watches of another process, and as JSON follows its schema`()
    async throws
  {
    let schema = try SchemaEvaluator(documented: "doctor.schema.json")
    try await withProject { project in
      for number in 0..<5 { try project.makeDirectory("d\(number)") }
      let other = try await project.startPrinting()
      let lines = try await report(project, "--json")
      #expect(lines.count == 1)
      let text = try #require(lines.first)
      #expect(try schema.accepts(text: text), "\(text)")
      let process =
        #"{"pid":\#(other.process.pid),"name":"watchrun","watches":6,"instances":1,"own":true}"#
      #expect(text.contains(process), "\(text)")
      #expect(text.contains(#""watches":6,"prunedDirectories":0,"#))
    }
  }
}
