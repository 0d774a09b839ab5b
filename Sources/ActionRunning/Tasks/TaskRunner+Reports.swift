import FileObservation
import SystemCalls

// Handles the reports of the tasks' queues, on the runner's queue.

extension TaskRunner {
  /// The worker with this ID, and whether its task still belongs to the graph.
  func find(_ id: Int) -> (worker: TaskWorker, isCurrent: Bool)? {
    state.access { state in
      if let worker = state.workers.values.first(where: { $0.id == id }) { return (worker, true) }
      return state.retiring.first { $0.id == id }.map { ($0, false) }
    }
  }

  /// A task's queue has become idle.
  func becameIdle(_ id: Int) {
    guard let (worker, isCurrent) = find(id), isCurrent else { return }
    // A service is idle only when it was stopped.
    if worker.definition.runsOn { return endRounds() }
    // A run that was stopped before its start has no result.
    let result = worker.state.access { $0.result } ?? .cancelled
    advance { $0.ended(worker.name, result) }
  }

  func handle(_ event: RunReport, of id: Int) {
    guard let (worker, isCurrent) = find(id) else { return }
    let name = worker.name
    let isService = worker.definition.runsOn && isCurrent
    switch event {
    case .started(let run) where run.job == .command:
      let now = scheduler.now
      worker.state.access { state in
        (state.began, state.number) = (now, run.number)
        if worker.definition.isReadyByProbe { state.heldRun = run }
      }
      if isCurrent { component(of: name)?.rounds.launched() }
      if !worker.definition.isReadyByProbe { report(.started(name, run)) }
      if isService { advance { $0.serviceStarted(name) } }
    case .ended(let run, let status, let duration, let ending):
      guard run.job == .command else { return report(.detail(name, event)) }
      worker.note(status, ending, duration)
      // A run that was stopped before its start was reported has no end.
      let wasHeld = worker.state.access { state in
        defer { state.heldRun = nil }
        return state.heldRun != nil
      }
      if !wasHeld { report(.ended(name, status, duration: duration, ending)) }
      if isService && ending != .stopped { serviceCrashed(run, of: id) }
    case .notStarted(let run, let error, let status):
      guard run.job == .command else { return report(.detail(name, event)) }
      worker.note(status, .byItself, .zero)
      if let conflict = worker.state.access({ $0.takeConflict() }) {
        report(.conflict(name, conflict))
      } else {
        report(.notStarted(name, error, status: status))
      }
      if isService { serviceCrashed(run, of: id) }
    case .finished:
      if !isCurrent { state.access { $0.retiring.removeAll { $0.id == id } } }
      advance { $0.isGone(name) }
    case .output(let run, let line):
      report(.output(name, line))
      worker.examine(line, of: run)
    case .unfinishedOutput(let run, let line):
      report(.unfinishedOutput(name, line))
      worker.examine(line, of: run)
    case .started, .timedOut, .stopping, .killing, .abandoned, .gone, .queued, .ignored, .signaled,
      .backingOff, .foundLoop, .settled, .idle:
      report(.detail(name, event))
    }
  }

  /// Notifies the machine after the service's own queue has handled the crash, because the machine
  /// may submit the next trigger at once.
  private func serviceCrashed(_ run: RunReport.Run, of id: Int) {
    queue.async { [self] in
      guard let (worker, isCurrent) = find(id), isCurrent else { return }
      let isLatest = worker.state.access { $0.number == run.number }
      if isLatest { advance { $0.serviceCrashed(worker.name) } }
    }
  }
}

extension TaskWorker.State {
  fileprivate mutating func takeConflict() -> ReadinessConflict? {
    defer { conflict = nil }
    return conflict
  }
}
