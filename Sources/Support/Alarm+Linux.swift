#if os(Linux)

import Dispatch
import SystemCalls

package func makeAlarm(
  on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void
) -> any Alarm {
  KernelAlarm(on: queue, handler) ?? DispatchAlarm(on: queue, handler)
}

/// A timer of the kernel. It is set and unset without waking any thread.
///
/// Unchecked: Dispatch documents that sources may be used on any thread, but their types are not Sendable.
private final class KernelAlarm: Alarm, @unchecked Sendable {
  private let descriptor: Int32
  private let source: any DispatchSourceRead

  /// Returns `nil` if the kernel gives no descriptor.
  init?(on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void) {
    descriptor = csystem_timer_open()
    if descriptor < 0 { return nil }
    let number = descriptor
    source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
    source.setEventHandler { @Sendable in
      if csystem_timer_take(number) { handler() }
    }
    source.setCancelHandler { @Sendable in _ = Descriptor(owning: number) }
    source.activate()
  }

  deinit { source.cancel() }

  func set(_ time: Instant?) {
    csystem_timer_set(descriptor, time.map { max(1, $0.offset.nanoseconds) } ?? 0)
  }
}

#endif  // os(Linux)
