#if os(Linux)

import PathFiltering
import SystemCalls

extension InotifyTree {
  /// A folder that has left its place, with all that is known below it and all its watches, until
  /// the second half of its rename says where to. What happens in it meanwhile is kept.
  struct LiftedFolder {
    let cookie: UInt32
    let entry: Entry
    private(set) var events: [KeptEvent] = []

    init(cookie: UInt32, entry: Entry) {
      self.cookie = cookie
      self.entry = entry
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

  /// The rename that is under way above a folder, if one is.
  func cookieOfLift(above folder: Entry) -> UInt32? {
    if lifted.isEmpty { return nil }
    return lifted.first { snapshot.isWithin(folder, $0.value.entry) }?.key
  }

  /// A renamed folder has arrived: its subtree has its new paths at once. Since rules may judge it
  /// otherwise there, all of it is listed again.
  mutating func put(_ entry: Entry, liftedBy cookie: UInt32, at place: Place) {
    // A folder is only renamed over an empty one, but may change places with anything.
    let isReplacing = place.known != nil
    if let replaced = place.known { removeSubtree(replaced) }
    guard let parent = table[place.folder] else {
      drop(liftedBy: cookie)
      return
    }
    let mayEnter = mayEnter(place, in: parent)
    guard parent.coverage == .recursive, mayEnter else {
      drop(liftedBy: cookie)
      if mayEnter { note(place, .directory) }
      if place.isReported {
        emit(.movedTo(cookie: cookie, replacing: isReplacing), .directory, at: place.path)
      }
      return
    }
    place.name.withUnsafeBufferPointer { snapshot.place(entry, as: $0, in: place.folder) }
    if place.isReported {
      emit(.movedTo(cookie: cookie, replacing: isReplacing), .directory, at: place.path)
    }
    table.add(entry, coverage: .recursive, stack: parent.stack)
    let kept = lifted.removeValue(forKey: cookie)?.events ?? []
    visitAtOnce(entry, for: .tell)
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

  /// A folder may have been moved into a new one before that was watched, so that nothing tells where
  /// it went. It was met there, and is watched now that its old name is known to be gone.
  mutating func settleDisputes() {
    guard !disputed.isEmpty, lifted.isEmpty else { return }
    let folders = disputed
    disputed = []
    for folder in folders where table[folder].map({ $0.watch == nil }) ?? false {
      visitAtOnce(folder, for: .tell)
    }
  }

  mutating func drop(liftedBy cookie: UInt32) {
    guard let folder = lifted.removeValue(forKey: cookie) else { return }
    removeSubtree(folder.entry)
  }
}

#endif  // os(Linux)
