#if canImport(Darwin)

import Dispatch
import Support
import SystemCalls

/// Calls `body` on the queue when the process, a child of this one, has ended. It is not reaped.
func whenProcessEnds(
  _ pid: pid_t, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) {
  let source = DispatchSource.makeProcessSource(identifier: pid, eventMask: .exit, queue: queue)
  source.activateRetained { cancel in
    cancel()
    body()
  }
}

#endif  // canImport(Darwin)
