import FileObservation
import SystemCalls
import TestSupport

@testable import ActionRunning

import enum SystemCalls.ExitStatus

/// A runner of shell lines in a directory of its own, and its reports.
final class RunningTasks: Sendable {
  let directory: TemporaryDirectory
  let runner: TaskRunner
  private let reports: Log<TaskReport>

  /// - Parameter tasks: Is given the directory's path.
  init(
    jobs: Int = 4, options: TaskRunner.Options = TaskRunner.Options(),
    _ tasks: (Path) -> [TaskDefinition]
  ) throws {
    directory = try TemporaryDirectory()
    let reports = Log<TaskReport>()
    self.reports = reports
    let graph = try TaskGraph(tasks(directory.path), jobs: jobs)
    runner = TaskRunner(graph, options: options) { reports.note($0) }
  }

  var entries: [TaskReport] { reports.entries }

  /// In order: `+a` for a start, `a` for a success, `a!` for a failure, `a~` for what was stopped, `a?b`
  /// for what was skipped because of b, `a?-b` if b is not ready, `a=b` for what was kept, `a*` for ready,
  /// `a-` for late, `a#` for a conflict.
  var story: [String] {
    entries.compactMap { report in
      switch report {
      case .started(let name, _): "+" + name
      case .ended(let name, _, _, .stopped): name + "~"
      case .ended(let name, let status, _, _): status.isSuccess ? name : name + "!"
      case .notStarted(let name, _, _): name + "!"
      case .conflict(let name, _): name + "#"
      case .skipped(let name, .failed(let task)): name + "?" + task
      case .skipped(let name, .notReady(let task)): name + "?-" + task
      case .kept(let name, let because): name + "=" + because.task
      case .ready(let name, _): name + "*"
      case .notReady(let name, _): name + "-"
      case .output, .unfinishedOutput, .detail, .foundLoop, .unsettled, .waiting, .queued, .ignored,
        .unwatched, .idle:
        nil
      case .roundEnded, .finished: nil
      }
    }
  }

  var rounds: [TaskRound] {
    entries.compactMap { if case .roundEnded(let round) = $0 { round } else { nil } }
  }

  func lines(of task: String) -> [String] {
    entries.compactMap { report in
      guard case .output(task, let line) = report else { return nil }
      return String(decoding: line, as: UTF8.self)
    }
  }

  var isFinished: Bool {
    entries.contains { if case .finished = $0 { true } else { false } }
  }

  /// Whether a stopped round has not ended.
  var isStopping: Bool {
    runner.queue.sync {
      runner.state.access { $0.components }.contains { $0.isBusy || $0.rounds.isReading }
    }
  }

  func change(_ names: String...) {
    let changes = names.map {
      ChangeBatch.Change(path: directory[$0], kind: .modified, type: .file)
    }
    runner.submit(ChangeBatch(number: 1, changes: changes))
  }

  func tells(_ story: [String]) async -> Bool {
    await eventually { self.story == story }
  }

  func tells(_ part: String, times: Int = 1) async -> Bool {
    await eventually { self.story.count { $0 == part } >= times }
  }

  func hasRounds(_ count: Int) async -> Bool {
    await eventually { rounds.count >= count }
  }

  func end() async -> Bool {
    runner.end()
    return await eventually { isFinished }
  }

  /// True if no process is left whose id the tasks have noted in the file.
  func isGone(_ name: String) -> Bool {
    !directory.lines(of: name).contains { directory.isHome(of: $0) }
  }
}

extension TaskDefinition {
  /// A task that runs a shell line in the directory, and watches the files named there.
  init(
    _ name: String, in directory: Path, _ line: String, watch: [String] = [], after: [String] = [],
    service: Bool = false, ready: TaskDefinition.Readiness? = nil, policy: BusyPolicy = .queue,
    postponed: Bool = false
  ) {
    let words = ["sh", "-c", line].map { Array($0.utf8) }
    self.init(
      name, Command(words: words, directory: directory, inheritsStandardInput: false),
      triggers: TaskTriggers(watched: watch.map { WatchedPath(directory.appending($0)) }),
      dependencies: after, isService: service, readiness: ready,
      options: ActionQueue.Options(busyPolicy: policy, stopPlan: StopPlan(timeout: .seconds(5))),
      isPostponed: postponed)
  }
}
