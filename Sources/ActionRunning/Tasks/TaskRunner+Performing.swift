import FileObservation
import SystemCalls

// What happens on the queue: the machine decides, and its actions are performed.

extension TaskRunner {
  /// Lets the machine take a step, and does what it says.
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
      worker(name)?.actions.pass(signal)
      report(.detail(name, .signaled(signal, trigger)))
    case .skip(let name, let because):
      report(.skipped(name, because: because))
    case .keep(let name, let because):
      report(.kept(name, because: because))
    case .awaitReadiness(let name, let generation):
      awaitReadiness(name, generation)
    case .giveUpReadiness(let name):
      worker(name)?.state.access { $0.takeCheck() }?.cancel()
    case .tellReady(let name):
      tellReady(name)
    case .tellLate(let name):
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
        // They hold us.
        state.workers = [:]
        return state.status
      }
      report(.finished(status))
    }
  }

  private func tellReady(_ name: String) {
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
    let check = ReadinessCheck(readiness, scheduler: scheduler, probe: probe) { [self] isReady in
      guard self.worker(name) === worker else { return }
      advance {
        isReady
          ? $0.serviceIsReady(name, generation: generation)
          : $0.serviceIsLate(name, generation: generation)
      }
    }
    let earlier = worker.state.access { state in
      defer { state.check = check }
      return state.check
    }
    earlier?.cancel()
    check.begin()
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
  /// Makes what the tasks need to be run.
  func makeWorkers(_ tasks: [TaskDefinition]) {
    for task in tasks {
      let id = state.access { state in
        state.workerCount += 1
        return state.workerCount
      }
      let shared = ActionQueue.SharedContext(
        queue: queue, launcher: launcher, becameIdle: { [self] in becameIdle(id) })
      let worker = TaskWorker(id, task, shared) { [self] in handle($0, of: id) }
      state.access { $0.workers[task.name] = worker }
    }
    // How many tasks there are decides about those that are kept, too.
    let (workers, isRead) = state.access { state in
      (Array(state.workers.values), state.readsOutput || state.graph.tasks.count > 1)
    }
    for worker in workers { worker.actions.readOutput(isRead || worker.definition.isReadyByLine) }
  }

  /// `replaceGraph`, for those who are on the queue.
  ///
  /// - Parameter readsOutput: ``Options/readsOutput`` from now on; `nil` leaves it as it is.
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
