import FileObservation
import SystemCalls

// What the tasks' queues tell, all of it on our own queue.

extension TaskRunner {
  /// A task's worker, and whether the task belongs to the graph still.
  private func find(_ id: Int) -> (worker: TaskWorker, isCurrent: Bool)? {
    state.access { state in
      if let worker = state.workers.values.first(where: { $0.id == id }) { return (worker, true) }
      return state.retiring.first { $0.id == id }.map { ($0, false) }
    }
  }

  /// Nothing is under way any more in the task's queue.
  func becameIdle(_ id: Int) {
    guard let (worker, isCurrent) = find(id), isCurrent else { return }
    // A service at rest has been stopped.
    if worker.definition.runsOn { return endRounds() }
    // A run that was stopped before it began has no result.
    let result = worker.state.access { $0.result } ?? .cancelled
    advance { $0.ended(worker.name, result) }
  }

  func handle(_ told: RunReport, of id: Int) {
    guard let (worker, isCurrent) = find(id) else { return }
    let name = worker.name
    let isService = worker.definition.runsOn && isCurrent
    switch told {
    case .started(let run) where run.job == .command:
      let now = scheduler.now
      worker.state.access { ($0.began, $0.number) = (now, run.number) }
      if isCurrent { component(of: name)?.rounds.launched() }
      report(.started(name, run))
      if isService { advance { $0.serviceStarted(name) } }
    case .ended(let run, let status, let duration, let ending):
      guard run.job == .command else { return report(.detail(name, told)) }
      worker.note(status, ending, duration)
      report(.ended(name, status, duration: duration, ending))
      if isService && ending != .stopped { serviceCrashed(run, of: id) }
    case .notStarted(let run, let error, let status):
      guard run.job == .command else { return report(.detail(name, told)) }
      worker.note(status, .byItself, .zero)
      report(.notStarted(name, error, status: status))
      if isService { serviceCrashed(run, of: id) }
    case .finished:
      if !isCurrent { state.access { $0.retiring.removeAll { $0.id == id } } }
      advance { $0.isGone(name) }
    case .output(let run, let line):
      report(.output(name, line))
      guard run.job == .command else { return }
      worker.state.access { $0.number == run.number ? $0.check : nil }?.sees(line)
    case .started, .timedOut, .stopping, .killing, .abandoned, .gone, .queued, .ignored, .signaled,
      .backingOff, .foundLoop, .settled, .idle:
      report(.detail(name, told))
    }
  }

  /// The machine hears of it when the service's own queue has dealt with it, which is to be given nothing
  /// new before.
  private func serviceCrashed(_ run: RunReport.Run, of id: Int) {
    queue.async { [self] in
      guard let (worker, isCurrent) = find(id), isCurrent else { return }
      let isLatest = worker.state.access { $0.number == run.number }
      if isLatest { advance { $0.serviceCrashed(worker.name) } }
    }
  }
}
