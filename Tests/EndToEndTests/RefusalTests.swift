import SystemCalls
import TestSupport
import Testing

import enum SystemCalls.ExitStatus

/// System calls that the system refuses, as profiles of container engines and sandboxes do, and limits.
@Suite struct RefusalTests {
  /// Installs a seccomp filter under which one call fails with an error, and executes a program.
  private static let refuse = #"""
    import ctypes, os, struct, sys
    number, error = int(sys.argv[1]), int(sys.argv[2])
    def op(code, yes, no, value): return struct.pack("HBBI", code, yes, no, value)
    code = (op(0x20, 0, 0, 0) + op(0x15, 0, 1, number) + op(6, 0, 0, 0x50000 | error)
            + op(6, 0, 0, 0x7fff0000))
    text = ctypes.create_string_buffer(code, len(code))
    class Filter(ctypes.Structure):
      _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_void_p)]
    filter = Filter(len(code) // 8, ctypes.addressof(text))
    words = [word.encode() for word in sys.argv[3:]]
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(filter), 0, 0): sys.exit(99)
    libc.execv(words[0], (ctypes.c_char_p * (len(words) + 1))(*words, None))
    sys.exit(98)
    """#

  /// The numbers of calls on x86-64, and the words with which messages name them; `nil` where something else
  /// takes the place of the call.
  private static let calls: [(name: String, number: Int, message: String?)] = [
    ("vfork", 58, nil), ("pidfd_open", 434, nil), ("prctl", 157, nil), ("statx", 332, nil),
    ("close_range", 436, nil), ("getrandom", 318, nil), ("socket", 41, nil), ("openat2", 437, nil),
    ("sched_yield", 24, nil), ("madvise", 28, nil), ("statfs", 137, nil),
    ("clone", 56, "cannot start the guardian process"),
    ("pipe2", 293, "cannot start the guardian process"),
    ("inotify_init1", 294, "(inotify_init1); polling instead"),
    ("inotify_add_watch", 254, "(inotify_add_watch); polling instead"),
    ("epoll_create1", 291, "(epoll_create1)"), ("epoll_ctl", 233, "(epoll_ctl)"),
    ("epoll_wait", 232, "(epoll_wait)"), ("eventfd2", 290, "(eventfd)"),
    ("timerfd_create", 283, "(timerfd_create)"), ("timerfd_settime", 286, "(timerfd_settime)"),
    ("signalfd4", 289, "(signalfd)"), ("clone3", 435, "(pthread_create)"),
  ]

  /// Each call with both errors, or one in three with one of them. Only of `clone3` they lead to different results.
  private static let refusals: [(String, Int32)] = calls.enumerated().flatMap { index, call in
    let errors = [EPERM, ENOSYS]
    if Effort.isFull || call.name == "clone3" { return errors.map { (call.name, $0) } }
    return index % 3 == 0 ? [(call.name, errors[index % 2])] : []
  }

  private static let mayFilter =
    Tool.python && Tool.succeeds("sh", "-c", "test $(uname -m) = x86_64")
    && Tool.succeeds("python3", "-c", refuse, "58", "1", "/bin/true")

  @Test(.enabled(if: mayFilter), arguments: refusals)
  func `a refused call is replaced by another one, or named in a message`(
    _ name: String, _ error: Int32
  ) async throws {
    let call = try #require(Self.calls.first { $0.name == name })
    try await withProject { project in
      let watchrun = try await project.start(
        ["-q", #"echo run >> "$LOG""#],
        prefix: ["python3", "-c", Self.refuse, "\(call.number)", "\(error)"])
      try await eventually("a run, or the end") {
        !project.logged.isEmpty || watchrun.process.exitStatus != nil
      }
      // Instead of `clone3` the C library uses `clone` if the kernel does not know it.
      let message = name == "clone3" && error == ENOSYS ? nil : call.message
      if let message { try await watchrun.said(message) }
      if project.logged.isEmpty {
        try await #expect(watchrun.ended() == .exited(70))
        #expect(watchrun.errors.count == 1)
        return
      }
      // When it is being watched is not said.
      try await eventually("a second run") {
        try project.place("file")
        return project.logged.count >= 2
      }
      #expect(watchrun.errors.count == (message == nil ? 0 : 1), "\(watchrun.errors)")
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(project.commandProcesses.isEmpty)
    }
  }

  @Test(.enabled(if: mayFilter))
  func `runs are stopped and reaped where the kernel gives no descriptors for processes`()
    async throws
  {
    try await withProject { project in
      let watchrun = try await project.start(
        ["-v", "-r", #"echo $$ >> "$LOG"; exec sleep 1000"#],
        prefix: ["python3", "-c", Self.refuse, "434", "\(EPERM)"])
      try await watchrun.watching()
      for number in 1...4 {
        try await eventually("run \(number)") { project.logged.count == number }
        try project.place("file-\(number)")
      }
      try await eventually("the last run") { project.logged.count == 5 }
      let alive = project.logged.compactMap { pid_t($0) }.map(ProcessTable.isAlive)
      #expect(alive == [false, false, false, false, true])
      #expect(ProcessTable.zombies(of: watchrun.process.pid).isEmpty)
    }
  }

  @Test(arguments: Effort.rows([5, 20, 4, 6, 10], quick: 2))
  func `too few descriptors end watchrun with one line and status 70`(_ limit: Int) async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["--once", "true"],
        prefix: ["/bin/sh", "-c", #"ulimit -n "$0"; exec "$@""#, "\(limit)"])
      try await #expect(watchrun.ended() == .exited(70))
      #expect(watchrun.errors.count == 1)
      #expect(watchrun.errors.first?.contains("ulimit -n") == true)
    }
  }

  @Test(
    .enabled(if: geteuid() == 0 && Tool.bash), arguments: Effort.rows([1, 4, 2], quick: 2))
  func `too few threads end watchrun with one line and status 70`(_ limit: Int) async throws {
    try await withProject { project in
      try File.setMode(0o777, of: Path(project.root))
      let watchrun = try await project.start(
        ["--once", "true"],
        prefix: [
          "setpriv", "--reuid", "54321", "--clear-groups", "bash", "-c",
          #"ulimit -u "$0"; exec "$@""#, "\(limit)",
        ])
      try await #expect(watchrun.ended() == .exited(70))
      #expect(watchrun.errors.count == 1)
      #expect(watchrun.errors.first?.contains("ulimit -u") == true)
    }
  }
}
