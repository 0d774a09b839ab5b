import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

struct TaskOutputTests {
  @Test
  func
    `output is delivered in whole lines before the end of the run, also the last one without a line feed`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "a", in: directory,
          "printf 'one\\ntw'; sleep 0.1; printf 'o\\n\\n'; echo three >&2; printf end"),
        TaskDefinition("b", in: directory, "true"),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.lines(of: "a") == ["one", "two", "", "three", "end"])
    let positions = tasks.entries.indices.filter {
      if case .output("a", _) = tasks.entries[$0] { true } else { false }
    }
    let end = tasks.entries.firstIndex { if case .ended("a", _, _, _) = $0 { true } else { false } }
    #expect(positions.last ?? .max < end ?? 0)
    #expect(await tasks.end())
  }

  @Test
  func
    `a leftover process with the pipe does not delay the end, and its output is still delivered`()
    async throws
  {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition(
          "a", in: directory,
          "{ until test -e go; do sleep 0.1; done; echo late; exec sleep 1000; } & echo early"),
        TaskDefinition("b", in: directory, "true", after: ["a"]),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.lines(of: "a") == ["early"])
    try tasks.directory.write(to: "go")
    #expect(await eventually { tasks.lines(of: "a") == ["early", "late"] })
    #expect(await tasks.end())
  }

  @Test func `a flood comes through without a loss`() async throws {
    let tasks = try RunningTasks { directory in
      [
        TaskDefinition("a", in: directory, "seq 1 100000"),
        TaskDefinition("b", in: directory, "true"),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.lines(of: "a") == (1...100_000).map(String.init))
    #expect(await tasks.end())
  }

  @Test func `one task writes to our own descriptors`() async throws {
    let tasks = try RunningTasks { directory in
      [TaskDefinition("a", in: directory, "readlink /proc/self/fd/1 > there")]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.lines(of: "a").isEmpty)
    #expect(await tasks.end())
  }

  @Test func `the output of one task is read on request`() async throws {
    var options = TaskRunner.Options()
    options.readsOutput = true
    let tasks = try RunningTasks(options: options) { directory in
      [TaskDefinition("a", in: directory, "echo out; echo err >&2")]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.lines(of: "a") == ["out", "err"])
    #expect(await tasks.end())
  }

  @Test func `a kept task's output is read once there is another task`() async throws {
    let tasks = try RunningTasks { directory in
      [TaskDefinition("a", in: directory, "echo out", watch: ["f"])]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.lines(of: "a").isEmpty)
    let directory = tasks.directory.path
    tasks.runner.replaceGraph(
      try TaskGraph(
        [
          TaskDefinition("a", in: directory, "echo out", watch: ["f"]),
          TaskDefinition("b", in: directory, "true"),
        ], jobs: 2))
    #expect(await tasks.hasRounds(2))
    tasks.change("f")
    #expect(await tasks.hasRounds(3))
    #expect(tasks.lines(of: "a") == ["out"])
    #expect(await tasks.end())
  }
}

struct LineSplitterTests {
  @Test func `bytes are cut at line ends, however they arrive`() {
    var splitter = LineSplitter()
    #expect(splitter.add("ab".utf8).isEmpty)
    #expect(splitter.add("c\nd\n\nx".utf8) == [Array("abc".utf8), Array("d".utf8), []])
    #expect(splitter.finish() == Array("x".utf8))
    #expect(splitter.finish() == nil)
  }

  @Test func `bytes that are no text, and carriage returns, stay as they are`() {
    var splitter = LineSplitter()
    #expect(splitter.add([0xFF, 0x0D, 0x0A, 0x00, 0x0A]) == [[0xFF, 0x0D], [0x00]])
  }

  @Test func `a line without an end is cut into pieces`() {
    var splitter = LineSplitter()
    let long = [UInt8](repeating: 0x61, count: LineSplitter.longest * 2 + 3)
    #expect(splitter.add(long).map(\.count) == [LineSplitter.longest, LineSplitter.longest])
    #expect(splitter.add([0x0A]).map(\.count) == [3])
  }
}
