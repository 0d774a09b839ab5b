#if os(Linux)

import Dispatch
import SystemCalls

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

#endif  // os(Linux)
