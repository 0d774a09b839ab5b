#if canImport(Darwin)

/// The backend that asks this system's kernel.
@Sendable
package func makeNativeBackend(
  _ configuration: BackendConfiguration
) throws(ObserverError) -> any Backend {
  VnodeBackend(configuration, source: SystemVnodeSource())
}

#endif  // canImport(Darwin)
