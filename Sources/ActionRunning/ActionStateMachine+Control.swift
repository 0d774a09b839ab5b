import FileObservation

// Somebody says what is to happen, or not to happen.

extension ActionStateMachine {
  /// From now on nothing starts; what goes on goes on.
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
      if rest == .rest { return goOn() }
      state = .stopping(next: rest)
    case .idle, .ending, .ended:
      break
    }
    return []
  }

  /// No longer paused: what has come meanwhile leads to one run.
  package mutating func resume() -> [Action] {
    isPaused = false
    isHeldBack = false
    defer { held = nil }
    return held.map { accept($0) } ?? []
  }

  mutating func hold(_ trigger: RunTrigger) {
    held = held.merged(with: trigger)
  }

  /// What is left of a step when nothing may start.
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

  /// Tells the next run of these changes as well, without starting one.
  package mutating func remember(_ trigger: RunTrigger) {
    unseen = unseen.merged(with: trigger)
  }

  /// Stops what is under way, without ending the queue. Nothing starts until the next trigger; that
  /// run is told of every change that was waiting for one.
  package mutating func stopCommand() -> [Action] {
    if isOver { return [] }
    for trigger in wanted { remember(trigger) }
    (outcome, hasTimedOut) = (nil, false)
    return go(.rest)
  }

  /// The triggers that the present state is to see to.
  private var wanted: [RunTrigger] {
    switch state {
    case .building(let now): [now]
    case .running(let pending): pending.map { [$0] } ?? []
    case .hooking(let next), .stopping(let next): next.triggers
    case .idle, .backingOff, .ending, .ended: []
    }
  }

  /// It is to end. A second time, at once.
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
  /// The triggers that it is to see to.
  fileprivate var triggers: [RunTrigger] {
    switch self {
    case .begin(let trigger), .run(let trigger, pending: nil): [trigger]
    case .run(let trigger, let pending?): [trigger, pending]
    case .hook(_, let next): next.triggers
    case .rest, .backOff, .finish: []
    }
  }
}
