import ActionRunning
import Dispatch
import SystemCalls

/// Calls `body` on a queue of its own whenever this process receives the signal.
func whenSignaled(_ signal: Signal, _ body: @escaping @Sendable () -> Void) {
  whenSignaled(signal, on: DispatchQueue(label: "watchrun.signals"), body)
}
