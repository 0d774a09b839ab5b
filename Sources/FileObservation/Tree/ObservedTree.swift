import PathFiltering
import SystemCalls

/// The observed tree: a snapshot, the watches that go with it, and what was found to differ from the disk.
///
/// Hints are not changes. A hint, an overflow, a poll and a change of the ignore rules all lead to the same
/// operation: an entry's status, or a directory's listing, is compared with the snapshot, and the
/// difference is reported. A hint counts unless the fingerprint in the snapshot proves that exactly this
/// state was reported before.
///
/// Knows no queue and no clock but that of the files. A directory is watched first and listed
/// afterwards, so that what appears in between is found twice rather than never.
struct ObservedTree {
  typealias Entry = TreeSnapshot.Entry

  let filter: PathFilter
  /// `nil` when everything is polled.
  let source: (any HintSource)?
  /// Directories that are left to another backend.
  let excluded: Set<Path>
  /// Changes from this time on are reported.
  let start: FileTime
  var snapshot = TreeSnapshot()
  var directories = DirectoryTable()
  var walk = Walk()
  var roots = Roots()
  var rules = RuleFiles()
  var links: Links
  var watches = Watches()
  var moves = Moves()
  /// Hints that were read and not followed to their end.
  var hints: [PendingHint] = []
  var racilyClean = RacilyCleanFiles()
  /// Hints of everything before this time were followed, and polled directories compared.
  var comparedUntil: FileTime
  var warnings = Warnings()

  init(
    filter: PathFilter, source: (any HintSource)?, followsLinks: Bool = false,
    excluded: Set<Path> = [], start: FileTime = .now()
  ) {
    self.filter = filter
    self.source = source
    self.excluded = excluded
    self.start = start
    links = Links(areFollowed: followsLinks)
    comparedUntil = start
  }

  init(_ configuration: BackendConfiguration, source: (any HintSource)?) {
    self.init(
      filter: configuration.filter, source: source, followsLinks: configuration.followsLinks,
      excluded: configuration.excluded, start: configuration.start)
  }
}

// MARK: - Findings

extension ObservedTree {
  struct Findings {
    var events: [RawEvent] = []
    var warnings: [ObserverError] = []
  }

  /// What was found since the last call. While the second hint of a rename is awaited, its events are
  /// held back with all others.
  mutating func takeFindings() -> Findings {
    var findings = Findings(warnings: warnings.take())
    if !moves.isAwaitingArrival {
      findings.events = withLinkTargets(moves.pairedEvents())
      moves = Moves()
    }
    return findings
  }

  var hasEvents: Bool { !moves.events.isEmpty }

  mutating func emit(
    _ kind: RawEvent.Kind, _ type: FileType, at path: Path, gone: Moves.Sighting? = nil,
    come: Moves.Sighting? = nil
  ) {
    if !links.targets.isEmpty { noteIfLinksAreStale(path, kind, type) }
    moves.add(RawEvent(path: path, kind: kind, type: type), gone: gone, come: come)
  }

  func readiness(backend: String) -> FileObserver.Readiness {
    FileObserver.Readiness(
      watches: directories.watchCount, pruned: walk.prunedCount, backend: backend,
      ignoreFiles: rules.files.values.sorted { $0.path < $1.path })
  }
}

// MARK: - Entries

extension ObservedTree {
  /// The entry at `path`, if it is known.
  func existingEntry(at path: Path) -> Entry? {
    var entry = TreeSnapshot.root
    for component in path.components {
      let child = Array(component).withUnsafeBufferPointer { snapshot.child($0, of: entry) }
      guard let child else { return nil }
      entry = child
    }
    return entry
  }

  mutating func makeEntry(at path: Path) -> Entry {
    var entry = TreeSnapshot.root
    for component in path.components {
      entry = Array(component).withUnsafeBufferPointer { name in
        snapshot.child(name, of: entry) ?? snapshot.insert(name, .directory, in: entry)
      }
    }
    return entry
  }

  /// Removes an entry with its descendants from the snapshot, and retires their watches. Roots among them
  /// are missing from then on.
  mutating func removeSubtree(_ entry: Entry) {
    if roots[entry] != nil { return rootDisappeared(entry) }
    walk.openDirectories.forgetAll()
    if roots.contains(where: { snapshot.isWithin($0, entry) }) {
      releaseWatch(of: entry)
      snapshot.mark(entry, [.awaited, .absent])
      for child in snapshot.children(of: entry) { removeSubtree(child) }
    } else {
      let source = source
      snapshot.remove(entry) { removed in
        let isDirectory = directories[removed] != nil
        guard let watch = directories.remove(removed) else { return }
        if isDirectory { watches.retired.insert(watch) } else { source?.unwatch(watch) }
      }
    }
  }

  /// Gives the watch of an entry back, which is no longer observed.
  mutating func releaseWatch(of entry: Entry) {
    if let watch = directories.remove(entry) { source?.unwatch(watch) }
  }
}

// MARK: - Paths

extension ObservedTree {
  func entryPath(of entry: Entry) -> EntryPath {
    snapshot.name(of: entry).withUnsafeBufferPointer {
      entryPath(of: $0, in: snapshot.parent(of: entry) ?? TreeSnapshot.root)
    }
  }

  func entryPath(of name: UnsafeBufferPointer<UInt8>, in directory: Entry) -> EntryPath {
    snapshot.withPath(of: name, in: directory) { EntryPath(bytes: Array($0), nameStart: $1) }
  }

  /// Whether changes of the entry at `path` are reported.
  func reports(_ path: EntryPath, isDirectory: Bool, _ stack: IgnoreStack?) -> Bool {
    guard let stack else { return false }
    return path.bytes.withUnsafeBufferPointer {
      filter.reports($0, nameAt: path.nameStart, isDirectory: isDirectory, in: stack)
    }
  }

  /// Whether the directory at `path` is entered.
  func mayEnter(_ path: EntryPath, _ stack: IgnoreStack?) -> Bool {
    guard let stack, excluded.isEmpty || !excluded.contains(path.path) else { return false }
    return path.bytes.withUnsafeBufferPointer {
      filter.mayEnter($0, nameAt: path.nameStart, in: stack)
    }
  }
}
