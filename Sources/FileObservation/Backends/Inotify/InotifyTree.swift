#if os(Linux)

import PathFiltering
import SystemCalls

/// The watched tree as inotify tells of it: what each event of the kernel means.
struct InotifyTree {
  typealias Entry = TreeSnapshot.Entry
  typealias Place = ObservedTree.Place

  let inotify: Inotify
  var tree: ObservedTree
  /// Renamed folders whose new place is not known yet, by the rename's cookie.
  var lifted: [UInt32: LiftedFolder] = [:]
  /// The same folders' cookies.
  var cookies: [Entry: UInt32] = [:]
  /// The last of the cookies that are given out here; the kernel's begin at the other end.
  var lastCookie = UInt32.max
  /// Where something was moved away from since the events were last read to the end.
  private var departures: [Path] = []
  /// Folders over which a file system was mounted that is there no more.
  private var uncovered: Set<Entry> = []
  var sawOverflow = false

  init(inotify: Inotify, _ configuration: BackendConfiguration) {
    self.inotify = inotify
    tree = ObservedTree(configuration, watcher: InotifyWatcher(inotify))
  }

  init(inotify: Inotify, filter: PathFilter, followsLinks: Bool = false) {
    self.inotify = inotify
    tree = ObservedTree(
      filter: filter, watcher: InotifyWatcher(inotify), followsLinks: followsLinks)
  }
}

// MARK: - What an event means

extension InotifyTree {
  /// Reads all that the kernel has to tell, and follows it.
  mutating func readEvents() throws(SystemError) {
    let inotify = inotify
    while try inotify.readEvents({ handle($0) }) {}
    lookAgainAtDepartures()
    lookAtUncovered()
    settleDisputes()
    tree.settleDoubts()
    tree.refreshLinks()
    tree.refreshRules()
  }

  mutating func handle(_ event: InotifyEvent) {
    if event.mask.contains(.queueOverflow) {
      sawOverflow = true
      return
    }
    if event.mask.contains(.ignored) { disputeOtherNames(of: event.watch) }
    // Events of a watch that has been given back may still stand in the queue.
    guard let folder = tree.table.owner(of: event.watch) else { return }
    if event.mask.contains(.ignored) {
      tree.table.removeWatch(event.watch)
      tree.lose(folder)
    } else if event.name.isEmpty {
      if event.mask.contains(.unmount) { uncovered.insert(folder) }
      if !event.mask.isDisjoint(with: [.deleteSelf, .moveSelf, .unmount]) { tree.lose(folder) }
    } else if let cookie = cookieOfLift(above: folder) {
      lifted[cookie]?.keep(event)
    } else {
      handle(event, in: folder)
    }
  }

  private mutating func handle(_ event: InotifyEvent, in folder: Entry) {
    if let kind = event.kindForRules { tree.noteIfRulesChanged(event.name, in: folder, kind) }
    if event.mask.kind == .arrival || event.mask.kind == .departure {
      tree.table.noteNews(in: folder)
    }
    guard
      let place = Place(
        named: event.name, isDirectory: event.mask.contains(.isDirectory), in: folder, of: &tree)
    else { return }
    if let known = place.known, tree.snapshot.marks(of: known).contains(.passage) { return }
    switch event.mask.kind {
    case .arrival:
      arrived(event, at: place)
    case .departure:
      departed(event, from: place)
    case .write:
      if let known = place.known, tree.snapshot.marks(of: known).contains(.absent) { return }
      guard place.isReported, !event.mask.contains(.isDirectory) else { return }
      let isOpen = !event.mask.contains(.closeAfterWrite)
      tree.tell(.modified(isOpen: isOpen), type(at: place), of: place)
    case .attributes:
      if event.mask.contains(.isDirectory) { tree.retryIfUnwatched(place) }
      if place.isReported { tree.tell(.metadata, type(at: place), of: place) }
    case .none:
      break
    }
  }

  private mutating func arrived(_ event: InotifyEvent, at place: Place) {
    let isMove = event.mask.contains(.movedTo)
    let isThere = place.known.map { !tree.snapshot.marks(of: $0).contains(.absent) } ?? false
    if let known = place.known, tree.isReachedByPath(known) {
      if isMove { drop(liftedBy: event.cookie) }
      tree.returned(known)
      // What leads to a root may lie within another one.
      if tree.roots[known] == nil, (tree.table[place.folder]?.coverage ?? .named) > .named {
        tree.discover(place)
      }
      return
    }
    if event.mask.contains(.isDirectory) {
      if let known = place.known, tree.roots[known] == .named {
        // A folder has come where a file is asked for, or a link leads: that is all that is told of it.
        if isMove { drop(liftedBy: event.cookie) }
        tree.snapshot.setType(.directory, of: known)
        tree.snapshot.unmark(known, .absent)
        return tree.tell(.created, .directory, of: place)
      }
      if isMove, let entry = lifted[event.cookie]?.entry {
        put(entry, liftedBy: event.cookie, at: place)
        return
      }
      // A folder that is known already was met in a listing before its event was read; a folder
      // that came by a rename is another one than was known.
      let isKnown = place.known.map { tree.snapshot.type(of: $0) == .directory } ?? false
      if isKnown && !isMove {
        if place.isReported { tree.tell(.created, .directory, of: place) }
      } else {
        if let known = place.known { tree.removeSubtree(known) }
        tree.discover(place)
      }
      return
    }
    let type = tree.lookUpType(at: place.path)
    // Links are followed, and this might have been one.
    if place.known == nil && !place.isReported && type != .symlink { return }
    if let known = place.known,
      tree.snapshot.type(of: known) != .directory || tree.roots[known] != nil
    {
      tree.snapshot.setType(type, of: known)
      tree.snapshot.unmark(known, .absent)
    } else {
      if let known = place.known { tree.removeSubtree(known) }
      tree.note(place, type)
    }
    if type == .symlink { tree.followIfWanted(place) }
    guard place.isReported else { return }
    tree.tell(
      isMove ? .movedTo(cookie: event.cookie, replacing: isThere) : .created, type, of: place)
  }

  private mutating func departed(_ event: InotifyEvent, from place: Place) {
    let isMove = event.mask.contains(.movedFrom)
    // Of a folder that goes before it was looked at for the second time, nobody knows what was in it: that
    // may have counted, whatever a filter says of the folder itself.
    let wasUnknown =
      tree.toldMeanwhile != nil && place.known.map { tree.table[$0] != nil } ?? false
    if let known = place.known {
      if tree.isReachedByPath(known) {
        if tree.roots[known] != nil { return tree.lose(root: known) }
        // It is waited for already, on the way to a root. It may lie within another one.
        if (tree.table[place.folder]?.coverage ?? .named) == .named { return }
      }
      if tree.roots[known] != nil {
        tree.snapshot.mark(known, .absent)
      } else if isMove, isLiftable(known) {
        lift(known, from: place, cookie: event.cookie)
      } else {
        if tree.snapshot.type(of: known) == .symlink {
          tree.tellRemovedChildren(of: known)
          tree.forgetTarget(ofLink: place.path)
        } else if !place.isReported {
          tree.tellRemovedChildren(of: known)
        }
        tree.removeSubtree(known)
      }
    }
    if isMove { departures.append(place.path) }
    guard place.isReported || wasUnknown else { return }
    let type: FileType = event.mask.contains(.isDirectory) ? .directory : .unknown
    tree.tell(isMove ? .movedFrom(cookie: event.cookie) : .removed, type, of: place)
  }

  /// True for a folder that is known with all that is in it, and can be put elsewhere as it is. A
  /// link is not: a relative one leads elsewhere from there.
  private func isLiftable(_ entry: Entry) -> Bool {
    tree.table[entry] != nil && !tree.hasRoot(below: entry)
      && tree.snapshot.type(of: entry) == .directory
  }

  private func type(at place: Place) -> FileType {
    if place.isDirectory { return .directory }
    return place.known.map { tree.snapshot.type(of: $0) } ?? tree.lookUpType(at: place.path)
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
        let known = tree.existingEntry(at: path)
        if let known, tree.table[known] != nil, !tree.isReachedByPath(known) {
          tree.removeSubtree(known)
        }
      }
      found = paths.compactMap { unknown(at: $0) }
    }
    for (place, type) in found {
      if place.isDirectory {
        tree.discover(place)
      } else {
        tree.note(place, type)
        if place.isReported { tree.tell(.created, type, of: place) }
      }
    }
  }

  /// What is there in a watched folder though the picture does not have it.
  private mutating func unknown(at path: Path) -> (place: Place, type: FileType)? {
    guard let folder = path.parent.flatMap(tree.existingEntry), tree.table[folder] != nil,
      let status = try? FileStatus(of: path)
    else { return nil }
    let place = Array(path.lastComponent).withUnsafeBufferPointer {
      Place(named: $0, isDirectory: status.type == .directory, in: folder, of: &tree)
    }
    guard let place, place.known == nil else { return nil }
    return (place, status.type)
  }

  /// What was there before a file system was mounted over it is there again.
  private mutating func lookAtUncovered() {
    let folders = uncovered
    uncovered = []
    for folder in folders where tree.table[folder] != nil {
      tree.visitAtOnce(folder, for: .compare(since: .latest(), .everything))
    }
  }
}

extension InotifyEvent {
  /// What it is for a file of rules. One that is still being written is not read.
  fileprivate var kindForRules: RawEvent.Kind? {
    switch mask.kind {
    case .arrival: .created
    case .departure: .removed
    case .write: .modified(isOpen: !mask.contains(.closeAfterWrite))
    case .attributes, nil: nil
    }
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
    // One by one: a set of two would be made at run time, for each event.
    if contains(.create) || contains(.movedTo) { return .arrival }
    if contains(.delete) || contains(.movedFrom) { return .departure }
    if contains(.modify) || contains(.closeAfterWrite) { return .write }
    return contains(.attributes) ? .attributes : nil
  }
}

#endif  // os(Linux)
