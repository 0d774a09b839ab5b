import FileObservation

// A run is wanted.

extension ActionStateMachine {
  /// A run is wanted.
  package mutating func triggered(_ trigger: Trigger) -> [Action] {
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

  /// Does with a trigger what the state demands, and the policy where the command is under way.
  mutating func accept(_ trigger: Trigger) -> [Action] {
    switch state {
    case .idle, .backingOff:
      return isSuspect(trigger) ? listen(before: trigger) : begin(trigger)
    case .listening(let next):
      // Told of late, but made during the run as well: it says nothing new.
      let both = next.merged(with: trigger)
      return isSuspect(trigger) ? listen(before: both) : begin(both)
    case .building(let now, let pending):
      return acceptInBuild(of: now, pending: pending.merged(with: trigger), isSuspect(trigger))
    case .running(let pending):
      return acceptInRun(trigger, pending: pending.merged(with: trigger))
    case .hooking(let next):
      let merged = next.merged(with: trigger, hasBuild: rules.hasBuild)
      if rules.policy == .restart && !next.isLast && !isSuspect(trigger) { return go(merged) }
      state = .hooking(next: merged)
      return []
    case .stopping(let next):
      return go(next.merged(with: trigger, hasBuild: rules.hasBuild))
    case .ending, .ended:
      return []
    }
  }

  /// A change makes the build worthless, unless the build itself may have made it.
  private mutating func acceptInBuild(
    of now: Trigger, pending: Trigger, _ isSuspect: Bool
  ) -> [Action] {
    if !isSuspect { return begin(pending.carrying(now)) }
    state = .building(now, pending: pending)
    return []
  }

  private mutating func acceptInRun(_ trigger: Trigger, pending: Trigger) -> [Action] {
    // A run whose time is up is on its way out already.
    let isEnding = groups[.command] == .stopping
    if rules.buildsBeside && !isEnding {
      if !isSuspect(trigger) { return begin(pending) }
      state = .running(pending: pending)
      return [wait(for: .listening)]
    }
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

  private func isSuspect(_ trigger: Trigger) -> Bool {
    trigger.cameDuringRun && !trigger.causes.isEmpty && trigger.causes.isSubset(of: suspects)
  }

  private mutating func listen(before trigger: Trigger) -> [Action] {
    state = .listening(next: trigger)
    return [wait(for: .listening)]
  }
}
