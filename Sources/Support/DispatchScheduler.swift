import Dispatch
import Synchronization

/// The system's monotonic clock, less the time for which it stood still, and a Dispatch queue. Only the next deadline is
/// known to the system, so that work that was cancelled wakes nothing.
package final class DispatchScheduler: Scheduler {
  private struct State {
    var deadlines = Deadlines()
    /// The time to which the alarm is set.
    var alarmTime: Instant?
    var alarm: (any Alarm)?
    /// Retains the scheduler while there is work.
    var retained: DispatchScheduler?
    /// For how long the clock stood still.
    var pause = Duration.zero

    var now: Instant { Instant.now.advanced(by: .zero - pause) }
  }

  /// Creates an alarm that calls a handler on the queue.
  package typealias AlarmMaker =
    @Sendable (DispatchQueue, _ handler: @escaping @Sendable () -> Void) -> any Alarm

  private let queue: DispatchQueue
  private let makeAlarm: AlarmMaker
  private let state = Mutex(State())

  package init(
    queue: DispatchQueue, makeAlarm: @escaping AlarmMaker = { Support.makeAlarm(on: $0, $1) }
  ) {
    (self.queue, self.makeAlarm) = (queue, makeAlarm)
  }

  package var now: Instant { state.withLock(\.now) }

  /// Creates the alarm, which needs a descriptor. Otherwise the first work does, when there may be none.
  package func prepare() { state.withLock { _ = alarm(&$0) } }

  private func alarm(_ state: inout State) -> any Alarm {
    let alarm = state.alarm ?? makeAlarm(queue) { [weak self] in self?.elapsed() }
    state.alarm = alarm
    return alarm
  }

  package func schedule(
    at time: Instant, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork {
    let id = state.withLock { state in
      let id = state.deadlines.add(.init(time: time, work: work))
      setAlarm(&state)
      return id
    }
    return Ticket(scheduler: self, id: id)
  }

  /// The clock has stood still for this time, in which this process was suspended. Call this on the queue, before
  /// what is due.
  package func stoodStill(for time: Duration) {
    state.withLock { state in
      state.pause += time
      state.alarmTime = nil
      setAlarm(&state)
    }
  }

  fileprivate func cancel(_ id: Int) {
    // What the work retains is released without the lock.
    let (entry, retained) = state.withLock { state in
      let entry = state.deadlines.remove(id)
      return (entry, setAlarm(&state))
    }
    entry?.item.cancel()
    _ = retained
  }

  /// Does what is due, on the queue.
  private func elapsed() {
    state.withLock { $0.alarmTime = nil }
    let now = now
    while let entry = state.withLock({ $0.deadlines.takeDue(at: now) }) { entry.item.perform() }
    _ = state.withLock { setAlarm(&$0) }
  }

  /// Sets the alarm to the next deadline. Returns what need not be retained any more.
  @discardableResult
  private func setAlarm(_ state: inout State) -> DispatchScheduler? {
    let next = state.deadlines.next
    if next != state.alarmTime {
      state.alarmTime = next
      let pause = state.pause
      alarm(&state).set(next?.advanced(by: pause))
    }
    let retained = state.retained
    state.retained = next == nil ? nil : self
    return retained
  }

  private struct Ticket: ScheduledWork {
    let scheduler: DispatchScheduler
    let id: Int

    func cancel() { scheduler.cancel(id) }
  }
}
