import SystemCalls
import TestSupport
import Testing

/// Servers whose next process starts while the former one serves.
@Suite struct OverlapTests {
  /// Answers with the text of `version`, unless that is bad, and ends what it has accepted before it is stopped.
  private static let server = """
    import http.server, os, select, signal, socket, sys, time
    version, over = open("version").read(), []
    time.sleep(0.2)
    if version.startswith("bad"): sys.exit("error: " + version)
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(version.encode())
        def log_message(self, *_): pass
    s = socket.socket(fileno=3)
    s.setblocking(False)
    signal.signal(signal.SIGTERM, lambda *_: over.append(1))
    print("serving " + version, flush=True)
    while not over:
        if not select.select([s], [], [], 0.02)[0]: continue
        # The other process may have taken it.
        try: c, address = s.accept()
        except BlockingIOError: continue
        Handler(c, address, None)
        c.close()

    """

  /// Makes a request every 10 ms until the file `done` exists, and reports each answer, and each failure, once.
  private static let client = """
    import http.client, os, sys, time
    count, known = 0, set()
    while not os.path.exists("done"):
        try:
            c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=20)
            c.request("GET", "/")
            answer = c.getresponse().read().decode()
            c.close()
        except Exception as error:
            answer = repr(error)
        count += 1
        if answer not in known: print(answer, flush=True)
        known.add(answer)
        time.sleep(0.01)
    print("count", count)

    """

  @Test(.enabled(if: Tool.python), arguments: ["command", "service", "line"])
  func `no request fails while one process takes the place of another`(kind: String) async throws {
    try await withProject { project in
      let port = try freePort()
      try project.write("server.py", Self.server)
      try project.write("version", "v0")
      let ready = kind == "line" ? "ready: { line: 'serving' }," : ""
      try project.write(
        "watchrun.json",
        """
        { tasks: { web: {
          run: "exec python3 server.py", service: true, listen: \(port), \(ready)
          onBusy: "overlap", watch: ["version"]
        } } }
        """)
      let watchrun =
        if kind != "command" { try await project.startTasks() } else {
          try await project.start(
            "--listen", "\(port)", "-o", "overlap", "-w", "version", "--", "python3", "server.py")
        }
      try await watchrun.said("running")
      let client = try ChildProcess(
        ["/usr/bin/env", "python3", "-c", Self.client, String(port)],
        environment: ["PATH": Tool.searchPath], directory: project.root)
      try await eventually("an answer") { client.output.lines == ["v0"] }
      func answer() async throws -> String {
        try await project.shell("curl -s --max-time 20 http://127.0.0.1:\(port)/")
      }
      try await #expect(project.start("--wait").ended() == .exited(0))
      let last = Effort.count(5, quick: 2)
      for number in 1...last {
        try project.place("version", "v\(number)")
        try await #expect(project.start("--wait").ended() == .exited(0))
        try await #expect(answer() == "v\(number)")
        #expect(watchrun.errors.count { $0.contains("the former process stopped") } == number)
      }
      // On a busy machine, another one may take longer to fail than it is on trial.
      if kind == "line" {
        try project.place("version", "bad")
        try await #expect(project.start("--wait").ended() == .exited(1))
        try await watchrun.said("failed with status 1")
        try await watchrun.said("the former process keeps running")
        try await #expect(answer() == "v\(last)")
        let status = try await project.start("--status")
        _ = try await status.ended()
        #expect(status.process.output.lines.contains { $0.contains("failed with status 1") })
      }
      try project.place("version", "v\(last + 1)")
      try await #expect(project.start("--wait").ended() == .exited(0))
      try await #expect(answer() == "v\(last + 1)")
      try project.place("done")
      try await eventually("the end") { client.output.lines.last?.hasPrefix("count") == true }
      #expect(client.output.lines.dropLast() == (0...last + 1).map { "v\($0)" })
      await watchrun.process.stop()
      #expect(throws: SystemError.self) {
        _ = try Connection(to: "127.0.0.1", port: port, within: .seconds(1))
      }
    }
  }

  @Test(.enabled(if: Tool.python))
  func `a page shows that the next process has failed, and what the former one answers`()
    async throws
  {
    try await withProject { project in
      let port = try freePort()
      try project.write("server.py", Self.server)
      try project.write("version", "v0")
      try project.writeTasks(
        """
        web: { run: "exec python3 server.py", service: true, listen: "auto", onBusy: "overlap",
          ready: { line: "serving" }, watch: ["version"] },
        page: { proxy: "web", port: \(port) },
        """)
      let watchrun = try await project.startTasks()
      try await watchrun.said("ready after")
      let request = "curl -s --max-time 5 http://localhost:\(port)/"
      try await #expect(project.shell(request).contains("v0"))
      try project.place("version", "bad")
      try await watchrun.said("the former process keeps running")
      try await #expect(project.shell(request).contains("v0"))
      try await #expect(
        project.shell(request + "__watchrun/").contains("failed"))
      try project.place("version", "v1")
      try await #expect(project.start("--wait").ended() == .exited(0))
      try await #expect(project.shell(request).contains("v1"))
    }
  }

  @Test func `with --output failed, what a former process writes that keeps running is printed`()
    async throws
  {
    try await withProject { project in
      try project.write("version", "up\n")
      try project.writeTasks(
        """
        worker: { run: 'read v < version; echo $v; [ $v = up ] || exit 1; \(Self.untilEnd); echo lost; exit 3',
          service: true, onBusy: "overlap", ready: { line: "up" }, watch: ["version"],
          output: "failed" },
        """)
      let watchrun = try await project.startTasks()
      try await watchrun.said("ready after")
      try project.place("version", "bad\n")
      try await watchrun.said("the former process keeps running")
      try project.place(project.outside + "/end")
      try await watchrun.said("failed with status 3")
      try await eventually("it is printed") {
        watchrun.process.output.lines.prefix(2) == ["bad", "lost"]
      }
    }
  }

  private static let untilEnd = #"until [ -e "$OUTSIDE/end" ]; do sleep 0.1; done"#

  @Test(arguments: [SIGTERM, SIGKILL, SIGINT])
  func `both processes end with watchrun`(signal: Int32) async throws {
    try await withProject { project in
      try project.write("version", "up")
      try project.writeTasks(
        """
        worker: { run: 'echo $$ >> "$LOG"; cat version; while :; do sleep 0.1; done', service: true,
          onBusy: "overlap", ready: { line: "up" }, watch: ["version"] },
        """)
      let watchrun = try await project.startTasks()
      try await watchrun.said("ready after")
      for count in 2...3 {
        try project.place("version", "not yet \(count)")
        try await eventually("another process starts") { project.logged.count == count }
      }
      let pids = project.logged.compactMap { pid_t($0) }
      try await eventually("the second one is stopped") { !ProcessTable.isAlive(pids[1]) }
      #expect(ProcessTable.isAlive(pids[0]) && ProcessTable.isAlive(pids[2]))
      watchrun.process.send(signal)
      try await eventually("nothing is left") { !pids.contains(where: ProcessTable.isAlive) }
    }
  }
}
