#if os(Linux)

import PathFiltering
import SystemCalls

/// The watched tree as inotify shows it: keeps the picture of the tree and the kernel's watches in
/// step with what the kernel tells, and says what that means as raw events.
///
/// It knows no queue and no clock. Each folder is watched first and listed after, so that what
/// appears in between is met twice rather than never.
struct InotifyTree {
  typealias Entry = TreeSnapshot.Entry

  let inotify: Inotify
  let filter: PathFilter
  let reader = DirectoryReader()
  var snapshot = TreeSnapshot()
  var table = WatchTable()
  var listing = Listing()
  /// Roots that are not there at present.
  var missingRoots: Set<Entry> = []
  var roots: [Entry: Coverage] = [:]
  /// Folders that are still to be listed.
  var pending: [Visit] = []
  /// Renamed folders whose new place is not known yet, by the rename's cookie.
  var lifted: [UInt32: LiftedFolder] = [:]
  /// Folders that have another one's watch: each is that one renamed, of which the kernel may be
  /// about to tell, or the same by two names.
  var disputed: Set<Entry> = []
  /// Where something was moved away from since the events were last read to the end.
  var departures: [Path] = []
  /// Room for putting paths together.
  var path: [UInt8] = []
  /// Folders for which the kernel had no watch left.
  var unwatched: Set<Entry> = []
  var hasToldOfLimit = false
  /// Folders that may not be read, told of.
  var unreadable: Set<Path> = []
  /// Folders in which, or above which, a file of rules has changed.
  var staleRules: Set<Entry> = []
  /// The files of rules that have been read, for being told of.
  var ruleFiles: [Path: IgnoreFile] = [:]
  var unreadableRules: Set<Path> = []
  /// How many folders the first walk has passed by.
  var prunedCount = 0

  private(set) var events: [RawEvent] = []
  private(set) var warnings: [ObserverError] = []
  var sawOverflow = false

  init(inotify: Inotify, filter: PathFilter) {
    self.inotify = inotify
    self.filter = filter
  }

  /// What has been found since the last call.
  mutating func takeFindings() -> (events: [RawEvent], warnings: [ObserverError]) {
    defer {
      events = []
      warnings = []
    }
    return (events, warnings)
  }

  /// True if something has been found since.
  var hasFindings: Bool { !events.isEmpty }

  mutating func emit(_ kind: RawEvent.Kind, _ type: FileType, at path: Path) {
    events.append(RawEvent(path: path, kind: kind, type: type))
  }

  mutating func warn(_ error: ObserverError) {
    warnings.append(error)
  }
}

// MARK: - What an event means

extension InotifyTree {
  /// Reads all that the kernel has to tell, and follows it.
  mutating func readEvents() throws(SystemError) {
    let inotify = inotify
    while try inotify.readEvents({ handle($0) }) {}
    lookAgainAtDepartures()
    settleDisputes()
    refreshRules()
  }

  mutating func handle(_ event: InotifyEvent) {
    if event.mask.contains(.queueOverflow) {
      sawOverflow = true
      return
    }
    // Events of a watch that has been given back may still stand in the queue.
    guard let folder = table.owner(of: event.watch) else { return }
    if event.mask.contains(.ignored) {
      table.removeWatch(event.watch)
      lose(folder)
    } else if event.name.isEmpty {
      if !event.mask.isDisjoint(with: [.deleteSelf, .moveSelf, .unmount]) { lose(folder) }
    } else if let cookie = cookieOfLift(above: folder) {
      lifted[cookie]?.keep(event)
    } else {
      handle(event, in: folder)
    }
  }

  private mutating func handle(_ event: InotifyEvent, in folder: Entry) {
    noteIfRulesChanged(event, in: folder)
    if event.mask.kind == .arrival || event.mask.kind == .departure { table.noteNews(in: folder) }
    guard let place = Place(event, in: folder, of: &self) else { return }
    if let known = place.known, snapshot.marks(of: known).contains(.passage) { return }
    switch event.mask.kind {
    case .arrival:
      arrived(event, at: place)
    case .departure:
      departed(event, from: place)
    case .write:
      if let known = place.known, snapshot.marks(of: known).contains(.absent) { return }
      guard place.isReported, !event.mask.contains(.isDirectory) else { return }
      let isOpen = !event.mask.contains(.closeAfterWrite)
      emit(.modified(isOpen: isOpen), type(at: place), at: place.path)
    case .attributes:
      if event.mask.contains(.isDirectory) { retryIfUnwatched(place) }
      if place.isReported { emit(.metadata, type(at: place), at: place.path) }
    case .none:
      break
    }
  }

  private mutating func arrived(_ event: InotifyEvent, at place: Place) {
    let isMove = event.mask.contains(.movedTo)
    let isThere = place.known.map { !snapshot.marks(of: $0).contains(.absent) } ?? false
    if let known = place.known, isReachedByPath(known) {
      if isMove { drop(liftedBy: event.cookie) }
      returned(known)
      // What leads to a root may lie within another one.
      if roots[known] == nil, (table[place.folder]?.coverage ?? .named) > .named { discover(place) }
      return
    }
    if event.mask.contains(.isDirectory) {
      if isMove, let entry = lifted[event.cookie]?.entry {
        put(entry, liftedBy: event.cookie, at: place)
        return
      }
      // A folder that is known already was met in a listing before its event was read; a folder
      // that came by a rename is another one than was known.
      let isKnown = place.known.map { snapshot.type(of: $0) == .directory } ?? false
      if isKnown && !isMove {
        if place.isReported { emit(.created, .directory, at: place.path) }
      } else {
        if let known = place.known { removeSubtree(known) }
        discover(place)
      }
      return
    }
    let type = lookUpType(at: place.path)
    if let known = place.known, snapshot.type(of: known) != .directory || roots[known] != nil {
      snapshot.setType(type, of: known)
      snapshot.unmark(known, .absent)
    } else {
      if let known = place.known { removeSubtree(known) }
      note(place, type)
    }
    guard place.isReported else { return }
    emit(
      isMove ? .movedTo(cookie: event.cookie, replacing: isThere) : .created, type, at: place.path)
  }

  private mutating func departed(_ event: InotifyEvent, from place: Place) {
    let isMove = event.mask.contains(.movedFrom)
    if let known = place.known {
      if isReachedByPath(known) {
        lose(root: known)
        return
      }
      if roots[known] != nil {
        snapshot.mark(known, .absent)
      } else if isMove, table[known] != nil, !hasRoot(below: known) {
        snapshot.lift(known)
        lifted[event.cookie] = LiftedFolder(cookie: event.cookie, entry: known)
      } else {
        removeSubtree(known)
      }
    }
    if isMove { departures.append(place.path) }
    guard place.isReported else { return }
    let type: FileType = event.mask.contains(.isDirectory) ? .directory : .unknown
    emit(isMove ? .movedFrom(cookie: event.cookie) : .removed, type, at: place.path)
  }

  /// Remembers that there is something, unless it is to be forgotten anyway.
  mutating func note(_ place: Place, _ type: FileType) {
    place.name.withUnsafeBufferPointer { name in
      guard snapshot.child(name, of: place.folder) == nil else { return }
      _ = snapshot.insert(name, type, in: place.folder)
    }
  }

  private func type(at place: Place) -> FileType {
    if place.isDirectory { return .directory }
    return place.known.map { snapshot.type(of: $0) } ?? lookUpType(at: place.path)
  }

  func lookUpType(at path: Path) -> FileType {
    (try? FileStatus(of: path).type) ?? .unknown
  }

  /// Two files that changed places look, event by event, like a rename there and back: something
  /// is still where it seems to have left. So each place that was left is looked at again.
  private mutating func lookAgainAtDepartures() {
    let paths = departures
    departures = []
    var found = paths.compactMap { unknown(at: $0) }
    if found.contains(where: { $0.type == .directory }) {
      // A folder took part: watches may stand for what has another name by now.
      dropLifted()
      for path in paths {
        let known = existingEntry(at: path)
        if let known, table[known] != nil, !isReachedByPath(known) { removeSubtree(known) }
      }
      found = paths.compactMap { unknown(at: $0) }
    }
    for (place, type) in found {
      if place.isDirectory {
        discover(place)
      } else {
        note(place, type)
        if place.isReported { emit(.created, type, at: place.path) }
      }
    }
  }

  /// What is there in a watched folder though the picture does not have it.
  private mutating func unknown(at path: Path) -> (place: Place, type: FileType)? {
    guard let folder = path.parent.flatMap(existingEntry), table[folder] != nil,
      let status = try? FileStatus(of: path)
    else { return nil }
    let place = Place(
      named: Array(path.lastComponent), isDirectory: status.type == .directory, in: folder,
      of: &self)
    guard let place, place.known == nil else { return nil }
    return (place, status.type)
  }

  /// The entry at `path`, if it is known.
  private func existingEntry(at path: Path) -> Entry? {
    var entry = TreeSnapshot.root
    for component in path.components {
      let child = Array(component).withUnsafeBufferPointer { snapshot.child($0, of: entry) }
      guard let child else { return nil }
      entry = child
    }
    return entry
  }

  /// True if a root lies in it. That one keeps its path, and does not go with a folder's rename.
  private func hasRoot(below entry: Entry) -> Bool {
    roots.keys.contains { snapshot.isWithin($0, entry) }
  }

  /// Forgets an entry and all below it, and gives the watches back. Roots in it are waited for.
  mutating func removeSubtree(_ entry: Entry) {
    if roots[entry] != nil { return lose(root: entry) }
    let inotify = inotify
    if hasRoot(below: entry) {
      if let watch = table.remove(entry) { inotify.removeWatch(watch) }
      snapshot.mark(entry, [.awaited, .absent])
      for child in snapshot.children(of: entry) { removeSubtree(child) }
    } else {
      snapshot.remove(entry) { removed in
        if let watch = table.remove(removed) { inotify.removeWatch(watch) }
      }
    }
  }
}

// MARK: - Where an event happened

extension InotifyTree {
  /// A name in a watched folder: the entry, if it is known, and whether it is told of.
  struct Place {
    let folder: Entry
    let name: [UInt8]
    let path: Path
    let isDirectory: Bool
    let known: Entry?
    let isReported: Bool

    /// Nil if nothing in the folder but certain names counts, and this is none of them.
    init?(_ event: InotifyEvent, in folder: Entry, of tree: inout InotifyTree) {
      self.init(
        named: event.name, isDirectory: event.mask.contains(.isDirectory), in: folder, of: &tree)
    }

    init?(
      named name: [UInt8], isDirectory: Bool, in folder: Entry, of tree: inout InotifyTree
    ) {
      let place = name.withUnsafeBufferPointer {
        Place(named: $0, isDirectory: isDirectory, in: folder, of: &tree)
      }
      guard let place else { return nil }
      self = place
    }

    private init?(
      named name: UnsafeBufferPointer<UInt8>, isDirectory: Bool, in folder: Entry,
      of tree: inout InotifyTree
    ) {
      guard let details = tree.table[folder] else { return nil }
      let known = tree.snapshot.child(name, of: folder)
      let isWanted =
        known.map { !tree.snapshot.marks(of: $0).isDisjoint(with: [.wanted, .awaited]) } ?? false
      if details.coverage == .named && !isWanted { return nil }
      let nameStart = tree.putPath(of: folder, name)
      let isReported = isWanted || tree.reports(nameStart, isDirectory, details.stack)
      // Of what is neither told of nor known, nothing needs to be kept.
      if !isReported && known == nil && !isDirectory { return nil }
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
}

extension InotifyTree {
  /// True if the entry whose path stands in `path` is told of.
  func reports(_ nameStart: Int, _ isDirectory: Bool, _ stack: IgnoreStack?) -> Bool {
    guard let stack else { return false }
    return path.withUnsafeBufferPointer {
      filter.reports($0, nameAt: nameStart, isDirectory: isDirectory, in: stack)
    }
  }

  /// True if the folder whose path stands in `path` is entered.
  func mayEnter(_ nameStart: Int, _ stack: IgnoreStack?) -> Bool {
    guard let stack else { return false }
    return path.withUnsafeBufferPointer { filter.mayEnter($0, nameAt: nameStart, in: stack) }
  }
}

extension InotifyMask {
  enum Kind {
    case arrival
    case departure
    case write
    case attributes
  }

  var kind: Kind? {
    if !isDisjoint(with: [.create, .movedTo]) { return .arrival }
    if !isDisjoint(with: [.delete, .movedFrom]) { return .departure }
    if !isDisjoint(with: [.modify, .closeAfterWrite]) { return .write }
    return contains(.attributes) ? .attributes : nil
  }
}

#endif  // os(Linux)
