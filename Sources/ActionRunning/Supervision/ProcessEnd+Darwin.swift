#if canImport(Darwin)

import Dispatch
import SystemCalls

/// Calls `body` on the queue when the process, a child of this one, has ended. It is not reaped.
func whenProcessEnds(
  _ pid: pid_t, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) {
  let source = DispatchSource.makeProcessSource(identifier: pid, eventMask: .exit, queue: queue)
  // The handler retains the source until it is cancelled.
  source.setEventHandler { @Sendable [retained = RetainedSource(source)] in
    retained.source.cancel()
    body()
  }
  source.activate()
}

// The methods of a source may be called from any thread.
private struct RetainedSource: @unchecked Sendable {
  let source: any DispatchSourceProcess

  init(_ source: any DispatchSourceProcess) {
    self.source = source
  }
}

#endif  // canImport(Darwin)
