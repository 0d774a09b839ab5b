import FileObservation
import Support
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

  private func perform(_ action: TaskStateMachine.Action) {
    switch action {
    case .start(let name, let reason, let isAfterDependency):
      // What was performed before may have ended the runner.
      if machine.isEnding { return }
      if isAfterDependency { worker(name)?.state.access { $0.unprovenTests = nil } }
      former(of: name)?.setFormer(true)
      state.access { $0.machine.tasks[name]?.isAttempted = false }
      let changed = reason == .change ? owed.trigger(of: name).changes : []
      worker(name)?.start(
        reason, takesTerminal: state.access { $0.terminalTask == name },
        mayMend: component(of: name)?.areProbablyOfRuns(changed) != true)
    case .stop(let name):
      let worker = worker(name)
      // A service has succeeded by its start; another run has not, and its changes are owed again.
      if worker?.definition.isService == false { state.access { $0.owed.interrupt(name) } }
      worker?.stop()
    case .signal(let name, _, let reason) where worker(name)?.awaitsHook ?? false:
      advance { $0.signalIsLate(name, reason) }
    case .signal(let name, _, let reason)
    where machine[name].isAttempted || worker(name)?.awaitsLaunch ?? false:
      // No process of the run would receive it. The one that follows receives the changes.
      if machine[name].isAttempted { state.access { $0.owed.interrupt(name) } }
      worker(name)?.start(reason)
    case .signal(let name, let signal, let reason):
      let trigger = state.access { $0.owed.signal(name, reason) }
      openRound(trigger)
      PythonCaches.removeUncertain(trigger.changes)
      worker(name)?.send(signal)
      component(of: name)?.ran.insert(name)
      report(.task(name, .signaled(signal, trigger)))
    case .skip(let name, let because):
      openRound(RunTrigger(.change))
      report(.task(name, .skipped(because: cause(because))))
    case .keep(let name, let because):
      openRound(RunTrigger(.change))
      // The process that was to take its place has failed.
      if because == name { former(of: name)?.setFormer(false) }
      report(.task(name, .kept(because: cause(because))))
    case .examine(let name, let mayBeFresh):
      examine(name, mayBeFresh: mayBeFresh)
    case .reportFresh(let name):
      openRound(RunTrigger(.start))
      report(.task(name, .fresh))
    case .judgeChanges(let name):
      component(of: name)?.advance { $0.checkpoint() }
    case .keepFormer(let name):
      keepFormer(name)
    case .awaitReadiness(let name, let generation):
      awaitReadiness(name, generation)
    case .giveUpReadiness(let name):
      worker(name)?.state.access { $0.check.take() }?.cancel()
    case .reportReady(let name):
      reportReady(name)
    case .reportLate(let name):
      guard let readiness = worker(name)?.definition.readiness else { return }
      report(.task(name, .notReady(readiness)))
    case .backOff(let name, let generation):
      backOff(name, generation)
    case .endRound(let members):
      endRound(members)
    case .end(let name):
      worker(name)?.end()
    case .retire(let name):
      former(of: name)?.end()
    case .killAll:
      // The second call kills what is being stopped.
      for _ in 1...2 { for worker in allWorkers { worker.end() } }
    case .finish:
      finish()
    case .reportRejection(let input, let name):
      report(.task(name, .rejected(input)))
    }
  }

  /// The worker of a task that is being retired, or of the former process of a service.
  private func former(of name: String) -> TaskWorker? {
    state.access { $0.retiring }.first { $0.name == name && !$0.isEnding }
  }

  private func cause(_ dependency: String) -> TaskReport.Cause {
    machine[dependency].phase == .late ? .notReady(dependency) : .failed(dependency)
  }

  private func backOff(_ name: String, _ generation: Int) {
    guard !state.access(\.isInLastRound), machine.isBackingOff(name, generation),
      let worker = worker(name)
    else { return }
    let pause = worker.state.access { $0.backOff.pause(afterRunOf: $0.duration) }
    guard let pause else {
      report(.task(name, .gaveUp(afterRestarts: worker.definition.policy.restartLimit ?? 0)))
      advance { $0.backOffIsOver(name, generation: generation, isGivenUp: true) }
      return endIfComplete(
        worker.definition, worker.state.access(\.status), isGivenUp: true)
    }
    report(.task(name, .backingOff(pause)))
    let timer = scheduler.schedule(at: scheduler.now.advanced(by: pause)) { [weak self] in
      self?.advance { $0.backOffIsOver(name, generation: generation) }
    }
    worker.state.access { exchange(&$0.restart, with: timer) }?.cancel()
  }

  func finish() {
    // The end by itself waits until all successes are recorded, and the user has left the editor.
    let isEarly = state.access { state in
      let mayWait = state.status != nil && !state.lastWork.isSkipped
      state.lastWork.isAwaited = mayWait && state.lastWork.pending > 0
      return state.lastWork.isAwaited
    }
    if isEarly { return }
    for component in components { component.end() }
    monitor.end()
    let status = state.access { state in
      // They retain the runner.
      state.workers = [:]
      state.completionTimer?.cancel()
      return state.status
    }
    reportChanges()
    report(.runner(.finished(status)))
    state.access { $0.isFinished = true }
  }
}

extension TaskRunner.State {
  /// Takes a step of the machine, which knows which tasks have changed.
  fileprivate mutating func step(
    _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) -> [TaskStateMachine.Action] {
    machine.owedTasks = Set(machine.order.filter(owed.owes))
    machine.heldTasks = Set(components.filter(\.isRunDue).flatMap(\.names))
    return step(&machine)
  }
}

// MARK: - Rounds

extension TaskRunner {
  /// Reports that a round begins, unless one is under way.
  func openRound(_ trigger: RunTrigger) {
    let begins = state.access { state in
      if state.isInRound { return false }
      (state.isInRound, state.isIdle) = (true, false)
      state.completionTimer.take()?.cancel()
      return true
    }
    if begins { report(.round(.began(trigger))) }
  }

  private func endRound(_ members: [TaskStateMachine.RoundMember]) {
    let entries = members.compactMap { member in
      worker(member.name)?.outcome(member).map {
        TaskRound.Entry(name: member.name, outcome: $0)
      }
    }
    // Otherwise services were stopped, and nothing has begun.
    guard state.access({ exchange(&$0.isInRound, with: false) }) else { return }
    let round = TaskRound(entries: entries)
    report(.round(.ended(round)))
    // Without members, all that has worked was replaced.
    if !members.isEmpty { endIfComplete(round, members) }
  }
}

// MARK: - Events of workers

extension TaskRunner {
  private func handle(_ event: TaskWorker.Event, of worker: TaskWorker) {
    let name = worker.name
    let isService = worker.definition.isService
    if case .finished = event {
      state.access { $0.retiring.removeAll { $0 === worker } }
      return advance { $0.isGone(name) }
    }
    guard self.worker(name) === worker else {
      // It is retired, or the former one of a service. Only its end matters.
      if case .exited = event { monitor.look() }
      guard case .atRest = event, !worker.isEnding else { return }
      let result = worker.state.access(\.result) ?? .cancelled
      advance { $0.formerHasEnded(name, result) }
      // Nothing is left of the service, and it is not started again.
      if machine[name].phase == .atRest { serviceIsAtRest(worker) }
      return
    }
    switch event {
    case .started:
      hasStarted(name)
    case .launched(let isAttempt):
      state.access { $0.machine.tasks[name]?.isAttempted = isAttempt }
      if isAttempt { return }
      noteNamedBuild(worker)
      if isService { advance { $0.serviceStarted(name) } }
    case .awaitsTerminal:
      let (reason, isGiven) = worker.state.access { state in
        (state.reason, exchange(&state.takesTerminalNext, with: false))
      }
      if isGiven { state.access { $0.terminalTask = name } }
      advance { $0.awaitsTerminal(name, reason) }
    case .terminalIsFree:
      advance { $0.terminalIsFree(name) }
    case .exited(let isSuccess, let precedesHook):
      if isSuccess { options.freshness?.hasSucceeded(worker.definition) }
      monitor.look()
      // Those that have ended before say nothing of what changes after the run.
      if !precedesHook { monitor.forgetEndedOrphans() }
    case .ended(.cancelled), .finished:
      break
    case .ended(let result):
      state.access { $0.owed.ended(name) }
      // Otherwise the next run follows.
      if isService && !worker.isAboutToLaunch { advance { $0.serviceEnded(name, result) } }
    case .atRest:
      monitor.look()
      if isService { return serviceIsAtRest(worker) }
      // A run that was stopped before its start has no result.
      let result = worker.state.access(\.result) ?? .cancelled
      if result == .succeeded { recordFresh(worker.definition) }
      advance { $0.ended(name, result) }
    }
  }

  private func serviceIsAtRest(_ worker: TaskWorker) {
    // Otherwise its next run has begun.
    guard worker.phase == .idle || worker.isEnding else { return }
    let (result, status) = worker.state.access { ($0.result, $0.status) }
    let hasCrashed = machine[worker.name].phase == .crashed
    let wasStopped = worker.definition.policy.keepsAlive && !hasCrashed
    if let result, result != .cancelled, !wasStopped { endIfComplete(worker.definition, status) }
    advance { $0.serviceIsAtRest(worker.name) }
    if let component = component(of: worker.name) { endWork(of: component) }
  }
}

// MARK: - Readiness

extension TaskRunner {
  private func reportReady(_ name: String) {
    guard let worker = worker(name) else { return }
    let duration = worker.began?.duration(to: scheduler.now) ?? .zero
    worker.state.access { state in
      state.backOff.becameReady()
      state.duration = duration
    }
    report(.task(name, .ready(after: duration)))
  }

  private func awaitReadiness(_ name: String, _ generation: Int) {
    guard let worker = worker(name) else { return }
    let task = worker.definition
    // The former process would answer, or there is nothing to ask: it is on trial for a time.
    let isTrial = task.readiness == nil || task.isReadyAlone && former(of: name) != nil
    let readiness =
      task.readiness.flatMap { isTrial ? nil : $0 } ?? .init(.line("\0"), timeout: Self.startTime)
    var probe = probe
    if case .command(let command) = readiness.condition {
      probe = CommandProbe(scheduler: scheduler) {
        [weak worker] (ended) throws(SystemError) -> any LaunchedGroup in
        guard let worker else { throw SystemError(call: "spawn", code: ECANCELED) }
        return try worker.launchBeside(command, ended)
      }
    }
    if let socket = task.command.socket {
      probe = SocketProbe(socket, on: queue, otherwise: probe)
    }
    let check = ReadinessCheck(readiness, scheduler: scheduler, probe: probe) { [self] result in
      guard self.worker(name) === worker else { return }
      advance { machine in
        result == .late && !isTrial
          ? machine.serviceIsLate(name, generation: generation)
          : machine.serviceIsReady(name, generation: generation)
      }
    }
    worker.state.access { exchange(&$0.check, with: check) }?.cancel()
    check.begin()
  }
}

// MARK: - The graph

extension TaskRunner {
  /// Has another worker start the next process of a service, while the present one goes on until it is retired.
  private func keepFormer(_ name: String) {
    guard let former = worker(name) else { return }
    state.access { $0.retiring.append(former) }
    makeWorkers([former.definition])
    let count = former.state.access(\.runCount)
    worker(name)?.state.access { $0.runCount = count }
  }

  func makeWorkers(_ tasks: [TaskDefinition]) {
    let context = TaskWorker.Context(
      queue: queue, scheduler: scheduler, launcher: monitor, probe: probe, directory: directory,
      report: { [self] in forward($0) }, output: output, options: options,
      isRead: { [state] task in
        state.access { $0.reading.includes(task, of: $0.graph) }
      },
      isAlone: { [self] in graph.tasks.count == 1 }, hasFormer: { [self] in former(of: $0) != nil },
      receive: { [state] name, reason in state.access { $0.owed.start(name, reason) } },
      mayStart: { [self] in outdateOutputs(before: $0, orCall: $1) },
      notify: { [self] in handle($1, of: $0) })
    for task in tasks {
      let worker = TaskWorker(task, context)
      state.access { $0.workers[task.name] = worker }
    }
  }

  /// Forwards the report of a worker, after that of the round which it begins.
  private func forward(_ event: TaskReport) {
    switch event {
    case .run(let run, .started) where run.job == .command:
      let task = worker(run.task)?.definition
      if let task { options.freshness?.began(task) }
      if run.trigger.reason != .restart || task?.isService != true { openRound(run.trigger) }
    case .run(let run, .notStarted(let error, _)):
      if run.job == .command {
        state.access { $0.owed.interrupt(run.task) }
        state.access { $0.owed.startFailed(run.task) }
      }
      if options.endsAfterFailedStart(run, error) { state.access { $0.isInLastRound = true } }
    case .task(let name, .conflict): state.access { $0.owed.startFailed(name) }
    default: break
    }
    report(event)
  }

  /// `replaceGraph` for callers on the queue. The value of ``Options/reading`` is kept if it is `nil`.
  package func replace(_ graph: TaskGraph, reading: TaskOutput.Reading? = nil) {
    if let reading { state.access { $0.reading = reading } }
    let old = self.graph
    if machine.isEnding { return }
    let kept = Set(graph.tasks.filter { old[$0.name]?.isSame(as: $0) == true }.map(\.name))
    let new = graph.tasks.filter { !kept.contains($0.name) }
    for task in graph.tasks where kept.contains(task.name) {
      if old[task.name] != task { options.freshness?.redefined(task) }
      worker(task.name)?.state.access { $0.definition = task }
    }
    state.access { state in
      state.graph = graph
      state.declaredPaths = []
      for name in old.order where !kept.contains(name) {
        if let worker = state.workers.removeValue(forKey: name) { state.retiring.append(worker) }
      }
    }
    makeWorkers(new)
    let owing = state.access { state -> Set<String> in
      // What others were owed, or have received in runs that end with them, is received by the first runs of these,
      // which may begin with the step.
      for task in old.tasks where !kept.contains(task.name) && !task.isService {
        state.owed.interrupt(task.name)
      }
      guard let all = state.owed.close(keeping: kept) else { return [] }
      let parts = BatchParts(all, TaskGraph.audiences(of: new))
      let given = new.map { (name: $0.name, changes: parts[$0.name]) }
      state.owed.add(given.filter { !$0.changes.isEmpty }, overflow: all.overflow)
      return Set(new.map(\.name).filter(state.owed.owes))
    }
    let made = makeComponents(of: graph, keeping: kept)
    // The law of delays counts these starts as well.
    let starting = new.filter { !$0.isManual || owing.contains($0.name) }
    beginRounds(of: Set(starting.map(\.name)), keeping: kept) {
      $0.replace(graph.rules, jobs: graph.jobs, keeping: kept, owing: owing)
    }
    for component in made {
      component.advance([]) { $0.goOn(at: $1, owed: $2.owed) }
    }
  }
}
