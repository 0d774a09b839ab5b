#if os(Linux)

import Dispatch
import Support
import SystemCalls

/// Calls `body` on the queue whenever the signal is pending. It must be blocked in all threads, and `body` must
/// make it no longer pending.
func whenPending(
  _ signal: Signal, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  let descriptor = try checked("signalfd") { csystem_pending_open(signal.rawValue) }
  let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
  source.setCancelHandler { @Sendable in _ = Descriptor(owning: descriptor) }
  source.activateRetained { _ in
    // The signal may have been received or discarded since the source became ready.
    if signal.isPending { body() }
  }
}

#endif  // os(Linux)
