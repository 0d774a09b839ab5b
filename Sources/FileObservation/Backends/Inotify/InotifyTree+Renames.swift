#if os(Linux)

import PathFiltering
import SystemCalls

extension InotifyTree {
  /// A folder that has left its place, with all that is known below it and all its watches, until
  /// the second half of its rename says where to. What happens in it meanwhile is kept.
  struct LiftedFolder {
    let cookie: UInt32
    let entry: Entry
    /// What in it is told of in its stead, because it is not told of itself.
    let told: [(entry: Entry, cookie: UInt32)]
    private(set) var events: [KeptEvent] = []

    init(cookie: UInt32, entry: Entry, told: [(entry: Entry, cookie: UInt32)]) {
      self.cookie = cookie
      self.entry = entry
      self.told = told
    }

    mutating func keep(_ event: InotifyEvent) {
      events.append(
        KeptEvent(
          watch: event.watch, mask: event.mask, cookie: event.cookie, name: Array(event.name)))
    }
  }

  struct KeptEvent {
    let watch: Int32
    let mask: InotifyMask
    let cookie: UInt32
    let name: [UInt8]
  }

  /// A known folder is being renamed: keeps it until it is known where to.
  mutating func lift(_ entry: Entry, from place: Place, cookie: UInt32) {
    var told: [(entry: Entry, cookie: UInt32)] = []
    if !place.isReported {
      for entry in tree.reportedEntries(below: entry) {
        lastCookie -= 1
        told.append((entry, lastCookie))
        tree.emit(
          .movedFrom(cookie: lastCookie), tree.snapshot.type(of: entry),
          at: tree.snapshot.path(of: entry))
      }
    }
    tree.forgetTargets(ofLinksBelow: place.path)
    tree.snapshot.lift(entry)
    lifted[cookie] = LiftedFolder(cookie: cookie, entry: entry, told: told)
    cookies[entry] = cookie
  }

  /// The rename that is under way above a folder, if one is.
  func cookieOfLift(above folder: Entry) -> UInt32? {
    if cookies.isEmpty { return nil }
    var here: Entry? = folder
    while let step = here {
      if let cookie = cookies[step] { return cookie }
      here = tree.snapshot.parent(of: step)
    }
    return nil
  }

  private mutating func takeLifted(by cookie: UInt32) -> LiftedFolder? {
    guard let folder = lifted.removeValue(forKey: cookie) else { return nil }
    cookies[folder.entry] = nil
    return folder
  }

  /// A renamed folder has arrived: its subtree has its new paths at once. Since rules may judge it
  /// otherwise there, all of it is listed again.
  mutating func put(_ entry: Entry, liftedBy cookie: UInt32, at place: Place) {
    // A folder is only renamed over an empty one, but may change places with anything.
    let isReplacing = place.known != nil
    if let replaced = place.known { tree.removeSubtree(replaced) }
    guard let parent = tree.table[place.folder] else {
      drop(liftedBy: cookie)
      return
    }
    let mayEnter = tree.mayEnter(place, in: parent)
    guard parent.coverage == .recursive, mayEnter else {
      drop(liftedBy: cookie)
      if mayEnter { tree.note(place, .directory) }
      if place.isReported {
        tree.emit(.movedTo(cookie: cookie, replacing: isReplacing), .directory, at: place.path)
      }
      return
    }
    place.name.withUnsafeBufferPointer { tree.snapshot.place(entry, as: $0, in: place.folder) }
    if place.isReported {
      tree.emit(.movedTo(cookie: cookie, replacing: isReplacing), .directory, at: place.path)
    }
    tree.table.add(entry, coverage: .recursive, stack: parent.stack)
    let folder = takeLifted(by: cookie)
    for (entry, cookie) in folder?.told ?? [] {
      tree.emit(
        .movedTo(cookie: cookie, replacing: false), tree.snapshot.type(of: entry),
        at: tree.snapshot.path(of: entry))
    }
    let kept = folder?.events ?? []
    tree.visitAtOnce(entry, for: .tell)
    for event in kept {
      event.name.withUnsafeBufferPointer {
        handle(
          InotifyEvent(watch: event.watch, mask: event.mask, cookie: event.cookie, name: $0))
      }
    }
  }

  /// Folders whose second half has not come have left the tree: their watches are given back.
  mutating func dropLifted() {
    for cookie in lifted.keys { drop(liftedBy: cookie) }
    settleDisputes()
  }

  /// A folder may have been moved into a new one, or out of one, before that was watched, so that
  /// nothing tells where it went. It was met under its new name, and is watched by that now that all
  /// has been read and its old name is found to lead elsewhere, or nowhere.
  mutating func settleDisputes() {
    guard !tree.disputed.isEmpty, lifted.isEmpty else { return }
    let disputes = tree.disputed
    tree.disputed = [:]
    for (folder, watch) in disputes where tree.table[folder].map({ $0.watch == nil }) ?? false {
      if let owner = tree.table.owner(of: watch), owner != folder {
        if tree.isSameFolder(owner, folder) {
          tree.otherNames[watch, default: []].insert(folder)
          continue
        }
        if tree.isReachedByPath(owner) {
          tree.lose(owner)
        } else {
          let parent = tree.snapshot.parent(of: owner)
          tree.tellRemoved(owner)
          tree.removeSubtree(owner)
          // There may be another folder of that name.
          if let parent { tree.visitAtOnce(parent, for: .tell) }
        }
      }
      tree.visitAtOnce(folder, for: .tell)
    }
  }

  /// A watch is no more: a folder that is known by another name as well may be watched by that.
  mutating func disputeOtherNames(of watch: Int32) {
    for folder in tree.otherNames.removeValue(forKey: watch) ?? [] {
      tree.disputed[folder] = watch
    }
  }

  mutating func drop(liftedBy cookie: UInt32) {
    guard let folder = takeLifted(by: cookie) else { return }
    tree.removeSubtree(folder.entry)
  }
}

#endif  // os(Linux)
