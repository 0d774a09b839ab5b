import Support
import Synchronization

/// Performs the actions of a debounce state machine, with timers on a scheduler.
final class Debouncer: Sendable {
  private struct Storage {
    var machine: DebounceStateMachine
    var timer: (any ScheduledWork)?
    var isStopped = false
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
  init(
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
  func noteChange(isBeingWritten: Bool = false, _ events: [RawEvent] = []) {
    let now = scheduler.now
    step { $0.changed(at: now, isBeingWritten: isBeingWritten, events) }
  }

  /// Delivers the changes so far of the present burst, if any. The burst goes on.
  func flush() {
    let (now, isHeld) = (scheduler.now, isHeld())
    step { $0.flush(at: now, isHeld: isHeld) }
  }

  /// Calls `done` when the present burst has ended and was delivered; at once if there is none.
  func awaitBurstEnd(then done: @escaping @Sendable () -> Void) {
    let isUnderWay = storage.withLock { storage in
      guard !storage.isStopped, storage.machine.isCollecting else { return false }
      storage.ends.append(done)
      return true
    }
    if !isUnderWay { done() }
  }

  /// Drops the present burst. No burst ends any more.
  func stop() {
    let outdated = storage.withLock { storage in
      storage.isStopped = true
      storage.machine.reset()
      return storage.timer.take()
    }
    outdated?.cancel()
    burstHasEnded()
  }

  /// Makes a step of the machine, and performs its action.
  private func step(
    _ transition: (inout DebounceStateMachine) -> DebounceStateMachine.Action
  ) {
    let (action, outdated) = storage.withLock {
      storage -> (DebounceStateMachine.Action, (any ScheduledWork)?) in
      let action = storage.isStopped ? .none : transition(&storage.machine)
      switch action {
      case .none, .deliver: return (action, nil)
      case .schedule, .fire: return (action, storage.timer.take())
      }
    }
    outdated?.cancel()
    switch action {
    case .none: break
    case .deliver: deliver(true)
    case .fire:
      deliver(false)
      burstHasEnded()
    case .schedule(let time, let generation):
      let timer = scheduler.schedule(at: time) { [weak self] in
        guard let self else { return }
        let (now, isHeld) = (self.scheduler.now, self.isHeld())
        self.step { $0.timerFired(generation: generation, at: now, isHeld: isHeld) }
      }
      storage.withLock { storage in
        // If another thread has set a later timer meanwhile, that one stays, and this one is void.
        if storage.machine.isWaiting(for: generation) { storage.timer = timer }
      }
    }
  }

  private func burstHasEnded() {
    for done in storage.withLock({ exchange(&$0.ends, with: []) }) { done() }
  }
}
