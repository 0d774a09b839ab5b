import SystemCalls
import Testing

/// What commands and tasks read.
@Suite struct StandardInputTests {
  /// Logs that it has started, reads until the end of standard input, and logs that it has ended.
  private static let reader = #"echo up >> "$LOG"; cat; echo ended >> "$LOG""#

  /// As those of esbuild and Tailwind, which take the end for that of the program that has started them.
  @Test(arguments: [1, 2], [ChildProcess.Input.null, .closed, .endedPipe])
  func `a service that ends when its input ends keeps running`(
    _ count: Int, _ input: ChildProcess.Input
  ) async throws {
    try await withProject { project in
      let tasks = (1...count).map {
        #"s\#($0): { run: "sh reader", service: true, watch: ["f"] },"#
      }
      try project.write("reader", Self.reader)
      try project.writeTasks(tasks.joined())
      _ = try await project.start([], input: input)
      try await project.logged("up", times: count)
      try project.place("f")
      try await project.logged("up", times: 2 * count)
      #expect(!project.logged.contains("ended"))
    }
  }

  @Test(arguments: [["-r"], ["--keep-alive", "--on-busy", "restart"]])
  func `a server in a terminal that ends when its input ends keeps running`(
    _ options: [String]
  ) async throws {
    try await withProject { project in
      let session = try await TerminalSession(project, options + ["sh", "-c", Self.reader])
      try await project.logged("up")
      try session.type("r")
      try await project.logged("up", times: 2)
      #expect(!project.logged.contains("ended"))
    }
  }

  @Test(arguments: [ChildProcess.Input.null, .closed])
  func `a server without standard input that ends when it ends keeps running`(
    _ input: ChildProcess.Input
  ) async throws {
    try await withProject { project in
      _ = try await project.start(["-r", "sh", "-c", Self.reader], input: input)
      try await project.logged("up")
      try project.place("f")
      try await project.logged("up", times: 2)
      #expect(!project.logged.contains("ended"))
    }
  }

  @Test(arguments: [["sh", "-c", reader], ["-r", "--emit", "lines", "sh", "-c", reader]])
  func `a command that reads to the end finds it`(_ arguments: [String]) async throws {
    try await withProject { project in
      let session = try await TerminalSession(project, arguments)
      try await project.logged("ended")
      session.send(SIGTERM)
      try await session.ended()
    }
  }

  @Test func `a task and a hook that read to the end find it`() async throws {
    try await withProject { project in
      try project.write("reader", Self.reader)
      try project.writeTasks(
        #"a: { run: "sh reader", onSuccess: "sh reader" }, b: { run: "true" },"#)
      let session = try await TerminalSession(project, [])
      try await project.logged("ended", times: 2)
      session.send(SIGTERM)
      try await session.ended()
    }
  }

  /// As programs pass it that are started by Node.js.
  @Test(.enabled(if: Tool.python), arguments: [true, false])
  func `a list of paths is read from a socket`(_ blocks: Bool) async throws {
    let caller = #"""
      import os, socket, subprocess, sys, time
      ours, theirs = socket.socketpair()
      os.set_blocking(theirs.fileno(), sys.argv[1] == "true")
      process = subprocess.Popen(sys.argv[2:], stdin=theirs)
      time.sleep(0.5)
      ours.send(b"f\n")
      ours.close()
      sys.exit(process.wait())
      """#
    try await withProject { project in
      try project.write("f")
      let watchrun = try await project.start(
        ["--files-from", "-", "--once", "--", "echo", "up"],
        prefix: ["/usr/bin/env", "python3", "-c", caller, "\(blocks)"])
      try await #expect(watchrun.ended() == .exited(0))
      #expect(watchrun.process.output.lines == ["up"])
    }
  }

  @Test func `the input of a service ends with watchrun`() async throws {
    try await withProject { project in
      try project.write("reader", "trap '' TERM; " + Self.reader)
      try project.writeTasks(#"s: { run: "sh reader", service: true },"#)
      let watchrun = try await project.start()
      try await project.logged("up")
      watchrun.process.send(SIGKILL)
      try await project.logged("ended")
    }
  }
}
