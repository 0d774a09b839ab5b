import ActionRunning
import FileObservation
import LiveReload
import SystemCalls

/// Translates the reports and the output of a runner into the activity of pages. Hooks are left out.
struct ActivityTranslator {
  /// Changes beneath this directory are reported by their relative paths.
  let directory: Path
  private var graph = TaskGraph.empty

  init(directory: Path) {
    self.directory = directory
  }

  mutating func setPlan(_ plan: SessionPlan) -> Activity {
    graph = plan.graph
    let texts = Dictionary(plan.tasks.map { ($0.name, $0) }) { first, _ in first }
    let tasks = plan.graph.order.compactMap { plan.graph[$0] }.map { task in
      return Activity.TaskDescription(
        name: task.name, command: texts[task.name]?.command ?? "",
        title: texts[task.name]?.title, dependencies: task.dependencies,
        isService: task.keepsRunning)
    }
    return .tasks(tasks)
  }

  static func activity(for output: TaskOutput) -> Activity? {
    guard output.isFinished, output.run.job == .command else { return nil }
    return .output(task: output.run.task, line: output.line)
  }

  func activities(for report: TaskReport) -> [Activity] {
    switch report {
    case .round(.began(let trigger)):
      return [.roundBegan(reason: trigger.reasonName, changes: changes(of: trigger))]
    case .run(let run, .started) where run.job == .command:
      // Readiness is only reported where it is checked.
      let isReady = graph[run.task].map { $0.keepsRunning && !$0.reportsReadiness } ?? false
      return [.started(task: run.task)]
        + (isReady ? [.ended(task: run.task, .ready, status: nil, duration: .zero)] : [])
    case .run(let run, .ended(let status, let duration, let ending)) where run.job == .command:
      return [ended(run.task, status, duration, ending)]
    case .run(let run, .notStarted(let error, let status)) where run.job == .command:
      return Self.notStarted(run.task, error, status)
    case .task(let task, .conflict):
      return Self.notStarted(task, SystemError(call: "bind", code: EADDRINUSE), .exited(126))
    case .task(let task, .skipped):
      return [.ended(task: task, .skipped, status: nil, duration: .zero)]
    case .task(let task, .fresh):
      return [.ended(task: task, .succeeded, status: 0, duration: .zero)]
    case .task(let task, .kept(let cause)) where cause.task == task:
      return [.serving(task: task)]
    case .task(let task, .kept):
      return [.ended(task: task, .kept, status: nil, duration: .zero)]
    case .task(let task, .ready(let duration)):
      return [.ended(task: task, .ready, status: nil, duration: duration)]
    case .task(let task, .notReady(let readiness)):
      return [.ended(task: task, .notReady, status: nil, duration: readiness.timeout)]
    case .run(let run, .stopping) where run.job == .command,
      .run(let run, .stoppingBy) where run.job == .command:
      return [.stopping(task: run.task)]
    case .round(.ended(let round)):
      return [.roundEnded(succeeded: round.status?.isSuccess == true)]
    case .runner(.unsettled(let names)):
      return [.unsettled(names)]
    case .run, .task(_, .signaled), .task(_, .backingOff), .task(_, .gaveUp), .task(_, .ignored),
      .task(_, .missed),
      .task(_, .rejected), .changes, .runner:
      return []
    }
  }

  private func changes(of trigger: RunTrigger) -> [Activity.Change] {
    trigger.changes.map { change in
      Activity.Change(
        path: change.path.shown(in: directory), kind: change.kind.rawValue)
    }
  }

  private func ended(
    _ task: String, _ status: ExitStatus, _ duration: Duration, _ ending: TaskReport.Ending
  ) -> Activity {
    let hasFailed = graph[task]?.hasFailed(status, ending) ?? !status.isSuccess
    let outcome: Activity.Outcome =
      ending == .stopped ? .stopped : hasFailed ? .failed : .succeeded
    // As for hooks, and as the exit status: the command may end with 0 when it is stopped.
    let isStoppedWell = ending == .timedOut && status.isSuccess
    let signal = graph[task]?.policy.stopPlan.signal ?? .terminate
    let shown = isStoppedWell ? ExitStatus.signaled(signal) : status
    return .ended(
      task: task, outcome, status: ending == .stopped ? nil : Int(shown.code), duration: duration)
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
