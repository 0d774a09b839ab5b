import SystemCalls
import Testing

/// Limits of the kernel.
@Suite struct LimitTests {
  /// Whether limits can be set in a user namespace.
  private static let mayLimit: Bool = {
    guard
      let process = try? ChildProcess(
        ["unshare", "-Ur", "true"], environment: [:], directory: "/", input: .null, output: .pipes)
    else { return false }
    for _ in 0..<60_000 where process.exitStatus == nil { usleep(1000) }
    return process.exitStatus == .exited(0)
  }()

  /// The limit of inotify watches is reached.
  @Test(.enabled(if: mayLimit))
  func `directories beyond the watch limit are polled`() async throws {
    try await withProject { project in
      for number in 0..<10 { try project.makeDirectory("directory-\(number)") }
      let watchrun = try await project.start(
        ["--print", "json"],
        prefix: [
          "unshare", "-Ur", "sh", "-c",
          "echo 4 > /proc/sys/user/max_inotify_watches && exec \"$@\"", "sh",
        ])
      let readiness = try await watchrun.ready()
      #expect(readiness.watches == 4)
      try await watchrun.said("fs.inotify.max_user_watches=")
      for number in 0..<10 { try project.place("directory-\(number)/file") }
      for number in 0..<10 {
        try await project.reported("directory-\(number)/file", "created", by: watchrun)
      }
    }
  }

  /// The limit of inotify watches is reached.
  @Test(.enabled(if: mayLimit))
  func `files beyond the watch limit are reported when they reappear`() async throws {
    try await withProject { project in
      let files = (0..<5).map { "directory-\($0)/file" }
      for number in 0..<5 {
        try project.makeDirectory("directory-\(number)")
        try project.write(files[number])
      }
      let watchrun = try await project.start(
        ["--print", "json"] + files.flatMap { ["-w", $0] },
        prefix: [
          "unshare", "-Ur", "sh", "-c",
          "echo 2 > /proc/sys/user/max_inotify_watches && exec \"$@\"", "sh",
        ])
      try await watchrun.ready()
      for file in files { try project.remove(file) }
      for file in files { try await project.reported(file, "removed", by: watchrun) }
      for file in files { try project.write(file) }
      for file in files { try await project.reported(file, "created", by: watchrun) }
    }
  }

  private static let maySetLimits = access("/usr/bin/prlimit", X_OK) == 0

  /// No descriptor is left when the first change is made.
  @Test(.enabled(if: maySetLimits))
  func `changes are reported while no descriptor is left, and a new tree later`() async throws {
    try await withProject { project in
      try await project.shell("mkdir -p $OUTSIDE/tree/sub; echo > $OUTSIDE/tree/sub/inner")
      let watchrun = try await project.startPrinting()
      let pid = watchrun.process.pid
      try await project.shell(
        "last=$(ls /proc/\(pid)/fd | sort -n | tail -1); prlimit --pid \(pid) --nofile=$((last + 1)):"
      )
      try project.place("file")
      try await project.reported("file", "created", by: watchrun)
      try project.move(project.outside + "/tree", to: "tree")
      try await watchrun.said("cannot read")
      try await project.shell("prlimit --pid \(pid) --nofile=512:")
      try await project.reported("tree/sub/inner", "created", by: watchrun)
      try project.write("tree/sub/inner", "more")
      try await project.reported("tree/sub/inner", "modified", by: watchrun)
    }
  }

  @Test func `only the files of a list are watched`() async throws {
    try await withProject { project in
      try project.write("a")
      try project.write("b")
      try project.write("list", "a\nnone\n")
      let watchrun = try await project.start("--print", "json", "--files-from", "list")
      try await watchrun.ready()
      try await watchrun.said("cannot watch none: No such file or directory")
      try project.write("b", "more")
      for number in 1...3 {
        try project.place("a", "\(number)")
        try await eventually("save \(number) is reported") {
          try watchrun.batches().count >= number
        }
      }
      #expect(Set(try project.changes(by: watchrun).map(\.path)) == ["a"])
    }
  }
}
