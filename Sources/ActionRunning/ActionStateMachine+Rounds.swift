// What the machine's state means for rounds.

extension ActionStateMachine {
  /// What a change meets that is reported now; `nil` if it leads to nothing.
  var situation: Rounds.Situation? {
    let isKept = rules.policy != .ignore
    switch state {
    case .idle, .backingOff: return .idle
    case .building: return .building
    case .running:
      // A run whose time is up is on its way out already.
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

  /// Adds changes to the round that the build under way has begun.
  mutating func amend(_ trigger: RunTrigger) {
    if case .building = state { state = .building(trigger) }
  }
}

extension ActionStateMachine.Rules {
  var isLive: Bool { policy.isLive }

  /// Whether the job opens a round, and is no part of the one under way.
  func opensRound(_ job: ActionQueue.Job, _ trigger: RunTrigger) -> Bool {
    switch job {
    case .build: true
    case .command: !hasBuild || trigger.reason == .restart
    case .hook: false
    }
  }
}
