// The machine's state, as rounds need it.

extension ActionStateMachine {
  /// The situation for a change that is reported now; `nil` if the change is ignored.
  var situation: Rounds.Situation? {
    let isKept = rules.policy != .ignore
    switch state {
    case .idle, .backingOff: return .idle
    case .building: return .building
    case .running:
      // A run that has exceeded its timeout is being stopped already.
      let isEnding = groups[.command] == .stopping
      return rules.isLive && !isEnding ? .live : isKept ? .running : nil
    case .hooking: return rules.isLive ? .live : isKept ? .running : nil
    case .stopping: return .running
    case .ending, .ended: return nil
    }
  }

  var work: QueueState.Work {
    switch state {
    case .idle, .backingOff, .ending, .ended: .none
    case .running: rules.isLive ? .live : .finite
    case .building, .hooking, .stopping: .finite
    }
  }

  /// The job for whose end a trigger waits that neither stops nor signals it; `nil` during a pause.
  var blockingJob: ActionQueue.Job? {
    if isPaused { return nil }
    return switch state {
    case .running: .command
    case .hooking: .hook
    case .idle, .building, .backingOff, .stopping, .ending, .ended: nil
    }
  }

  /// Whether a trigger waits for the end of the current run or its hook.
  var hasPendingTrigger: Bool {
    switch state {
    case .running(let pending): pending != nil
    case .hooking(let next): next.hasTrigger
    case .idle, .building, .backingOff, .stopping, .ending, .ended: false
    }
  }

  /// Replaces the trigger of the build that has just begun.
  mutating func amend(_ trigger: RunTrigger) {
    if case .building = state { state = .building(trigger) }
  }
}

extension ActionStateMachine.Step {
  fileprivate var hasTrigger: Bool {
    switch self {
    case .begin, .run: true
    case .hook(_, let next): next.hasTrigger
    case .rest, .backOff, .finish: false
    }
  }
}

extension ActionStateMachine.Rules {
  var isLive: Bool { policy.isLive }

  /// Whether the job begins a round.
  func opensRound(_ job: ActionQueue.Job, _ trigger: RunTrigger) -> Bool {
    switch job {
    case .build: true
    case .command: !hasBuild || trigger.reason == .restart
    case .hook: false
    }
  }
}
