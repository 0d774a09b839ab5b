import FileObservation
import SystemCalls

// Ends of jobs, groups and timers.

extension ActionStateMachine {
  /// The job's process has ended. `leftovers` is set if other members of its group are alive.
  package mutating func ended(_ job: ActionQueue.Job, _ status: ExitStatus, leftovers: Bool)
    -> [Action]
  {
    guard groups[job] == .alive else {
      // A job that is being stopped ends with its group.
      if job == .command && hasTimedOut { outcome = status }
      return []
    }
    groups[job] = leftovers ? .leftovers : nil
    switch job {
    case .build: return buildEnded(status)
    case .command: return runIsOver(status)
    case .hook: return hookEnded()
    }
  }

  /// The job could not be started. It counts as a job that ended with this status.
  package mutating func launchFailed(_ job: ActionQueue.Job, _ status: ExitStatus) -> [Action] {
    ended(job, status, leftovers: false)
  }

  /// The job's group, which was being stopped, is gone.
  package mutating func groupIsGone(_ job: ActionQueue.Job) -> [Action] {
    if groups[job] == .alive { return [] }
    groups[job] = nil
    if job == .command && hasTimedOut {
      hasTimedOut = false
      return runIsOver(failure(outcome))
    }
    switch state {
    case .stopping(let next): return go(next)
    case .ending(let status): return go(.finish(status))
    case .idle, .building, .running, .hooking, .backingOff, .ended: return []
    }
  }

  /// The status of a run that exceeded its timeout: never a success.
  private func failure(_ status: ExitStatus?) -> ExitStatus {
    guard let status, !status.isSuccess else { return rules.statusAtTimeout }
    return status
  }

  private mutating func buildEnded(_ status: ExitStatus) -> [Action] {
    guard case .building(let trigger) = state else { return [] }
    if !status.isSuccess {
      unseen = unseen.merged(with: trigger)
      let isLast = !hasCommand && rules.completion.isReached(by: status)
      return isLast ? follow(outcome, .finish(status)) : resumeRun()
    }
    if isHeldBack {
      hold(trigger)
      return resumeRun()
    }
    if case .signal(let signal) = rules.policy, groups[.command] == .alive {
      return [.signal(signal, trigger)] + resumeRun()
    }
    return follow(outcome, .run(trigger, pending: nil))
  }

  /// Returns to the state before the build.
  mutating func resumeRun() -> [Action] {
    if hasCommand {
      state = .running(pending: nil)
      return []
    }
    guard let outcome else {
      state = .idle
      return []
    }
    return follow(outcome, next(after: nil))
  }

  /// Whether the command runs, or is being stopped after its timeout.
  private var hasCommand: Bool {
    groups[.command] == .alive || hasTimedOut
  }

  /// A run has ended by itself, or after its timeout.
  private mutating func runIsOver(_ status: ExitStatus) -> [Action] {
    if case .ending = state { return go(.finish(nil)) }
    if rules.completion.isReached(by: status) {
      let stops = stopBuild()
      return stops + follow(status, .finish(status))
    }
    switch state {
    case .running(let pending):
      return follow(status, next(after: pending))
    case .stopping(let next):
      return follow(status, next)
    case .building:
      // It is handled when the build has ended.
      outcome = status
      return []
    case .idle, .hooking, .backingOff, .ending, .ended:
      return []
    }
  }

  private mutating func stopBuild() -> [Action] {
    guard groups[.build] == .alive else { return [] }
    groups[.build] = .stopping
    return [.stop(.build)]
  }

  private mutating func next(after pending: RunTrigger?) -> Step {
    if let pending { return .begin(pending) }
    guard rules.keepsAlive else { return .rest }
    if !isPaused { return .backOff }
    hold(RunTrigger(.restart))
    return .rest
  }

  /// Runs the hook for this status, if there is one, and then takes the step.
  private mutating func follow(_ status: ExitStatus?, _ next: Step) -> [Action] {
    outcome = nil
    if let status, rules.hasHook(after: status) { return go(.hook(status, then: next)) }
    return start(next)
  }

  private mutating func hookEnded() -> [Action] {
    guard case .hooking(let next) = state else { return [] }
    return start(next)
  }

  /// Takes the step after a run.
  private mutating func start(_ next: Step) -> [Action] {
    switch next {
    case .rest:
      state = .idle
      return []
    case .begin(let trigger):
      state = .idle
      return accept(trigger)
    case .run, .hook, .backOff, .finish:
      return go(next)
    }
  }
}

// MARK: - Timers

extension ActionStateMachine {
  /// The time of a timer is over.
  package mutating func elapsed(_ timer: Timer, generation: Int) -> [Action] {
    guard isDue(timer, generation) else { return [] }
    switch (timer, state) {
    case (.backOff, .backingOff):
      return go(.run(RunTrigger(.restart), pending: nil))
    case (.timeout, .running), (.timeout, .building), (.timeout, .stopping):
      guard groups[.command] == .alive else { return [] }
      groups[.command] = .stopping
      hasTimedOut = true
      return [.timeOut]
    default:
      return []
    }
  }
}
