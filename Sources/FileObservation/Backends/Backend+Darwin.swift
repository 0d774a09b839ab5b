#if canImport(Darwin)

import Dispatch
import SystemCalls

/// Creates the backend for this platform, on vnode watches.
@Sendable
func makeNativeBackend(
  _ configuration: BackendConfiguration
) throws(ObserverError) -> any Backend {
  TreeBackend(configuration, source: VnodeHints())
}

/// Nothing tells where file systems are mounted.
final class MountObserver {
  init?(on queue: DispatchQueue, changed: @escaping @Sendable (Set<Path>) -> Void) { return nil }
}

#endif  // canImport(Darwin)
