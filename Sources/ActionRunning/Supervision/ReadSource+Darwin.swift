#if canImport(Darwin)

import Dispatch
import SystemCalls

/// Creates a read source, not yet activated, that closes the descriptor once it is cancelled.
func makeReadSource(
  owning descriptor: consuming Descriptor, on queue: DispatchQueue
) throws(SystemError) -> any DispatchSourceRead {
  let number = descriptor.release()
  let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
  source.setCancelHandler { @Sendable in _ = Descriptor(owning: number) }
  return source
}

#endif  // canImport(Darwin)
