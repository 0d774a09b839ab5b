import ActionRunning
import LiveReload
import SystemCalls

extension ActivityTranslator {
  /// Replaces the tasks of a project.
  mutating func take(_ graph: TaskGraph, commands: [String: String]) -> Activity {
    services = [:]
    let tasks = graph.order.compactMap { graph[$0] }.map { task in
      let isService = task.isService || task.options.keepsAlive
      if isService { services[task.name] = task.readiness != nil }
      return Activity.TaskDescription(
        name: task.name, command: commands[task.name] ?? "", dependencies: task.dependencies,
        isService: isService)
    }
    return .tasks(tasks)
  }

  /// Translates a report of a project's runner.
  ///
  /// A round begins with the first run after the end of the round before, unless that only restarts a
  /// service that ended by itself.
  mutating func activities(for report: TaskReport) -> [Activity] {
    switch report {
    case .started(let name, let run):
      return started(name, run)
    case .output(let name, let line):
      return [.output(task: name, line: line)]
    case .ended(let name, let status, let duration, let ending):
      return [ended(name, status, duration, ending)]
    case .notStarted(let name, let error, let status):
      return Self.notStarted(name, error, status)
    case .conflict(let name, _):
      return Self.notStarted(name, SystemError(call: "bind", code: EADDRINUSE), .exited(126))
    case .skipped(let name, _):
      return [.ended(task: name, .skipped, status: nil, duration: .zero)]
    case .kept(let name, _):
      return [.ended(task: name, .kept, status: nil, duration: .zero)]
    case .ready(let name, let duration):
      return [.ended(task: name, .ready, status: nil, duration: duration)]
    case .notReady(let name, let readiness):
      return [.ended(task: name, .notReady, status: nil, duration: readiness.timeout)]
    case .detail(let name, .stopping(.command, _, _)):
      return [.stopping(task: name)]
    case .roundEnded(let round):
      return endRound(succeeded: round.status.isSuccess)
    case .unsettled(let names):
      return [.unsettled(names)]
    case .unfinishedOutput, .detail, .foundLoop, .waiting, .queued, .ignored, .unwatched, .idle,
      .finished:
      return []
    }
  }

  private mutating func started(_ name: String, _ run: RunReport.Run) -> [Activity] {
    let isNew = !isInRound && run.trigger.reason != .restart
    var activities = isNew ? beginRound(run.trigger) : []
    activities.append(.started(task: name))
    // Readiness is only reported where it is checked.
    if services[name] == false {
      activities.append(.ended(task: name, .ready, status: nil, duration: .zero))
    }
    return activities
  }

  private func ended(
    _ name: String, _ status: ExitStatus, _ duration: Duration, _ ending: RunReport.Ending
  ) -> Activity {
    var outcome = Self.outcome(status, ending)
    // A service that ends by itself has crashed, whatever its status.
    if services[name] != nil && outcome == .succeeded { outcome = .failed }
    return .ended(
      task: name, outcome, status: Self.code(status, ending), duration: duration)
  }
}
