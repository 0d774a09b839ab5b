import SystemCalls
import TestSupport
import Testing

/// The processes of the command, and the environment they start in.
@Suite struct SupervisionTests {
  @Test func `the stop signal can be chosen`() async throws {
    try await withProject { project in
      _ = try await project.startRunning(
        ["-r", "--stop-signal", "INT"],
        #"""
        trap 'echo int >> "$LOG"; exit' INT; trap 'echo term >> "$LOG"; exit' TERM
        echo run >> "$LOG"; while :; do sleep 0.1; done
        """#)
      try project.place("file")
      try await project.logged("run", times: 2)
      #expect(project.logged == ["run", "int", "run"])
    }
  }

  @Test(.enabled(if: Tool.python))
  func `a server is restarted only after its port is free`() async throws {
    try await withProject { project in
      try project.write(
        project.outside + "/server.py",
        """
        import os, signal, socket, sys, time
        log = open(os.environ["LOG"], "a", buffering=1)
        server = socket.socket()
        port = int(os.environ["PORT"])
        try:
            server.bind(("127.0.0.1", port))
        except OSError as error:
            print(error.strerror, file=log)
            sys.exit(1)
        server.listen()
        def stop(*_):
            time.sleep(0.3)
            os._exit(0)
        signal.signal(signal.SIGTERM, stop)
        print("serving", file=log)
        while True:
            signal.pause()

        """)
      _ = try await project.startRunning(
        ["-r", "-E", "PORT=\(try freePort())"],
        #"sh -c 'python3 "$OUTSIDE/server.py"; true'; true"#)
      for number in 1...5 {
        try await project.logged("serving", times: number)
        try project.place("file-\(number)")
      }
      try await project.logged("serving", times: 6)
      #expect(!project.logged.contains("Address already in use"))
    }
  }

  @Test func `the command has no blocked and no ignored signals`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "-q", "--once", "--shell", "none", "--", "grep", "-E", "^Sig(Blk|Ign)",
        "/proc/self/status")
      try await watchrun.ended()
      #expect(watchrun.process.output.lines.map(Self.signals) == [0, 0])
    }
  }

  @Test func `the command ignores the signals that watchrun was started to ignore`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["-q", "--once", "grep", "-E", "^SigIgn", "/proc/self/status"],
        prefix: ["/bin/sh", "-c", #"trap "" HUP USR1; exec "$@""#, "sh"])
      try await watchrun.ended()
      let ignored: UInt64 = 1 << (SIGHUP - 1) | 1 << (SIGUSR1 - 1)
      #expect(watchrun.process.output.lines.map(Self.signals) == [ignored])
    }
  }

  /// The signals of a line such as `SigIgn: 0000000180000001`, without 32 and 33, which belong to the C
  /// library.
  private static func signals(in line: String) -> UInt64? {
    let digits = line.split(separator: "\t").last ?? ""
    return UInt64(digits, radix: 16).map { $0 & 0x7FFF_FFFF }
  }

  @Test func `a command without a shell can be stopped`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "-v", "-r", "--stop-timeout", "1h", "--shell", "none", "--", "/bin/sleep", "1000")
      try await watchrun.watching()
      try project.place("file")
      try await watchrun.said("stopped after")
    }
  }

  @Test func `the command has only the standard descriptors`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("-q", "--once", "--", "ls", "/proc/self/fd")
      try await watchrun.ended()
      // The last one is the directory that ls reads.
      #expect(watchrun.process.output.lines == ["0", "1", "2", "3"])
    }
  }

  @Test(arguments: ChildProcess.Input.allCases)
  func `any kind of standard input works`(_ input: ChildProcess.Input) async throws {
    try await withProject { project in
      let watchrun = try await project.start(["-v", Project.record], input: input)
      try await watchrun.watching()
      try await project.logged("start ")
      for number in 1...2 {
        try project.place("file-\(number)")
        try await eventually("a run") { project.recordedRuns.count == number }
      }
      #expect(project.recordedRuns == [["file-1"], ["file-2"]])
      #expect(watchrun.process.exitStatus == nil)
    }
  }
}
