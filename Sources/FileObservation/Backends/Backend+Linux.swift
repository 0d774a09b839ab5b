#if os(Linux)

import SystemCalls

/// Creates the backend for this platform, on inotify.
@Sendable
func makeNativeBackend(
  _ configuration: BackendConfiguration
) throws(ObserverError) -> any Backend {
  let inotify: Inotify
  do throws(SystemError) {
    inotify = try Inotify()
  } catch {
    switch error.code {
    case EMFILE, ENFILE: throw .instanceLimitReached(error)
    case EPERM, ENOSYS: throw .eventsUnavailable(error)
    default: throw .observationFailed(error)
    }
  }
  return TreeBackend(configuration, source: InotifyHints(inotify), observesMounts: true)
}

#endif  // os(Linux)
