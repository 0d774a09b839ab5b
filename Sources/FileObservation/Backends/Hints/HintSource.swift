import Dispatch
import SystemCalls

/// Watches single directories and files, and hints at where something may have changed.
///
/// A source owns its descriptors and no picture of the tree. All its methods are called on the queue with
/// which it was started.
package protocol HintSource: AnyObject {
  /// The name under which the backend is reported, such as `inotify`.
  var name: String { get }

  /// Whether the watch of a directory names the entries that change, and reports writes to them. Without
  /// that, files need watches of their own, and every entry a fingerprint.
  var namesEntries: Bool { get }

  /// How long the hints of one change may take to arrive after the first; zero if they arrive together.
  var patience: Duration { get }

  /// Calls `ring` on the queue once there are hints; not again before `rearm`.
  func start(on queue: DispatchQueue, ring: @escaping @Sendable () -> Void)

  /// Lets `ring` be called again, at once if there are hints.
  func rearm() throws(SystemError)

  /// Watches what is at `path`, a C string. Returns the number of the watch, which may be that of an
  /// earlier watch of the same directory under another name.
  func watch(_ path: UnsafePointer<CChar>, _ subject: WatchSubject) throws(SystemError) -> Int32

  /// Gives a watch back. One that is no longer in force is no error.
  func unwatch(_ watch: Int32)

  /// Passes on all hints at hand, in the order in which the changes happened. Returns the time before which
  /// every change has been hinted at.
  func read(_ body: (Hint) -> Void) throws(SystemError) -> FileTime

  /// How many hints are kept until they are read; nil if there is no limit, or if it is not known.
  var queueLimit: Int? { get }

  /// Ends all watches.
  func stop()

  /// The warning for when not everything can be watched.
  func limitReached(watched: Int, unwatched: Int) -> ObserverError
}

/// What a watch is for.
package enum WatchSubject: Sendable {
  /// A directory that was found in a watched one, whose watch reports when it goes.
  case directory
  /// A directory that is reached by its path: its own watch must report when it goes.
  case anchor
  /// A file.
  case file
}

/// Where to look, and why: an entry of a watched directory, or the watched directory or file itself.
package struct Hint {
  package struct Reasons: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    /// An entry of that name was made, or moved to that name.
    package static let appeared = Reasons(rawValue: 1)
    /// The entry of that name was removed, or moved from that name.
    package static let disappeared = Reasons(rawValue: 2)
    /// It appeared or disappeared by a rename.
    package static let moved = Reasons(rawValue: 4)
    package static let written = Reasons(rawValue: 8)
    /// The writer has closed the file.
    package static let closed = Reasons(rawValue: 16)
    /// Mode, owner, times or number of links.
    package static let attributes = Reasons(rawValue: 32)
    /// The entry is a directory.
    package static let directory = Reasons(rawValue: 64)
    /// Any entries of the watched directory may have changed.
    package static let entries = Reasons(rawValue: 128)
    /// The path of the watched directory or file no longer leads to it.
    package static let gone = Reasons(rawValue: 256)
    /// The watch is no longer in force.
    package static let unwatched = Reasons(rawValue: 512)
    /// The file system was unmounted from the watched directory.
    package static let unmounted = Reasons(rawValue: 1024)
    /// Hints were dropped: anything may have changed.
    package static let overflow = Reasons(rawValue: 2048)
  }

  package let watch: Int32
  package let reasons: Reasons
  /// Common to the two hints of one rename; 0 if there are none.
  package let cookie: UInt32
  /// The name of the entry; empty for the watched directory or file itself. Valid during the call that
  /// passes the hint on.
  package let name: UnsafeBufferPointer<UInt8>

  package init(
    watch: Int32, _ reasons: Reasons, cookie: UInt32 = 0, name: UnsafeBufferPointer<UInt8>
  ) {
    self.watch = watch
    self.reasons = reasons
    self.cookie = cookie
    self.name = name
  }
}

extension SystemError {
  /// Whether there is no room for one more watch.
  var isOutOfWatches: Bool {
    code == ENOSPC || code == EMFILE || code == ENFILE || code == ENOMEM
  }
}
