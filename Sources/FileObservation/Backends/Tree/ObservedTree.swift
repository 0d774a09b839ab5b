import PathFiltering
import SystemCalls

/// The watched tree: keeps the picture of it and the watches in step with what is told or found, and
/// says what that means as raw events.
///
/// All backends share it. They differ in what tells them: inotify names each entry that changes, the
/// vnode watches of Darwin only say where something has, and polling has nothing but looking.
/// It knows no queue and no clock. Each folder is watched first and listed after, so that what
/// appears in between is met twice rather than never.
struct ObservedTree {
  typealias Entry = TreeSnapshot.Entry

  let filter: PathFilter
  /// Nil if nothing is watched and everything looked at.
  let watcher: (any FolderWatcher)?
  /// Links to folders are entered.
  let followsLinks: Bool
  /// Folders that are not entered, because another backend sees to them.
  let excluded: Set<Path>
  let reader = DirectoryReader()
  var snapshot = TreeSnapshot()
  var table = WatchTable()
  /// Those that are not in use: a folder may have to be listed while another one's listing is followed.
  var listings: [FolderListing] = []
  let openFolders = OpenFolders()
  /// Roots that are not there at present.
  var missingRoots: Set<Entry> = []
  var roots: [Entry: Coverage] = [:]
  /// Folders that are still to be listed.
  var pending: [Visit] = []
  /// The same for those behind links: what is also reached without a link is known by that name.
  var pendingLinks: [Visit] = []
  /// Which entry stands for which real folder; kept where links are followed.
  var realFolders: [FileIdentity: Entry] = [:]
  /// When there are more, those are forgotten that are gone.
  var mostRealFolders = 4096
  /// The files that links to be watched point to, where a change to them is told in other folders.
  var linkTargets = LinkTargets()
  /// Links that may lead elsewhere by now.
  var staleLinks: Set<Path> = []
  /// Room for putting paths together.
  var path: [UInt8] = []
  var spareBytes: [UInt8] = []
  /// Folders that are to be looked at, because they could not be watched, or all that is in them.
  var unwatched: Set<Entry> = []
  /// Folders that have another one's watch, and which: each is that one renamed, of which the kernel may be
  /// about to tell, or the same by two names.
  var disputed: [Entry: Int32] = [:]
  /// Other names of folders that are watched, by the watch: bind mounts.
  var otherNames: [Int32: Set<Entry>] = [:]
  var hasToldOfLimit = false
  /// Folders that may not be read, told of.
  var unreadable: Set<Path> = []
  /// Folders in which, or above which, a file of rules has changed.
  var staleRules: Set<Entry> = []
  /// While folders are judged by other rules: those by which they were before.
  var formerStacks: [Entry: IgnoreStack] = [:]
  /// The files of rules that have been read, for being told of.
  var ruleFiles: [Path: IgnoreFile] = [:]
  var unreadableRules: Set<Path> = []
  /// Until the second look is over; nil where there is none, since each look compares entries.
  var toldMeanwhile: ToldMeanwhile?
  /// What the second look has found, and the kernel may be about to tell.
  var doubts: [Entry: RawEvent.Kind] = [:]
  /// Folders that have lost something before they were watched, as it seems.
  var traces: Set<Entry> = []
  /// How many folders the first walk has passed by.
  var prunedCount = 0
  var renames = RenamePairs()
  /// When the last look that is over began, or earlier: what has changed since may not be told yet.
  var lastLook = FileTime.now()
  var racilyClean = RacilyCleanFiles()

  private var events: [RawEvent] = []
  private var warnings: [ObserverError] = []

  init(
    filter: PathFilter, watcher: (any FolderWatcher)?, followsLinks: Bool = false,
    excluded: Set<Path> = []
  ) {
    self.filter = filter
    self.watcher = watcher
    self.followsLinks = followsLinks
    self.excluded = excluded
    if !comparesEntries { toldMeanwhile = ToldMeanwhile() }
  }

  init(_ configuration: BackendConfiguration, watcher: (any FolderWatcher)?) {
    self.init(
      filter: configuration.filter, watcher: watcher, followsLinks: configuration.followsLinks,
      excluded: configuration.excluded)
  }

  /// True if nobody names the entries that change, so that they are compared with what was known.
  var comparesEntries: Bool { watcher?.watchesFiles ?? true }
}

// MARK: - Findings

extension ObservedTree {
  /// What a tree has to tell.
  struct Findings {
    var events: [RawEvent] = []
    var warnings: [ObserverError] = []
  }

  /// What has been found since the last call.
  mutating func takeFindings() -> Findings {
    defer {
      events = []
      warnings = []
      renames = RenamePairs()
    }
    return Findings(events: withLinkTargets(renames.paired(in: events)), warnings: warnings)
  }

  /// Takes for the links' what has been found of their targets so far, before these are others.
  mutating func assignToLinks() {
    events = withLinkTargets(events)
  }

  /// True if something has been found since.
  var hasFindings: Bool { !events.isEmpty }

  mutating func emit(_ kind: RawEvent.Kind, _ type: FileType, at path: Path) {
    if !linkTargets.isEmpty { noteIfLinksAreStale(path, kind) }
    events.append(RawEvent(path: path, kind: kind, type: type))
  }

  /// The same, of an entry of which it was found what it was or what it is: that may have been
  /// renamed.
  mutating func emit(
    _ kind: RawEvent.Kind, _ type: FileType, at path: Path, was gone: Fingerprint? = nil,
    is come: Fingerprint? = nil
  ) {
    renames.note(gone: gone, come: come, event: events.count)
    emit(kind, type, at: path)
  }

  /// Tells of what the kernel has told of, or of what has come with it, and remembers that for the second
  /// look.
  mutating func tell(_ kind: RawEvent.Kind, _ type: FileType, of place: Place) {
    if toldMeanwhile != nil {
      let entry = place.name.withUnsafeBufferPointer { snapshot.child($0, of: place.folder) }
      if let entry { toldMeanwhile?.note(kind, of: entry) }
    }
    emit(kind, type, at: place.path)
  }

  mutating func warn(_ error: ObserverError) {
    warnings.append(error)
  }
}

extension ObservedTree {
  func readiness(backend: String) -> FileObserver.Readiness {
    FileObserver.Readiness(
      watches: table.watchCount, pruned: prunedCount, backend: backend,
      ignoreFiles: ruleFiles.values.sorted { $0.path < $1.path })
  }
}

// MARK: - What is known

extension ObservedTree {
  /// Remembers that there is something.
  mutating func note(_ place: Place, _ type: FileType) {
    place.name.withUnsafeBufferPointer { name in
      guard snapshot.child(name, of: place.folder) == nil else { return }
      _ = snapshot.insert(name, type, in: place.folder)
    }
  }

  func lookUpType(at path: Path) -> FileType {
    (try? FileStatus(of: path).type) ?? .unknown
  }

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

  /// True if a root lies in it. That one keeps its path, and does not go with a folder's rename.
  func hasRoot(below entry: Entry) -> Bool {
    roots.keys.contains { snapshot.isWithin($0, entry) }
  }

  /// Forgets an entry and all below it, and gives the watches back. Roots in it are waited for.
  mutating func removeSubtree(_ entry: Entry) {
    if roots[entry] != nil { return lose(root: entry) }
    openFolders.forgetAll()
    if hasRoot(below: entry) {
      releaseWatch(of: entry)
      snapshot.mark(entry, [.awaited, .absent])
      for child in snapshot.children(of: entry) { removeSubtree(child) }
    } else {
      let watcher = watcher
      snapshot.remove(entry) { removed in
        if let watch = table.remove(removed) { watcher?.unwatch(watch) }
        toldMeanwhile?.forget(removed)
        traces.remove(removed)
        doubts[removed] = nil
      }
    }
  }

  /// Forgets what is known of the entry as something watched, and gives its watch back.
  mutating func releaseWatch(of entry: Entry) {
    if let watch = table.remove(entry) { watcher?.unwatch(watch) }
  }
}

// MARK: - Where something happened

extension ObservedTree {
  /// A name in a watched folder: the entry, if it is known, and whether it is told of.
  struct Place {
    let folder: Entry
    let name: [UInt8]
    let path: Path
    let isDirectory: Bool
    let known: Entry?
    let isReported: Bool

    /// Nil if nothing in the folder but certain names counts, and this is none of them.
    init?(
      named name: UnsafeBufferPointer<UInt8>, isDirectory: Bool, in folder: Entry,
      of tree: inout ObservedTree
    ) {
      guard let details = tree.table[folder] else { return nil }
      let known = tree.snapshot.child(name, of: folder)
      let isWanted =
        known.map { !tree.snapshot.marks(of: $0).isDisjoint(with: [.wanted, .awaited]) } ?? false
      if details.coverage == .named && !isWanted { return nil }
      let nameStart = tree.putPath(of: folder, name)
      let isReported = isWanted || tree.reports(nameStart, isDirectory, details.stack)
      // Of what is neither told of nor known, nothing needs to be kept.
      if !isReported && known == nil && !isDirectory && !tree.followsLinks { return nil }
      self.folder = folder
      self.name = Array(name)
      self.path = Path(bytes: tree.path)
      self.isDirectory = isDirectory
      self.known = known
      self.isReported = isReported
    }
  }

  /// Puts the path of an entry in `folder` into `path`. Where in it the name begins.
  mutating func putPath(of folder: Entry, _ name: UnsafeBufferPointer<UInt8>) -> Int {
    snapshot.putPath(of: folder, into: &path)
    return appendName(name)
  }

  /// The same for a folder whose path is at hand.
  mutating func putPath(_ folder: Path, _ name: UnsafeBufferPointer<UInt8>) -> Int {
    path.removeAll(keepingCapacity: true)
    path.append(contentsOf: folder.bytes)
    return appendName(name)
  }

  private mutating func appendName(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
    let nameStart = path.count
    path.append(contentsOf: name)
    return nameStart
  }

  /// True if the entry whose path stands in `path` is told of.
  func reports(_ nameStart: Int, _ isDirectory: Bool, _ stack: IgnoreStack?) -> Bool {
    guard let stack else { return false }
    return path.withUnsafeBufferPointer {
      filter.reports($0, nameAt: nameStart, isDirectory: isDirectory, in: stack)
    }
  }

  /// True if the folder whose path stands in `path` is entered.
  func mayEnter(_ nameStart: Int, _ stack: IgnoreStack?) -> Bool {
    guard let stack, excluded.isEmpty || !excluded.contains(Path(bytes: path)) else {
      return false
    }
    return path.withUnsafeBufferPointer { filter.mayEnter($0, nameAt: nameStart, in: stack) }
  }

  /// The same for an entry of a folder whose path is at hand.
  mutating func mayEnter(
    _ name: UnsafeBufferPointer<UInt8>, in folder: Path, _ stack: IgnoreStack?
  ) -> Bool {
    let nameStart = putPath(folder, name)
    return mayEnter(nameStart, stack)
  }

  func mayEnter(_ place: Place, in parent: WatchTable.Folder) -> Bool {
    guard let stack = parent.stack, !excluded.contains(place.path) else { return false }
    return place.path.bytes.withUnsafeBufferPointer {
      filter.mayEnter($0, nameAt: $0.count - place.name.count, in: stack)
    }
  }
}
