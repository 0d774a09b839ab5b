#if canImport(Darwin)

import Dispatch
import SystemCalls

/// Calls `body` on the queue when the process, a child of ours, has ended. It is not waited for.
func whenProcessEnds(
  _ pid: pid_t, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  let source = DispatchSource.makeProcessSource(identifier: pid, eventMask: .exit, queue: queue)
  // The handlers hold the source until it is cancelled.
  source.setEventHandler { @Sendable [held = HeldSource(source)] in
    held.source.cancel()
    body()
  }
  source.activate()
}

// Only carried from one handler to the other; its methods may be called from any thread.
private struct HeldSource: @unchecked Sendable {
  let source: any DispatchSourceProcess

  init(_ source: any DispatchSourceProcess) {
    self.source = source
  }
}

#endif  // canImport(Darwin)
