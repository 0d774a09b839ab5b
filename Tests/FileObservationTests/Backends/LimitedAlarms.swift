import Dispatch
import Support
import Synchronization

/// Makes alarms, each of which needs a descriptor, as long as there are any.
final class LimitedAlarms: Sendable {
  private let areExhausted = Mutex(false)

  /// From now on, a new alarm gets no descriptor and never calls its handler.
  func exhaust() { areExhausted.withLock { $0 = true } }

  func make(
    on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void
  ) -> any Alarm {
    areExhausted.withLock { $0 } ? Silent() : makeAlarm(on: queue, handler)
  }

  private struct Silent: Alarm {
    func set(_ time: Instant?) {}
  }
}
