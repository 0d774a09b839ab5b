import Dispatch

/// Calls a handler on a queue at a time that can be changed.
package protocol Alarm: Sendable {
  /// Replaces the time; `nil` for never. A call at the former time may be under way.
  func set(_ time: Instant?)
}

/// A timer of Dispatch. Each change of its time wakes the thread that manages all timers.
///
/// Unchecked: Dispatch documents that sources may be used on any thread, but their types are not Sendable.
final class DispatchAlarm: Alarm, @unchecked Sendable {
  private let timer: any DispatchSourceTimer

  init(on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void) {
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler(handler: handler)
    timer.activate()
  }

  deinit { timer.cancel() }

  func set(_ time: Instant?) {
    let deadline = time.map { time in
      DispatchTime(uptimeNanoseconds: UInt64(clamping: time.offset.nanoseconds))
    }
    timer.schedule(deadline: deadline ?? .distantFuture, leeway: .nanoseconds(0))
  }
}
