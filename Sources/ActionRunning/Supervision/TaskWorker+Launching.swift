import FileObservation
import SystemCalls

// Starts processes, on the queue.

extension TaskWorker {
  func launchHook(after status: ExitStatus) {
    let duration = state.access { $0.duration }
    begin(
      .hook, status.isSuccess ? definition.onSuccess : definition.onFailure,
      [
        .init("WATCHRUN_STATUS", String(status.code)),
        .init("WATCHRUN_DURATION_MS", String(duration.nanoseconds / 1_000_000)),
      ])
  }

  /// Begins a run of the command or of its hook.
  func begin(
    _ job: TaskReport.Job, _ command: Command?, _ variables: [Command.EnvironmentVariable]
  ) {
    let run = makeRun(job)
    context.report(.started(run))
    if job == .command { notify(.started) }
    guard let command else { return }
    do throws(SystemError) {
      try spawn(command, for: run, variables)
      if job == .command { startTimeout() }
    } catch {
      launchFailed(run, error)
    }
  }

  private func makeRun(_ job: TaskReport.Job) -> TaskReport.Run {
    let now = scheduler.now
    let (reason, latest) = state.access { ($0.reason, $0.latest) }
    let trigger =
      job == .command ? context.receive(name, reason) : latest?.trigger ?? RunTrigger(reason)
    return state.access { state in
      if job == .command { state.runCount += 1 }
      let run = TaskReport.Run(task: name, job: job, number: state.runCount, trigger: trigger)
      state.current[job] = Current(run: run, began: now)
      if job == .command { (state.latest, state.began) = (run, now) }
      return run
    }
  }

  private func startTimeout() {
    guard let timeout = definition.timeout else { return }
    let timer = scheduler.schedule(at: scheduler.now.advanced(by: timeout)) { [weak self] in
      self?.advance { $0.timedOut() }
    }
    state.access { $0.timeout = timer }
  }

  private func launchFailed(_ run: TaskReport.Run, _ error: SystemError) {
    let status = ExitStatus.exited(error.code == ENOENT ? 127 : 126)
    state.access { state in
      state.current[run.job] = nil
      state.readers[run.job] = nil
    }
    context.report(.notStarted(run, error, status: status))
    if run.job == .command {
      _ = record(status, .byItself, .zero)
      notify(.ended(.failed, .byItself))
    }
    advance { $0.ended(run.job, status) }
  }

  private func spawn(
    _ command: Command, for run: TaskReport.Run, _ variables: [Command.EnvironmentVariable]
  ) throws(SystemError) {
    let trigger = run.trigger
    let directory = directory(of: command)
    let name = workingDirectoryName(of: directory ?? ".")
    var launch = Command.LaunchContext(
      inherited: processEnvironment(), currentDirectory: context.directory,
      variables: variables + [.init("PWD", name.bytes)])
    if command.changeDelivery == .environment && !trigger.changes.isEmpty {
      // A run without the file is better than none.
      let list = Path.lines(trigger.changes.map(\.path), separatedByNUL: true)
      launch.pathsFile = try? files.write(list, "paths", for: run.job)
    }
    if let text = command.changeDelivery.text(for: trigger, number: run.number) {
      launch.input = try files.write(text, "input", for: run.job)
    }
    let output = command.takesTerminal ? nil : try openOutput(of: run)
    for limits in Command.ArgumentLimits.all {
      launch.limits = limits
      do throws(SystemError) {
        var request = command.spawnRequest(for: trigger, in: launch)
        request.output = output
        request.directory = directory
        // The closure retains the worker while a process runs.
        return try supervisors[run.job]?.launch(request) { [self] in handle($0, of: run) } ?? ()
      } catch {
        guard error.code == E2BIG, limits != Command.ArgumentLimits.all.last else { throw error }
      }
    }
  }

  /// The directory to enter for a run; `nil` for that of this process.
  ///
  /// A directory that is removed and made again, as by a change of branches, is another one with
  /// the same path, and this process is in the removed one. So it is entered by its path then.
  private func directory(of command: Command) -> Path? {
    let base = context.directory
    let present = try? FileStatus(of: ".", followsLinks: true)
    let named = try? FileStatus(of: base, followsLinks: true)
    let isSame =
      present?.inode == named?.inode && present?.device == named?.device && named != nil
    return isSame ? command.directory : command.directory?.absolute(from: base) ?? base
  }

  /// Opens a pipe for the output of a run and begins to read it; `nil` if the output is not read.
  private func openOutput(of run: TaskReport.Run) throws(SystemError) -> PipeInput? {
    guard let sink = context.output, state.access({ $0.readsOutput }) else { return nil }
    let (reader, input) = try OutputReader.open(on: context.queue, hasRoom: context.outputRoom) {
      [self] event in
      switch event {
      case .line(let line):
        sink(TaskOutput(run: run, line: line.bytes, isSplit: line.isSplit, isFinished: true))
        examine(line.bytes, of: run)
      case .unfinished(let line):
        sink(TaskOutput(run: run, line: line, isFinished: false))
        examine(line, of: run)
      }
    }
    state.access { $0.readers[run.job] = reader }
    return input
  }

  /// Examines output of the latest run for the line that means it is ready.
  private func examine(_ line: [UInt8], of run: TaskReport.Run) {
    let check = state.access { $0.latest == run ? $0.check : nil }
    check?.sees(line)
  }
}

// MARK: - Events of processes

extension TaskWorker {
  private func handle(_ event: Supervisor.Event, of run: TaskReport.Run) {
    let report = context.report
    switch event {
    case .ended(let status, let leftovers):
      ended(run, status)
      advance { $0.ended(run.job, status, leftovers: leftovers) }
    case .notStarted(let error):
      launchFailed(run, error)
    case .stopping(let signal):
      report(.stopping(run, signal, killAfter: definition.stopPlan.timeout))
    case .killing(let gracePeriod):
      report(.killing(run, after: gracePeriod))
    case .notStopped(let survivor):
      state.access { $0.stuck[run.job] = (run, survivor) }
      advance { $0.notStopped(run.job) }
    case .groupIsGone:
      state.access { $0.stuck[run.job] = nil }
      report(.gone(run))
      advance { $0.groupIsGone(run.job) }
    }
  }

  /// Reports that a process of the job cannot be stopped. If nothing waits for it, its run counts as killed.
  func reportStuck(_ job: TaskReport.Job, isAwaited: Bool) {
    guard let (run, survivor) = state.access({ $0.stuck[job] }) else { return }
    context.report(.notStopped(run, survivor, isAwaited: isAwaited))
    if !isAwaited && state.access({ $0.current[job] != nil }) { ended(run, .signaled(.kill)) }
  }

  private func ended(_ run: TaskReport.Run, _ status: ExitStatus) {
    notify(.exited)
    state.access { $0.readers.removeValue(forKey: run.job) }?.runHasEnded()
    let now = scheduler.now
    let (current, timer) = state.access { state in
      defer { if run.job == .command { state.timeout = nil } }
      let timer = run.job == .command ? state.timeout : nil
      return (state.current.removeValue(forKey: run.job), timer)
    }
    // No timer may wake the process while nothing runs.
    timer?.cancel()
    guard let current else { return }
    let duration = current.began.duration(to: now)
    let result = run.job == .command ? record(status, current.ending, duration) : nil
    context.report(.ended(run, status, duration: duration, current.ending))
    if let result { notify(.ended(result, current.ending)) }
  }
}
