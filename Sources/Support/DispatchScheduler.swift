import Dispatch

/// The system's monotonic clock, and a Dispatch queue. All copies share one timer of the system, which is set
/// to the next deadline, and not at all while there is none.
package struct DispatchScheduler: Scheduler {
  private let timer: QueueTimer

  /// Creates an alarm that calls a handler on the queue.
  package typealias AlarmMaker =
    @Sendable (DispatchQueue, _ handler: @escaping @Sendable () -> Void) -> any Alarm

  package init(
    queue: DispatchQueue, makeAlarm: @escaping AlarmMaker = { Support.makeAlarm(on: $0, $1) }
  ) {
    timer = QueueTimer { makeAlarm(queue, $0) }
  }

  /// Creates the timer, which needs a descriptor. Otherwise the first work does, when there may be none.
  package func prepare() { timer.prepare() }

  package var now: Instant { .now }

  package func schedule(
    at time: Instant, leeway: Duration, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork {
    timer.schedule(.init(time: time, leeway: max(.zero, leeway), work: work))
  }
}

extension Instant {
  /// The present time of the system's monotonic clock.
  static var now: Instant {
    Instant(offset: .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)))
  }
}
