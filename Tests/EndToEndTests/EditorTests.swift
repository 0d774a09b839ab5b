import SystemCalls
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

  @Test func `siblings of a single watched file are not reported`() async throws {
    try await withProject { project in
      try project.write("file", "0")
      let watchrun = try await project.startPrinting("-w", "file")
      try project.place("other")
      try project.remove("other")
      try project.place("file", "1")
      try await project.reported("file", "modified", by: watchrun)
      #expect(Set(try watchrun.changes().map(\.path)) == [project.path("file")])
    }
  }

  @Test func `a single file that is removed and created again stays watched`() async throws {
    try await withProject { project in
      try project.write("file", "0")
      let watchrun = try await project.startPrinting("-w", "file")
      try project.remove("file")
      try await project.reported("file", "removed", by: watchrun)
      try project.place("file", "1")
      try await project.reported("file", "created", by: watchrun)
      try project.write("file", "2")
      try await project.reported("file", "modified", by: watchrun)
    }
  }

  @Test(arguments: ["sed -i s/$/x/ file", "perl -pi -e s/$/x/ file"])
  func `a tool that replaces the file causes a run`(_ line: String) async throws {
    try await withProject { project in
      try project.write("file", "text\n")
      _ = try await project.startRunning([], Project.record)
      for number in 1...3 {
        try await project.shell(line)
        try await eventually("run \(number)") {
          // The tool's temporary name may be reported as well.
          project.recordedRuns.count { $0.contains("file") } >= number
        }
      }
    }
  }

  @Test(.enabled(if: Tool.vim), arguments: ["no", "yes", "auto"])
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

  @Test(arguments: ["--no-default-ignore", "--ignore-nothing"])
  func `without the built-in rules, temporary files are reported`(_ option: String) async throws {
    try await withProject { project in
      let watchrun = try await project.startPrinting(option)
      for name in Self.editorFiles { try project.place(name) }
      for name in Self.editorFiles { try await project.reported(name, by: watchrun) }
    }
  }

  /// Emacs locks files with dangling symbolic links.
  @Test func `dangling links are reported, except those of editors`() async throws {
    try await withProject { project in
      let watchrun = try await project.startPrinting()
      try project.makeLink(".#file", to: "user@host.1:2")
      try project.remove(".#file")
      try project.makeLink("link", to: "/nonexistent")
      let change = try await project.reported("link", by: watchrun)
      #expect(change == Batch.Change(path: "link", kind: "created", type: "symlink"))
      #expect(!(try project.changes(by: watchrun).contains { $0.path == ".#file" }))
      #expect(watchrun.errors.isEmpty)
    }
  }

  @Test func `a save by three renames reports only the file itself`() async throws {
    try await withProject { project in
      try project.write("file.txt", "old\n")
      let watchrun = try await project.startPrinting("-e", "txt")
      try project.write("file.txt___jb_tmp___", "new\n")
      try project.move("file.txt", to: "file.txt___jb_old___")
      try project.move("file.txt___jb_tmp___", to: "file.txt")
      try project.remove("file.txt___jb_old___")
      try await project.settle(watchrun, suffix: ".txt")
      let changes = try project.changes(by: watchrun)
      #expect(Set(changes.map(\.path)) == ["file.txt"])
      #expect(changes.last?.kind == "modified")
    }
  }

  @Test func `a removal and a later creation cause a run each`() async throws {
    try await withProject { project in
      try project.write("file", "0")
      let watchrun = try await project.startRunning([], Project.record)
      try project.remove("file")
      try await watchrun.said("removed file")
      try await eventually("a run") { project.recordedRuns == [["file"]] }
      try project.place("file", "1")
      try await watchrun.said("created file")
      try await eventually("a run") { project.recordedRuns == [["file"], ["file"]] }
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

  @Test func `reading files reports nothing`() async throws {
    try await withProject { project in
      try project.makeDirectory("directory")
      try project.write("directory/file")
      let watchrun = try await project.startPrinting("--ignore-nothing")
      try await project.shell("grep -r text . && ls -laR . && cat directory/*")
      try await project.settle(watchrun)
      #expect(try project.changes(by: watchrun).isEmpty)
    }
  }

  /// Some events are about attributes only.
  @Test func `a change of permissions alone causes no run`() async throws {
    try await withProject { project in
      try project.write("file")
      _ = try await project.startRunning([], Project.record)
      try await project.shell("chmod 600 file")
      try await project.settleRuns()
      #expect(!project.recordedRuns.contains { $0.contains("file") })
    }
  }
}
