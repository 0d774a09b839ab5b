#if canImport(Darwin)

/// The backend for this system: none so far.
@Sendable
package func makeNativeBackend(
  _ configuration: BackendConfiguration
) throws(ObserverError) -> any Backend {
  throw .unsupportedPlatform
}

#endif  // canImport(Darwin)
