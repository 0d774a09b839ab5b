#if canImport(Darwin)

import Dispatch
import Support
import SystemCalls

/// Calls `body` on the queue whenever the signal is pending. It must be blocked in all threads, and `body` must
/// make it no longer pending.
func whenPending(
  _ signal: Signal, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  // A source observes a signal without receiving it.
  let source = DispatchSource.makeSignalSource(signal: signal.rawValue, queue: queue)
  source.activateRetained { _ in
    // The signal may have been received or discarded since the source became ready.
    if signal.isPending { body() }
  }
}

#endif  // canImport(Darwin)
