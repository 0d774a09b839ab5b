import FileObservation
import SystemCalls

// Performs the actions of the state machine, on the queue.

extension TaskRunner {
  /// Takes a step of the machine and performs its actions.
  func advance(_ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]) {
    guard state.access({ $0.actions.add($0.step(step)) }) else { return }
    while let action = state.access({ $0.actions.next() }) { perform(action) }
    endWork()
    reportChanges()
  }

  func worker(_ name: String) -> TaskWorker? {
    state.access { $0.workers[name] }
  }

  private func perform(_ action: TaskStateMachine.Action) {
    switch action {
    case .start(let name, let reason):
      worker(name)?.start(reason)
    case .stop(let name):
      let worker = worker(name)
      // A service has succeeded by its start; another run has not, and its changes are owed again.
      if worker?.definition.isService == false { state.access { $0.owed.interrupt(name) } }
      worker?.stop()
    case .signal(let name, let signal, let reason):
      let trigger = state.access { $0.owed.signal(name, reason) }
      openRound(trigger)
      worker(name)?.send(signal)
      report(.signaled(name, signal, trigger))
    case .skip(let name, let because):
      openRound(RunTrigger(.change))
      report(.skipped(name, because: cause(because)))
    case .keep(let name, let because):
      openRound(RunTrigger(.change))
      report(.kept(name, because: cause(because)))
    case .judgeChanges(let name):
      judgeChanges(before: name)
    case .awaitReadiness(let name, let generation):
      awaitReadiness(name, generation)
    case .giveUpReadiness(let name):
      worker(name)?.state.access { $0.takeCheck() }?.cancel()
    case .reportReady(let name):
      reportReady(name)
    case .reportLate(let name):
      if let readiness = worker(name)?.definition.readiness { report(.notReady(name, readiness)) }
    case .backOff(let name, let generation):
      backOff(name, generation)
    case .endRound(let members):
      endRound(members)
    case .end(let name):
      worker(name)?.end()
    case .retire(let name):
      let retiring = state.access { $0.retiring }
      retiring.first { $0.name == name && !$0.state.access { $0.isAskedToEnd } }?.end()
    case .killAll:
      for worker in allWorkers {
        if !worker.state.access({ $0.isAskedToEnd }) { worker.end() }
        worker.end()
      }
    case .finish:
      finish()
    }
  }

  private func cause(_ dependency: String) -> TaskReport.Cause {
    let isLate = state.access { $0.machine.isLate(dependency) }
    return isLate ? .notReady(dependency) : .failed(dependency)
  }

  private func backOff(_ name: String, _ generation: Int) {
    guard let worker = worker(name), !state.access(\.isInLastRound) else { return }
    guard let pause = worker.pauseBeforeRestart() else {
      report(.gaveUp(name, afterRestarts: worker.definition.restartLimit ?? 0))
      return advance { $0.restartIsGivenUp(name, generation: generation) }
    }
    report(.backingOff(name, pause))
    let timer = scheduler.schedule(at: scheduler.now.advanced(by: pause)) { [weak self] in
      self?.advance { $0.backOffIsOver(name, generation: generation) }
    }
    state.access { $0.restartTimers.updateValue(timer, forKey: name) }?.cancel()
  }

  private func finish() {
    for component in state.access({ $0.components }) { component.rounds.end() }
    monitor.end()
    let (status, timers) = state.access { state in
      // They retain the runner.
      state.workers = [:]
      return (state.status, state.restartTimers.values)
    }
    for timer in timers { timer.cancel() }
    report(.finished(status))
  }
}

extension TaskRunner.State {
  /// Takes a step of the machine, which knows which tasks have changed.
  fileprivate mutating func step(
    _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) -> [TaskStateMachine.Action] {
    machine.unjudged = Set(machine.order.filter(owed.owes))
    return step(&machine)
  }
}

// MARK: - Rounds

extension TaskRunner {
  /// Reports that a round begins, unless one is under way.
  func openRound(_ trigger: RunTrigger) {
    let begins = state.access { state in
      if state.isInRound { return false }
      state.isInRound = true
      state.roundCount += 1
      return true
    }
    if begins { report(.roundBegan(trigger)) }
  }

  private func endRound(_ members: [TaskStateMachine.RoundMember]) {
    let entries = members.compactMap { member in
      worker(member.name)?.outcome(member).map {
        TaskRound.Entry(name: member.name, outcome: $0)
      }
    }
    let isOpen = state.access { state in
      defer { state.isInRound = false }
      return state.isInRound
    }
    // Otherwise services were stopped, and nothing has begun.
    guard isOpen else { return }
    let round = TaskRound(entries: entries)
    report(.roundEnded(round))
    completeRound(round, members)
  }

  /// How long a service without a readiness check must run before its start counts as a success by
  /// the completion rule.
  private static let startTime = Duration.seconds(1)

  /// Applies the completion rule to a round. The start of a command that may end by itself is not
  /// the end of its run.
  private func completeRound(_ round: TaskRound, _ members: [TaskStateMachine.RoundMember]) {
    guard isLast(round.status) else { return }
    let services = members.filter(\.isUp).compactMap { worker($0.name)?.definition }
    if services.contains(where: { !$0.keepsAlive }) { return }
    if services.allSatisfy({ $0.readiness != nil }) { return complete(round.status) }
    let count = state.access { $0.roundCount }
    let time = scheduler.now.advanced(by: Self.startTime)
    _ = scheduler.schedule(at: time) { [weak self] in
      guard let self else { return }
      let isUp = state.access { state in
        state.roundCount == count && !state.isInRound
          && services.allSatisfy { state.machine.isUp($0.name) }
      }
      if isUp { complete(round.status) }
    }
  }

  /// Whether the runner ends after a run or a round with this status.
  private func isLast(_ status: ExitStatus) -> Bool {
    options.completion.isReached(by: status) || state.access(\.isInLastRound)
  }

  /// A run or a round has ended with this status.
  private func complete(_ status: ExitStatus) {
    guard isLast(status) else { return }
    state.access { state in
      if !state.machine.isEnding { state.status = status }
    }
    advance { $0.isEnding ? [] : $0.end() }
  }
}

// MARK: - Events of workers

extension TaskRunner {
  /// What the run that starts receives.
  private func receive(_ name: String, _ reason: RunTrigger.Reason) -> RunTrigger {
    state.access { $0.owed.start(name, reason) }
  }

  private func handle(_ event: TaskWorker.Event, of worker: TaskWorker) {
    let name = worker.name
    let isService = worker.definition.isService
    if case .finished = event {
      state.access { $0.retiring.removeAll { $0 === worker } }
      return advance { $0.isGone(name) }
    }
    // Otherwise it is retired, and only its end matters.
    guard self.worker(name) === worker else { return }
    switch event {
    case .started:
      hasStarted(name)
      if isService { advance { $0.serviceStarted(name) } }
    case .exited:
      monitor.look()
      runHasEnded(name)
    case .ended(_, .stopped), .finished:
      break
    case .ended(let result, _):
      state.access { $0.owed.ended(name) }
      if isService { serviceEnded(result, of: worker) }
    case .atRest:
      monitor.look()
      if isService { return serviceIsAtRest(worker) }
      // A run that was stopped before its start has no result.
      let result = worker.state.access { $0.result } ?? .cancelled
      advance { $0.ended(name, result) }
    }
  }

  // The machine may start a service again at once. So it receives the end of one after the worker has
  // handled it.

  private func serviceEnded(_ result: TaskStateMachine.Result, of worker: TaskWorker) {
    let number = worker.state.access { $0.runCount }
    queue.async { [self] in
      guard self.worker(worker.name) === worker,
        worker.state.access({ $0.runCount }) == number
      else { return }
      advance { $0.serviceEnded(worker.name, result) }
    }
  }

  private func serviceIsAtRest(_ worker: TaskWorker) {
    queue.async { [self] in
      guard self.worker(worker.name) === worker else { return }
      let (isIdle, result, status) = worker.state.access {
        ($0.machine.state == .idle, $0.result, $0.status)
      }
      guard isIdle else { return }
      // The end of a service that is kept alive is no success.
      let isCrash = worker.definition.keepsAlive && options.completion == .firstSuccess
      if let result, result != .cancelled, !isCrash { complete(status) }
      advance { $0.serviceIsAtRest(worker.name) }
      component(of: worker.name)?.rounds.workEnded(isLive: false)
    }
  }
}

// MARK: - Readiness

extension TaskRunner {
  private func reportReady(_ name: String) {
    guard let worker = worker(name) else { return }
    let now = scheduler.now
    let duration = worker.state.access { state in
      state.backOff.becameReady()
      state.duration = state.began?.duration(to: now) ?? .zero
      return state.duration
    }
    report(.ready(name, after: duration))
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
  /// Creates the workers of these tasks.
  func makeWorkers(_ tasks: [TaskDefinition]) {
    let context = TaskWorker.Context(
      queue: queue, scheduler: scheduler, launcher: launcher, probe: probe, directory: directory,
      report: { [self] in forward($0) }, output: output, outputRoom: options.outputRoom,
      receive: { [self] in receive($0, $1) }, notify: { [self] in handle($1, of: $0) })
    for task in tasks {
      let worker = TaskWorker(task, context)
      state.access { $0.workers[task.name] = worker }
    }
    // The number of tasks may decide whether output is read, for existing workers as well.
    let supervisors = allWorkers.flatMap(\.supervisors.values)
    monitor.watch { supervisors.compactMap(\.activeGroup) }
    let (workers, reading, count) = state.access { state in
      (Array(state.workers.values), state.reading, state.graph.tasks.count)
    }
    for worker in workers {
      let isRead =
        switch reading {
        case .always: true
        case .ofSeveralTasks: count > 1 || worker.definition.isReadyByLine
        case .whereNeeded: worker.definition.isReadyByLine
        }
      worker.state.access { $0.readsOutput = isRead }
    }
  }

  /// Forwards the report of a worker, after that of the round which it begins.
  private func forward(_ event: TaskReport) {
    if case .started(let run) = event, run.job == .command {
      let isService = worker(run.task)?.definition.isService ?? false
      if run.trigger.reason != .restart || !isService { openRound(run.trigger) }
    }
    if case .notStarted(let run, let error, _) = event, options.endsAfterFailedStart(run, error) {
      state.access { $0.isInLastRound = true }
    }
    if case .started = event { groupsWillChange() }
    report(event)
  }

  /// A process is about to be started. Looks at the processes before and after that.
  private func groupsWillChange() {
    monitor.groupsWillChange()
    queue.async { [self] in monitor.groupsHaveChanged() }
  }

  /// `replaceGraph` for callers on the queue.
  /// - Parameter reading: The new value of ``Options/reading``; `nil` keeps it.
  package func replace(_ graph: TaskGraph, reading: TaskOutput.Reading? = nil) {
    if let reading { state.access { $0.reading = reading } }
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
    for component in state.access({ $0.components }) { component.rounds.end() }
    let owed = state.access { $0.owed.close(keeping: kept) }
    makeComponents(of: graph)
    advance { $0.replace(graph.rules, jobs: graph.jobs, keeping: kept) }
    if let owed {
      accept(
        ChangeBatch(number: 0, changes: owed.changes, overflow: owed.reason == .overflow))
    }
  }
}
