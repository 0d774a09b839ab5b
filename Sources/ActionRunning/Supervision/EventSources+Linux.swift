#if os(Linux)

import Dispatch
import Support
import SystemCalls

/// Calls `body` on the queue when the process, a child of this one, has ended. It is not reaped.
func whenProcessEnds(
  _ pid: pid_t, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) {
  // Container engines, sandboxes and emulators may refuse the call or not know it, and a process may have no
  // descriptor left.
  let number = csystem_pidfd_open(pid)
  guard number != -1,
    let source = try? makeReadSource(owning: Descriptor(owning: number), on: queue)
  else {
    return awaitEnd(of: pid, on: queue, body)
  }
  source.activateRetained { cancel in
    cancel()
    // One that traces the process, as strace does, learns of it first.
    if hasEnded(pid) { body() } else { awaitEnd(of: pid, on: queue, body) }
  }
}

/// Also if its end cannot be awaited.
private func hasEnded(_ pid: pid_t) -> Bool {
  do throws(SystemError) {
    return try ProcessGroup(leader: pid).leaderStatus() != nil
  } catch {
    return true
  }
}

/// With one thread for each process.
private func awaitEnd(
  of pid: pid_t, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) {
  DispatchQueue.separate().async {
    ProcessGroup(leader: pid).awaitLeader()
    queue.async(execute: body)
  }
}

/// Creates a read source, not yet activated, of a descriptor that can be hung up: a pipe or a
/// process. It closes the descriptor once it is cancelled.
///
/// Dispatch only sees an epoll descriptor, which is never hung up. A source that is, is unregistered
/// by libdispatch on the queue of the source, while the manager thread still uses the registration:
/// it crashes, or loses other sources (swift-corelibs-libdispatch #949).
func makeReadSource(
  owning descriptor: consuming Descriptor, on queue: DispatchQueue
) throws(SystemError) -> any DispatchSourceRead {
  let number = descriptor.number
  let readability = try checked("epoll_create1") { csystem_readability_open(number) }
  _ = descriptor.release()
  let source = DispatchSource.makeReadSource(fileDescriptor: readability, queue: queue)
  source.setCancelHandler { @Sendable in
    _ = Descriptor(owning: readability)
    _ = Descriptor(owning: number)
  }
  return source
}

/// Calls `body` on the queue whenever the signal is pending. It must be blocked in all threads, and `body` must
/// make it no longer pending.
func whenPending(
  _ signal: Signal, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  let descriptor = try checked("signalfd") { csystem_pending_open(signal.rawValue) }
  let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
  source.setCancelHandler { @Sendable in _ = Descriptor(owning: descriptor) }
  source.activateRetained { _ in
    // The signal may have been received or discarded since the source became ready.
    if signal.isPending { body() }
  }
}

#endif  // os(Linux)
