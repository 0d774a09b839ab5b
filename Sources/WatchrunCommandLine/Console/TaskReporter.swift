import ActionRunning
import FileObservation
import Synchronization
import Support
import SystemCalls

/// Writes the reports of a project's tasks to the console. A single task is reported like a command.
final class TaskReporter: Sendable {
  private let console: Console
  private let directory: Path

  private struct State {
    var reporters: [String: RunReporter] = [:]
    /// Whether there is only one task.
    var isAlone = false
    /// Whether a round has begun and not ended.
    var isInRound = false
    /// The conflicts that were reported, by task, until the task starts.
    var conflicts: [String: ReadinessConflict] = [:]
  }

  private let state = Mutex(State())

  init(_ project: Project, console: Console, directory: Path) {
    self.console = console
    self.directory = directory
    take(project)
  }

  /// Replaces the project. Former tasks are remembered, since they report until they have ended.
  func take(_ project: Project) {
    let names = project.tasks.map(\.name)
    let labels = names.count > 1 ? TaskLabel.labels(names) : [:]
    let new = project.tasks.map { task in
      // Among several tasks, the name says what it is.
      let text = labels.isEmpty ? ProjectText.shown(task.run) : ProjectText.abridged(task.run)
      let command = Array(text.utf8)
      return (
        task.name,
        RunReporter(
          console: console, command: [command], directory: directory, task: labels[task.name])
      )
    }
    state.withLock { state in
      state.reporters.merge(new) { $1 }
      state.isAlone = names.count == 1
    }
  }

  /// Whether there is only one task.
  var isAlone: Bool { state.withLock { $0.isAlone } }

  /// Whether the report is the first of a round that changes or a key have caused. Must be called once for
  /// each report.
  func beginsAnew(with report: TaskReport) -> Bool {
    state.withLock { state in
      switch report {
      case .started(_, let run):
        if state.isInRound || run.trigger.reason == .restart { return false }
        state.isInRound = true
        return true
      case .roundEnded:
        state.isInRound = false
        return false
      default:
        return false
      }
    }
  }

  /// The reporter of a task, or of the project if there is none of that name.
  func reporter(of task: String) -> RunReporter {
    state.withLock { $0.reporters[task] }
      ?? RunReporter(console: console, command: [], directory: directory)
  }

  func report(_ report: TaskReport) {
    switch report {
    case .started(let task, let run):
      state.withLock { $0.conflicts[task] = nil }
      reporter(of: task).report(.started(run))
    case .ended(let task, let status, let duration, let ending):
      reporter(of: task).reportEnd(of: .command, status, after: duration.shortDescription, ending)
    case .notStarted(let task, let error, _):
      reporter(of: task).reportFailedStart(.command, error)
    case .detail(let task, .backingOff) where state.withLock { $0.conflicts[task] != nil }:
      break
    case .detail(let task, let report):
      reporter(of: task).report(report)
    case .foundLoop(let loop):
      RunReporter(console: console, command: [], directory: directory)
        .report(loop, ignoringBy: { "\"ignore\": [\"\($0)\"] in watchrun.json" })
    case .conflict(let task, let conflict):
      let before = state.withLock { $0.conflicts.updateValue(conflict, forKey: task) }
      // Each attempt finds the same.
      if conflict != before { reporter(of: task).say(.problem, conflict.message, style: .bad) }
    case .skipped(let task, let cause):
      reporter(of: task).say(.news, "skipped: \(cause.words)", style: .warning)
    case .kept(let task, let cause):
      reporter(of: task).say(.news, "not restarted: \(cause.words)", style: .warning)
    case .ready(let task, let time):
      reporter(of: task).say(.news, "ready after \(time.shortDescription)", style: .good)
    case .notReady(let task, let readiness):
      reporter(of: task).say(.news, "not ready: \(readiness.failure)", style: .bad)
    case .output(let task, let line):
      reporter(of: task).write(output: line, isFinished: true)
    case .unfinishedOutput(let task, let line):
      reporter(of: task).write(output: line, isFinished: false)
    case .roundEnded(let round):
      self.report(round)
    case .unsettled, .waiting, .queued, .ignored, .unwatched, .idle, .finished:
      break
    }
  }

  /// `build ok 1.2 s · test failed 3.4 s · server kept`. A single task has reported its end already.
  private func report(_ round: TaskRound) {
    if isAlone || round.entries.isEmpty { return }
    let text = round.entries.map { "\($0.name) \($0.outcome.words)" }.joined(separator: " · ")
    console.say(.news, text, style: round.status.isSuccess ? .good : .bad)
  }
}

extension TaskRound.Outcome {
  /// The outcome in the summary of a round.
  var words: String {
    switch self {
    case .succeeded(let time): "ok \(time.shortDescription)"
    case .failed(_, let time): "failed \(time.shortDescription)"
    case .ready: "ready"
    case .notReady: "not ready"
    case .cancelled: "stopped"
    case .skipped: "skipped"
    case .kept: "kept"
    }
  }
}

extension TaskDefinition.Readiness {
  /// The readiness condition that was not met in time.
  fileprivate var failure: String {
    let time = timeout.shortDescription
    return switch condition {
    case .port(let port): "nothing accepts connections on port \(port) after \(time)"
    case .url(let url): "no successful answer from \(Path(url)) after \(time)"
    case .line(let text):
      "no output line contains '\(Path(text))' after \(time); if the program buffers its output, "
        + "try stdbuf -oL, or python3 -u"
    }
  }
}

extension TaskReport.Cause {
  fileprivate var words: String {
    switch self {
    case .failed(let task): "\(task) failed"
    case .notReady(let task): "\(task) is not ready"
    }
  }
}

extension ReadinessConflict {
  fileprivate var message: String {
    let process = holder.map { "by \($0.name) (pid \($0.processID))" } ?? "by another process"
    let what =
      switch condition {
      case .port(let port): "port \(port) is already in use"
      case .url(let url): "\(Path(url)) is already answered"
      case .line(let text): "'\(Path(text))' was already printed"
      }
    return "not started: \(what) \(process); "
      + "stop that process and the service starts, or use another port"
  }
}
