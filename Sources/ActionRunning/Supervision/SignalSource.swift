import Dispatch
import Support
import SystemCalls

/// Calls `body` on the queue whenever this process receives one of the signals, until the process ends.
///
/// When this returns, the handlers are installed, and the signals no longer have their default actions. Do not call
/// this on the queue.
package func whenSignaled(
  _ signals: [Signal], on queue: DispatchQueue, _ body: @escaping @Sendable (Signal) -> Void
) {
  // One wait for all: each takes several switches between threads.
  let registrations = DispatchGroup()
  for signal in signals {
    signal.prepareForSource()
    let source = DispatchSource.makeSignalSource(signal: signal.rawValue, queue: queue)
    registrations.enter()
    source.setRegistrationHandler { @Sendable in registrations.leave() }
    source.activateRetained { _ in body(signal) }
  }
  registrations.wait()
}
