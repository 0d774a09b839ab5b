#if os(Linux)

/// The backend for this system.
package func makeBackend(
  _ configuration: BackendConfiguration
) throws(ObserverError) -> any Backend {
  try InotifyBackend(configuration)
}

#endif  // os(Linux)
