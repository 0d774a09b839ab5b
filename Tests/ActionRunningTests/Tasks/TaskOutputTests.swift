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
    let everything = tasks.everything
    let last = everything.lastIndex { entry in
      if case .output(let output) = entry { output.run.task == "a" } else { false }
    }
    let end = everything.firstIndex { entry in
      if case .report(.run(let run, .ended)) = entry { run.task == "a" } else { false }
    }
    #expect(last ?? .max < end ?? 0)
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
        TaskDefinition("a", in: directory, "seq 1 20000"),
        TaskDefinition("b", in: directory, "true"),
      ]
    }
    tasks.runner.start()
    #expect(await tasks.hasRounds(1))
    #expect(tasks.lines(of: "a") == (1...20_000).map(String.init))
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
    options.reading = .always
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
