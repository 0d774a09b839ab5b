import SystemCalls
import TestSupport
import Testing

/// When a service counts as ready, and whose answer that is.
@Suite(.enabled(if: Tool.python)) struct ProjectReadinessTests {
  @Test func `a service that nothing checks is started, and not ready`() async throws {
    try await withProject { project in
      let ready = "{ line: 'up' }"
      try project.write(
        "watchrun.json",
        """
        { tasks: {
          plain: { run: "exec sleep 1000", service: true },
          checked: { run: "echo up; exec sleep 1000", service: true, ready: \(ready) },
        } }
        """)
      let watchrun = try await project.startTasks()
      try await watchrun.said("plain started · checked ready")
    }
  }

  private static let server =
    "import http.server, sys; print(\"up\", flush=True); http.server.HTTPServer((\"127.0.0.1\", "
    + "int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()"

  @Test(arguments: ["port", "url"])
  func `a port that another process holds is named, with that process`(kind: String) async throws {
    try await withProject { project in
      let port = String(try freePort())
      let ready = kind == "port" ? "port: \(port)" : "url: \"http://localhost:\(port)/\""
      try project.writeTasks(
        """
        server: { run: ["python3", "-c", '\(Self.server)', "\(port)"], service: true,
          ready: { \(ready) } },
        smoke: { run: "echo smoke >> $LOG", after: ["server"] },
        """)
      let foreign = try ChildProcess(
        ["python3", "-c", Self.server, port], environment: ["PATH": "/usr/bin:/bin:/usr/local/bin"],
        directory: project.root)
      try await eventually("it listens") { foreign.output.lines.contains("up") }
      let watchrun = try await project.startTasks()
      let line = try await watchrun.said("server: not started: ")
      #expect(line.contains(port))
      #expect(line.contains("by python3 (pid \(foreign.pid)); stop that process"), "\(line)")
      try await watchrun.said("smoke: skipped: server failed")
      #expect(project.logged.isEmpty)
      // The next attempt succeeds.
      await foreign.stop()
      try await watchrun.said("server: ready after")
      try await project.logged("smoke")
      // Attempts that find the same process are not reported.
      #expect(watchrun.errors.count { $0.contains("not started") } == 1)
      #expect(watchrun.errors.count { $0.contains("server: running") } == 1)
      #expect(!watchrun.errors.contains { $0.contains("restarting in") })
    }
  }

  @Test func `a restarted service is not taken for another program`() async throws {
    try await withProject { project in
      let port = String(try freePort())
      try project.writeTasks(
        """
        server: { run: ["python3", "-c", '\(Self.server)', "\(port)"], service: true,
          ready: { port: \(port) }, watch: ["src"] },
        smoke: { run: "echo smoke >> $LOG", after: ["server"] },
        """)
      try project.makeDirectory("src")
      let watchrun = try await project.startTasks()
      for number in 1...4 {
        try await project.logged("smoke", times: number)
        try project.place("src/file-\(number)")
      }
      try await project.logged("smoke", times: 5)
      #expect(!watchrun.errors.contains { $0.contains("not started") })
    }
  }

  @Test func `a service that is late is not said to have failed, and is ready later`() async throws
  {
    try await withProject { project in
      try project.writeTasks(
        """
        server: { run: "until [ -e go ]; do sleep 0.1; done; echo up; exec sleep 1000",
          service: true, ready: { line: "up", timeout: "200ms" }, watch: ["none"] },
        smoke: { run: "echo smoke >> $LOG", after: ["server"] },
        """)
      let watchrun = try await project.startTasks()
      try await watchrun.said("server: not ready: no output line contains 'up' after 200 ms")
      try await watchrun.said("smoke: skipped: server is not ready")
      try project.place("go")
      try await project.logged("smoke")
      try await watchrun.said("server: ready after")
      #expect(!watchrun.errors.contains { $0.contains("failed") })
    }
  }

  @Test func `a service that ends with status 0 is said to have ended, not to have succeeded`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(
        """
        db: { run: "true", service: true, ready: { line: "up" } },
        app: { run: "echo app >> $LOG", after: ["db"] },
        """)
      let watchrun = try await project.startTasks()
      try await watchrun.said("watchrun: db: ended with status 0 after")
      try await watchrun.said("watchrun: app: skipped: db has ended")
      #expect(!watchrun.errors.contains { $0.contains("succeeded") || $0.contains("failed") })
    }
  }
}
