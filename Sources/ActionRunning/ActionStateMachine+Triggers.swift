import FileObservation

// Requests for a run.

extension ActionStateMachine {
  /// Requests a run.
  package mutating func triggered(_ trigger: RunTrigger) -> [Action] {
    let isKey = trigger.reason == .key
    if case .running = state, rules.policy == .ignore, !isKey { return [] }
    if case .hooking = state, rules.policy == .ignore, !isKey { return [] }
    if isPaused && !isKey {
      if !isOver { hold(trigger) }
      return []
    }
    defer { held = nil }
    return accept(held?.merged(with: trigger) ?? trigger)
  }

  /// Handles a trigger by the state, and by the policy while the command runs.
  mutating func accept(_ trigger: RunTrigger) -> [Action] {
    switch state {
    case .idle, .backingOff:
      return begin(trigger)
    case .building(let now):
      return begin(now.merged(with: trigger))
    case .running(let pending):
      return acceptInRun(trigger, pending: pending.merged(with: trigger))
    case .hooking(let next):
      let merged = next.merged(with: trigger, hasBuild: rules.hasBuild)
      if rules.policy == .restart && !next.isLast { return go(merged) }
      state = .hooking(next: merged)
      return []
    case .stopping(let next):
      return go(next.merged(with: trigger, hasBuild: rules.hasBuild))
    case .ending, .ended:
      return []
    }
  }

  private mutating func acceptInRun(_ trigger: RunTrigger, pending: RunTrigger) -> [Action] {
    // A run that has exceeded its timeout is being stopped already.
    let isEnding = groups[.command] == .stopping
    if rules.buildsBeside && !isEnding { return begin(pending) }
    switch rules.policy {
    case .restart where !isEnding:
      return begin(pending)
    case .signal(let signal) where !isEnding:
      return [.signal(signal, trigger)]
    case .queue, .ignore, .restart, .signal:
      state = .running(pending: pending)
      return []
    }
  }
}
