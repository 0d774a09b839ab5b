import SystemCalls
import TestSupport
import Testing

/// Commands that are hard to stop. Their processes are counted in `/proc`.
@Suite struct ProcessTests {
  /// A command that is hard to stop, and its number of processes.
  struct Difficult: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let line: String
    let count: Int

    static let all = [
      Difficult(
        testDescription: "ignores the stop signal",
        line: #"trap "" TERM; echo up >> "$LOG"; while :; do sleep 0.1; done"#, count: 1),
      Difficult(
        testDescription: "forks and exits", line: #"sleep 1000 & sleep 1000 & echo up >> "$LOG""#,
        count: 2),
      Difficult(
        testDescription: "forks twice, and the middle exits",
        line: #"(sleep 1000 & sleep 1000 &) ; echo up >> "$LOG"; sleep 1000"#, count: 3),
      Difficult(
        testDescription: "leaves behind what ignores the stop signal",
        line: #"(trap "" TERM; while :; do sleep 0.1; done) & echo up >> "$LOG""#, count: 1),
      Difficult(
        testDescription: "stops itself", line: #"echo up >> "$LOG"; kill -STOP $$; sleep 1000"#,
        count: 1),
      Difficult(
        testDescription: "has stopped what it started",
        line: #"sleep 1000 & kill -STOP $!; echo up >> "$LOG"; wait"#, count: 2),
      Difficult(
        testDescription: "writes forever",
        line: #"echo up >> "$LOG"; while :; do echo more; sleep 0.001; done"#, count: 1),
    ]
  }

  @Test(arguments: Difficult.all)
  func `all processes are gone after a restart and at the end`(_ command: Difficult) async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-r", "--stop-timeout", "200ms"], command.line)
      var earlier: Set<pid_t> = []
      for number in 1...3 {
        try await project.logged("up", times: number)
        // A process that is between fork and exec counts twice, or not at all.
        try await eventually("\(command.count) processes") {
          project.commandProcesses.count >= command.count
        }
        let present = Set(project.commandProcesses)
        #expect(
          earlier.isDisjoint(with: present), "the previous run is gone before the next begins")
        earlier.formUnion(present)
        try project.place("file-\(number)")
      }
      try await project.logged("up", times: 4)
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(project.commandProcesses.isEmpty)
    }
  }

  @Test func `many short runs leave no zombie and no descriptor`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("-v", "-d", "0", "--", "/bin/true")
      try await watchrun.watching()
      let pid = watchrun.process.pid
      func runs(until count: Int) async throws {
        var seen = watchrun.process.errors.lines(from: 0)
        var runs = seen.lines.count { $0.isEnd }
        while runs < count {
          // A change after each run would be taken for what the runs cause.
          try await project.start("--send", "run").ended()
          try await eventually("a run ends") {
            seen = watchrun.process.errors.lines(from: seen.next)
            let new = seen.lines.count { $0.isEnd }
            runs += new
            return new > 0
          }
        }
      }
      try await runs(until: 20)
      let descriptors = ProcessTable.descriptors(of: pid).count
      try await runs(until: Effort.count(500, quick: 50))
      try await eventually("no child is left") {
        ProcessTable.zombies(of: pid).isEmpty && project.commandProcesses.isEmpty
      }
      // Dispatch opens one descriptor for its timers, with the first timer.
      try await eventually("no descriptor is left") {
        ProcessTable.descriptors(of: pid).count <= descriptors + 1
      }
    }
  }

  @Test func `runs with build, hook and timeout leave nothing either`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        [
          "-r", "--build", "true", "--on-failure", "sleep 0.01; false", "--keep-alive", "--timeout",
          "50ms",
        ], #"echo run >> "$LOG"; sleep 1000 & sleep 0.0$(($$ % 10)); [ -e long ] && wait"#)
      let pid = watchrun.process.pid
      try await eventually("some runs") { project.logged.count >= 3 }
      let descriptors = ProcessTable.descriptors(of: pid).count
      for number in 1...Effort.count(100, quick: 25) {
        try project.place(number % 2 == 0 ? "long" : "other-\(number)")
        if number % 7 == 0 { try? project.remove("long") }
        try await Task.sleep(for: .milliseconds(number % 9 * 10))
      }
      try await eventually("no child is left over") {
        ProcessTable.zombies(of: pid).isEmpty
          && ProcessTable.descriptors(of: pid).count <= descriptors + 4
      }
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
      #expect(project.commandProcesses.isEmpty)
    }
  }

  @Test func `ten children that are killed at once are all reaped`() async throws {
    try await withProject { project in
      let watchrun = try await project.startRunning(
        ["-r"], #"for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1000 & done; echo up >> "$LOG"; wait"#)
      try await eventually("eleven processes") { project.commandProcesses.count == 11 }
      for pid in project.commandProcesses { kill(pid, SIGKILL) }
      try await watchrun.said("killed by SIGKILL")
      try await eventually("nobody is left") {
        project.commandProcesses.isEmpty && ProcessTable.zombies(of: watchrun.process.pid).isEmpty
      }
      try project.place("file")
      try await project.logged("up", times: 2)
    }
  }
}

extension [UInt8] {
  /// Whether the line reports the end of a run.
  fileprivate var isEnd: Bool {
    String(decoding: self, as: UTF8.self).contains(": succeeded in ")
  }
}
