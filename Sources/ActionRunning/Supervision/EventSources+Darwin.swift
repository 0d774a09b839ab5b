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

/// Creates a read source, not yet activated, that closes the descriptor once it is cancelled.
func makeReadSource(
  owning descriptor: consuming Descriptor, on queue: DispatchQueue
) throws(SystemError) -> any DispatchSourceRead {
  let number = descriptor.release()
  let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
  source.setCancelHandler { @Sendable in _ = Descriptor(owning: number) }
  return source
}

/// Calls `body` on the queue whenever the signal is pending. It must be blocked in all threads, and `body` must
/// make it no longer pending.
func whenPending(
  _ signal: Signal, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  // A source observes a signal without receiving it.
  let source = DispatchSource.makeSignalSource(signal: signal.rawValue, queue: queue)
  source.activateRetained { _ in
    // The signal may have been received or discarded since the source became ready.
    if signal.isPending { body() }
  }
}

#endif  // canImport(Darwin)
