import Foundation
import SystemCalls
import TestSupport
import Testing

/// The files of `--log`.
@Suite struct LogFileTests {
  /// A line that a run adds at its start.
  private static let start = "── [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} "

  private func expect(_ text: String, _ pattern: String) throws {
    #expect(text.wholeMatch(of: try Regex(pattern)) != nil, "\(text)")
  }

  @Test func `the output of each run is appended without colours, below a line with its time`()
    async throws
  {
    try await withProject { project in
      for _ in 0..<2 {
        let watchrun = try await project.start(
          "--once", "--log", "sub/{task}.log", "--", "sh", "-c", #"printf '\033[31mred\033[m\nb'"#)
        try await #expect(watchrun.ended() == .exited(0))
        #expect(watchrun.process.output.text.hasSuffix("b\n"))
      }
      let run = Self.start + "sh -c .*\nred\nb\n"
      try expect(project.read("sub/sh.log"), run + run)
    }
  }

  @Test func `each task has its file, or all share one, where names are before the lines`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(
        """
        a: { run: 'echo one; echo two >&2' }, bb: { run: 'echo three', after: ['a'] },
        c: { run: 'echo four', after: ['bb'], log: 'c.log' }
        """, "log: 'all.log', output: 'failed'")
      let tasks = try await project.start(["--once", "--timestamps"])
      try await #expect(tasks.ended() == .exited(0))
      let time = "[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}"
      try expect(
        project.read("all.log"),
        "\(Self.start)a: echo one; .*\n\(time) a  [|] one\n\(time) a  [|] two\n"
          + "\(Self.start)bb: echo three\n\(time) bb [|] three\n")
      try expect(project.read("c.log"), "\(Self.start)c: echo four\n\(time) four\n")
    }
  }

  @Test(.enabled(if: Effort.isFull))
  func `a file of 10 MB is renamed, and none starts a run`() async throws {
    try await withProject { project in
      try project.place("go", "10500")
      try project.writeTasks(
        """
        a: { run: "echo run >> $LOG; awk -v n=$(cat go) 'BEGIN { for (i = 0; i < n; i++) printf \\"%01000d\\\\n\\", i }'" },
        """, "log: 'out/{task}.log'")
      let watchrun = try await project.startTasks()
      try await eventually("the run has ended") {
        project.exists("out/a.log.1") && project.read("out/a.log").hasSuffix("10499\n")
      }
      #expect(project.read("out/a.log.1").utf8.count <= 10_000_000)
      #expect(project.read("out/a.log.1").contains("00000\n"))
      // What is removed is made again.
      try FileManager.default.removeItem(atPath: project.path("out/a.log"))
      try project.place("go", "100")
      try await eventually("another run") { project.logged.count >= 2 }
      try await eventually("it has ended") { project.read("out/a.log").hasSuffix("00099\n") }
      let answer = try await project.start("--wait")
      try await answer.ended()
      // On a busy machine, what was written just before the start may lead to one more.
      #expect((2...3).contains(project.logged.count))
      _ = watchrun
    }
  }

  @Test func `the directories that are made for it start nothing`() async throws {
    try await withProject { project in
      for number in 1...4 {
        let log = "out\(number)/logs/{task}.log"
        let watchrun = try await project.startRunning(["--log", log], "sh", "-c", "echo >> $LOG")
        try await project.rests()
        #expect(!watchrun.errors.contains { $0.contains("another run") }, "\(watchrun.errors)")
        await watchrun.process.stop()
      }
    }
  }

  @Test func `a file that cannot be written is refused`() async throws {
    try await withProject { project in
      try project.place("file")
      for path in ["file/x.log", "/dev/null", "."] {
        let watchrun = try await project.start("--once", "--log", path, "true")
        try await #expect(watchrun.ended() == .exited(64))
        #expect(watchrun.errors.first?.contains("cannot write ") == true, "\(watchrun.errors)")
      }
    }
  }

  @Test func `a project that cannot be watched leaves the logs as they are`() async throws {
    try await withProject { project in
      let (base, file) = (project.outside, project.outside + "/watchrun.json")
      func write(_ log: String) throws {
        try project.write(
          file, "{ log: '\(base)/\(log)', tasks: { a: { run: 'echo a', watch: ['\(base)/x'] } } }")
      }
      try write("one.log")
      let watchrun = try await project.start("-v", "--config", file)
      try await watchrun.watching()
      try await eventually("it runs") { project.read(base + "/one.log").hasSuffix("a\n") }
      // Without a current directory, nothing can be watched anew.
      try project.remove(project.root)
      try write("two.log")
      try await watchrun.said("the tasks stay as they were until")
      #expect(!project.exists(base + "/two.log"))
    }
  }

  @Test func `the last lines of a removed task are in its file, and start nothing`() async throws {
    try await withProject { project in
      let service = """
        run: ["sh", "-c", "trap 'until [ -e end ]; do sleep 0.1; done; echo last; exit' TERM; echo begin; while :; do sleep 0.1; done"],
        service: true, watch: ['src'], stopTimeout: '10m'
        """
      try project.makeDirectory("src")
      let tasks = "a: { run: 'echo run >> $LOG', ignore: ['end'] }, "
      func write(_ rest: String) throws {
        try project.writeTasks(tasks + rest, "log: 'out/{task}.log'")
      }
      try write("srv: { \(service) }")
      let watchrun = try await project.startTasks()
      try await eventually("it runs") { project.read("out/srv.log").hasSuffix("begin\n") }
      try write("")
      try await watchrun.said("watchrun.json read again (removed: srv)")
      // It is awaited, as all of the session.
      let answer = try await project.start(["--wait=100ms"])
      try await #expect(answer.ended() == .exited(124))
      // The same name, and another file.
      try write(
        "srv: { run: 'echo other; exec sleep 1000', service: true, watch: ['src'], log: 'out/other.log' }"
      )
      try await watchrun.said("watchrun.json read again (new: srv)")
      try project.place("end")
      try await eventually("the other one runs") {
        project.read("out/other.log").hasSuffix("other\n")
      }
      let start = "── .*\n"
      try expect(project.read("out/srv.log"), "\(start)begin\n(Terminated\n)?last\n")
      try expect(project.read("out/other.log"), "\(start)other\n")
      let all = try await project.start("--wait")
      try await #expect(all.ended() == .exited(0))
      #expect(project.logged == ["run"], "\(watchrun.errors)")
    }
  }
}
