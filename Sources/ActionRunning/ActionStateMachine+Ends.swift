import FileObservation
import SystemCalls

// Something has come to its end: a job, what was left of it, or a time.

extension ActionStateMachine {
  /// The job's process has ended. `leftovers` if there are others in its group still.
  package mutating func ended(_ job: ActionQueue.Job, _ status: ExitStatus, leftovers: Bool)
    -> [Action]
  {
    guard groups[job] == .alive else {
      // It is being stopped: what counts is when the group is gone.
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

  /// The job could not be started; it counts as one that ended with this status.
  package mutating func launchFailed(_ job: ActionQueue.Job, _ status: ExitStatus) -> [Action] {
    ended(job, status, leftovers: false)
  }

  /// Nothing is left of the job's group, which was to be stopped.
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

  /// How a run counts whose time was up: never as a success.
  private func failure(_ status: ExitStatus?) -> ExitStatus {
    guard let status, !status.isSuccess else { return rules.statusAtTimeout }
    return status
  }

  private mutating func buildEnded(_ status: ExitStatus) -> [Action] {
    guard case .building(let trigger) = state else { return [] }
    if !status.isSuccess {
      unseen = unseen.merged(with: trigger)
      let isLast = !isCommandThere && rules.completion.isReached(by: status)
      return isLast ? follow(outcome, .finish(status)) : goOn()
    }
    if isHeldBack {
      hold(trigger)
      return goOn()
    }
    if case .signal(let signal) = rules.policy, groups[.command] == .alive {
      return [.signal(signal, trigger)] + goOn()
    }
    return follow(outcome, .run(trigger, pending: nil))
  }

  /// Back to what was before the build, and what is still there.
  mutating func goOn() -> [Action] {
    if isCommandThere {
      state = .running(pending: nil)
      return []
    }
    guard let outcome else {
      state = .idle
      return []
    }
    return follow(outcome, next(after: nil))
  }

  /// True if the command runs, or is only on its way out because its time is up.
  private var isCommandThere: Bool {
    groups[.command] == .alive || hasTimedOut
  }

  /// A run has ended by itself, or because its time was up.
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
      // What is done about it waits until the build has ended.
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

  /// Takes the step, but first the hook if there is one for a run that has ended like this.
  private mutating func follow(_ status: ExitStatus?, _ next: Step) -> [Action] {
    outcome = nil
    if let status, rules.hasHook(after: status) { return go(.hook(status, then: next)) }
    return start(next)
  }

  private mutating func hookEnded() -> [Action] {
    guard case .hooking(let next) = state else { return [] }
    return start(next)
  }

  /// Takes the step after a run, whose own doings may be the reason for it.
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

// MARK: - Times

extension ActionStateMachine {
  /// The time that was asked for has passed.
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
