#if os(Linux)

import Dispatch
import SystemCalls

/// Calls `body` on the queue whenever the signal is pending. It must be blocked in all threads, and `body` must
/// make it no longer pending.
func whenPending(
  _ signal: Signal, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  let descriptor = try checked("signalfd") { csystem_pending_open(signal.rawValue) }
  let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
  // The handler only retains the source.
  nonisolated(unsafe) let retained = source
  source.setEventHandler { @Sendable in
    // The signal may have been received or discarded since the source became ready.
    withExtendedLifetime(retained) { if signal.isPending { body() } }
  }
  source.setCancelHandler { @Sendable in _ = Descriptor(owning: descriptor) }
  source.activate()
}

#endif  // os(Linux)
