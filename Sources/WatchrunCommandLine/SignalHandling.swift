import Dispatch
import SystemCalls

/// Calls `body` whenever this process is sent the signal, for as long as it lives.
func whenSignaled(_ signal: Signal, _ body: @escaping @Sendable () -> Void) {
  signal.prepareForSource()
  let source = DispatchSource.makeSignalSource(
    signal: signal.rawValue, queue: DispatchQueue(label: "watchrun.signals"))
  // Only kept alive by its own handler, and never used there.
  nonisolated(unsafe) let held = source
  source.setEventHandler { @Sendable in withExtendedLifetime(held) { body() } }
  source.activate()
}
