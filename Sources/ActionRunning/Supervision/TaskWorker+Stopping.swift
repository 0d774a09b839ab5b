import FileObservation
import Support
import SystemCalls

// Stops process groups and handles their ends, on the queue.

extension TaskWorker {
  /// The process of the run, unless nothing is left of it.
  func process(of run: TaskReport.Run) -> Process? {
    state.access { $0.processes[run.job] }.flatMap { $0.run.number == run.number ? $0 : nil }
  }

  /// Stops the group; the machine's `groupIsGone` follows. A group that could not be stopped is sent the signals again.
  func stopGroup(of job: TaskReport.Job) {
    guard let process = state.access({ $0.processes[job] }) else {
      // The start waits for the answer of its readiness check.
      state.access { $0.conflictCheck = nil }
      return advance { $0.groupIsGone(job) }
    }
    if process.group == nil {
      // The program cannot be started yet, and is not started any more.
      ended(process, .signaled(definition.policy.stopPlan.signal))
      return groupIsGone(process.run)
    }
    if process.stopping?.isStuck == false { return }
    if process.isGone { return groupIsGone(process.run) }
    let policy = definition.policy
    let sequence = StopSequence(
      policy.stopPlan, leaderIsAlive: process.leaderIsAlive, at: scheduler.now)
    state.access { $0.processes[job]?.stopping = sequence }
    let hasCommand = job == .command && policy.stopCommand != nil && process.stopping == nil
    step(job) { $0.begin(hasCommand: hasCommand, at: $1) }
  }

  /// Kills the group that is being stopped, before its grace period is over.
  func killGroup(of job: TaskReport.Job) {
    step(job) { $0.kill(groupIsAlive: groupIsAlive(job), at: $1) }
  }

  private func groupIsAlive(_ job: TaskReport.Job) -> Bool {
    state.access { $0.processes[job] }?.group?.isAlive ?? false
  }

  private func runStopCommand(of run: TaskReport.Run) {
    guard let command = definition.policy.stopCommand else { return }
    do throws(SystemError) {
      let (output, errors) = try openOutput(of: run)
      let group = try launchBeside(command, output: output, errors: errors) { [self] status in
        stopCommandEnded(run, isSuccess: status.isSuccess)
      }
      state.access { $0.processes[run.job]?.stopper = group }
      context.report(
        .run(run, .stoppingBy(command, killAfter: definition.policy.stopPlan.timeout)))
    } catch {
      stopCommandEnded(run, isSuccess: false)
    }
  }

  private func stopCommandEnded(_ run: TaskReport.Run, isSuccess: Bool) {
    if process(of: run) == nil { return }
    step(run.job) { $0.commandEnded(isSuccess: isSuccess, at: $1) }
  }

  private func check(_ job: TaskReport.Job) {
    step(job) { $0.checked(groupIsAlive: groupIsAlive(job), at: $1) }
  }

  /// Takes a step of the sequence that stops a group, and performs its actions.
  private func step(
    _ job: TaskReport.Job, _ decide: (inout StopSequence, Instant) -> [StopSequence.Action]
  ) {
    let now = scheduler.now
    guard let process = state.access({ $0.processes[job] }), var sequence = process.stopping else {
      return
    }
    let isOverdue = sequence.isOverdue(at: now)
    let actions = decide(&sequence, now)
    state.access { $0.processes[job]?.stopping = sequence }
    let (run, group, plan) = (process.run, process.group, definition.policy.stopPlan)
    var isAccepted = true
    for action in actions {
      switch action {
      case .runCommand:
        runStopCommand(of: run)
      case .killCommand:
        _ = process.stopper?.sendToAll(.kill)
      case .send(let signal):
        if signal == plan.signal {
          context.report(.run(run, .stopping(signal, killAfter: plan.timeout)))
        }
        let isSent = group?.sendToAll(signal) ?? true
        // A process of any user in the same session accepts SIGCONT.
        if signal != .continue { isAccepted = isSent }
      case .kill:
        context.report(.run(run, .killing(after: isOverdue ? plan.timeout : nil)))
        isAccepted = group?.sendToAll(.kill) ?? true
      case .check(let time):
        check(job, at: time, now)
      case .reportStuck:
        advance { $0.notStopped(job) }
      case .finish:
        groupIsGone(run)
      }
    }
    if !isAccepted { step(job) { $0.refused(at: $1) } }
  }

  private func check(_ job: TaskReport.Job, at time: Instant, _ now: Instant) {
    state.access { $0.processes[job]?.timer.take() }?.cancel()
    if time <= now { return check(job) }
    let timer = scheduler.schedule(at: time) { [weak self] in self?.check(job) }
    state.access { $0.processes[job]?.timer = timer }
  }
}

// MARK: - Ends

extension TaskWorker {
  /// The process has ended and was reaped.
  func leaderEnded(_ run: TaskReport.Run, _ status: ExitStatus) {
    guard let process = process(of: run), process.leaderIsAlive else { return }
    let hasLeftovers = process.group?.isAlive ?? false
    let isGone = process.stopping == nil && !hasLeftovers
    state.access { $0.processes[run.job]?.leaderIsAlive = false }
    if isGone { state.access { $0.processes[run.job] = nil } }
    ended(process, status)
    advance { $0.ended(run.job, status, leftovers: hasLeftovers) }
    if process.stopping != nil {
      step(run.job) { $0.leaderEnded(at: $1) }
    }
  }

  /// Reports the end of a process, unless it counts as ended already.
  private func ended(_ process: Process, _ status: ExitStatus) {
    let (run, isCommand) = (process.run, process.run.job == .command)
    state.access { $0.noteEnd(of: run.job) }
    let machine = state.access(\.machine)
    let ending = machine.ending(of: run.job)
    notify(
      .exited(
        isSuccess: isCommand && ending == .byItself && status.isSuccess,
        precedesHook: isCommand && machine.precedesHook(status, ending)))
    for reader in process.readers { reader.runHasEnded() }
    // No timer may wake the process while nothing runs.
    if isCommand { state.access { $0.timeout.take() }?.cancel() }
    if process.hasEnded { return }
    state.access { $0.processes[run.job]?.hasEnded = true }
    let duration = process.began?.duration(to: scheduler.now) ?? .zero
    if isCommand { record(status, ending, duration) }
    context.report(.run(run, .ended(status, duration: duration, ending)))
  }

  private func groupIsGone(_ run: TaskReport.Run) {
    let process = state.access { $0.processes.removeValue(forKey: run.job) }
    process?.timer?.cancel()
    // What it has left behind, or the command that stops it, may have written since the end of the command.
    for reader in process?.readers ?? [] { reader.runHasEnded() }
    context.report(.run(run, .gone))
    advance { $0.groupIsGone(run.job) }
  }

  /// Reports that a process of the job cannot be stopped. If nothing waits for it, its run counts as killed.
  func reportStuck(_ job: TaskReport.Job, isAwaited: Bool) {
    guard let process = state.access({ $0.processes[job] }) else { return }
    context.report(.run(process.run, .notStopped(process.group?.survivor, isAwaited: isAwaited)))
    if !isAwaited && !process.hasEnded { ended(process, .signaled(.kill)) }
  }
}

extension TaskWorker.State {
  /// The process of a job has ended, or could not be started. The first end of a command counts.
  mutating func noteEnd(of job: TaskReport.Job) {
    let now = FileTime.latest()
    ended = now
    if job == .command, let span = spans.popLast() { spans.append((span.began, span.ended ?? now)) }
  }
}
