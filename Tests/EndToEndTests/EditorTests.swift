import SystemCalls
import TestSupport
import Testing

/// Every kind of save is a change of the saved file; temporary files of editors are ignored.
@Suite struct EditorTests {
  private static let editorFiles = [
    ".file.swp", ".file.swx", ".file.swpx", "file~", "4913", ".#file", "#file#",
    "file___jb_tmp___", "file___jb_old___", ".DS_Store", "sedA1b2C3",
  ]

  @Test func `a single file stays watched when saves replace it`() async throws {
    try await withProject { project in
      try project.write("file", "0")
      let watchrun = try await project.startRunning(
        ["-w", "file"], #"echo "run $(cat file)" >> "$LOG""#)
      for number in 1...5 {
        // A file that is saved in each of several runs counts as the command's own output.
        try await eventually("the run has ended") { watchrun.runsEnded == number }
        try project.place("file", "\(number)")
        try await project.logged("run \(number)")
      }
      try project.place("other")
      try project.write("file", "6")
      try await project.logged("run 6")
    }
  }

  @Test(.enabled(if: Tool.vim), arguments: Effort.rows(["auto", "no", "yes"], quick: 1))
  func `a save by vim reports only the file itself`(_ backupCopy: String) async throws {
    try await withProject { project in
      try project.write("file", "text\n")
      _ = try await project.startRunning(
        [], Project.record + #"; echo "start saw $(cat file)" >> "$LOG""#)
      try await project.logged("start saw text")
      var text = "text"
      for _ in 1...5 {
        try await project.shell(
          "vim -u NONE -N -n -es -c 'set backupskip= backupcopy=\(backupCopy)' "
            + "-c '%s/$/x/' -c wq file")
        text += "x"
        try await project.logged("start saw \(text)")
      }
      #expect(project.recordedRuns.allSatisfy { $0 == ["file"] })
    }
  }

  @Test func `temporary files of editors cause no run`() async throws {
    try await withProject { project in
      _ = try await project.startRunning([], Project.record)
      for name in Self.editorFiles {
        try project.write(name)
        try project.write(name, "more\n", appending: true)
        try await Task.sleep(for: .milliseconds(30))
        try project.remove(name)
      }
      try await project.settleRuns()
      #expect(project.recordedRuns.flatMap { $0 }.allSatisfy { $0.hasPrefix("settled-") })
    }
  }

  @Test func `without the built-in rules, temporary files are reported`() async throws {
    try await withProject { project in
      let watchrun = try await project.startPrinting("--no-default-ignore")
      for name in Self.editorFiles { try project.place(name) }
      for name in Self.editorFiles { try await project.reported(name, by: watchrun) }
    }
  }

  @Test(.enabled(if: Tool.git))
  func `git status in the command causes no feedback loop`() async throws {
    try await withProject { project in
      try await project.shell(
        """
        git init -q . && git init -q nested && echo text > file && echo text > nested/file
        git add file && git -C nested add file
        """)
      _ = try await project.startRunning(
        [], "git status >/dev/null; git -C nested status >/dev/null; " + Project.record)
      for name in ["file", "nested/file"] {
        try await project.shell("touch \(name)")
        try await eventually("a run") { project.recordedRuns.contains { $0 == [name] } }
      }
      try await project.shell("git status; git -C nested status; git add file")
      try await project.settleRuns()
      #expect(!project.recordedRuns.flatMap { $0 }.contains { $0.contains(".git") })
    }
  }
}
