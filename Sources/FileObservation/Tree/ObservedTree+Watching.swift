import Support
import SystemCalls

// A directory that cannot be watched, or contains a file that cannot, is polled. Without a source
// of hints, everything is.
extension ObservedTree {
  /// Whether the watch of a directory must report its removal or rename.
  func isAnchor(_ directory: Entry, _ details: DirectoryTable.Directory?) -> Bool {
    isRoot(directory) || details?.coverage == .named || snapshot.type(of: directory) == .symlink
  }

  /// Whether hints name the entries of a directory that change. If they do not, every entry has a
  /// fingerprint.
  func isHinted(_ directory: Entry) -> Bool {
    source?.namesEntries == true && directories[directory]?.watch != nil
  }

  /// Watches a directory that is about to be scanned. Without a source, or if the watch limit is
  /// reached, it is polled. Returns `false` if it is gone or unreadable.
  mutating func watch(
    _ directory: Entry, _ details: DirectoryTable.Directory, at path: Path, for mode: Occasion
  ) -> Bool {
    // One that was watched by name may have been replaced before it is listed.
    let isUnread = snapshot.marks(of: directory).contains(.unread)
    if details.watch != nil && !mode.renewsWatches && !isUnread { return true }
    switch addWatch(at: path, isAnchor(directory, details) ? .anchor : .directory) {
    case .success(let watch):
      return assign(watch, to: directory)
    case .failure(let error):
      if error.isOutOfWatches {
        directories.unwatched.insert(directory)
        return true
      }
      if !error.isNotFound {
        unreported.add(unreadable: .unreadableDirectory(path, error))
        setUnexamined(directory, error)
        // Its parent hints when it becomes readable.
        if roots[directory] != nil { watchByName(parentOf: directory) }
      } else if roots[directory] != nil {
        rootDisappeared(directory)
      } else {
        // If it returns while hints are dropped, a rescan compares it.
        snapshot.unmark(directory, .unread)
      }
      return false
    }
  }

  /// Assigns a watch to the directory at whose path it was added. It may belong to other entries: by
  /// one, the directory was known before, or it is at several paths. Returns whether this entry is
  /// still observed.
  mutating func assign(_ watch: Int32, to directory: Entry) -> Bool {
    var others: [Entry] = []
    if directories.owner(of: watch) != nil {
      if directories.owners(of: watch).contains(directory) { return true }
      for owner in directories.owners(of: watch) where !isSameDirectory(owner, directory) {
        // It was renamed: its former path is compared.
        compareEntry(owner, for: .hint([.disappeared, .moved]))
        if directories[directory] == nil { return false }
      }
      others = directories.owners(of: watch)
    }
    let isRetired = directories.retired.removeIfPresent(watch)
    let outdated: Int32?
    if others.contains(where: { isSameDirectory($0, directory) }) {
      outdated = directories.shareWatch(watch, with: directory)
    } else {
      outdated = directories.setWatch(watch, of: directory)
      if isRetired || !others.isEmpty { directories.hasTransferred = true }
    }
    // The former watch is that of another directory, which may have been renamed.
    if let outdated { directories.retired.insert(outdated) }
    directories.unwatched.removeIfPresent(directory)
    return true
  }

  /// Removes the watch of a directory or file, unless it is that of others as well.
  mutating func unwatch(_ entry: Entry) {
    if let watch = directories.removeWatch(of: entry) { source?.unwatch(watch) }
  }

  func addWatch(
    at path: Path, _ subject: WatchSubject
  ) -> Result<Int32, SystemError> {
    guard let source else { return .failure(SystemError(call: "watch", code: ENOSPC)) }
    return path.withCString { start in
      Result { () throws(SystemError) in try source.watch(start, subject) }
    }
  }

  /// Watches a file if the watch of its directory does not report all writes: those through other
  /// names of a root, or any.
  ///
  /// - Parameter isRenewed: Whether the hint of the end of its watch may have been dropped.
  mutating func watchFileIfNeeded(_ file: Entry, at path: EntryPath, isRenewed: Bool = false) {
    let known = directories.watch(ofFile: file)
    let type = snapshot.type(of: file)
    // To open a pipe waits for one that writes.
    guard let source, !source.namesEntries || roots[file] != nil, type != .directory,
      type != .other, directories[file] == nil, known == nil || isRenewed
    else { return }
    switch addWatch(at: path.path, .file) {
    case .success(let watch):
      if watch != known { unwatch(file) }
      directories.setWatch(watch, ofFile: file)
      // The file was renamed and is back.
      directories.retired.removeIfPresent(watch)
    case .failure(let error):
      // Otherwise the directory reports what happens to this name, as the removal in any case.
      if !source.namesEntries, error.isOutOfWatches, let parent = snapshot.parent(of: file) {
        directories.unwatched.insert(parent)
      }
    }
  }

  /// Whether anything changes without a hint, or must be examined again without one.
  var needsPolls: Bool {
    !directories.unwatched.isEmpty || directories.unexamined.keys.contains { isUnhinted($0) }
      || source == nil && !missingRoots.isEmpty
  }

  /// In an order that does not depend on hashes.
  var directoriesToPoll: [Entry] {
    let unhinted = directories.unexamined.keys.filter { isUnhinted($0) }
    return directories.unwatched.union(unhinted).sorted { $0.number < $1.number }
  }

  /// Compares a directory for which there is no hint. Adds a watch where that is possible now.
  mutating func poll(_ directory: Entry) {
    if isUnhinted(directory) { examineAgain(directory) }
    // It may have been replaced by a directory that is watched.
    guard directories.unwatched.remove(directory) != nil, directories[directory] != nil,
      !isHinted(directory)
    else { return }
    if roots[directory] != nil { _ = lookUpRoot(directory, for: comparison) }
    scanNow(directory, for: .diff(since: start, .directory))
    // A directory that could not be opened stays among the polled ones, unless that is noted.
    if let details = directories[directory],
      source == nil || details.watch == nil && directories.unexamined[directory] == nil
    {
      directories.unwatched.insert(directory)
    }
  }

  /// Polls missing roots, for whose return there is no hint.
  mutating func pollMissingRoots() {
    for root in missingRoots { rootMayHaveAppeared(root) }
  }

  /// Warns once when the watch limit is reached, and again after it was not.
  mutating func warnOfLimit() {
    let wasReached = exchange(&unreported.isLimitReached, with: !directories.unwatched.isEmpty)
    guard let source, unreported.isLimitReached, !wasReached else { return }
    let (watched, unwatched) = (directories.watchCount, directories.unwatched.count)
    unreported.warnings.append(
      source.namesEntries
        ? .watchLimitReached(watched: watched, unwatched: unwatched)
        : .descriptorLimitReached(watched: watched, unwatched: unwatched))
  }
}

extension Set {
  /// Removes an element. Returns whether it was present.
  ///
  /// `remove` hashes the element even if the set is empty, as these sets mostly are.
  @discardableResult
  fileprivate mutating func removeIfPresent(_ element: Element) -> Bool {
    !isEmpty && remove(element) != nil
  }
}

// MARK: - Directories with several paths

extension ObservedTree {
  /// Whether two entries are the same directory, at two paths.
  func isSameDirectory(_ one: Entry, _ other: Entry) -> Bool {
    guard let first = identity(of: one), let second = identity(of: other) else { return false }
    return first == second
  }

  private func identity(of directory: Entry) -> FileIdentity? {
    let followsLinks = isAnchor(directory, directories[directory])
    let status = try? disk.status(of: snapshot.path(of: directory), followsLinks: followsLinks)
    return status.map(FileIdentity.init)
  }
}
