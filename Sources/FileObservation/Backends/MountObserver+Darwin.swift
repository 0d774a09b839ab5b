#if canImport(Darwin)

import Dispatch
import SystemCalls

/// Nothing tells where file systems are mounted.
final class MountObserver {
  init?(on queue: DispatchQueue, changed: @escaping @Sendable (Set<Path>) -> Void) { return nil }
}

#endif  // canImport(Darwin)
