import Support
import Synchronization

/// Performs the actions of a debounce state machine, with timers on a scheduler.
package final class Debouncer: Sendable {
  fileprivate struct Storage {
    var machine: DebounceStateMachine
    var timer: (any ScheduledWork)?
    var isStopped = false
    /// The completion handlers of flushes that wait for the end of a hold.
    var flushes: [@Sendable () -> Void] = []
    /// The completion handlers that wait for the end of the burst.
    var ends: [@Sendable () -> Void] = []
  }

  private let storage: Mutex<Storage>
  private let scheduler: any Scheduler
  private let isHeld: @Sendable () -> Bool
  private let deliver: @Sendable (_ isPartial: Bool) -> Void

  /// Creates a debouncer that calls `deliver` at the end of a burst, and with `isPartial` when a
  /// flush asks for the changes so far: on the thread that notes the last change or flushes, or on
  /// the scheduler's queue. While `isHeld` returns true, a burst is held open, for a limited time.
  package init(
    quietPeriod: QuietPeriod, maximumWait: Duration, scheduler: any Scheduler,
    isHeld: @escaping @Sendable () -> Bool = { false },
    deliver: @escaping @Sendable (_ isPartial: Bool) -> Void
  ) {
    storage = Mutex(
      Storage(
        machine: DebounceStateMachine(quietPeriod: quietPeriod, maximumWait: maximumWait)))
    self.scheduler = scheduler
    self.isHeld = isHeld
    self.deliver = deliver
  }

  /// Notes changes at the present time.
  package func noteChange(isBeingWritten: Bool = false, _ events: [RawEvent] = []) {
    let now = scheduler.now
    perform(
      storage.withLock { storage -> Step in
        if storage.isStopped { return Step(action: .none, outdated: nil) }
        return storage.replaceTimer(
          for: storage.machine.changed(at: now, isBeingWritten: isBeingWritten, events))
      })
  }

  /// Delivers the changes so far of the present burst, if any, then calls `done`. The burst goes on.
  /// A held burst ends with the hold, and `done` is called then.
  package func flush(then done: @escaping @Sendable () -> Void) {
    let now = scheduler.now
    let isHeld = isHeld()
    let step = storage.withLock { storage -> Step? in
      if storage.isStopped { return nil }
      let action = storage.machine.flush(at: now, isHeld: isHeld)
      if action == .none { return nil }
      storage.flushes.append(done)
      return storage.replaceTimer(for: action)
    }
    if let step { perform(step) } else { done() }
  }

  /// Calls `done` when the present burst has ended and was delivered; at once if there is none.
  package func awaitBurstEnd(then done: @escaping @Sendable () -> Void) {
    let isUnderWay = storage.withLock { storage in
      guard !storage.isStopped, storage.machine.isCollecting else { return false }
      storage.ends.append(done)
      return true
    }
    if !isUnderWay { done() }
  }

  /// Drops the present burst. No burst ends any more.
  package func stop() {
    let outdated = storage.withLock { storage in
      storage.isStopped = true
      storage.machine.reset()
      return storage.timer.take()
    }
    outdated?.cancel()
    completeFlushes()
    completeEnds()
  }

  private func timerFired(generation: Int) {
    let now = scheduler.now
    let isHeld = isHeld()
    perform(
      storage.withLock { storage -> Step in
        storage.replaceTimer(
          for: storage.machine.timerFired(generation: generation, at: now, isHeld: isHeld))
      })
  }

  private func perform(_ step: Step) {
    step.outdated?.cancel()
    switch step.action {
    case .none:
      break
    case .deliver:
      deliver(true)
      completeFlushes()
    case .fire:
      deliver(false)
      completeFlushes()
      completeEnds()
    case .schedule(let time, let generation):
      let timer = scheduler.schedule(at: time) { [weak self] in
        self?.timerFired(generation: generation)
      }
      storage.withLock { storage in
        // If another thread has set a later timer meanwhile, that one stays, and this one is void.
        if storage.machine.isWaiting(for: generation) { storage.timer = timer }
      }
    }
  }
}

extension Debouncer {
  private func completeFlushes() {
    let flushes = storage.withLock { storage in
      defer { storage.flushes = [] }
      return storage.flushes
    }
    for done in flushes { done() }
  }

  private func completeEnds() {
    let ends = storage.withLock { storage in
      defer { storage.ends = [] }
      return storage.ends
    }
    for done in ends { done() }
  }
}

/// The work outside the lock: an action, and the timer that it replaces.
private struct Step {
  let action: DebounceStateMachine.Action
  let outdated: (any ScheduledWork)?
}

extension Debouncer.Storage {
  fileprivate mutating func replaceTimer(for action: DebounceStateMachine.Action) -> Step {
    switch action {
    case .none, .deliver: return Step(action: action, outdated: nil)
    case .schedule, .fire: return Step(action: action, outdated: timer.take())
    }
  }
}
