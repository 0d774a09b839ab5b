import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// The output of runs, read by the queue.
struct ActionQueueOutputTests {
  private let directory: TemporaryDirectory
  private let reports = Log<TaskReport>()
  /// Starts and ends of runs, and lines of output, in order.
  private let story = Log<String>()

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func line(_ line: String) -> Command {
    Command(
      words: ["sh", "-c", line].map { Array($0.utf8) }, directory: directory.path,
      inheritsStandardInput: false)
  }

  private var isFinished: Bool {
    reports.entries.contains { if case .runner(.finished) = $0 { true } else { false } }
  }

  /// A queue whose output is read, if `isRead`.
  private func queue(
    _ command: Command, build: Command? = nil, policy: RunPolicy = RunPolicy(),
    until completion: CompletionRule = .never, isRead: Bool = true
  ) -> ActionQueue {
    let (reports, story) = (reports, story)
    let output: TaskOutput.Sink = { output in
      story.note(output.run.name + ": " + String(decoding: output.line, as: UTF8.self))
    }
    return ActionQueue(
      command, build: build, policy: policy, options: .init(completion: completion),
      output: isRead ? output : nil
    ) { report in
      switch report {
      case .run(let run, .started): story.note("+" + run.name)
      case .run(let run, .ended): story.note("-" + run.name)
      case .run(let run, .notStarted): story.note("!" + run.name)
      default: break
      }
      reports.note(report)
    }
  }

  /// Runs a shell line once. What was reported of that, in words.
  private func story(
    _ text: String, build: Command? = nil, onSuccess: Command? = nil, isRead: Bool = true
  ) async -> [String] {
    var policy = RunPolicy()
    policy.onSuccess = onSuccess
    queue(line(text), build: build, policy: policy, until: .firstRun, isRead: isRead).start()
    #expect(await eventually { isFinished })
    return story.entries
  }

  @Test
  func `lines of both streams are delivered before the end, the last one without its end too`()
    async
  {
    let story = await story("echo one; echo two >&2; printf three")
    #expect(story == ["+command", "command: one", "command: two", "command: three", "-command"])
  }

  @Test func `the build and the hook are read as well, each as its run`() async {
    let story = await story(
      "echo command", build: line("echo build"), onSuccess: line("echo hook"))
    #expect(
      story == [
        "+build", "build: build", "-build", "+command", "command: command", "-command",
        "+command hook", "command hook: hook", "-command hook",
      ])
  }

  @Test func `a command that a change restarts is read while it runs`() async {
    let queue = queue(line("echo up; exec sleep 1000"), policy: .init(busyPolicy: .restart))
    queue.start()
    #expect(await eventually { story.entries == ["+command", "command: up"] })
    queue.end()
    #expect(await eventually { isFinished })
  }

  @Test func `without a sink a command has our own descriptors`() async throws {
    let story = await story("readlink /proc/self/fd/2 > there", isRead: false)
    #expect(story == ["+command", "-command"])
    #expect(directory.lines(of: "there") == [pathOfStandardError])
  }

  private var pathOfStandardError: String? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/fd/2", &buffer, buffer.count)
    return count < 0 ? nil : String(decoding: buffer[..<count].map(UInt8.init), as: UTF8.self)
  }

  @Test func `a command that takes the terminal writes to our own descriptors`() async throws {
    var command = line("readlink /proc/self/fd/2 > there")
    command.takesTerminal = true
    queue(command, until: .firstRun).start()
    #expect(await eventually { isFinished })
    #expect(directory.lines(of: "there") == [pathOfStandardError])
  }

  @Test func `a missing program leaks nothing`() async {
    let queue = queue(Command("/no/such/program"))
    queue.start()
    #expect(await eventually { story.entries == ["+command", "!command"] })
    let runner = queue.runner
    #expect(
      runner.queue.sync {
        runner.worker(ActionQueue.taskNames.command)?.state.access { $0.processes.isEmpty } ?? false
      })
    queue.end()
    #expect(await eventually { isFinished })
  }

  @Test func `a process that outlives the run is heard still`() async throws {
    let waiting = "setsid sh -c 'until test -e go; do sleep 0.1; done; echo late' & echo early"
    let queue = queue(line(waiting))
    queue.start()
    #expect(await eventually { story.entries.last == "-command" })
    try directory.write(to: "go")
    #expect(await eventually { story.entries.last == "command: late" })
    queue.end()
    #expect(await eventually { isFinished })
  }
}

extension TaskReport.Run {
  /// The task, with the part of it that is not its command.
  fileprivate var name: String { job == .command ? task : task + " " + job.rawValue }
}
