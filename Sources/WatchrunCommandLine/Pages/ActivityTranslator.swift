import ActionRunning
import FileObservation
import LiveReload
import SystemCalls

/// Translates the reports and the output of a runner into the activity of pages. Hooks are left out.
struct ActivityTranslator {
  /// Changes beneath this directory are reported by their relative paths.
  let directory: Path
  /// The commands that keep running, and how pages treat them.
  private var services: [String: Service] = [:]

  private struct Service {
    /// Whether its readiness is reported. Otherwise it is ready at its start.
    let hasReadiness: Bool
    /// Whether its end is a crash, whatever its status.
    let keepsAlive: Bool
  }

  init(directory: Path) {
    self.directory = directory
  }

  /// Replaces the tasks.
  mutating func take(_ plan: SessionPlan) -> Activity {
    services = [:]
    let commands = Dictionary(plan.tasks.map { ($0.name, $0.command) }) { first, _ in first }
    let tasks = plan.graph.order.compactMap { plan.graph[$0] }.map { task in
      let isService = task.isService || task.keepsAlive
      if isService {
        services[task.name] = Service(
          hasReadiness: task.readiness != nil, keepsAlive: task.keepsAlive)
      }
      return Activity.TaskDescription(
        name: task.name, command: commands[task.name] ?? "", dependencies: task.dependencies,
        isService: isService)
    }
    return .tasks(tasks)
  }

  /// Translates a line of output.
  func activity(for output: TaskOutput) -> Activity? {
    guard output.isFinished, output.run.job == .command else { return nil }
    return .output(task: output.run.task, line: output.line)
  }

  /// Translates a report.
  func activities(for report: TaskReport) -> [Activity] {
    switch report {
    case .roundBegan(let trigger):
      return [.roundBegan(reason: trigger.reason.rawValue, changes: changes(of: trigger))]
    case .started(let run) where run.job == .command:
      // Readiness is only reported where it is checked.
      let isReady = services[run.task]?.hasReadiness == false
      return [.started(task: run.task)]
        + (isReady ? [.ended(task: run.task, .ready, status: nil, duration: .zero)] : [])
    case .ended(let run, let status, let duration, let ending) where run.job == .command:
      return [ended(run.task, status, duration, ending)]
    case .notStarted(let run, let error, let status) where run.job == .command:
      return Self.notStarted(run.task, error, status)
    case .conflict(let task, _):
      return Self.notStarted(task, SystemError(call: "bind", code: EADDRINUSE), .exited(126))
    case .skipped(let task, _):
      return [.ended(task: task, .skipped, status: nil, duration: .zero)]
    case .kept(let task, _):
      return [.ended(task: task, .kept, status: nil, duration: .zero)]
    case .ready(let task, let duration):
      return [.ended(task: task, .ready, status: nil, duration: duration)]
    case .notReady(let task, let readiness):
      return [.ended(task: task, .notReady, status: nil, duration: readiness.timeout)]
    case .stopping(let run, _, _) where run.job == .command:
      return [.stopping(task: run.task)]
    case .roundEnded(let round):
      return [.roundEnded(succeeded: round.status.isSuccess)]
    case .unsettled(let names):
      return [.unsettled(names)]
    case .started, .ended, .notStarted, .stopping, .timedOut, .killing, .notStopped, .gone,
      .signaled, .backingOff, .gaveUp, .foundLoop, .foundOutputs, .judged, .waiting, .owed,
      .ignored,
      .unwatched, .idle, .finished:
      return []
    }
  }

  private func changes(of trigger: RunTrigger) -> [Activity.Change] {
    trigger.changes.map { change in
      Activity.Change(
        path: change.path.relative(to: directory) ?? change.path, kind: change.kind.rawValue)
    }
  }

  private func ended(
    _ task: String, _ status: ExitStatus, _ duration: Duration, _ ending: TaskReport.Ending
  ) -> Activity {
    let isCrash = services[task]?.keepsAlive ?? false
    let outcome: Activity.Outcome =
      switch ending {
      case .stopped: .stopped
      case .timedOut: .failed
      case .byItself: status.isSuccess && !isCrash ? .succeeded : .failed
      }
    let code = ending == .stopped ? nil : Int(status.code)
    return .ended(task: task, outcome, status: code, duration: duration)
  }

  private static func notStarted(
    _ task: String, _ error: SystemError, _ status: ExitStatus
  ) -> [Activity] {
    let program = error.path.map { "\($0)" } ?? task
    return [
      .output(task: task, line: Array("cannot run \(program): \(error.reason)".utf8)),
      .ended(task: task, .failed, status: Int(status.code), duration: .zero),
    ]
  }
}
