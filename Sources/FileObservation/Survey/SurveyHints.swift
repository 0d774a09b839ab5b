import Dispatch
import SystemCalls

/// A source that gives watches without asking the kernel for any, and has no hints.
///
/// Like inotify, it has one watch for a directory that is reached by several paths.
final class SurveyHints: HintSource {
  private var watches: [FileIdentity: Int32] = [:]

  var name: String { "survey" }
  var namesEntries: Bool { true }
  var settlingTime: Duration { .zero }
  var queueLimit: Int? { nil }

  func start(on queue: DispatchQueue, hintsAvailable: @escaping @Sendable () -> Void) {}

  func rearm() {}

  func watch(_ path: UnsafePointer<CChar>, _ subject: WatchSubject) throws(SystemError) -> Int32 {
    var followsLinks = false
    if case .anchor = subject { followsLinks = true }
    let identity = FileIdentity(
      try FileStatus(of: Path(cString: path), followsLinks: followsLinks))
    if let watch = watches[identity] { return watch }
    let watch = Int32(clamping: watches.count + 1)
    watches[identity] = watch
    return watch
  }

  func unwatch(_ watch: Int32) {}

  func read(_ body: (Hint) -> Void) -> FileTime { .now() }

  func stop() {}

  func limitReached(watched: Int, unwatched: Int) -> ObserverWarning {
    .watchLimitReached(watched: watched, unwatched: unwatched)
  }
}
