#if os(Linux)

import SystemCalls

/// Makes the backend that rests on this system's kernel.
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
