import SystemCalls
import TestSupport
import Testing

/// Sockets that watchrun holds for a command or a service.
@Suite(.enabled(if: Tool.python)) struct ListenTests {
  /// Answers with the text of `version`, and ends what it has accepted before it is stopped.
  private static let server = """
    import os, select, signal, socket
    s, over, version = socket.socket(fileno=3), [], open("version").read()
    assert os.environ["LISTEN_FDS"] == "1" and int(os.environ["LISTEN_PID"]) == os.getpid()
    assert s.getsockname()[1] == int(os.environ["PORT"]) and s.getblocking()
    signal.signal(signal.SIGTERM, lambda *_: over.append(1))
    while not over:
        if select.select([s], [], [], 0.02)[0] and not over:
            c = s.accept()[0]
            c.recv(4096)
            c.sendall(version.encode())
            c.close()
    # Some programs leave it so.
    s.setblocking(False)

    """

  /// Makes one connection after the other until the file `done` exists, and reports other outcomes than an answer.
  private static let client = """
    import os, socket, sys
    count, last = 0, ""
    while not os.path.exists("done"):
        try:
            with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20) as c:
                c.sendall(b"?")
                answer = c.recv(100).decode().strip()
        except OSError as error:
            answer = repr(error)
        count += 1
        if answer != last: print(answer, flush=True)
        last = answer
    print("count", count)

    """

  private func startClient(_ project: Project, port: UInt16) throws -> ChildProcess {
    try ChildProcess(
      ["/usr/bin/env", "python3", "-c", Self.client, String(port)],
      environment: ["PATH": Tool.searchPath], directory: project.root)
  }

  @Test(arguments: ["command", "service"])
  func `no request is refused during restarts`(kind: String) async throws {
    try await withProject { project in
      let port = try freePort()
      try project.write("server.py", Self.server)
      try project.write("version", "0")
      try project.write(
        "watchrun.json",
        """
        { tasks: { web: {
          run: "python3 server.py", service: true, listen: \(port), watch: ["version"]
        } } }
        """)
      let watchrun =
        if kind == "service" { try await project.startTasks() } else {
          try await project.start(
            "--listen", "\(port)", "-w", "version", "--", "python3", "server.py")
        }
      // It listens before the server does.
      try await watchrun.said("running python3 server.py")
      let client = try startClient(project, port: port)
      let versions = (0...Effort.count(10, quick: 3)).map(String.init)
      for version in versions {
        if version != "0" { try project.place("version", version) }
        try await eventually("the answer \(version)") { client.output.lines.last == version }
        if kind == "service" {
          try await eventually("it is ready") {
            watchrun.errors.count { $0.contains("ready after") } == Int(version)! + 1
          }
        }
      }
      try project.place("done")
      try await eventually("the end") { client.output.lines.last?.hasPrefix("count") == true }
      #expect(client.output.lines.dropLast() == versions)
      await watchrun.process.stop()
      #expect(throws: SystemError.self) {
        _ = try Connection(to: "127.0.0.1", port: port, within: .seconds(1))
      }
    }
  }

  @Test func `a service is not ready before it accepts connections, whoever waits for that`()
    async throws
  {
    try await withProject { project in
      try project.write("version", "0")
      try project.write("server.py", Self.server)
      try project.writeTasks(
        """
        web: { run: "until [ -e go ]; do sleep 0.1; done; exec python3 server.py", service: true,
          listen: "auto", watch: ["none"] },
        smoke: { run: "echo smoke $WEB_PORT >> $LOG", after: ["web"] },
        """)
      let watchrun = try await project.startTasks()
      let text = try await watchrun.said("web: port ").split(separator: " ").last ?? ""
      let port = try #require(UInt16(text))
      try await watchrun.said("web: running")
      let client = try startClient(project, port: port)
      try await Task.sleep(for: .milliseconds(300))
      #expect(project.logged.isEmpty)
      #expect(!watchrun.errors.contains { $0.contains("ready") })
      try project.place("go")
      try await project.logged("smoke \(port)")
      try await eventually("an answer") { client.output.lines == ["0"] }
      try project.place("done")
    }
  }

  @Test func `a page says that its service has failed, and shows the one that is mended`()
    async throws
  {
    try await withProject { project in
      let port = try freePort()
      try project.write("version", "HTTP/1.0 200 OK\r\n\r\nanswer")
      try project.write("server.py", Self.server)
      try project.writeTasks(
        """
        web: { run: "python3 server.py", service: true, listen: "auto", restartLimit: 0 },
        page: { proxy: "web", port: \(port) },
        """)
      let watchrun = try await project.startTasks()
      try await watchrun.said("ready after")
      let request = "curl -s --max-time 5 http://localhost:\(port)/"
      try await #expect(project.shell(request).contains("answer"))
      try project.place("server.py", "import time; time.sleep(0.5); nonsense\n")
      try await watchrun.said("running python3 server.py (server.py changed)")
      // The first request waits for the server that fails, and the second one is made later.
      try await #expect(project.shell(request).contains("The server does not respond"))
      try await watchrun.said("not restarted: it has ended")
      try await #expect(project.shell(request).contains("The server does not respond"))
      try project.place("server.py", Self.server)
      try await eventually("it is started again") {
        watchrun.errors.count { $0.contains("running python3 server.py (server.py changed)") } == 2
      }
      try await #expect(project.shell(request).contains("answer"))
    }
  }

  @Test func `the process that has the port is named, and the status is that of a failure`()
    async throws
  {
    try await withProject { project in
      let port = try freePort()
      let other = try await project.start("--listen", "\(port)", "sleep", "1000")
      try await other.said("running sleep 1000")
      let watchrun = try await project.start("--listen", "\(port)", "true")
      try await #expect(watchrun.ended() == .exited(70))
      #expect(
        watchrun.errors == [
          "watchrun: cannot listen for true: port \(port) is in use by watchrun (pid \(other.process.pid)); "
            + "stop that process, or choose another port"
        ])
    }
  }

  @Test func `another address in the project file is taken at once`() async throws {
    try await withProject { project in
      let (port, next) = (try freePort(), try freePort())
      try project.write("version", "0")
      try project.write("server.py", Self.server)
      func tasks(_ port: UInt16) -> String {
        "{ tasks: { web: { run: 'python3 server.py', service: true, listen: \(port), watch: ['version'] } } }"
      }
      try project.write("watchrun.json", tasks(port))
      let watchrun = try await project.startTasks()
      try await watchrun.said("ready after")
      try project.place("watchrun.json", tasks(next))
      try await eventually("it is ready again") {
        watchrun.errors.count { $0.contains("ready after") } == 2
      }
      let client = try startClient(project, port: next)
      try await eventually("an answer") { client.output.lines == ["0"] }
      try await eventually("the former port is free") {
        (try? PassedSocket(at: "127.0.0.1", port: port)) != nil
      }
      try project.place("done")
    }
  }
}
