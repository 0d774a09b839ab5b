#if canImport(Darwin)

/// Creates the backend for this platform, on vnode watches.
@Sendable
package func makeNativeBackend(
  _ configuration: BackendConfiguration
) throws(ObserverError) -> any Backend {
  TreeBackend(configuration, source: VnodeHints(SystemVnodeSource()))
}

#endif  // canImport(Darwin)
