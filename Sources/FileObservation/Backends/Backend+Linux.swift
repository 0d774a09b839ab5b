#if os(Linux)

/// The backend that asks this system's kernel.
@Sendable
package func makeNativeBackend(
  _ configuration: BackendConfiguration
) throws(ObserverError) -> any Backend {
  try InotifyBackend(configuration)
}

#endif  // os(Linux)
