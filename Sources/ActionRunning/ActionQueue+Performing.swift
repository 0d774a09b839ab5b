import FileObservation
import SystemCalls

// Performs the actions of the state machine, on the queue.

extension ActionQueue {
  /// Takes a step of the machine and performs its actions.
  func advance(_ step: (inout ActionStateMachine) -> [ActionStateMachine.Action]) {
    guard state.access({ $0.actions.add(step(&$0.machine)) }) else { return }
    while let action = state.access({ $0.actions.next() }) { perform(action) }
    let (before, now, job, isIdle) = state.access { state in
      defer { state.work = state.machine.work }
      return (state.work, state.machine.work, state.latestJob, state.machine.state == .idle)
    }
    if hasEnded(before, now) {
      // Changes during a build are never ignored.
      let ignoresChanges = options.busyPolicy == .ignore && job != .build
      rounds?.workEnded(isLive: now == .live, ignoresChanges: ignoresChanges)
    }
    if isIdle { shared.becameIdle() }
    reportSettling()
    reportIdle()
  }

  /// Whether the changes of the round must be judged, because its work has ended. A restarted command has
  /// begun another round already, unless there is a build.
  private func hasEnded(_ before: QueueState.Work, _ now: QueueState.Work) -> Bool {
    switch (before, now) {
    case (.finite, .none), (.live, .none): true
    case (.finite, .live): options.build != nil
    default: false
    }
  }

  /// Takes a decision of the rounds.
  func take(_ event: RoundController.Event) {
    switch event {
    case .run(let trigger): advance { $0.triggered(trigger) }
    case .keep(let trigger):
      advance { machine in
        machine.remember(trigger)
        return []
      }
    case .found(let loop): report(.foundLoop(loop))
    case .judged:
      reportSettling()
      reportIdle()
    }
  }

  /// Reports what a trigger waits for, if that is a job that runs.
  func reportQueued(_ trigger: RunTrigger) {
    guard let job = state.access({ $0.machine.blockingJob }) else { return }
    report(.queued(trigger, behind: job))
  }

  private func reportIdle() {
    guard let rounds else { return }
    let isAtRest = !rounds.isReading && !rounds.owesRun
    let isNews = state.access { state in
      let isIdle = isAtRest && state.machine.state == .idle
      defer { state.isIdle = isIdle }
      return isIdle && !state.isIdle
    }
    if isNews { report(.idle) }
  }

  private func reportSettling() {
    guard options.reportsSettling else { return }
    let isReading = rounds?.isReading ?? false
    let (isSettled, isNews) = state.access { state in
      let isSettled = state.work != .finite && !isReading
      defer { state.isSettled = isSettled }
      return (isSettled, state.isSettled != isSettled)
    }
    if isNews { report(.settled(isSettled)) }
  }

  private func perform(_ action: ActionStateMachine.Action) {
    switch action {
    case .launch(let job, let trigger):
      launch(job, trigger)
    case .launchHook(let status):
      launchHook(after: status)
    case .stop(let job):
      state.access { $0.isBeingEnded(job, .stopped) }
      supervisors[job]?.stop()
    case .timeOut:
      timeOut()
    case .kill(let job):
      supervisors[job]?.kill()
    case .signal(let signal, let trigger):
      supervisors[.command]?.send(signal)
      var trigger = trigger
      if let rounds {
        if options.build == nil { trigger = rounds.began(trigger) } else { rounds.launched() }
      }
      report(.signaled(signal, trigger))
    case .wait(let timer, let generation):
      wait(for: timer, generation)
    case .finish(let status):
      for timer in state.access({ $0.timers.values }) { timer.cancel() }
      rounds?.end()
      directory.remove()
      report(.finished(status))
    }
  }

  private func wait(for timer: ActionStateMachine.Timer, _ generation: Int) {
    let end = scheduler.now.advanced(by: duration(of: timer))
    let work = scheduler.schedule(at: end) { [self] in
      advance { $0.elapsed(timer, generation: generation) }
    }
    state.access { $0.timers.updateValue(work, forKey: timer) }?.cancel()
  }

  private func duration(of timer: ActionStateMachine.Timer) -> Duration {
    switch timer {
    case .timeout:
      return options.timeout ?? .zero
    case .backOff:
      let pause = state.access { $0.backOff.pause(afterRunOf: $0.latest?.duration ?? .zero) }
      report(.backingOff(pause))
      return pause
    }
  }

  private func timeOut() {
    let run = state.access { state in
      state.isBeingEnded(.command, .timedOut)
      return state.current[.command]?.run
    }
    if let run { report(.timedOut(run, after: options.timeout ?? .zero)) }
    supervisors[.command]?.stop()
  }
}

// MARK: - Starting

extension ActionQueue {
  private func launchHook(after status: ExitStatus) {
    guard let latest = state.access({ $0.latest }) else { return }
    let milliseconds = latest.duration.nanoseconds / 1_000_000
    launch(
      .hook, latest.run.trigger, status.isSuccess ? options.onSuccess : options.onFailure,
      [
        .init("WATCHRUN_STATUS", String(status.code)),
        .init("WATCHRUN_DURATION_MS", String(milliseconds)),
      ])
  }

  private func launch(_ job: ActionQueue.Job, _ trigger: RunTrigger) {
    launch(job, trigger, job == .build ? options.build : command, [])
  }

  private func launch(
    _ job: ActionQueue.Job, _ trigger: RunTrigger, _ command: Command?,
    _ variables: [Command.EnvironmentVariable]
  ) {
    let trigger = beginRound(job, trigger)
    let now = scheduler.now
    let run = state.access { $0.begin(job, trigger, at: now) }
    report(.started(run))
    guard let command else { return }
    do throws(SystemError) {
      try spawn(command, for: run, variables)
    } catch {
      launchFailed(run, error)
    }
  }

  /// The trigger for a job that is about to start. The job that begins a round gets all changes that are
  /// owed a run.
  private func beginRound(_ job: ActionQueue.Job, _ trigger: RunTrigger) -> RunTrigger {
    guard let rounds else { return trigger }
    guard options.rules.opensRound(job, trigger) else {
      rounds.launched()
      return trigger
    }
    let all = rounds.began(trigger)
    state.access { $0.machine.amend(all) }
    return all
  }

  private func launchFailed(_ run: RunReport.Run, _ error: SystemError) {
    let now = scheduler.now
    let status = ExitStatus.exited(error.code == ENOENT ? 127 : 126)
    state.access { state in
      _ = state.end(run.job, at: now)
      state.readers[run.job] = nil
    }
    report(.notStarted(run, error, status: status))
    advance { $0.launchFailed(run.job, status) }
  }

  private func spawn(
    _ command: Command, for run: RunReport.Run, _ variables: [Command.EnvironmentVariable]
  ) throws(SystemError) {
    let trigger = run.trigger
    var context = Command.LaunchContext(
      inherited: processEnvironment(), currentDirectory: try currentDirectory(),
      variables: variables)
    if command.changeDelivery == .environment && !trigger.changes.isEmpty {
      // A run without the file is better than none.
      let list = Path.lines(trigger.changes.map(\.path), separatedByNUL: true)
      context.pathsFile = try? directory.write(list, "paths", for: run.job)
    }
    if let text = command.changeDelivery.text(for: trigger, number: run.number) {
      context.input = try directory.write(text, "input", for: run.job)
    }
    let output = command.takesTerminal ? nil : try openOutput(of: run)
    for limits in Command.ArgumentLimits.all {
      context.limits = limits
      do throws(SystemError) {
        var request = command.spawnRequest(for: trigger, in: context)
        request.output = output
        return try launch(request, run)
      } catch {
        guard error.code == E2BIG, limits != Command.ArgumentLimits.all.last else { throw error }
      }
    }
  }

  /// Opens a pipe for the output of a run and begins to read it; `nil` if the output is not read.
  private func openOutput(of run: RunReport.Run) throws(SystemError) -> PipeInput? {
    guard state.access({ $0.readsOutput }) else { return nil }
    let (reader, input) = try OutputReader.open(on: queue) { [self] event in
      switch event {
      case .line(let line): report(.output(run, line))
      case .unfinished(let line): report(.unfinishedOutput(run, line))
      }
    }
    state.access { $0.readers[run.job] = reader }
    return input
  }

  private func launch(_ request: SpawnRequest, _ run: RunReport.Run) throws(SystemError) {
    // The closure retains the queue while a process runs.
    let precondition = run.job == .command ? shared.precondition : nil
    try supervisors[run.job]?.launch(request, when: precondition) { [self] event in
      handle(event, of: run)
    }
  }
}

// MARK: - Events of processes

extension ActionQueue {
  private func handle(_ event: Supervisor.Event, of run: RunReport.Run) {
    switch event {
    case .ended(let status, let leftovers):
      rounds?.runEnded()
      state.access { $0.readers.removeValue(forKey: run.job) }?.runHasEnded()
      let now = scheduler.now
      let (found, timer) = state.access { state in
        let timer = run.job == .command ? state.timers.removeValue(forKey: .timeout) : nil
        return (state.end(run.job, at: now), timer)
      }
      // No timer may wake the process while nothing runs.
      timer?.cancel()
      if let (current, duration) = found {
        report(.ended(run, status, duration: duration, current.ending))
      }
      advance { $0.ended(run.job, status, leftovers: leftovers) }
    case .notStarted(let error):
      launchFailed(run, error)
    case .prevented(let error):
      // Another attempt costs little, and the cause may end at any time.
      state.access { $0.backOff.reset() }
      launchFailed(run, error)
    case .stopping(let signal):
      report(.stopping(run.job, signal, killAfter: options.stopPlan.timeout))
    case .killing(let gracePeriod):
      report(.killing(run.job, after: gracePeriod))
    case .abandoned:
      report(.abandoned(run.job))
    case .groupIsGone:
      report(.gone(run.job))
      advance { $0.groupIsGone(run.job) }
    }
  }
}
