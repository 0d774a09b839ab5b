import Foundation
import SystemCalls
import TestSupport
import Testing

/// `--emit`: how the command receives the changes, and the limits of that.
@Suite struct EmitTests {
  @Test func `--emit lines writes one path a line to standard input`() async throws {
    try await withProject { project in
      _ = try await project.startRunning(
        ["--emit", "lines"], #"echo "$WATCHRUN_REASON$WATCHRUN_PATHS" >> "$LOG"; cat >> "$LOG""#)
      try project.place("a b\n")
      try await project.logged("\"\(project.path("a b"))\\n\"")
      #expect(project.logged.prefix(2) == ["start", "change"])
    }
  }

  @Test func `a lack of room for the list of changed paths is said once`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["-vp", #"echo "${WATCHRUN_PATHS_FILE-none} $WATCHRUN_PATHS" >> "$LOG""#],
        environment: ["TMPDIR": project.path("gone")])
      try await watchrun.watching()
      for name in ["a", "b"] {
        try project.place(name)
        try await project.logged("none \(project.path(name))")
      }
      let problems = watchrun.errors.filter { $0.contains("no WATCHRUN_PATHS_FILE") }
      #expect(problems.count == 1)
      #expect(problems[0].contains("cannot write to \(project.path("gone")): No such file"))
    }
  }

  @Test func `-0 ends each emitted path with NUL`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "-v", "-p", "--emit", "lines", "-0", "--", "sh", "-c",
        #"tr '\0\n' '!;' >> "$LOG"; echo >> "$LOG""#)
      try await watchrun.watching()
      try project.place("a\nb")
      try await project.logged(project.path("a;b!"))
    }
  }

  @Test func `--emit json writes the same object as --print json`() async throws {
    try await withProject { project in
      _ = try await project.startRunning(["--emit", "json"], #"cat >> "$LOG""#)
      try project.place("file")
      try await eventually("two objects") { project.logged.count == 2 }
      let batches = try project.logged.map {
        try JSONDecoder().decode(Batch.self, from: Data($0.utf8))
      }
      #expect(batches[0] == Batch(batch: 1, reason: "start", changes: [], overflow: false))
      let change = Batch.Change(path: project.path("file"), kind: "created", type: "file")
      #expect(batches[1] == Batch(batch: 2, reason: "change", changes: [change], overflow: false))
    }
  }

  @Test func `--emit none sets only the reason and the mark of the run`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("--once", "--emit", "none", "env")
      try await watchrun.ended()
      let ours = watchrun.process.output.lines.filter { $0.hasPrefix("WATCHRUN_") }
      #expect(ours.map { $0.prefix { $0 != "=" } } == ["WATCHRUN_REASON", "WATCHRUN_RUN"])
      #expect(ours.first == "WATCHRUN_REASON=start")
    }
  }

  @Test(arguments: Effort.rows(["json", "lines", "env"], quick: 1))
  func `a command that does not read its input blocks nothing`(_ mode: String) async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["--emit", mode, "-d", "1s", "--max-wait", "20s"], #"echo run >> "$LOG""#)
      // More than the capacity of a pipe, in one batch.
      let padding = String(repeating: "x", count: 200)
      try await project.shell("for i in $(seq 350); do : > \(padding)-$i; done")
      try await project.logged("run", times: 2)
      try project.place("file")
      try await project.logged("run", times: 3)
      #expect(watchrun.process.exitStatus == nil)
    }
  }

  /// With a small stack, the kernel accepts few arguments.
  @Test(
    arguments: Effort.rows(
      [
        (["/bin/sh", "-c", #"ulimit -s 256; exec "$@""#, "sh"], 60), ([], 650),
      ] as [([String], Int)], quick: 1))
  func `paths that exceed the argument limit are in the paths file`(
    _ prefix: [String], _ files: Int
  ) async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        [
          "-v", "-p", "-d", "2s", "--max-wait", "20s", "--", "/bin/sh", "-c",
          #"""
          count=$(tr -cd '\0' < "$WATCHRUN_PATHS_FILE" | wc -c)
          echo "$WATCHRUN_COUNT $count $WATCHRUN_TRUNCATED" >> "$LOG"; echo $# >> "$OUTSIDE/arguments"
          """#, "sh", "{}",
        ],
        prefix: prefix)
      try await watchrun.watching()
      // All arguments together may take 2 MiB, or 128 KiB. A path may take 4 KiB.
      let padding = String(repeating: "x", count: 240)
      let directory = Array(repeating: padding, count: 15).joined(separator: "/")
      try await project.shell(
        """
        mkdir -p \(directory); cd \(directory)
        for i in $(seq \(files)); do : > \(padding)-$i; done
        """)
      try await eventually("runs for all files") {
        project.logged.reduce(0) { $0 + (Int($1.prefix { $0 != " " }) ?? 0) } >= files
      }
      for line in project.logged {
        let fields = line.split(separator: " ").compactMap { Int($0) }
        #expect(fields[0] == fields[1])
        if fields[0] >= files { #expect(fields.last == 1 && fields.count == 3) }
      }
      try await watchrun.said("succeeded")
      #expect(!watchrun.errors.contains { $0.contains("cannot run") })
      #expect(watchrun.process.exitStatus == nil)
    }
  }

  @Test func `a shell line that exceeds the kernel's limit is explained`() async throws {
    try await withProject { project in
      // Each word fits, but together they are one line for the shell.
      let word = String(repeating: "x", count: 70_000)
      let watchrun = try await project.start("--once", "--shell", "sh", "--", ":", word, word)
      try await #expect(watchrun.ended() == .exited(126))
      #expect(
        watchrun.errors.last?.hasSuffix(
          ": its arguments and its environment are too long for the kernel") == true)
    }
  }

  @Test func `the start waits while the program is open for writing`() async throws {
    try await withProject { project in
      try await project.shell(#"cp /bin/true "$OUTSIDE/program""#)
      let path = Path(project.outside + "/program")
      let busy = try Descriptor.open(path, O_WRONLY | O_APPEND)
      let watchrun = try await project.start("-v", "--once", "../outside/program")
      // The first attempt follows at once, and is repeated for a second only.
      try await watchrun.said("running")
      _ = consume busy
      try await #expect(watchrun.ended() == .exited(0))
    }
  }

  @Test func `the directory of path lists is private and removed at exit`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "-v", "-p",
        #"ls -ld "${WATCHRUN_PATHS_FILE%/*}" "$WATCHRUN_PATHS_FILE" | cut -c1-10 >> "$LOG""#)
      try await watchrun.watching()
      try project.place("file")
      try await eventually("the modes") { project.logged.contains("-rw-------") }
      #expect(project.logged.contains("drwx------"))
      #expect(project.temporaryFiles.count == 1)
      watchrun.process.send(SIGINT)
      try await watchrun.ended()
      #expect(project.temporaryFiles.isEmpty)
    }
  }
}
