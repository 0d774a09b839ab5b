import FileObservation
import SystemCalls
import TestSupport

@testable import ActionRunning

import enum SystemCalls.ExitStatus

/// A runner of shell lines in a directory of its own, with its reports and the output of its tasks.
final class RunningTasks: Sendable {
  /// A report, or a line of output, in the order of their delivery.
  enum Entry: Sendable {
    case report(TaskReport)
    case output(TaskOutput)
  }

  let directory: TemporaryDirectory
  let runner: TaskRunner
  private let log: Log<Entry>

  /// - Parameter tasks: Is given the directory's path.
  init(
    jobs: Int = 4, options: TaskRunner.Options = TaskRunner.Options(),
    source: (any ChangeSource)? = nil, _ tasks: (Path) -> [TaskDefinition]
  ) throws {
    directory = try TemporaryDirectory()
    let log = Log<Entry>()
    self.log = log
    let graph = try TaskGraph(tasks(directory.path), jobs: jobs)
    runner = TaskRunner(graph, options: options, source: source) {
      log.note(.output($0))
    } report: {
      log.note(.report($0))
    }
  }

  /// The reports and the output.
  var everything: [Entry] { log.entries }

  var entries: [TaskReport] {
    log.entries.compactMap { if case .report(let report) = $0 { report } else { nil } }
  }

  /// In order: `+a` for a start, `a` for a success, `a!` for a failure, `a~` for what was stopped, `a?b`
  /// for what was skipped because of b, `a?-b` if b is not ready, `a=b` for what was kept, `a*` for ready,
  /// `a-` for late, `a#` for a conflict.
  var story: [String] {
    entries.compactMap { report in
      switch report {
      case .run(let run, .started): "+" + run.task
      case .run(let run, .ended(_, _, .stopped)): run.task + "~"
      case .run(let run, .ended(let status, _, _)): status.isSuccess ? run.task : run.task + "!"
      case .run(let run, .notStarted): run.task + "!"
      case .task(let name, .conflict): name + "#"
      case .task(let name, .skipped(.failed(let task))): name + "?" + task
      case .task(let name, .skipped(.notReady(let task))): name + "?-" + task
      case .task(let name, .kept(let because)): name + "=" + because.task
      case .task(let name, .ready): name + "*"
      case .task(let name, .notReady): name + "-"
      default: nil
      }
    }
  }

  /// The runs of a task's command that have begun.
  func runs(of task: String) -> [TaskReport.Run] {
    entries.compactMap { report in
      guard case .run(let run, .started) = report, run.task == task, run.job == .command else {
        return nil
      }
      return run
    }
  }

  /// How the hooks have ended, in order.
  var hookEndings: [TaskReport.Ending] {
    entries.compactMap { report in
      guard case .run(let run, .ended(_, _, let ending)) = report, run.job != .command else {
        return nil
      }
      return ending
    }
  }

  /// The names of the files whose changes were reported as ignored.
  var ignored: [String] {
    entries.flatMap { report -> [String] in
      guard case .task(_, .ignored(let trigger)) = report else { return [] }
      return trigger.changes.compactMap(\.path.name)
    }
  }

  /// The changes that were reported as owed by a stop.
  var owed: [RunTrigger] {
    entries.compactMap { if case .changes(.owed(let trigger)) = $0 { trigger } else { nil } }
  }

  var finish: ExitStatus?? {
    entries.lazy.compactMap {
      if case .runner(.finished(let status)) = $0 { .some(status) } else { nil }
    }.first
  }

  var rounds: [TaskRound] {
    entries.compactMap { if case .round(.ended(let round)) = $0 { round } else { nil } }
  }

  func lines(of task: String) -> [String] {
    log.entries.compactMap { entry in
      guard case .output(let output) = entry, output.isFinished, output.run.task == task else {
        return nil
      }
      return String(decoding: output.line, as: UTF8.self)
    }
  }

  var isFinished: Bool { finish != nil }

  var isBusy: Bool { runner.isBusy }

  func change(_ names: String..., isPartial: Bool = false) {
    let changes = names.map {
      ChangeBatch.Change(path: directory[$0], kind: .modified, type: .file)
    }
    var batch = ChangeBatch(number: 1, changes: changes)
    batch.isPartial = isPartial
    runner.submit(batch)
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
    service: Bool = false, ready: TaskDefinition.Readiness? = nil, policy: BusyPolicy? = nil,
    postponed: Bool = false
  ) {
    let words = ["sh", "-c", line].map { Array($0.utf8) }
    self.init(
      name,
      Command(words: words, directory: directory, inheritsStandardInput: false)
        .describingChanges(),
      triggers: TaskTriggers(watched: watch.map { WatchedPath(directory.appending($0)) }),
      dependencies: after, isService: service, readiness: ready,
      policy: RunPolicy(busyPolicy: policy, stopPlan: StopPlan(timeout: .seconds(5))),
      isPostponed: postponed)
  }
}

extension TaskRunner {
  var missedNow: [String: Set<Path>] { queue.sync { missed } }

  /// Whether a program works for the task that compares the times of files.
  func builds(_ name: String) -> Bool {
    queue.sync { worker(name)?.commandGroup?.buildDirectory != nil }
  }

  /// The processes that were found to build since the source was flushed last.
  var foundBuilds: [pid_t: Int] { queue.sync { state.access(\.buildSearch.found) } }

  /// Whether something runs or is being stopped, or changes are being judged.
  var isBusy: Bool {
    queue.sync {
      let isFlushing = state.access { $0.components }.contains(where: \.isFlushing)
      return isFlushing || allWorkers.contains { $0.state.access { $0.machine.state != .idle } }
    }
  }
}
