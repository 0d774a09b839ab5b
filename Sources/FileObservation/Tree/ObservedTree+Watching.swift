import PathFiltering
import SystemCalls

// A directory without a watch, or with a file in it that has none, is listed all the same, and polled. Where
// nothing can be watched at all, that is how everything is observed.
extension ObservedTree {
  /// The outcome of adding a watch.
  enum WatchOutcome {
    case watched
    /// The directory was known by another path, and was renamed.
    case passedOn
    /// There is no room for one more watch; the directory is polled.
    case polled
    /// It is gone, unreadable, or another name of a watched directory.
    case impossible
  }

  /// Whether the watch of a directory must report what becomes of it.
  func isAnchor(_ directory: Entry, _ details: DirectoryTable.Directory?) -> Bool {
    isRoot(directory) || details?.coverage == .named || snapshot.type(of: directory) == .symlink
  }

  /// Whether hints name the entries of a directory that change. Where they do not, every entry has a fingerprint.
  func isHinted(_ directory: Entry) -> Bool {
    source?.namesEntries == true && directories[directory]?.watch != nil
  }

  mutating func watch(
    _ directory: Entry, _ details: DirectoryTable.Directory, at path: Path, for mode: ScanMode
  ) -> WatchOutcome {
    guard source != nil else {
      watches.unwatched.insert(directory)
      return .polled
    }
    if details.watch != nil && !mode.mistrustsWatches { return .watched }
    switch addWatch(at: path, isAnchor(directory, details) ? .anchor : .directory) {
    case .success(let watch):
      return pass(watch, on: directory)
    case .failure(let error):
      if error.isOutOfWatches {
        watches.unwatched.insert(directory)
        return .polled
      }
      if !error.saysGone {
        warnings.add(unreadableDirectory: path, error)
        // The directory around it hints when it becomes readable.
        if roots[directory] != nil { watchByName(parentOf: directory) }
      } else if roots[directory] != nil {
        rootDisappeared(directory)
      }
      return .impossible
    }
  }

  /// Gives a directory the watch of what is at its path, though another entry may have had it.
  private mutating func pass(_ watch: Int32, on directory: Entry) -> WatchOutcome {
    if directories[directory]?.watch == watch { return .watched }
    if let owner = directories.owner(of: watch), owner != directory {
      if isSameDirectory(owner, directory) {
        guard directories.coverage(of: owner) == .named,
          directories.coverage(of: directory) != .named
        else {
          watches.aliases[watch, default: []].insert(directory)
          return .impossible
        }
        // The one in which everything counts has the watch, and hints are passed on to the other.
        watches.aliases[watch, default: []].insert(owner)
        directories.setWatch(watch, of: directory)
        return .watched
      }
      // It was renamed, and what its former path leads to is looked up.
      lookAt(owner, because: [.disappeared, .moved])
      if directories[directory] == nil { return .impossible }
    }
    let isPassedOn =
      watches.retired.remove(watch) != nil || directories.owner(of: watch) != nil
    directories.setWatch(watch, of: directory)
    watches.unwatched.remove(directory)
    if isPassedOn { watches.hasPassedOn = true }
    return isPassedOn ? .passedOn : .watched
  }

  /// The watch of what is at a path; nil if it cannot be watched.
  func watch(at path: Path, _ subject: WatchSubject) -> Int32? {
    try? addWatch(at: path, subject).get()
  }

  private func addWatch(
    at path: Path, _ subject: WatchSubject
  ) -> Result<Int32, SystemError> {
    guard let source else { return .failure(SystemError(call: "watch", code: ENOSPC)) }
    return path.withCString { start in
      Result { () throws(SystemError) in try source.watch(start, subject) }
    }
  }

  /// Watches a file whose directory's watch does not report everything: writes under other names of a root,
  /// or any writes.
  mutating func watchFileIfNeeded(_ file: Entry, at path: EntryPath) {
    guard let source, !source.namesEntries || roots[file] != nil,
      snapshot.type(of: file) != .directory, directories[file] == nil,
      directories.watch(ofFile: file) == nil
    else { return }
    switch addWatch(at: path.path, .file) {
    case .success(let watch):
      if directories.owner(of: watch) == nil { directories.setWatch(watch, ofFile: file) }
    case .failure(let error):
      // That it is gone, the directory shows.
      if !error.isNotFound, let parent = snapshot.parent(of: file) {
        watches.unwatched.insert(parent)
      }
    }
  }

  /// Polls directories that are not watched, for what has changed since a time. Where there is room now,
  /// they are watched from then on.
  mutating func poll(_ directories: some Sequence<Entry>, since: FileTime) {
    for directory in directories {
      // It may be gone, and a watched one in its place.
      watches.unwatched.remove(directory)
      if self.directories[directory] == nil || isHinted(directory) { continue }
      visitAtOnce(directory, for: .diff(since: since, .directory))
      // One that could not even be opened is tried again.
      if source == nil, self.directories[directory] != nil {
        watches.unwatched.insert(directory)
      }
    }
  }

  /// Looks for missing roots where no hint says that they are back.
  mutating func pollMissingRoots() {
    for root in missingRoots where isMissing(root) { rootAppeared(root) }
  }

  /// Warns that directories cannot be watched, when that has come to be.
  mutating func warnOfLimit() {
    guard let source, watches.unwatched.isEmpty == watches.hasReportedLimit else { return }
    watches.hasReportedLimit = !watches.unwatched.isEmpty
    guard watches.hasReportedLimit else { return }
    warnings.add(
      source.limitReached(watched: directories.watchCount, unwatched: watches.unwatched.count))
  }
}

// MARK: - Directories of several names

extension ObservedTree {
  /// Whether two entries are names of one directory, both in use.
  func isSameDirectory(_ one: Entry, _ other: Entry) -> Bool {
    guard let first = identity(of: one), let second = identity(of: other) else { return false }
    return first == second
  }

  private func identity(of directory: Entry) -> FileIdentity? {
    let followsLinks = isAnchor(directory, directories[directory])
    let status = try? FileStatus(of: snapshot.path(of: directory), followsLinks: followsLinks)
    return status.map(FileIdentity.init)
  }

  /// Other names of the directory that has a watch, under which certain names count.
  func namedAliases(of watch: Int32) -> [Entry] {
    if watches.aliases.isEmpty { return [] }
    return (watches.aliases[watch] ?? []).filter { directories.coverage(of: $0) == .named }
  }

  /// Watches a directory by another of its names, if it has one, since a watch is no longer in force.
  mutating func watchAliases(of watch: Int32) {
    for alias in watches.aliases.removeValue(forKey: watch) ?? [] {
      guard let details = directories[alias], details.watch == nil else { continue }
      visitAtOnce(alias, for: .discover)
    }
  }
}
