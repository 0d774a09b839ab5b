import ActionRunning
import Dispatch
import SystemCalls

/// Calls `body` whenever this process is sent the signal, for as long as it lives.
func whenSignaled(_ signal: Signal, _ body: @escaping @Sendable () -> Void) {
  whenSignaled(signal, on: DispatchQueue(label: "watchrun.signals"), body)
}
