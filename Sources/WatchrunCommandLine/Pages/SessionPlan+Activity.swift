import ActionRunning
import FileObservation
import LiveReload
import SessionControl
import Support
import SystemCalls

// The plan and the reports and the output of its runner, as the activity of pages. Hooks are left out.

extension SessionPlan {
  /// The tasks, each after its dependencies.
  var activity: Activity {
    let texts = Dictionary(tasks.map { ($0.name, $0) }) { first, _ in first }
    let tasks = graph.order.compactMap { graph[$0] }.map { task in
      return Activity.TaskDescription(
        name: task.name, command: texts[task.name]?.command ?? "",
        title: texts[task.name]?.title, dependencies: task.dependencies,
        isService: task.keepsRunning)
    }
    return .tasks(tasks)
  }

  /// - Parameter directory: Changes beneath it are reported by their relative paths.
  func activities(for report: TaskReport, in directory: Path) -> [Activity] {
    switch report {
    case .round(.began(let trigger)):
      let changes = trigger.changes.map { change in
        Activity.Change(path: change.path.shown(in: directory), kind: change.kind.rawValue)
      }
      return [.roundBegan(reason: trigger.reasonName, changes: changes)]
    case .run(let run, .started) where run.job == .command:
      // Readiness is only reported where it is checked.
      let isReady = graph[run.task].map { $0.keepsRunning && !$0.reportsReadiness } ?? false
      return [.started(task: run.task)]
        + (isReady ? [.ended(task: run.task, .ready, status: nil, duration: .zero)] : [])
    case .run(let run, .launched(let process)) where run.job == .command:
      return [.launched(task: run.task, process: process)]
    case .run(let run, .ended(let status, let duration, let ending)) where run.job == .command:
      return [ended(run.task, status, duration, ending)]
    case .run(let run, .notStarted(let error, let status)) where run.job == .command:
      return Self.notStarted(run.task, error, status)
    case .task(let task, .conflict):
      let error = SystemError(call: "bind", code: EADDRINUSE)
      return [.started(task: task)] + Self.notStarted(task, error, .exited(126))
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
      .task(_, .missed), .task(_, .rejected), .changes, .runner:
      return []
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

extension Activity {
  /// `nil` for a part of a line, and for a hook.
  init?(_ output: TaskOutput) {
    guard output.isFinished, output.run.job == .command else { return nil }
    self = .output(task: output.run.task, line: output.line)
  }
}

extension SessionPicture {
  /// The states of the tasks with their outputs, for pages that are opened later.
  var status: StatusModel {
    var status = model
    for task in model.tasks {
      let name = task.description.name
      let (first, _, last) = output.parts(of: name)
      let lines = (first + last).split(separator: 0x0A, omittingEmptySubsequences: false)
      for line in lines.dropLast() { status.note(.output(task: name, line: Array(line)), at: 0) }
    }
    return status
  }
}

extension SessionEvent {
  private static let mostChanges = 20

  /// The event for an activity of the status page; `nil` if it says nothing by itself.
  init?(_ activity: Activity) {
    switch activity {
    case .roundBegan(let reason, let changes):
      self.init(.roundBegan, reason)
      self.changes = changes.prefix(Self.mostChanges).map { $0.path.description }
    case .started(let task): self.init(.started, task: task)
    case .stopping(let task): self.init(.stopping, task: task)
    case .ended(let task, let outcome, let status, let duration):
      self.init(.ended, task: task, outcome.rawValue)
      self.status = status
      milliseconds = duration.milliseconds
    case .roundEnded(let succeeded):
      self.init(.roundEnded)
      isGreen = succeeded
    case .tasks, .launched, .output, .diagnosed, .serving, .unsettled, .changed: return nil
    }
  }
}
