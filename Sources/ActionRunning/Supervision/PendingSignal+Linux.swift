#if os(Linux)

import Dispatch
import SystemCalls

/// Calls `body` on the queue whenever the signal, which must be blocked in all threads, is pending; `body` is
/// to see to it that it no longer is.
func whenPending(
  _ signal: Signal, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  let descriptor = try checked("signalfd") { csystem_pending_open(signal.rawValue) }
  let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
  // Only kept alive by its own handler, and never used there.
  nonisolated(unsafe) let held = source
  source.setEventHandler { @Sendable in
    // It may have been taken, or taken back, since the source was told of it.
    withExtendedLifetime(held) { if signal.isPending { body() } }
  }
  source.setCancelHandler { @Sendable in _ = Descriptor(owning: descriptor) }
  source.activate()
}

#endif  // os(Linux)
