#if canImport(Darwin)

import Dispatch
import SystemCalls

/// Calls `body` on the queue whenever the signal, which must be blocked in all threads, is pending; `body` is
/// to see to it that it no longer is.
func whenPending(
  _ signal: Signal, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  // A source is told when a signal is sent, and does not take it.
  let source = DispatchSource.makeSignalSource(signal: signal.rawValue, queue: queue)
  // Only kept alive by its own handler, and never used there.
  nonisolated(unsafe) let held = source
  source.setEventHandler { @Sendable in
    // It may have been taken, or taken back, since the source was told of it.
    withExtendedLifetime(held) { if signal.isPending { body() } }
  }
  source.activate()
}

#endif  // canImport(Darwin)
