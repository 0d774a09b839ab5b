#if os(Linux)

import SystemCalls

/// Watches folders through inotify, which names the entries that change.
final class InotifyWatcher: FolderWatcher {
  private let inotify: Inotify

  init(_ inotify: Inotify) {
    self.inotify = inotify
  }

  var watchesFiles: Bool { false }

  func watch(_ path: UnsafePointer<CChar>, _ subject: WatchSubject) throws(SystemError) -> Int32 {
    try inotify.addWatch(path, subject.mask)
  }

  func unwatch(_ watch: Int32) {
    inotify.removeWatch(watch)
  }

  func limitReached(watched: Int, unwatched: Int) -> ObserverError {
    .watchLimitReached(watched: watched, unwatched: unwatched)
  }
}

extension WatchSubject {
  private static let events: InotifyMask = [
    .create, .delete, .modify, .closeAfterWrite, .attributes, .movedFrom, .movedTo,
    .onlyDirectory, .excludeUnlinked, .add,
  ]

  fileprivate var mask: InotifyMask {
    switch self {
    case .folder, .file: Self.events.union(.dontFollow)
    case .anchor: Self.events.union([.deleteSelf, .moveSelf])
    }
  }
}

#endif  // os(Linux)
