import SystemCalls

/// Tells of changes in single folders, and in single files where folders do not tell of those.
///
/// How it tells is its own affair, and its backend's; the tree only asks for watches and gives them
/// back. Each has a number that is not used twice while it is in force.
package protocol FolderWatcher: AnyObject {
  /// True if a folder's watch does not tell of writes to the files in it, so that these need
  /// watches of their own.
  var watchesFiles: Bool { get }

  /// Begins to watch what is at `path`, a C string. The number of its watch, which may be that of
  /// an earlier one of the same folder under another name.
  func watch(_ path: UnsafePointer<CChar>, _ subject: WatchSubject) throws(SystemError) -> Int32

  /// Gives a watch back. One that is not in force any more is no error.
  func unwatch(_ watch: Int32)

  /// What to say when there is no room for all that is to be watched.
  func limitReached(watched: Int, unwatched: Int) -> ObserverError
}

/// What a watch is for.
package enum WatchSubject: Sendable {
  /// A folder that was found in a watched one, which tells when it goes.
  case folder
  /// A folder that is reached by its path: it has to tell itself when it goes.
  case anchor
  /// A file.
  case file
}

extension SystemError {
  /// True if there is no room for one watch more.
  var saysNoRoom: Bool {
    code == ENOSPC || code == EMFILE || code == ENFILE || code == ENOMEM
  }
}
