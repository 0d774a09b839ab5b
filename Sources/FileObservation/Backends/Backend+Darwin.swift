#if canImport(Darwin)

/// Makes the backend that rests on this system's kernel.
@Sendable
package func makeNativeBackend(
  _ configuration: BackendConfiguration
) throws(ObserverError) -> any Backend {
  TreeBackend(configuration, source: VnodeHints(SystemVnodeSource()))
}

#endif  // canImport(Darwin)
