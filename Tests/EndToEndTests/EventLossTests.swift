import SystemCalls
import Testing

/// Every change in the tree is reported, under the right path.
@Suite struct EventLossTests {
  /// Files appear in a new directory before it is watched.
  @Test func `every file of a copied directory is reported`() async throws {
    try await withProject { project in
      try await project.shell(
        "mkdir $OUTSIDE/made; cd $OUTSIDE/made; for i in $(seq 200); do echo $i > file-$i; done")
      let watchrun = try await project.startPrinting()
      try await project.shell("cp -r $OUTSIDE/made copy")
      try await eventually("200 files are reported") {
        let paths = try project.changes(by: watchrun).map(\.path)
        return Set(paths.filter { $0.hasPrefix("copy/") }).count == 200
      }
    }
  }

  /// Files appear in a new directory before it is watched.
  @Test func `the last run sees every file of a copied directory`() async throws {
    try await withProject { project in
      try await project.shell(
        "mkdir $OUTSIDE/made; cd $OUTSIDE/made; for i in $(seq 200); do echo $i > file-$i; done")
      _ = try await project.startRunning([], #"find . -name 'file-*' | wc -l >> "$LOG""#)
      try await project.shell("cp -r $OUTSIDE/made copy")
      try await project.logged("200")
    }
  }

  /// A chain of directories is created faster than it can be watched.
  @Test func `a file in a new chain of directories is reported once`() async throws {
    try await withProject { project in
      let watchrun = try await project.startPrinting()
      try await project.shell("mkdir -p a/b/c/e")
      try await project.settle(watchrun)
      try project.place("a/b/c/e/file")
      try await project.settle(watchrun)
      let reported = try project.changes(by: watchrun).filter { $0.path == "a/b/c/e/file" }
      #expect(reported == [Batch.Change(path: "a/b/c/e/file", kind: "created", type: "file")])
    }
  }

  /// A tree moved in from outside causes a single event.
  @Test func `a tree moved in is reported with its contents, and watched`() async throws {
    try await withProject { project in
      try project.makeDirectory(project.outside + "/tree/x/y")
      try project.write(project.outside + "/tree/x/y/z")
      let watchrun = try await project.startPrinting()
      try project.move(project.outside + "/tree", to: "tree")
      try await project.reported("tree/x/y/z", "created", by: watchrun)
      try project.write("tree/x/y/z", "more\n", appending: true)
      try await project.reported("tree/x/y/z", "modified", by: watchrun)
    }
  }

  /// A kernel watch follows the inode, so cached paths become stale.
  @Test func `files in a directory renamed twice have its last name`() async throws {
    try await withProject { project in
      try project.makeDirectory("a1/x/y")
      let watchrun = try await project.startPrinting()
      try project.move("a1", to: "b1")
      try project.move("b1", to: "c1")
      try await project.settle(watchrun)
      try project.place("c1/x/y/new")
      try await project.settle(watchrun)
      let paths = try project.changes(by: watchrun).map(\.path)
      #expect(paths.contains("c1/x/y/new"))
      #expect(!paths.contains { $0.hasPrefix("a1/") || $0.hasPrefix("b1/") })
    }
  }

  /// A directory that was moved away keeps its kernel watch.
  @Test func `a directory moved out of the tree is no longer watched`() async throws {
    try await withProject { project in
      try project.makeDirectory("in/deep")
      let watchrun = try await project.startPrinting()
      let before = ProcessTable.watchCount(of: watchrun.process.pid)
      try project.move("in", to: project.outside + "/in")
      try await project.settle(watchrun)
      try project.write(project.outside + "/in/file")
      try project.write(project.outside + "/in/deep/file")
      try await project.settle(watchrun)
      let changes = try project.changes(by: watchrun)
      #expect(changes.map(\.path).allSatisfy { $0 == "in" || $0 == "in/deep" })
      #expect(ProcessTable.watchCount(of: watchrun.process.pid) == before - 2)
    }
  }

  /// A directory that is created again under its path has lost its watch.
  @Test func `a directory is watched each time it is created again`() async throws {
    try await withProject { project in
      try project.makeDirectory("sub")
      let watchrun = try await project.startPrinting()
      for round in 1...20 {
        try project.remove("sub")
        try project.makeDirectory("sub")
        try project.place("sub/file-\(round)")
        try await project.reported("sub/file-\(round)", by: watchrun)
        try project.write("sub/file-\(round)", "more\n", appending: true)
        try await project.reported("sub/file-\(round)", "modified", by: watchrun)
      }
    }
  }

  /// A directory vanishes before it can be watched.
  @Test func `directories that vanish at once cause no errors`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(["-d", "0"], Project.record)
      for _ in 0..<200 {
        try project.makeDirectory("short-lived")
        try project.remove("short-lived")
      }
      try await project.settleRuns()
      #expect(watchrun.process.exitStatus == nil)
      #expect(!watchrun.errors.contains { $0.contains("cannot") })
    }
  }

  /// Watches that are not released add up.
  @Test func `watches of removed directories are released`() async throws {
    try await withProject { project in
      let watchrun = try await project.startPrinting("-d", "0")
      try await project.settle(watchrun)
      let pid = watchrun.process.pid
      let watches = ProcessTable.watchCount(of: pid)
      let descriptors = ProcessTable.descriptors(of: pid).count
      for round in 0..<500 {
        try project.makeDirectory("churn-\(round % 7)")
        try project.remove("churn-\(round % 7)")
      }
      try await project.settle(watchrun)
      #expect(ProcessTable.watchCount(of: pid) == watches)
      // A few are open for a moment; a leak would be 500.
      #expect(ProcessTable.descriptors(of: pid).count < descriptors + 10)
    }
  }

  /// The kernel drops events when its queue is full.
  @Test func `nothing is missed when the kernel's queue overflows`() async throws {
    try await withProject { project in
      let watchrun = try await project.startPrinting()
      // After the first comparison, only a rescan finds changes of which the hints were dropped.
      try await project.settle(watchrun)
      let files = 500
      try await watchrun.process.suspend()
      try project.overflow()
      for number in 0..<files { try project.write("file-\(number)", "") }
      try project.makeDirectory("new")
      watchrun.process.send(SIGCONT)
      try await eventually("all files are reported") {
        let paths = try watchrun.changes().map(\.path)
        return paths.count >= files
          && Set(paths.filter { $0.contains("/file-") }).count == files
      }
      #expect(try watchrun.batches().contains { $0.overflow && $0.reason == "overflow" })
      try project.place("new/late")
      try await project.reported("new/late", "created", by: watchrun)
      #expect(watchrun.errors.count == 1)
      #expect(watchrun.errors.allSatisfy { $0.contains("max_queued_events") })
    }
  }

  /// Unusual ways to replace a file cause unusual events.
  @Test(
    .enabled(if: Tool.python),
    arguments: [
      // RENAME_EXCHANGE: two files change places.
      #"ctypes.CDLL(None).renameat2(-100, b"file", -100, b"other", 2)"#,
      // A file without a name, which is given one.
      """
      f = os.open(".", os.O_TMPFILE | os.O_WRONLY); os.write(f, b"text"); \
      ctypes.CDLL(None).linkat(-100, f"/proc/self/fd/{f}".encode(), -100, b"file", 0x400)
      """,
      #"os.link(os.environ["OUTSIDE"] + "/linked", "file")"#,
      #"os.truncate("file", 2)"#,
    ])
  func `exchanged, linked and truncated files are reported`(_ statement: String) async throws {
    try await withProject { project in
      try project.write(project.outside + "/linked")
      if statement.contains("renameat2") { try project.write("other", "other\n") }
      if !statement.contains("link") { try project.write("file") }
      let watchrun = try await project.startPrinting()
      try await project.shell("python3 -c 'import os, ctypes; \(statement)'")
      try await project.reported("file", by: watchrun)
      try await project.settle(watchrun)
      let paths = try project.changes(by: watchrun).map(\.path)
      #expect(paths.allSatisfy { ["file", "other"].contains($0) })
    }
  }
}
