import Dispatch
import SystemCalls

/// A source of hints: watches single directories and files, and hints at where something may have
/// changed.
///
/// A source owns its descriptors and knows nothing of the tree. All methods are called on the queue
/// that is passed to `start`. A hint may be late, duplicated or wrong; it must not be missing
/// without an `overflow`.
protocol HintSource: AnyObject {
  /// The name of the backend in reports, such as `inotify`.
  var name: String { get }

  /// Whether the watch of a directory names the entries that change, and reports writes to them. If
  /// it does not, files get watches of their own and every entry gets a fingerprint.
  var namesEntries: Bool { get }

  /// How long after the first hint of a change its other hints may arrive; zero if they arrive
  /// together.
  var settlingTime: Duration { get }

  /// Calls `hintsAvailable` on the queue when there are hints to read; not again before `rearm`.
  func start(on queue: DispatchQueue, hintsAvailable: @escaping @Sendable () -> Void)

  /// Allows the next call of `hintsAvailable`, which follows at once if there are hints.
  func rearm() throws(SystemError)

  /// Watches the directory or file at `path`, a C string. Returns the watch descriptor, which may
  /// be that of an earlier watch of the same directory under another name.
  func watch(_ path: UnsafePointer<CChar>, _ subject: WatchSubject) throws(SystemError) -> Int32

  /// Removes a watch. Has no effect if the watch is no longer in force.
  func unwatch(_ watch: Int32)

  /// Calls `body` with all available hints, in the order of the changes. Returns a time before
  /// which every change has had its hint.
  func read(_ body: (Hint) -> Void) throws(SystemError) -> FileTime

  /// The number of hints after which others are dropped; `nil` if there is no limit, or if it is
  /// unknown.
  var queueLimit: Int? { get }

  /// Removes all watches.
  func stop()
}

/// The kind of file that is watched, and how it is reached.
enum WatchSubject: Sendable {
  /// A directory in a watched one. Its parent's watch reports its removal or rename.
  case directory
  /// A directory that is reached by its path. Its own watch must report its removal or rename.
  case anchor
  case file
}

extension SystemError {
  /// Whether a limit of watches or of descriptors is reached.
  var isOutOfWatches: Bool {
    code == ENOSPC || code == EMFILE || code == ENFILE || code == ENOMEM
  }
}
