import Dispatch
import SystemCalls

/// Calls `body` on the queue whenever this process is sent the signal, for as long as it lives.
///
/// Returns when the signal is looked for, so that none that comes from then on does what it does by
/// default. Not to be called on the queue.
package func whenSignaled(
  _ signal: Signal, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) {
  signal.prepareForSource()
  let source = DispatchSource.makeSignalSource(signal: signal.rawValue, queue: queue)
  // Only kept alive by its own handler, and never used there.
  nonisolated(unsafe) let held = source
  source.setEventHandler { @Sendable in withExtendedLifetime(held) { body() } }
  let isRegistered = DispatchSemaphore(value: 0)
  source.setRegistrationHandler { @Sendable in isRegistered.signal() }
  source.activate()
  isRegistered.wait()
}
