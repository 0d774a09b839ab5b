import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

/// A queue that is paused, resumed, stopped, and has a build and hooks; with real processes.
struct ActionQueueControlTests {
  private let directory: TemporaryDirectory
  private let reports = Log<TaskReport>()

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func command(_ line: String) -> Command {
    let words = ["sh", "-c", line].map { Array($0.utf8) }
    return Command(words: words, directory: directory.path, inheritsStandardInput: false)
      .describingChanges()
  }

  private func queue(
    _ line: String, _ busyPolicy: BusyPolicy = .queue, build: Command? = nil,
    until completion: CompletionRule = .never, _ change: (inout RunPolicy) -> Void = { _ in }
  ) -> ActionQueue {
    var policy = RunPolicy(busyPolicy: busyPolicy)
    change(&policy)
    return ActionQueue(
      command(line), build: build, policy: policy, options: .init(completion: completion)
    ) { [reports] in reports.note($0) }
  }

  private func logs(_ lines: [String]) async -> Bool {
    await eventually { directory.lines(of: "log") == lines }
  }

  private func hasEnded(_ queue: ActionQueue) async -> Bool {
    queue.end()
    return await eventually {
      if case .runner(.finished) = reports.entries.last { true } else { false }
    }
  }

  private var endings: [TaskReport.Ending] {
    reports.entries.compactMap {
      if case .run(_, .ended(_, _, let ending)) = $0 { ending } else { nil }
    }
  }

  private static let server = "echo $WATCHRUN_REASON $WATCHRUN_COUNT >> log; exec sleep 1000"

  @Test func `while paused only a key starts a run, one for all changes`()
    async throws
  {
    let queue = queue("echo $WATCHRUN_REASON $WATCHRUN_COUNT >> log")
    queue.start()
    #expect(await logs(["start 0"]))
    queue.pause()
    queue.submit(.change("/a"))
    queue.submitKey()
    #expect(await logs(["start 0", "key 1"]))
    queue.submit(.change("/b"))
    queue.submit(.change("/c"))
    queue.resume()
    #expect(await logs(["start 0", "key 1", "change 2"]))
    #expect(await hasEnded(queue))
  }

  @Test func `a stopped command starts again at the next change`() async throws {
    let queue = queue(Self.server) { $0.keepsAlive = true }
    queue.start()
    #expect(await logs(["start 0"]))
    queue.submit(.change("/a"))
    queue.stopCommand()
    #expect(await eventually { endings == [.stopped] })
    // A change before that is one of the stopped run.
    #expect(await eventually { !queue.runner.isBusy })
    queue.submit(.change("/b"))
    #expect(await logs(["start 0", "change 2"]), "it receives the pending changes")
    #expect(await hasEnded(queue))
  }

  @Test func `a key restarts the running command`() async throws {
    let queue = queue(Self.server, .restart)
    queue.start()
    #expect(await logs(["start 0"]))
    queue.pause()
    queue.submitKey()
    #expect(await logs(["start 0", "key 0"]))
    #expect(await hasEnded(queue))
  }

  @Test func `signals go to the command, or to all`() async throws {
    let trap = "trap 'echo $NAME got >> log' USR1; echo $NAME up >> log; "
    let wait = "until test -e go; do sleep 0.1; done"
    let queue = queue(
      "NAME=command; \(trap)while :; do sleep 0.1; done", .restart,
      build: command("test -e second || exit 0; NAME=build; \(trap)\(wait)"))
    queue.start()
    #expect(await logs(["command up"]))
    try directory.write(to: "second")
    queue.submit(.change("/a"))
    #expect(await logs(["command up", "build up"]))
    queue.send(Signal(rawValue: SIGUSR1))
    #expect(await logs(["command up", "build up", "command got"]))
    queue.send(Signal(rawValue: SIGUSR1), toAll: true)
    #expect(await eventually { directory.lines(of: "log").contains("build got") })
    #expect(await hasEnded(queue))
    #expect(endings == [.byItself, .stopped, .stopped])
  }

  @Test(arguments: [CompletionRule.firstRun, .firstSuccess])
  func `the end of a command while its next build runs is not the last one`(
    rule: CompletionRule
  ) async throws {
    let queue = queue(
      "echo up >> log; until test -e go; do sleep 0.1; done", .restart,
      build: command(
        "echo build >> log; test ! -e second || until test -e built; do sleep 0.1; done"),
      until: rule)
    queue.start()
    #expect(await logs(["build", "up"]))
    try directory.write(to: "second")
    queue.submit(.change("/a"))
    #expect(await logs(["build", "up", "build"]))
    try directory.write(to: "go")
    #expect(await eventually { endings.count == 2 })
    try directory.write(to: "built")
    #expect(await logs(["build", "up", "build", "up"]))
    #expect(
      await eventually {
        if case .runner(.finished(.exited(0))) = reports.entries.last { true } else { false }
      })
  }

  @Test func `runs, builds and hooks are reported by their parts`() async throws {
    let queue = queue("exit 3", build: command("true"), until: .firstRun) {
      $0.onFailure = command("echo $WATCHRUN_STATUS >> log")
    }
    queue.start()
    #expect(
      await eventually {
        if case .runner(.finished(.exited(3))) = reports.entries.last { true } else { false }
      })
    let started = reports.entries.compactMap {
      if case .run(let run, .started) = $0 { run } else { nil }
    }
    let names = ActionQueue.taskNames
    #expect(started.map(\.task) == [names.build, names.command, names.command])
    #expect(started.map(\.job) == [.command, .command, .hook])
    #expect(started.map(\.number) == [1, 1, 1])
    #expect(directory.lines(of: "log") == ["3"])
  }

  @Test func `a timeout is reported before the end of the run`() async throws {
    let queue = queue("exec sleep 1000", until: .firstFailure) {
      $0.timeout = .milliseconds(100)
    }
    queue.start()
    #expect(
      await eventually {
        if case .runner(.finished(.signaled(.terminate))) = reports.entries.last {
          true
        } else {
          false
        }
      })
    let story = reports.entries.compactMap { report -> String? in
      switch report {
      case .run(_, .started): "started"
      case .run(_, .timedOut(after: .milliseconds(100))): "timed out"
      case .run(_, .stopping): "stopping"
      case .run(_, .ended): "ended"
      default: nil
      }
    }
    #expect(story == ["started", "timed out", "stopping", "ended"])
    #expect(endings == [.timedOut])
  }

  @Test func `a build that cannot be started has failed`() async throws {
    let queue = queue(
      "echo run >> log", build: Command("watchrun-no-such-program"), until: .firstRun)
    queue.start()
    #expect(
      await eventually {
        if case .runner(.finished(.exited(127))) = reports.entries.last { true } else { false }
      })
    #expect(directory.lines(of: "log").isEmpty)
  }

  @Test func `a build that fails leaves the command alone, and its changes to the next run`()
    async throws
  {
    let queue = queue(
      "echo $WATCHRUN_COUNT >> log; exec sleep 1000", .restart, build: command("! test -e broken"))
    queue.start()
    #expect(await logs(["0"]))
    try directory.write(to: "broken")
    queue.submit(.change("/a"))
    let isKept = await eventually {
      reports.entries.contains {
        if case .task("command", .kept(because: .failed("build"))) = $0 { true } else { false }
      }
    }
    #expect(isKept)
    #expect(await eventually { !queue.runner.isBuilding })
    #expect(endings == [.byItself, .byItself])
    try directory.remove("broken")
    queue.submit(.change("/b"))
    #expect(await logs(["0", "2"]))
    #expect(await hasEnded(queue))
  }

  @Test func `a change during the build starts it again, with all changes`() async throws {
    let queue = queue(
      "echo run $WATCHRUN_COUNT >> log",
      build: command("echo build $WATCHRUN_COUNT >> log; until test -e go; do sleep 0.1; done"))
    // While nothing runs, so that it is known that others edit them.
    queue.submit(.change("/a", "/b"))
    #expect(await logs(["build 2"]))
    queue.submit(.change("/b"))
    #expect(await logs(["build 2", "build 2"]))
    try directory.write(to: "go")
    #expect(await logs(["build 2", "build 2", "run 2"]))
    #expect(await hasEnded(queue))
  }
}

extension TaskRunner {
  /// Whether the build runs, or its changes are being judged.
  fileprivate var isBuilding: Bool {
    queue.sync {
      let isFlushing = state.access { $0.components }.contains(where: \.isFlushing)
      return isFlushing || worker("build")?.state.access { $0.machine.state != .idle } ?? false
    }
  }
}
