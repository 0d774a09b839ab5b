import Dispatch
import SystemCalls

/// Calls `body` on the queue whenever this process receives the signal, until the process ends.
///
/// When this returns, the handler is installed, and the signal no longer has its default action. Do not call
/// this on the queue.
package func whenSignaled(
  _ signal: Signal, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) {
  signal.prepareForSource()
  let source = DispatchSource.makeSignalSource(signal: signal.rawValue, queue: queue)
  // The handler only retains the source.
  nonisolated(unsafe) let held = source
  source.setEventHandler { @Sendable in withExtendedLifetime(held) { body() } }
  let isRegistered = DispatchSemaphore(value: 0)
  source.setRegistrationHandler { @Sendable in isRegistered.signal() }
  source.activate()
  isRegistered.wait()
}
