import ActionRunning
import FileObservation
import Synchronization
import SystemCalls

/// Puts into words what the tasks of a project do. With one task it is as with a plain command.
final class TaskNarration: Sendable {
  private let console: Console
  private let directory: Path

  private struct State {
    var narrations: [String: Narration] = [:]
    /// True if there is one task only.
    var isAlone = false
    /// True from the first run of a round to its end.
    var isInWave = false
  }

  private let state = Mutex(State())

  init(_ project: Project, console: Console, directory: Path) {
    self.console = console
    self.directory = directory
    take(project)
  }

  /// From now on it is about the tasks of this project. Those that there were are still known, for
  /// they may have something to tell until they have ended.
  func take(_ project: Project) {
    let names = project.tasks.map(\.name)
    let labels = names.count > 1 ? TaskLabel.labels(names) : [:]
    let new = project.tasks.map { task in
      // Its name says what it is.
      let text = labels.isEmpty ? ProjectText.shown(task.run) : ProjectText.abridged(task.run)
      let command = Array(text.utf8)
      return (
        task.name,
        Narration(
          console: console, command: [command], directory: directory, task: labels[task.name])
      )
    }
    state.withLock { state in
      state.narrations.merge(new) { $1 }
      state.isAlone = names.count == 1
    }
  }

  /// True if there is one task only.
  var isAlone: Bool { state.withLock { $0.isAlone } }

  /// True for the report with which something is begun that a change, or a person, has led to. To be
  /// asked once for each report.
  func beginsAnew(with report: TaskReport) -> Bool {
    state.withLock { state in
      switch report {
      case .started(_, let run):
        if state.isInWave || run.trigger.reason == .restart { return false }
        state.isInWave = true
        return true
      case .roundEnded:
        state.isInWave = false
        return false
      default:
        return false
      }
    }
  }

  private func narration(of task: String) -> Narration {
    state.withLock { $0.narrations[task] }
      ?? Narration(console: console, command: [], directory: directory)
  }

  func tell(_ report: TaskReport) {
    switch report {
    case .started(let task, let run):
      narration(of: task).tell(.started(run))
    case .ended(let task, let status, let duration, let ending):
      narration(of: task).tellEnd(of: .command, status, after: duration.forPeople, ending)
    case .notStarted(let task, let error, _):
      narration(of: task).tellNotStarted(.command, error)
    case .detail(let task, let report):
      narration(of: task).tell(report)
    case .foundLoop(let loop):
      Narration(console: console, command: [], directory: directory)
        .tell(loop, ignoringBy: { "ignore: [\"\($0)\"] in watchrun.json" })
    case .skipped(let task, let cause):
      narration(of: task).say(.news, "skipped, since \(cause) has failed", style: .warning)
    case .kept(let task, let cause):
      narration(of: task).say(
        .news, "kept running as it was, since \(cause) has failed", style: .warning)
    case .ready(let task, let time):
      narration(of: task).say(.news, "ready after \(time.forPeople)", style: .good)
    case .notReady(let task, let readiness):
      narration(of: task).say(.news, readiness.failure, style: .bad)
    case .output(let task, let line):
      narration(of: task).pass(line)
    case .roundEnded(let round):
      tell(round)
    case .unsettled, .finished:
      break
    }
  }

  /// `build 1.2 s · test 3.4 s failed · server kept`; of one task alone, all has been said.
  private func tell(_ round: TaskRound) {
    if isAlone || round.entries.isEmpty { return }
    let text = round.entries.map { "\($0.name) \($0.outcome.words)" }.joined(separator: " · ")
    console.say(.news, text, style: round.status.isSuccess ? .good : .bad)
  }
}

extension TaskRound.Outcome {
  /// What is said of it in the closing line.
  fileprivate var words: String {
    switch self {
    case .succeeded(let time): time.forPeople
    case .failed(_, let time): "\(time.forPeople) failed"
    case .ready: "ready"
    case .notReady: "not ready"
    case .cancelled: "stopped"
    case .skipped: "skipped"
    case .kept: "kept"
    }
  }
}

extension TaskDefinition.Readiness {
  /// What is said where it does not come about.
  fileprivate var failure: String {
    let time = timeout.forPeople
    return switch condition {
    case .port(let port): "not ready: nobody accepts connections at port \(port) after \(time)"
    case .url(let url): "not ready: \(Path(url)) does not answer as it should after \(time)"
    case .line(let text): "not ready: it has not printed '\(Path(text))' after \(time)"
    }
  }
}
