import FileObservation
import SystemCalls

// Performs the actions of the state machine, on the queue.

extension TaskRunner {
  /// Takes a step of the machine and performs its actions.
  func advance(_ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]) {
    guard state.access({ $0.actions.add(step(&$0.machine)) }) else { return }
    while let action = state.access({ $0.actions.next() }) { perform(action) }
    endRounds()
    reportUnsettled()
    reportWaiting()
  }

  private func worker(_ name: String) -> TaskWorker? {
    state.access { $0.workers[name] }
  }

  private func perform(_ action: TaskStateMachine.Action) {
    switch action {
    case .start(let name, let trigger):
      let worker = worker(name)
      worker?.state.access { $0.result = nil }
      worker?.actions.accept(trigger)
    case .stop(let name):
      worker(name)?.actions.advance { $0.stopCommand() }
    case .signal(let name, let signal, let trigger):
      worker(name)?.actions.forward(signal)
      report(.detail(name, .signaled(signal, trigger)))
    case .skip(let name, let because):
      report(.skipped(name, because: cause(because)))
    case .keep(let name, let because):
      report(.kept(name, because: cause(because)))
    case .awaitReadiness(let name, let generation):
      awaitReadiness(name, generation)
    case .giveUpReadiness(let name):
      worker(name)?.state.access { $0.takeCheck() }?.cancel()
    case .reportReady(let name):
      reportReady(name)
    case .reportLate(let name):
      if let readiness = worker(name)?.definition.readiness { report(.notReady(name, readiness)) }
    case .endRound(let reached):
      endRound(reached)
    case .end(let name):
      worker(name)?.end()
    case .retire(let name):
      let retiring = state.access { $0.retiring }
      retiring.first { $0.name == name && !$0.state.access { $0.isAskedToEnd } }?.end()
    case .killAll:
      for worker in state.access({ Array($0.workers.values) + $0.retiring }) {
        if !worker.state.access({ $0.isAskedToEnd }) { worker.end() }
        worker.end()
      }
    case .finish:
      for component in state.access({ $0.components }) { component.rounds.end() }
      let status = state.access { state in
        // They retain the runner.
        state.workers = [:]
        return state.status
      }
      report(.finished(status))
    }
  }

  private func cause(_ dependency: String) -> TaskReport.Cause {
    let isLate = state.access { $0.machine.isLate(dependency) }
    return isLate ? .notReady(dependency) : .failed(dependency)
  }

  private func reportReady(_ name: String) {
    guard let worker = worker(name) else { return }
    let now = scheduler.now
    let duration = worker.state.access { state in
      state.duration = state.began?.duration(to: now) ?? .zero
      return state.duration
    }
    report(.ready(name, after: duration))
  }

  private func endRound(_ reached: [TaskStateMachine.Reached]) {
    let entries = reached.compactMap { reached in
      worker(reached.name)?.outcome(reached).map {
        TaskRound.Entry(name: reached.name, outcome: $0)
      }
    }
    let round = TaskRound(entries: entries)
    report(.roundEnded(round))
    guard options.completion.isReached(by: round.status) else { return }
    state.access { $0.status = round.status }
    advance { $0.isEnding ? [] : $0.end() }
  }

  private func awaitReadiness(_ name: String, _ generation: Int) {
    guard let worker = worker(name), let readiness = worker.definition.readiness else { return }
    let check = ReadinessCheck(readiness, scheduler: scheduler, probe: probe) { [self] result in
      guard self.worker(name) === worker else { return }
      advance { machine in
        switch result {
        case .ready: machine.serviceIsReady(name, generation: generation)
        case .late: machine.serviceIsLate(name, generation: generation)
        }
      }
    }
    let (earlier, isHeld) = worker.state.access { state in
      defer { state.check = check }
      return (state.check, state.heldRun != nil)
    }
    earlier?.cancel()
    if !isHeld { check.begin() }
  }

  /// The precondition for starting a service: no other process must satisfy its readiness check.
  ///
  /// The former process of the service has ended by then. A process that answers nevertheless
  /// belongs to another program, and would make the service ready before it has started.
  private func precondition(
    of task: TaskDefinition, id: Int
  ) -> Supervisor.Precondition? {
    guard task.isReadyByProbe, let condition = task.readiness?.condition else { return nil }
    return { [self] answer in
      probe.ask(condition) { [self] isAnswered in
        let conflict = isAnswered ? ReadinessConflict(condition) : nil
        let (run, check) =
          find(id)?.worker.state.access { state in
            defer { (state.heldRun, state.conflict) = (nil, conflict) }
            return (state.heldRun, state.check)
          } ?? (nil, nil)
        if conflict != nil { return answer(SystemError(call: "bind", code: EADDRINUSE)) }
        if let run { report(.started(task.name, run)) }
        check?.begin()
        answer(nil)
      }
    }
  }
}

extension TaskWorker.State {
  fileprivate mutating func takeCheck() -> ReadinessCheck? {
    defer { check = nil }
    return check
  }
}

// MARK: - The graph

extension TaskRunner {
  /// Creates the workers of these tasks.
  func makeWorkers(_ tasks: [TaskDefinition]) {
    for task in tasks {
      let id = state.access { state in
        state.workerCount += 1
        return state.workerCount
      }
      let shared = ActionQueue.SharedContext(
        queue: queue, launcher: launcher, becameIdle: { [self] in becameIdle(id) },
        precondition: precondition(of: task, id: id))
      let worker = TaskWorker(id, task, shared) { [self] in handle($0, of: id) }
      state.access { $0.workers[task.name] = worker }
    }
    // The number of tasks decides whether output is read, for existing workers as well.
    let (workers, isRead) = state.access { state in
      (Array(state.workers.values), state.readsOutput || state.graph.tasks.count > 1)
    }
    for worker in workers { worker.actions.readOutput(isRead || worker.definition.isReadyByLine) }
  }

  /// `replaceGraph` for callers on the queue.
  /// - Parameter readsOutput: The new value of ``Options/readsOutput``; `nil` keeps it.
  package func replace(_ graph: TaskGraph, readsOutput: Bool? = nil) {
    if let readsOutput { state.access { $0.readsOutput = readsOutput } }
    let old = state.access { $0.graph }
    if state.access({ $0.machine.isEnding }) { return }
    let kept = Set(graph.tasks.filter { old[$0.name] == $0 }.map(\.name))
    state.access { state in
      state.graph = graph
      for name in old.order where !kept.contains(name) {
        if let worker = state.workers.removeValue(forKey: name) { state.retiring.append(worker) }
      }
    }
    makeWorkers(graph.tasks.filter { !kept.contains($0.name) })
    let owed = state.access { $0.components }.flatMap { $0.rounds.close() }
    makeComponents(of: graph)
    advance { $0.replace(graph.rules, jobs: graph.jobs, keeping: kept) }
    for trigger in owed { accept(ChangeBatch(trigger)) }
  }
}
