import ActionRunning
import Dispatch
import SystemCalls

/// Calls `body` on a queue of its own whenever this process receives one of the signals.
func whenSignaled(_ signals: [Signal], _ body: @escaping @Sendable (Signal) -> Void) {
  whenSignaled(signals, on: DispatchQueue(label: "watchrun.signals"), body)
}
