import FileObservation
import SystemCalls

// What happens on the queue: the machine decides, and its actions are performed.

extension ActionQueue {
  /// Lets the machine take a step, and does what it says.
  func advance(_ step: (inout ActionStateMachine) -> [ActionStateMachine.Action]) {
    guard state.access({ $0.actions.add(step(&$0.machine)) }) else { return }
    while let action = state.access({ $0.actions.next() }) { perform(action) }
    if state.access({ $0.machine.state == .idle }) { setting.rested() }
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
      report(.signaled(signal, trigger))
    case .wait(let timer, let generation):
      wait(for: timer, generation)
    case .finish(let status):
      for timer in state.access({ $0.timers.values }) { timer.cancel() }
      folder.remove()
      report(.finished(status))
    }
  }

  /// The trigger without what the command itself has written; nil if that is all.
  func sifted(_ trigger: Trigger) -> Trigger? {
    let now = scheduler.now
    let stamps = state.access { $0.stampsOfLatestWork(near: trigger) }
    let isOfLatestWork = stamps.map { trigger.isStamped(within: $0) } ?? false
    let (sifted, culprits) = state.access {
      $0.sift(trigger, isOfLatestWork: isOfLatestWork, at: now)
    }
    if !culprits.isEmpty { report(.restartsItself(culprits)) }
    return sifted
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
    case .listening:
      return OwnOutputs.listeningTime
    case .timeout:
      return options.timeout ?? .zero
    case .backOff:
      let pause = state.access { $0.backOff.pause(afterLifeOf: $0.latest?.duration ?? .zero) }
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

  private func launch(_ job: Job, _ trigger: Trigger) {
    launch(job, trigger, job == .build ? options.build : command, [])
  }

  private func launch(
    _ job: Job, _ trigger: Trigger, _ command: Command?,
    _ variables: [Command.EnvironmentVariable]
  ) {
    let now = scheduler.now
    let (run, outputs) = state.access { $0.begin(job, trigger, at: now) }
    if !outputs.isEmpty { report(.foundOwnOutputs(outputs)) }
    report(.started(run))
    guard let command else { return }
    do throws(SystemError) {
      try spawn(command, for: run, variables)
    } catch {
      launchFailed(run, error)
    }
  }

  private func launchFailed(_ run: RunReport.Run, _ error: SystemError) {
    let now = scheduler.now
    let status = ExitStatus.exited(error.code == ENOENT ? 127 : 126)
    _ = state.access { $0.end(run.job, at: now) }
    report(.notStarted(run, error, status: status))
    advance { $0.launchFailed(run.job, status) }
  }

  private func spawn(
    _ command: Command, for run: RunReport.Run, _ variables: [Command.EnvironmentVariable]
  ) throws(SystemError) {
    let trigger = run.trigger
    var surroundings = Command.Surroundings(
      inherited: processEnvironment(), currentDirectory: try currentDirectory(),
      variables: variables)
    if command.emission == .environment && !trigger.changes.isEmpty {
      // A run without the list is better than none.
      let list = Path.lines(trigger.changes.map(\.path), separatedByNUL: true)
      surroundings.pathsFile = try? folder.write(list, "paths", for: run.job)
    }
    if let text = command.emission.text(for: trigger, number: run.number) {
      surroundings.input = try folder.write(text, "input", for: run.job)
    }
    let output = try setting.openOutput(run)
    for room in Command.Room.all {
      surroundings.room = room
      do throws(SystemError) {
        var request = command.spawnRequest(for: trigger, in: surroundings)
        request.output = output
        return try launch(request, run)
      } catch {
        guard error.code == E2BIG, room != Command.Room.all.last else { throw error }
      }
    }
  }

  private func launch(_ request: SpawnRequest, _ run: RunReport.Run) throws(SystemError) {
    // While something runs, the queue must not go away, whether anybody else holds it or not.
    try supervisors[run.job]?.launch(request) { [self] event in handle(event, of: run) }
  }
}

// MARK: - What becomes of it

extension ActionQueue {
  private func handle(_ event: Supervisor.Event, of run: RunReport.Run) {
    switch event {
    case .ended(let status, let leftovers):
      let now = scheduler.now
      let (found, timer) = state.access { state in
        let timer = run.job == .command ? state.timers.removeValue(forKey: .timeout) : nil
        return (state.end(run.job, at: now), timer)
      }
      // Nothing is to wake us when nothing runs.
      timer?.cancel()
      setting.observer.catchUp { [self] time in
        setting.queue.async { [self] in state.access { $0.observerHasCaughtUp(time) } }
      }
      if let (current, duration) = found {
        report(.ended(run, status, duration: duration, current.ending))
      }
      advance { $0.ended(run.job, status, leftovers: leftovers) }
    case .notStarted(let error):
      launchFailed(run, error)
    case .stopping(let signal):
      report(.stopping(run.job, signal))
    case .killing:
      report(.killing(run.job))
    case .abandoned:
      report(.abandoned(run.job))
    case .groupIsGone:
      advance { $0.groupIsGone(run.job) }
    }
  }
}

extension Trigger {
  /// True if all the files that have changed were changed last in that time, or, where they are gone, the
  /// folders in which they were.
  fileprivate func isStamped(within times: ClosedRange<FileTime>) -> Bool {
    changes.allSatisfy { change in
      if let status = try? FileStatus(of: change.path) { return times.contains(status.changed) }
      var folder = change.path.parent
      while let step = folder {
        if let status = try? FileStatus(of: step) { return times.contains(status.modified) }
        folder = step.parent
      }
      return false
    }
  }
}
