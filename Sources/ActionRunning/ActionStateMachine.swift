import SystemCalls

/// What an action queue does next. Inputs in, actions out: no process, no clock, no queue.
///
/// ```
///            trigger                    ended, nothing pending
///   idle ───────────────▶ running ─────────────────────────────▶ idle
///    │ trigger,           │  ▲ │ trigger, restart
///    │ leftovers          │  │ ▼
///    └──────────────▶ stopping ───▶ (group is empty) ───▶ running, with all that is pending
///                         │
///        end, from any ───┴───────▶ ending ───▶ (group is empty) ───▶ ended
/// ```
package struct ActionStateMachine: Sendable {
  package enum State: Hashable, Sendable {
    /// Nothing runs. `leftovers` if the last run has left something behind in its group.
    case idle(leftovers: Bool)
    /// A run is under way, and one more is wanted after it if anything is pending.
    case running(pending: Trigger?)
    /// The group is being stopped; then the next run begins.
    case stopping(next: Trigger)
    /// The group is being stopped for good.
    case ending(ExitStatus?)
    /// All is over.
    case ended
  }

  package enum Action: Hashable, Sendable {
    /// Start a run.
    case launch(Trigger)
    /// Stop the group, in the way that is planned; `groupIsGone` is to follow.
    case stop
    /// Kill the group at once.
    case kill
    case signal(Signal)
    /// All is over; the status of the run that was the last by the completion's rule, if one was.
    case finish(ExitStatus?)
  }

  package private(set) var state = State.idle(leftovers: false)
  private let policy: BusyPolicy
  private let completion: Completion

  package init(policy: BusyPolicy, completion: Completion) {
    self.policy = policy
    self.completion = completion
  }

  /// A run is wanted.
  package mutating func triggered(_ trigger: Trigger) -> [Action] {
    switch state {
    case .idle(leftovers: false):
      state = .running(pending: nil)
      return [.launch(trigger)]
    case .idle(leftovers: true):
      state = .stopping(next: trigger)
      return [.stop]
    case .running(let pending):
      switch policy {
      case .queue:
        state = .running(pending: pending?.merged(with: trigger) ?? trigger)
        return []
      case .ignore:
        return []
      case .restart:
        state = .stopping(next: trigger)
        return [.stop]
      case .signal(let signal):
        return [.signal(signal)]
      }
    case .stopping(let next):
      state = .stopping(next: next.merged(with: trigger))
      return []
    case .ending, .ended:
      return []
    }
  }

  /// The run's process has ended. `leftovers` if there are others in its group still.
  package mutating func runEnded(_ status: ExitStatus, leftovers: Bool) -> [Action] {
    guard case .running(let pending) = state else {
      // It is being stopped: what counts is when the group is gone.
      return []
    }
    if completion.isReached(by: status) {
      state = .ending(status)
      return leftovers ? [.stop] : groupIsGone()
    }
    state = .idle(leftovers: leftovers)
    return pending.map { triggered($0) } ?? []
  }

  /// The run could not be started; it counts as one that ended with this status.
  package mutating func launchFailed(_ status: ExitStatus) -> [Action] {
    runEnded(status, leftovers: false)
  }

  /// Nothing is left of the group that was to be stopped.
  package mutating func groupIsGone() -> [Action] {
    switch state {
    case .stopping(let next):
      state = .running(pending: nil)
      return [.launch(next)]
    case .ending(let status):
      state = .ended
      return [.finish(status)]
    case .idle(leftovers: true):
      state = .idle(leftovers: false)
      return []
    case .idle, .running, .ended:
      return []
    }
  }

  /// It is to end. A second time, at once.
  package mutating func end() -> [Action] {
    switch state {
    case .idle(leftovers: false):
      state = .ended
      return [.finish(nil)]
    case .idle(leftovers: true), .running:
      state = .ending(nil)
      return [.stop]
    case .stopping:
      state = .ending(nil)
      return []
    case .ending:
      return [.kill]
    case .ended:
      return []
    }
  }
}
