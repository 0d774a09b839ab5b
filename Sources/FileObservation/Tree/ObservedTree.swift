import PathFiltering
import Support
import SystemCalls

/// The observed tree: a snapshot, its watches, and the differences that were found on the disk.
///
/// Hints are not changes. A hint, an overflow, a poll and a change of the ignore rules all lead to
/// the same operation: the status of an entry, or the listing of a directory, is compared with the
/// snapshot, and the difference is reported. A hint of a write counts unless the fingerprint in the
/// snapshot proves that exactly this state was reported before. In doubt a change is reported
/// twice, never lost.
///
/// A directory is watched first and listed afterwards, so that an entry that appears in between is
/// found twice rather than never. The tree has no queue and no clock but that of the file system.
struct ObservedTree {
  typealias Entry = TreeSnapshot.Entry

  let settings: Settings
  var snapshot = TreeSnapshot()
  var directories = DirectoryTable()
  var roots: Roots
  var rules = IgnoreRules()
  var walk: Walk
  var hints = PendingHints()
  var unreported = Unreported()

  var filter: PathFilter { settings.filter }
  var disk: Disk { settings.disk }
  var source: (any HintSource)? { settings.source }
  var start: FileTime { settings.start }

  init(
    filter: PathFilter, source: (any HintSource)?, followsLinks: Bool = false,
    base: Path? = nil, excluded: Set<Path> = [], disk: Disk = Disk(),
    start: FileTime? = nil,
    ignoredChanges: IgnoredChangeSink? = nil
  ) {
    settings = Settings(
      filter: filter, disk: disk, source: source, excluded: excluded, start: start ?? disk.now,
      ignoredChanges: ignoredChanges)
    // What is polled is reached by its path each time.
    roots = Roots(followingLinks: followsLinks, below: source == nil ? nil : base)
    walk = Walk(start: settings.start)
  }

  /// What is observed by which rules, and with what. A class, because each access would copy it
  /// otherwise.
  final class Settings {
    let filter: PathFilter
    let disk: Disk
    /// `nil` when everything is polled.
    let source: (any HintSource)?
    /// Directories that another backend observes.
    var excluded: Set<Path>
    /// Changes from this time on are reported.
    let start: FileTime
    /// Receives the changes that the filter does not report; `nil` if nothing does.
    let ignoredChanges: IgnoredChangeSink?

    init(
      filter: PathFilter, disk: Disk, source: (any HintSource)?, excluded: Set<Path>,
      start: FileTime, ignoredChanges: IgnoredChangeSink?
    ) {
      self.filter = filter
      self.disk = disk
      self.source = source
      self.excluded = excluded
      self.start = start
      self.ignoredChanges = ignoredChanges
    }
  }

  /// What was found since the last report.
  struct Unreported {
    var events: [RawEvent] = []
    var warnings: [ObserverWarning] = []
    /// The paths of which was reported that they cannot be read.
    private var unreadable: Set<Path> = []
    var isLimitReached = false

    /// Adds a warning of a path that cannot be read, once.
    mutating func add(unreadable warning: ObserverWarning) {
      if let path = warning.path, unreadable.insert(path).inserted { warnings.append(warning) }
    }
  }
}

// MARK: - Findings

extension ObservedTree {
  /// The findings since the last call. Events are held back while the second hint of a rename is
  /// missing.
  mutating func takeFindings(
    withEvents includesEvents: Bool = true
  ) -> (events: [RawEvent], warnings: [ObserverWarning]) {
    let areEventsTaken = includesEvents && !hints.areArrivalsAwaited
    return (
      areEventsTaken ? exchange(&unreported.events, with: []) : [],
      exchange(&unreported.warnings, with: [])
    )
  }

  /// - Parameter isReported: Whether it is reported by itself, and not only as a change of links.
  mutating func emit(
    _ kind: RawEvent.Kind, _ type: FileType, at path: Path, _ file: RawEvent.Sighting? = nil,
    isReported: Bool = true
  ) {
    let event = RawEvent(path: path, kind: kind, type: type, file: file)
    if roots.links.isEmpty {
      if isReported { unreported.events.append(event) }
    } else {
      markStaleLinks(path, kind, type)
      // At once, before links point elsewhere.
      unreported.events += attributedToLinks(event, isReported)
    }
  }

  /// The readiness, of which there is one.
  mutating func takeReadiness(backend: String) -> FileObserver.Readiness {
    defer { rules.filesOfFirstScan = nil }
    return FileObserver.Readiness(
      watches: directories.watchCount, pruned: walk.prunedCount, backend: backend,
      ignoreFiles: (rules.filesOfFirstScan ?? [:]).values.sorted { $0.path < $1.path })
  }
}

// MARK: - Entries

extension ObservedTree {
  /// Whether the entries of a directory are observed, and not only certain names.
  func isObserved(_ directory: Entry) -> Bool {
    directories.coverage(of: directory).map { $0 > .named } ?? false
  }

  /// Removes an entry with its descendants from the snapshot, and retires their watches. Roots
  /// among them stay, as missing ones if they have gone as well.
  mutating func removeSubtree(_ entry: Entry) {
    if roots[entry] != nil {
      let path = snapshot.path(of: entry)
      // They are reached by other ways.
      roots.links.stale.formUnion(roots.links.links(to: path).union([path]))
      // One that is observed with more than its own coverage, because of the directory around it, begins anew.
      let isWider = directories.coverage(of: entry).map { $0 > roots[entry] ?? .recursive } ?? false
      do throws(SystemError) {
        let status = try lookUp(entry, at: path).status
        let isThere = isSame(entry, as: status) && status.type == snapshot.type(of: entry)
        if !isThere || isWider { rootDisappeared(entry) }
      } catch {
        if error.isNotFound { rootDisappeared(entry) }
      }
      return
    }
    walk.openDirectories.closeAll()
    if snapshot.hasChildren(entry), roots.contains(where: { snapshot.isWithin($0, entry) }) {
      if snapshot.type(of: entry) == .symlink { unwatchTargets(ofLink: snapshot.path(of: entry)) }
      stopWatching(entry)
      snapshot.mark(entry, .absent)
      for child in snapshot.children(of: entry) { removeSubtree(child) }
    } else {
      // They are watched again if their rules apply then. The rules of a repository go with it.
      if snapshot.hasChildren(entry),
        rules.files.contains(where: { file in
          snapshot.isWithin(file, entry) && !snapshot.path(of: file).isInRepositoryData
        })
      {
        rules.stale.formUnion(roots)
      }
      let source = source
      let links =
        roots.links.isEmpty ? [] : subtree(of: entry).filter { snapshot.type(of: $0) == .symlink }
      let lost = links.map(snapshot.path)
      snapshot.remove(entry) { removed in
        let isDirectory = directories[removed] != nil
        rules.takePendingStack(of: removed)
        rules.files.remove(removed)
        guard let watch = directories.remove(removed) else { return }
        if isDirectory { directories.retired.insert(watch) } else { source?.unwatch(watch) }
      }
      for link in lost { unwatchTargets(ofLink: link) }
    }
  }

  /// An entry and its descendants, each directory before what is in it.
  func subtree(of entry: Entry) -> [Entry] {
    var found = [entry]
    var count = 0
    while count < found.count {
      found += snapshot.children(of: found[count])
      count += 1
    }
    return found
  }

  /// Stops observing a directory, and retires its watch: it may have been renamed.
  mutating func stopWatching(_ directory: Entry) {
    rules.takePendingStack(of: directory)
    if let watch = directories.remove(directory) { directories.retired.insert(watch) }
  }
}

// MARK: - Files and paths

extension ObservedTree {
  /// Whether an entry is the file that the snapshot knows: by its inode and its time of birth, or by
  /// the inode alone, as it was listed, if it was not looked at before.
  func isSame(_ entry: Entry, as status: FileStatus) -> Bool {
    snapshot.fingerprint(of: entry)?.mayBeSameFile(as: status)
      ?? (snapshot.inode(of: entry) == status.inode)
  }

  func fingerprint(_ status: FileStatus) -> Fingerprint { Fingerprint(status, now: disk.now) }

  func entryPath(of entry: Entry) -> EntryPath {
    snapshot.name(of: entry).withUnsafeBufferPointer {
      entryPath(of: $0, in: snapshot.parent(of: entry) ?? TreeSnapshot.root)
    }
  }

  func entryPath(of name: UnsafeBufferPointer<UInt8>, in directory: Entry) -> EntryPath {
    snapshot.withPath(of: name, in: directory, ()) {
      EntryPath(bytes: Array($1), nameStart: $2)
    }
  }

  /// Whether changes of the entry at `path` are reported.
  func reports(_ path: EntryPath, isDirectory: Bool, _ stack: IgnoreStack?) -> Bool {
    guard let stack else { return false }
    return path.bytes.withUnsafeBufferPointer {
      settings.filter.reports($0, nameAt: path.nameStart, isDirectory: isDirectory, in: stack)
    }
  }

  /// Whether the directory at `path` is entered.
  func mayEnter(_ path: EntryPath, _ stack: IgnoreStack?) -> Bool {
    guard let stack, settings.excluded.isEmpty || !settings.excluded.contains(path.path) else {
      return false
    }
    return path.bytes.withUnsafeBufferPointer {
      settings.filter.mayEnter($0, nameAt: path.nameStart, in: stack)
    }
  }
}
