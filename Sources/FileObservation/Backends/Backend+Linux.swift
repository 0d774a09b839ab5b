#if os(Linux)

import SystemCalls

/// Creates the backend for this platform, on inotify.
@Sendable
package func makeNativeBackend(
  _ configuration: BackendConfiguration
) throws(ObserverError) -> any Backend {
  let inotify: Inotify
  do throws(SystemError) {
    inotify = try Inotify()
  } catch {
    throw error.code == EMFILE || error.code == ENFILE
      ? .instanceLimitReached(error) : .observationFailed(error)
  }
  return TreeBackend(configuration, source: InotifyHints(inotify))
}

#endif  // os(Linux)
