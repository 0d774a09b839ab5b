import Dispatch
import Synchronization

/// Does work at its time on a queue. Only the next deadline is known to the system, so that work that was
/// cancelled wakes nothing.
final class QueueTimer: Sendable {
  private struct State {
    var deadlines = Deadlines()
    /// The time to which the alarm is set.
    var alarmTime: Instant?
    var alarm: (any Alarm)?
    /// Retains the timer while there is work.
    var retained: QueueTimer?
  }

  typealias AlarmMaker = @Sendable (@escaping @Sendable () -> Void) -> any Alarm

  private let makeAlarm: AlarmMaker
  private let state = Mutex(State())

  /// - Parameter makeAlarm: Creates an alarm that calls a handler on the queue.
  init(makeAlarm: @escaping AlarmMaker) {
    self.makeAlarm = makeAlarm
  }

  /// Creates the alarm, which needs a descriptor. Later there may be none.
  func prepare() {
    state.withLock { state in
      if state.alarm == nil { state.alarm = makeAlarm { [weak self] in self?.elapsed() } }
    }
  }

  func schedule(_ entry: Deadlines.Entry) -> any ScheduledWork {
    let id = state.withLock { state in
      let id = state.deadlines.add(entry)
      setAlarm(&state)
      return id
    }
    return Ticket(timer: self, id: id)
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
    let now = Instant.now
    while let entry = state.withLock({ $0.deadlines.takeDue(at: now) }) { entry.item.perform() }
    let retained = state.withLock { setAlarm(&$0) }
    _ = retained
  }

  /// Sets the alarm to the next deadline. Returns what need not be retained any more.
  @discardableResult
  private func setAlarm(_ state: inout State) -> QueueTimer? {
    let next = state.deadlines.next
    if next != state.alarmTime {
      let alarm = state.alarm ?? makeAlarm { [weak self] in self?.elapsed() }
      (state.alarm, state.alarmTime) = (alarm, next)
      alarm.set(next)
    }
    let retained = state.retained
    state.retained = state.deadlines.isEmpty ? nil : self
    return retained
  }

  private struct Ticket: ScheduledWork {
    let timer: QueueTimer
    let id: Int

    func cancel() { timer.cancel(id) }
  }
}
