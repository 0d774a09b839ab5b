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

  private func listens(_ foreign: ChildProcess) async throws {
    try await eventually("it listens") {
      foreign.output.lines.contains("up") || foreign.exitStatus != nil
    }
    #expect(foreign.exitStatus == nil, "\(foreign.errors.text)")
  }

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
        ["/usr/bin/env", "python3", "-c", Self.server, port],
        environment: ["PATH": Tool.searchPath], directory: project.root)
      try await listens(foreign)
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

  @Test func `a port that stays taken is said once, and so is that changes are waited for`()
    async throws
  {
    try await withProject { project in
      let port = String(try freePort())
      try project.writeTasks(
        """
        server: { run: ["python3", "-c", '\(Self.server)', "\(port)"], service: true,
          ready: { url: "http://localhost:\(port)/" } },
        """)
      let foreign = try ChildProcess(
        ["/usr/bin/env", "python3", "-c", Self.server, port],
        environment: ["PATH": Tool.searchPath], directory: project.root)
      try await listens(foreign)
      let session = try await project.startOnTerminal()
      try await session.shows("not started: ")
      // Each attempt asks the other process.
      try await eventually("three more attempts") {
        foreign.errors.text.split(separator: "GET").count > 4
      }
      for text in ["not started: ", "waiting for changes"] {
        #expect(session.terminal.output.text.split(separator: text).count == 2, "\(text)")
      }
      await foreign.stop()
      try await session.shows("ready after")
    }
  }

  @Test func `a service has a free port, the same in each run, which others and pages know`()
    async throws
  {
    try await withProject { project in
      let server = Self.server.replacing("sys.argv[1]", with: "os.environ[\"PORT\"]")
        .replacing("import ", with: "import os, ")
      try project.write(
        "watchrun.json",
        """
        { envFile: ".env", tasks: {
          my-web: { run: ["python3", "-c", '\(server)'], service: true, port: "auto" },
          test: { run: 'echo "$MY_WEB_PORT,$PORT" >> $LOG', after: ["my-web"] },
          page: { proxy: { "/": "my-web" }, port: \(try freePort()) },
        } }
        """.replacing("my-web:", with: "\"my-web\":"))
      try project.place(".env", "PORT=1\n")
      let watchrun = try await project.startTasks()
      let port = try await watchrun.said("my-web: port ").split(separator: " ").last ?? ""
      try await watchrun.said("serving localhost:\(port) at http://localhost:")
      try await project.logged("\(port),1")
      try project.place("a")
      try await eventually("another run") { project.logged == ["\(port),1", "\(port),1"] }
      await watchrun.process.stop()
      // Where another program has it, another one is chosen.
      let foreign = try ChildProcess(
        ["python3", "-c", Self.server, String(port)],
        environment: ["PATH": environmentVariable("PATH") ?? ""], directory: project.root)
      try await listens(foreign)
      let second = try await project.startTasks()
      let other = try await second.said("my-web: port ").split(separator: " ").last ?? ""
      try await project.logged("\(other),1")
      #expect(other != port)
      await foreign.stop()
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

  @Test func `a service that is not ready is an error, which is also said with quiet`() async throws
  {
    try await withProject { project in
      try project.writeTasks(
        """
        server: { run: "exec sleep 1000", service: true, ready: { line: "up", timeout: "200ms" } },
        """)
      let watchrun = try await project.start("--once", "-q")
      try await watchrun.said("not ready: no output line contains 'up' after 200 ms")
      try await #expect(watchrun.ended() == .exited(1))
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

  @Test func `a service is ready when a command succeeds, and is stopped by another`() async throws
  {
    try await withProject { project in
      try project.writeTasks(
        """
        db: { run: "echo db >> $LOG; rm -f down; while [ ! -e down ]; do sleep 0.1; done; echo ended >> $LOG",
          service: true, watch: ["src"], env: { FLAG: "up" },
          ready: { run: "echo hidden; [ -e $FLAG ] && ! [ -e down ]", interval: "20ms" },
          stop: "touch down; echo stopping" },
        smoke: { run: "echo smoke >> $LOG", after: ["db"] },
        reset: { run: "echo reset >> $LOG", after: ["db"], manual: true },
        """)
      try project.makeDirectory("src")
      let watchrun = try await project.startTasks()
      try await project.logged("db")
      #expect(!project.logged.contains("smoke"))
      try project.place("up")
      try await watchrun.said("db: ready after")
      try await project.logged("smoke")
      try project.place("src/a")
      try await watchrun.said("db: stopping the command with touch down; echo stopping")
      try await project.logged("smoke", times: 2)
      #expect(project.logged == ["db", "smoke", "ended", "db", "smoke"])
      let output = watchrun.process.output.lines
      #expect(
        output.contains { $0.contains("stopping") } && !output.contains { $0.contains("hidden") })
      let request = try await project.start(["--send", "run", "reset"])
      try await #expect(request.ended() == .exited(0))
      try await project.logged("reset")
      watchrun.process.send(SIGTERM)
      try await eventually("the service is stopped by its command") {
        project.logged.filter { $0 == "ended" }.count == 2
      }
      try await watchrun.ended()
    }
  }

  @Test func `a manual task starts when it is named`() async throws {
    try await withProject { project in
      try project.writeTasks(
        "a: { run: 'echo a >> $LOG' }, b: { run: 'echo b >> $LOG', manual: true }, "
          + "c: { run: 'echo c >> $LOG', manual: true }, d: { run: 'echo d >> $LOG', after: ['c'] }"
      )
      let all = try await project.start(["--once"])
      try await #expect(all.ended() == .exited(0))
      #expect(project.logged.sorted() == ["a", "c", "d"])
      let one = try await project.start(["--once", "b"])
      try await #expect(one.ended() == .exited(0))
      #expect(project.logged.sorted() == ["a", "b", "c", "d"])
    }
  }

  private static let encryptedServer = """
    import http.server, ssl, sys
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(int(self.path[1:])); self.end_headers()
        def log_message(self, *words): pass
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("cert.pem", "key.pem")
    server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
    """

  @Test(.enabled(if: Tool.openssl))
  func `an encrypted server is ready when it answers with a status that counts`() async throws {
    try await withProject { project in
      try await project.shell(
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=x -days 2 2>/dev/null"
      )
      try project.write("server.py", Self.encryptedServer)
      func task(_ path: String, _ rest: String) throws -> String {
        let port = try freePort()
        return "{ run: ['python3', 'server.py', '\(port)'], service: true, watch: ['src'], "
          + "ready: { url: 'https://127.0.0.1:\(port)/\(path)', \(rest) } },"
      }
      try project.makeDirectory("src")
      try project.writeTasks(
        "a: \(task("404", "")) b: \(task("401", "status: [200, 401]")) "
          + "c: \(task("404", "status: 200, timeout: '2s'"))")
      let watchrun = try await project.startTasks()
      try await watchrun.said("a: ready after")
      try await watchrun.said("b: ready after")
      try await watchrun.said("c: not ready: no successful answer from https://127.0.0.1:")
    }
  }
}
