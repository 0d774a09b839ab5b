import SystemCalls
import Testing

/// With `--skip-unchanged`, a file counts only if its content differs.
@Suite struct UnchangedTests {
  @Test func `no operation that keeps the content causes a run`() async throws {
    try await withProject { project in
      try project.write("f", "text\n")
      try await project.startSkipping()
      try await project.known("f")
      for line in [
        "touch f", "cp f ../t && mv ../t f", "cp f ../t && cat ../t > f", "chmod 600 f",
        "sed -i s/nothing/else/ f", "cp f ../t && rm f && cp ../t f",
        "install -m 755 f ../t && mv ../t f", "for i in 1 2 3; do cp f ../t; mv ../t f; done",
      ] {
        try await project.shell(line)
        try await project.settleRuns()
        #expect(!project.runs(of: "f"), "\(line)")
      }
    }
  }

  @Test func `a command that formats its own sources does not run again`() async throws {
    try await withProject { project in
      try project.write("f", "text\n")
      try await project.startSkipping("cat f > ../t; cat ../t > f; ")
      // The first run may be the first to report the file, and then has a follow-up.
      try await project.settleRuns()
      let runsOfFile = { project.recordedRuns.count { $0 == ["f"] } }
      let before = runsOfFile()
      // Whole: a run that ends now would report the empty file as well.
      try project.place("f", "other\n")
      try await eventually("a run") { runsOfFile() > before }
      try await project.settleRuns()
      try await project.settleRuns()
      #expect(runsOfFile() == before + 1)
    }
  }

  @Test(.enabled(if: Tool.git))
  func `a checkout there and back in one burst causes no run`() async throws {
    try await withProject { project in
      try await project.shell(
        """
        git init -q -b one . && echo one > f && git add f
        git -c user.name=a -c user.email=a@b commit -qm 1 && git checkout -qb two
        echo two > f && git -c user.name=a -c user.email=a@b commit -qam 2 && git checkout -q one
        """)
      try await project.startSkipping()
      try await project.known("f")
      try await project.shell("git checkout -q two && git checkout -q one")
      try await project.settleRuns()
      #expect(!project.runs(of: "f"))
      for _ in 1...2 {
        let before = project.recordedRuns.count
        try await project.shell("git checkout -q $(test $(cat f) = one && echo two || echo one)")
        try await eventually("a run") {
          project.recordedRuns.dropFirst(before).contains { $0.contains("f") }
        }
      }
    }
  }
}

extension Project {
  /// A shell line is one burst, also on a busy machine.
  fileprivate func startSkipping(_ before: String = "") async throws {
    // No burst ends between two programs, also on a loaded machine.
    _ = try await startRunning(["--skip-unchanged", "-d", "1500ms"], before + Self.record)
  }

  /// Changes files and changes them back, so that their content has been reported. Empties the log.
  fileprivate func known(_ names: String...) async throws {
    let texts = names.map(read)
    for draft in ["draft\n", nil] {
      let before = recordedRuns.count
      for (name, text) in zip(names, texts) { try place(name, draft ?? text) }
      try await eventually("runs for \(names)") {
        Set(names).isSubset(of: recordedRuns.dropFirst(before).flatMap { $0 })
      }
    }
    try remove(log)
  }

  fileprivate func runs(of name: String) -> Bool {
    recordedRuns.contains { $0.contains(name) }
  }
}
