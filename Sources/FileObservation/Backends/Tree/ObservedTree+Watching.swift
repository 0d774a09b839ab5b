import PathFiltering
import SystemCalls

// There are only so many watches. A folder for which there is none left, or in which a file has none,
// is listed all the same, and looked at again from time to time. Where nothing can be watched at all,
// that is how everything is observed.
extension ObservedTree {
  /// What has become of the wish to watch a folder.
  enum WatchOutcome {
    case watched
    /// There is no room for one more: it has to be looked at instead.
    case noRoom
    /// It is gone, unreadable, or another name of one that is watched.
    case impossible
  }

  /// True for a folder whose watch must tell what becomes of it.
  func isAnchor(_ folder: Entry, _ details: WatchTable.Folder?) -> Bool {
    isRoot(folder) || details?.coverage == .named || snapshot.type(of: folder) == .symlink
  }

  /// Watches a folder, whose path stands in `path`.
  mutating func watch(
    _ folder: Entry, _ details: WatchTable.Folder, for purpose: Purpose
  ) -> WatchOutcome {
    guard let watcher else {
      unwatched.insert(folder)
      return .noRoom
    }
    let mayBeOutdated = purpose.mistrustsWatches
    if details.watch != nil && !mayBeOutdated { return .watched }
    let subject: WatchSubject = isAnchor(folder, details) ? .anchor : .folder
    switch watch(pathWith: watcher, subject) {
    case .success(let watch):
      if let owner = table.owner(of: watch), owner != folder,
        !mayBeOutdated || isSameFolder(owner, folder)
      {
        disputed[folder] = watch
        return .impossible
      }
      if details.watch != watch { table.setWatch(watch, of: folder, at: FileTime.latest()) }
      if !unwatched.isEmpty { unwatched.remove(folder) }
      return .watched
    case .failure(let error):
      if error.saysNoRoom {
        unwatched.insert(folder)
        return .noRoom
      }
      if !error.saysGone {
        tellUnreadable(Path(bytes: path), error)
        // The folder around it tells when it becomes readable.
        if roots[folder] != nil { watchByName(parentOf: folder) }
      } else if roots[folder] != nil {
        lose(root: folder)
      }
      return .impossible
    }
  }

  /// Asks for a watch of what is at `path`.
  private mutating func watch(
    pathWith watcher: any FolderWatcher, _ subject: WatchSubject
  ) -> Result<Int32, SystemError> {
    path.append(0)
    defer { path.removeLast() }
    return path.withUnsafeBytes { bytes in
      guard let start = bytes.assumingMemoryBound(to: CChar.self).baseAddress else {
        return .failure(SystemError(call: "watch", code: ENOENT))
      }
      return Result { () throws(SystemError) in try watcher.watch(start, subject) }
    }
  }

  /// Watches a file, whose path stands in `path`, where a folder's watch does not tell of writes.
  mutating func watchFile(_ file: Entry) {
    guard let watcher, watcher.watchesFiles, table.watch(ofFile: file) == nil,
      table[file] == nil, snapshot.type(of: file) != .directory
    else { return }
    switch watch(pathWith: watcher, .file) {
    case .success(let watch): table.setWatch(watch, ofFile: file)
    case .failure(let error):
      // Gone is for the folder to tell. All else means that it has to be looked at.
      if !error.saysGone, let folder = snapshot.parent(of: file) { unwatched.insert(folder) }
    }
  }

  /// Another file or folder stands in place of one that is watched. True if it is watched anew.
  mutating func watchAgain(_ entry: Entry) -> Bool {
    guard let watcher, let outdated = table.removeWatch(of: entry) else { return false }
    watcher.unwatch(outdated)
    if table[entry] != nil {
      pending.append(
        Visit(folder: entry, purpose: .compare(since: FileTime(nanoseconds: 0), .oneFolder)))
    } else {
      watchFile(entry)
    }
    return true
  }

  /// Looks at folders that are not watched, for what has changed since a time. Where there is room now,
  /// they are watched from now on.
  mutating func lookAtUnwatched(_ folders: some Sequence<Entry>, since: FileTime) {
    for folder in folders {
      // It may have gone since, and another that is watched may stand in its place.
      unwatched.remove(folder)
      guard let details = table[folder], details.watch == nil || comparesEntries else { continue }
      visitAtOnce(folder, for: .compare(since: since, .oneFolder))
      // What could not even be opened is to be tried again.
      if watcher == nil, table[folder] != nil { unwatched.insert(folder) }
    }
  }

  /// Looks whether roots that are waited for have come back, where nobody tells.
  mutating func lookForMissingRoots() {
    for root in missingRoots where (try? FileStatus(of: snapshot.path(of: root))) != nil {
      returned(root)
    }
  }

  /// Says that folders are not watched, when that has come to be.
  mutating func tellOfLimit() {
    guard let watcher, !unwatched.isEmpty != hasToldOfLimit else { return }
    hasToldOfLimit = !unwatched.isEmpty
    guard hasToldOfLimit else { return }
    warn(watcher.limitReached(watched: table.watchCount, unwatched: unwatched.count))
  }

  /// A folder that may not be read is told of once.
  mutating func tellUnreadable(_ path: Path, _ error: SystemError) {
    if unreadable.insert(path).inserted { warn(.unreadableFolder(path, error)) }
  }
}
