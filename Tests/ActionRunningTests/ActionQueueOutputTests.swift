import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// The output of runs, read by the queue.
struct ActionQueueOutputTests {
  private let directory: TemporaryDirectory
  private let reports = Log<RunReport>()

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func line(_ line: String) -> Command {
    Command(
      words: ["sh", "-c", line].map { Array($0.utf8) }, directory: directory.path,
      inheritsStandardInput: false)
  }

  /// Runs a shell line once. The reports of that, as words.
  private func story(
    _ text: String, _ change: (inout ActionQueue.Options) -> Void = { _ in }
  ) async -> [String] {
    var options = ActionQueue.Options(completion: .firstRun)
    change(&options)
    let reports = reports
    let queue = ActionQueue(line(text), options: options) { reports.note($0) }
    queue.submit(RunTrigger(.start))
    let isOver = await eventually {
      reports.entries.contains { if case .finished = $0 { true } else { false } }
    }
    #expect(isOver)
    return reports.entries.compactMap { report in
      switch report {
      case .started(let run): "+\(run.job.rawValue)"
      case .output(let run, let line):
        "\(run.job.rawValue): \(String(decoding: line, as: UTF8.self))"
      case .ended(let run, _, _, _): "-\(run.job.rawValue)"
      case .notStarted(let run, _, _): "!\(run.job.rawValue)"
      default: nil
      }
    }
  }

  @Test func `lines of both streams are reported before the end, the last one without its end too`()
    async
  {
    let story = await story("echo one; echo two >&2; printf three") { $0.readsOutput = true }
    #expect(story == ["+command", "command: one", "command: two", "command: three", "-command"])
  }

  @Test func `the build and the hook are read as well, each by its job`() async {
    let story = await story("echo command") {
      $0.readsOutput = true
      $0.build = line("echo build")
      $0.onSuccess = line("echo hook")
    }
    #expect(
      story == [
        "+build", "build: build", "-build", "+command", "command: command", "-command", "+hook",
        "hook: hook", "-hook",
      ])
  }

  @Test func `without the option a command has our own descriptors`() async throws {
    let story = await story("readlink /proc/self/fd/2 > there")
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
    var options = ActionQueue.Options(completion: .firstRun)
    options.readsOutput = true
    let reports = reports
    let queue = ActionQueue(command, options: options) { reports.note($0) }
    queue.submit(RunTrigger(.start))
    #expect(
      await eventually {
        reports.entries.contains { if case .finished = $0 { true } else { false } }
      })
    #expect(directory.lines(of: "there") == [pathOfStandardError])
  }

  @Test func `a missing program leaks nothing`() async {
    let reports = reports
    var options = ActionQueue.Options(completion: .firstRun)
    options.readsOutput = true
    let queue = ActionQueue(Command("/no/such/program"), options: options) { reports.note($0) }
    queue.submit(RunTrigger(.start))
    #expect(
      await eventually {
        reports.entries.contains { if case .finished = $0 { true } else { false } }
      })
    #expect(queue.queue.sync { queue.state.access { $0.readers.isEmpty } })
  }

  @Test func `a process that outlives the run is heard still`() async throws {
    let reports = reports
    var options = ActionQueue.Options()
    options.readsOutput = true
    let waiting = "setsid sh -c 'until test -e go; do sleep 0.05; done; echo late' & echo early"
    let queue = ActionQueue(line(waiting), options: options) { reports.note($0) }
    queue.submit(RunTrigger(.start))
    #expect(
      await eventually {
        reports.entries.contains { if case .ended = $0 { true } else { false } }
      })
    try directory.write(to: "go")
    #expect(
      await eventually {
        reports.entries.contains {
          if case .output(_, let line) = $0 { line == Array("late".utf8) } else { false }
        }
      })
    queue.end()
    #expect(
      await eventually {
        reports.entries.contains { if case .finished = $0 { true } else { false } }
      })
  }
}
