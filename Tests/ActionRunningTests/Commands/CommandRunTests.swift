import ActionRunning
import FileObservation
import Synchronization
import SystemCalls
import TestSupport
import Testing

import enum SystemCalls.ExitStatus

struct CommandRunTests {
  @Test func `a run has a status and its output`() async throws {
    let command = Command("sh", "-c", "echo one; echo two >&2; printf three; exit 3")
    let result = try await command.run(output: .kept(upTo: 1000))
    #expect(result.status == .exited(3) && result.ending == .byItself)
    #expect(result.output.text == "one\ntwo\nthree\n" && !result.output.isCut)
  }

  @Test func `the output of a hook is none of the command's`() async throws {
    var policy = RunPolicy()
    policy.onSuccess = Command(shell: "echo hook")
    let result = try await Command(shell: "echo one").run(
      policy: policy, output: .kept(upTo: 1000))
    #expect(result.output.text == "one\n")
  }

  @Test func `standard error is kept apart`() async throws {
    let command = Command(shell: "echo one; echo two >&2; echo three; echo four >&2")
    let result = try await command.run(output: .kept(upTo: 1000), errors: .kept(upTo: 6))
    #expect(result.output.text == "one\nthree\n" && !result.output.isCut)
    #expect(result.errors.text == "two\nfo" && result.errors.isCut)
  }

  @Test(arguments: [true, false])
  func `one of the streams is passed on, and the other inherited`(isError: Bool) async throws {
    let lines = Log<String>()
    let handling = Command.OutputHandling.lines { lines.note(String(decoding: $0, as: UTF8.self)) }
    let command = Command(shell: "echo one; echo two >&2")
    _ =
      isError
      ? try await command.run(output: .inherited, errors: handling)
      : try await command.run(output: handling, errors: .inherited)
    #expect(lines.entries == [isError ? "two" : "one"])
  }

  @Test func `the process is named when it exists`() async throws {
    let processes = Log<Int32>()
    let result = try await Command(shell: "echo $$").run(output: .kept(upTo: 100)) {
      processes.note($0)
    }
    #expect(processes.entries.map { "\($0)\n" } == [result.output.text])
  }

  @Test func `output beyond the limit is read and dropped`() async throws {
    let command = Command(shell: "for n in 1 2 3; do echo 123456789; done")
    let result = try await command.run(output: .kept(upTo: 15))
    #expect(
      result.output.text == "123456789\n12345" && result.output.isCut && result.status.isSuccess)
  }

  @Test func `lines are passed on`() async throws {
    let lines = Log<String>()
    var command = Command(["sh", "-c", #"echo "$A"; echo "$B""#])
    command.environment = ["A": "one", "B": "two"]
    let result = try await command.run(
      output: .lines { lines.note(String(decoding: $0, as: UTF8.self)) })
    #expect(lines.entries == ["one", "two"] && result.output.bytes.isEmpty)
  }

  @Test func `a program that is missing is an error`() async throws {
    await #expect(throws: SystemError.self) { try await Command("/no/such/program").run() }
  }

  @Test func `a run that is cancelled is stopped, with all its processes`() async throws {
    let started = Log<String>()
    let command = Command(shell: "trap 'exit 7' TERM; echo $$; while :; do sleep 1000 & wait; done")
    let task = Task {
      try await command.run(output: .lines { started.note(String(decoding: $0, as: UTF8.self)) })
    }
    #expect(await eventually { !started.entries.isEmpty })
    task.cancel()
    let result = try await task.value
    #expect(result.ending == .stopped && result.status == .exited(7))
    let process = try #require(Int32(started.entries[0]))
    // At most until the process that has adopted them has taken note of their ends.
    #expect(await eventually { kill(-process, 0) == -1 && errno == ESRCH })
  }

  @Test func `a task that is cancelled before the run starts nothing lasting`() async throws {
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await Command("sleep", "1000").run()
    }
    task.cancel()
    #expect(try await task.value.ending == .stopped)
  }

  @Test func `words and variables are as they are given`() async throws {
    let changes = ChangeBatch(
      number: 1, changes: [.init(path: "/p/f", kind: .modified, type: .file)])
    let command = Command("sh", "-c", #"echo "$1" "$2" "${WATCHRUN_REASON-none}""#, "-", "{}", "/_")
    #expect(
      try await command.run(for: changes, output: .kept(upTo: 100)).output.text == "{} /_ none\n")
    var telling = command
    (telling.expandsPlaceholders, telling.describesRun) = (true, true)
    telling.changeDelivery = .environment
    let told = try await telling.run(for: changes, output: .kept(upTo: 100))
    #expect(told.output.text == "/p/f /p/f change\n")
  }

  @Test func `a run for no changes is a run`() async throws {
    let none = ChangeBatch(number: 1, changes: [])
    let result = Log<ExitStatus>()
    let run = Task { result.note(try await Command("true").run(for: none).status) }
    #expect(await eventually { !result.entries.isEmpty })
    run.cancel()
  }
}
