import SystemCalls

/// What an action queue does next. Inputs in, actions out: no process, no clock, no queue.
///
/// ```
///            trigger                    ended, nothing pending
///   idle ───────────────▶ running ─────────────────────────────▶ idle
///    │ trigger,           │  ▲ │ trigger, restart            (a suspect trigger waits
///    │ leftovers          │  │ ▼                              in `listening` first)
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
    /// Nothing runs, and the next run waits until it has been listened for a while.
    case listening(next: Trigger, leftovers: Bool)
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
    /// Call `listened` after a while, with this generation.
    case listen(generation: Int)
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
  private var generation = 0

  package init(policy: BusyPolicy, completion: Completion) {
    self.policy = policy
    self.completion = completion
  }

  /// A run is wanted. `isSuspect` if perhaps only because of what the run before has done: then it is
  /// listened first whether there is another reason.
  package mutating func triggered(_ trigger: Trigger, isSuspect: Bool = false) -> [Action] {
    switch state {
    case .idle(let leftovers):
      if isSuspect { return listen(before: trigger, leftovers: leftovers) }
      return begin(trigger, leftovers: leftovers)
    case .listening(let next, let leftovers):
      // Told of late, but made during the run as well: it says nothing new.
      if isSuspect { return listen(before: next.merged(with: trigger), leftovers: leftovers) }
      return begin(next.merged(with: trigger), leftovers: leftovers)
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

  /// Nothing has happened while it was listened.
  package mutating func listened(generation: Int) -> [Action] {
    guard case .listening(let next, let leftovers) = state, generation == self.generation else {
      return []
    }
    return begin(next, leftovers: leftovers)
  }

  private mutating func begin(_ trigger: Trigger, leftovers: Bool) -> [Action] {
    state = leftovers ? .stopping(next: trigger) : .running(pending: nil)
    return [leftovers ? .stop : .launch(trigger)]
  }

  private mutating func listen(before trigger: Trigger, leftovers: Bool) -> [Action] {
    generation += 1
    state = .listening(next: trigger, leftovers: leftovers)
    return [.listen(generation: generation)]
  }

  /// The run's process has ended. `leftovers` if there are others in its group still; `isSuspect` as
  /// for `triggered`, of what is pending.
  package mutating func runEnded(
    _ status: ExitStatus, leftovers: Bool, isSuspect: (Trigger) -> Bool = { _ in false }
  ) -> [Action] {
    guard case .running(let pending) = state else {
      // It is being stopped: what counts is when the group is gone.
      return []
    }
    if completion.isReached(by: status) {
      state = .ending(status)
      return leftovers ? [.stop] : groupIsGone()
    }
    state = .idle(leftovers: leftovers)
    return pending.map { triggered($0, isSuspect: isSuspect($0)) } ?? []
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
    case .idle, .listening, .running, .ended:
      return []
    }
  }

  /// It is to end. A second time, at once.
  package mutating func end() -> [Action] {
    switch state {
    case .idle(leftovers: false), .listening(_, leftovers: false):
      state = .ended
      return [.finish(nil)]
    case .idle(leftovers: true), .listening(_, leftovers: true), .running:
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
