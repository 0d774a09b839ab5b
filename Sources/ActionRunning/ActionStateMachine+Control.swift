import FileObservation

// Pause, stop and end.

extension ActionStateMachine {
  /// Pauses: nothing starts, but running jobs continue.
  package mutating func pause() -> [Action] {
    if isPaused || isOver { return [] }
    isPaused = true
    switch state {
    case .backingOff:
      hold(RunTrigger(.restart))
      state = .idle
    case .building:
      isHeldBack = true
    case .running(let pending):
      if let pending { hold(pending) }
      state = .running(pending: nil)
    case .hooking(let next):
      state = .hooking(next: heldBack(next))
    case .stopping(let next):
      let rest = heldBack(next)
      if rest == .rest { return resumeRun() }
      state = .stopping(next: rest)
    case .idle, .ending, .ended:
      break
    }
    return []
  }

  /// Ends a pause. The collected changes lead to one run.
  package mutating func resume() -> [Action] {
    isPaused = false
    isHeldBack = false
    defer { held = nil }
    return held.map { accept($0) } ?? []
  }

  mutating func hold(_ trigger: RunTrigger) {
    held = held.merged(with: trigger)
  }

  /// The part of a step that is allowed during a pause.
  private mutating func heldBack(_ step: Step) -> Step {
    switch step {
    case .begin(let trigger), .run(let trigger, pending: nil):
      hold(trigger)
    case .run(let trigger, let pending?):
      hold(trigger.merged(with: pending))
    case .backOff:
      hold(RunTrigger(.restart))
    case .hook(let status, let next):
      return .hook(status, then: heldBack(next))
    case .rest, .finish:
      return step
    }
    return .rest
  }

  /// Adds changes to the next run, without starting one.
  package mutating func remember(_ trigger: RunTrigger) {
    unseen = unseen.merged(with: trigger)
  }

  /// Stops all jobs, without ending the queue. The next trigger starts a run, which receives all changes
  /// that were queued.
  package mutating func stopCommand() -> [Action] {
    if isOver { return [] }
    for trigger in queued { remember(trigger) }
    (outcome, hasTimedOut) = (nil, false)
    return go(.rest)
  }

  /// The triggers that wait for a run.
  private var queued: [RunTrigger] {
    switch state {
    case .building(let now): [now]
    case .running(let pending): pending.map { [$0] } ?? []
    case .hooking(let next), .stopping(let next): next.triggers
    case .idle, .backingOff, .ending, .ended: []
    }
  }

  /// Ends the queue. A second call kills the jobs.
  package mutating func end() -> [Action] {
    switch state {
    case .ending:
      return ActionQueue.Job.allCases.filter { groups[$0] != nil }.map { .kill($0) }
    case .ended:
      return []
    case .idle, .building, .running, .hooking, .backingOff, .stopping:
      return go(.finish(nil))
    }
  }

  var isOver: Bool {
    switch state {
    case .ending, .ended: true
    case .hooking(let next), .stopping(let next): next.isLast
    case .idle, .building, .running, .backingOff: false
    }
  }
}

extension ActionStateMachine.Step {
  /// The triggers that the step would handle.
  fileprivate var triggers: [RunTrigger] {
    switch self {
    case .begin(let trigger), .run(let trigger, pending: nil): [trigger]
    case .run(let trigger, let pending?): [trigger, pending]
    case .hook(_, let next): next.triggers
    case .rest, .backOff, .finish: []
    }
  }
}
