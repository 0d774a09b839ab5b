#if os(Linux)

import Dispatch
import SystemCalls

/// Calls `body` on the queue when the process, a child of this one, has ended. It is not reaped.
func whenProcessEnds(
  _ pid: pid_t, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  let descriptor = Descriptor(owning: try checked("pidfd_open") { csystem_pidfd_open(pid) })
  let source = try makeReadSource(owning: descriptor, on: queue)
  // The handler retains the source until it is cancelled.
  source.setEventHandler { @Sendable [retained = RetainedSource(source)] in
    retained.source.cancel()
    body()
  }
  source.activate()
}

// The methods of a source may be called from any thread.
private struct RetainedSource: @unchecked Sendable {
  let source: any DispatchSourceRead

  init(_ source: any DispatchSourceRead) {
    self.source = source
  }
}

#endif  // os(Linux)
