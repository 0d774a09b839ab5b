#if canImport(Darwin)

/// The backend for this system: none so far.
package func makeBackend(
  _ configuration: BackendConfiguration
) throws(ObserverError) -> any Backend {
  throw .unsupportedPlatform
}

#endif  // canImport(Darwin)
