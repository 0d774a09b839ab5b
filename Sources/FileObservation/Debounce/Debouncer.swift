import Support
import Synchronization

/// Performs what the debounce state machine decides, with cancellable work on a scheduler.
package final class Debouncer: Sendable {
  fileprivate struct Storage {
    var machine: DebounceStateMachine
    var timer: (any ScheduledWork)?
    var isStopped = false
    /// Callers that wait for the end of a burst that is held open.
    var flushes: [@Sendable () -> Void] = []
  }

  private let storage: Mutex<Storage>
  private let scheduler: any Scheduler
  private let isHeld: @Sendable () -> Bool
  private let burstEnded: @Sendable () -> Void

  /// A debouncer that calls `burstEnded` where the change that ends a burst was noted, or on the
  /// scheduler's queue. While `isHeld` returns true, a burst is held open, for a limited time.
  package init(
    quietPeriod: QuietPeriod, maximumWait: Duration, scheduler: any Scheduler,
    isHeld: @escaping @Sendable () -> Bool = { false }, burstEnded: @escaping @Sendable () -> Void
  ) {
    storage = Mutex(
      Storage(
        machine: DebounceStateMachine(quietPeriod: quietPeriod, maximumWait: maximumWait)))
    self.scheduler = scheduler
    self.isHeld = isHeld
    self.burstEnded = burstEnded
  }

  /// Something changed just now.
  package func noteChange(isBeingWritten: Bool = false) {
    let now = scheduler.now
    perform(
      storage.withLock { storage -> Step in
        if storage.isStopped { return Step(action: .none, outdated: nil) }
        return storage.follow(storage.machine.changed(at: now, isBeingWritten: isBeingWritten))
      })
  }

  /// Ends the burst that is being collected, if any, then calls `done`. A burst that is held open ends
  /// with the hold.
  package func flush(then done: @escaping @Sendable () -> Void) {
    let now = scheduler.now
    let isHeld = isHeld()
    let step = storage.withLock { storage -> Step? in
      guard !storage.isStopped, storage.machine.isCollecting else { return nil }
      storage.flushes.append(done)
      return storage.follow(storage.machine.flush(at: now, isHeld: isHeld))
    }
    if let step { perform(step) } else { done() }
  }

  /// No burst will end any more.
  package func stop() {
    let (outdated, flushes) = storage.withLock { storage in
      storage.isStopped = true
      storage.machine.reset()
      defer { (storage.timer, storage.flushes) = (nil, []) }
      return (storage.timer, storage.flushes)
    }
    outdated?.cancel()
    for done in flushes { done() }
  }

  private func timerFired(generation: Int) {
    let now = scheduler.now
    let isHeld = isHeld()
    perform(
      storage.withLock { storage -> Step in
        storage.follow(
          storage.machine.timerFired(generation: generation, at: now, isHeld: isHeld))
      })
  }

  private func perform(_ step: Step) {
    step.outdated?.cancel()
    switch step.action {
    case .none:
      break
    case .fire:
      burstEnded()
      let flushes = storage.withLock { storage in
        defer { storage.flushes = [] }
        return storage.flushes
      }
      for done in flushes { done() }
    case .schedule(let time, let generation):
      let timer = scheduler.schedule(at: time) { [weak self] in
        self?.timerFired(generation: generation)
      }
      storage.withLock { storage in
        // Another thread may have gone on meanwhile; its timer stays, this one will be void.
        if storage.machine.isWaiting(for: generation) { storage.timer = timer }
      }
    }
  }
}

/// What to do outside the lock: an action, and the timer that it makes void.
private struct Step {
  let action: DebounceStateMachine.Action
  let outdated: (any ScheduledWork)?
}

extension Debouncer.Storage {
  fileprivate mutating func follow(_ action: DebounceStateMachine.Action) -> Step {
    if action == .none { return Step(action: action, outdated: nil) }
    defer { timer = nil }
    return Step(action: action, outdated: timer)
  }
}
