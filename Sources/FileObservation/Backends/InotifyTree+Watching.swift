#if os(Linux)

import PathFiltering
import SystemCalls

// The kernel keeps only so many watches for a user. A folder for which there is none left is listed
// all the same, and looked at again from time to time.
extension InotifyTree {
  /// What has become of the wish to watch a folder.
  enum WatchOutcome {
    case watched
    /// There is no room for one more: it has to be looked at instead.
    case noRoom
    /// It is gone, unreadable, or another name of one that is watched.
    case impossible
  }

  mutating func watch(
    _ folder: Entry, _ details: WatchTable.Folder, for purpose: Purpose
  ) -> WatchOutcome {
    let mayBeOutdated = purpose.mistrustsWatches
    if details.watch != nil && !mayBeOutdated { return .watched }
    let isAnchor = isAnchor(folder)
    snapshot.putPath(of: folder, into: &path)
    path.append(0)
    let result = path.withUnsafeBytes { bytes -> Result<Int32, SystemError> in
      guard let start = bytes.assumingMemoryBound(to: CChar.self).baseAddress else {
        return .failure(SystemError(call: "inotify_add_watch", code: ENOENT))
      }
      return Result { () throws(SystemError) in
        try inotify.addWatch(start, isAnchor ? .anchor : .folder)
      }
    }
    path.removeLast()
    switch result {
    case .success(let watch):
      if let owner = table.owner(of: watch), owner != folder, !mayBeOutdated {
        disputed.insert(folder)
        return .impossible
      }
      if details.watch != watch { table.setWatch(watch, of: folder, at: FileTime.latest()) }
      unwatched.remove(folder)
      return .watched
    case .failure(let error):
      if error.code == ENOSPC {
        unwatched.insert(folder)
        return .noRoom
      }
      if !error.saysGone { tellUnreadable(Path(bytes: path), error) }
      return .impossible
    }
  }

  /// Looks at the folders that are not watched, for what has changed since a time. Where there is room
  /// now, they are watched from now on.
  mutating func lookAtUnwatched(since: FileTime) {
    for folder in unwatched {
      // It may have gone since, and another that is watched may stand in its place.
      if table[folder].map({ $0.watch != nil }) ?? true {
        unwatched.remove(folder)
      } else {
        visitAtOnce(folder, for: .compare(since: since, .unwatched))
      }
    }
  }

  /// Says that folders are not watched, when that has come to be.
  mutating func tellOfLimit() {
    guard !unwatched.isEmpty != hasToldOfLimit else { return }
    hasToldOfLimit = !unwatched.isEmpty
    guard hasToldOfLimit else { return }
    warn(.watchLimitReached(watched: table.watchCount, unwatched: unwatched.count))
  }

  /// A folder that may not be read is told of once.
  mutating func tellUnreadable(_ path: Path, _ error: SystemError) {
    if unreadable.insert(path).inserted { warn(.unreadableFolder(path, error)) }
  }
}

extension InotifyMask {
  private static let events: InotifyMask = [
    .create, .delete, .modify, .closeAfterWrite, .attributes, .movedFrom, .movedTo,
    .onlyDirectory, .excludeUnlinked, .add,
  ]
  /// For a folder found in a folder: what becomes of itself, its parent's watch tells.
  fileprivate static let folder = events.union(.dontFollow)
  /// For a folder reached by its path: it tells itself when it goes.
  fileprivate static let anchor = events.union([.deleteSelf, .moveSelf])
}

#endif  // os(Linux)
