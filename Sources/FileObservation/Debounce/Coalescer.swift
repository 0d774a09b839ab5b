import SystemCalls

/// Coalesces the events of a burst into net changes, at most one for each path.
///
/// The cost of an event is a few lookups of its path and its ancestors. That of a renamed directory
/// is proportional to the changes below it, not to those of the whole burst.
package struct Coalescer {
  private struct Departure {
    let path: Path
    /// The path at the beginning of the burst, if an ancestor has been renamed since.
    let pathBefore: Path
    let fate: Fate?
    /// The changed descendants of a directory, by relative path.
    var descendants: [(path: Path, fate: Fate)] = []
  }

  private var fates: [Path: Fate] = [:]
  /// The paths in the order of their first events; `nil` for one that is reported under another
  /// path.
  private var order: [Path?] = []
  /// The first halves of renames whose second half has not arrived.
  private var departures: [UInt32: Departure] = [:]
  /// The changed paths by their directories; `nil` before the first directory is renamed.
  private var index: DirectoryIndex?
  private var openCount = 0
  private var hasRemovedDirectories = false

  package init() {}

  /// Whether nothing has been noted since the last `take`.
  package var isEmpty: Bool { fates.isEmpty }

  /// Whether a file of this burst is open for writing.
  package var isBeingWritten: Bool { openCount > 0 }

  /// Adds an event.
  package mutating func note(_ event: RawEvent) {
    let path = reportedPath(of: event)
    var fate = fates[path]
    if path != event.path { set(nil, at: event.path) }
    switch event.kind {
    case .created:
      fate = arrived(fate, replacing: false, type: event.type)
    case .modified(let isOpen):
      fate = fate ?? Fate(existedBefore: true, exists: true, type: event.type)
      fate?.exists = true
      fate?.isWritten = true
      fate?.isOpen = isOpen
    case .metadata:
      fate = fate ?? Fate(existedBefore: true, exists: true, type: event.type)
      fate?.isTouched = true
    case .removed:
      fate = gone(fate)
    case .movedFrom(let cookie):
      departures[cookie] = Departure(
        path: event.path, pathBefore: path, fate: fate,
        descendants: event.type == .directory ? takeDescendants(of: event.path) : [])
      fate = gone(fate)
    case .movedTo(let cookie, let replacing):
      fate = arrived(fate, replacing: replacing, type: event.type)
      if let departure = departures.removeValue(forKey: cookie) {
        fate?.origin = origin(of: departure, arrivingAt: path)
        put(departure.descendants, below: path)
      } else {
        fate?.origin = nil
      }
    }
    if event.type != .unknown { fate?.type = event.type }
    set(fate, at: path)
    if fate?.exists == false, event.type == .directory { hasRemovedDirectories = true }
    if fate?.exists == true, hasRemovedDirectories { restoreAncestors(of: path) }
  }

  /// Marks removed ancestors of an existing path as existing: directories with their names have
  /// come with the rename of an ancestor.
  private mutating func restoreAncestors(of path: Path) {
    var ancestor = path.parent
    while let directory = ancestor {
      if var fate = fates[directory], !fate.exists {
        fate.exists = true
        fate.isWritten = true
        set(fate, at: directory)
      }
      ancestor = directory.parent
    }
  }

  /// The path under which an event is reported.
  ///
  /// A removal below a directory that was renamed in this burst is reported under the path from the
  /// beginning of the burst: no batch has named the one in between.
  private func reportedPath(of event: RawEvent) -> Path {
    switch event.kind {
    case .created, .modified, .metadata, .movedTo: return event.path
    case .removed, .movedFrom: break
    }
    let fate = fates[event.path]
    let hasRenamedDirectories = index != nil
    guard hasRenamedDirectories, fate.map({ $0.existedBefore && $0.origin == nil }) ?? true else {
      return event.path
    }
    var ancestor = event.path.parent
    while let directory = ancestor {
      if let origin = fates[directory]?.origin, let rest = event.path.relative(to: directory) {
        let before = origin.appending(rest.bytes)
        return fates[before] == nil ? before : event.path
      }
      ancestor = directory.parent
    }
    return event.path
  }

  /// Replaces the fate of a path.
  private mutating func set(_ fate: Fate?, at path: Path) {
    let old = fates[path]
    openCount += (fate?.isOpen == true ? 1 : 0) - (old?.isOpen == true ? 1 : 0)
    guard var fate else {
      if let old { order[old.position] = nil }
      fates[path] = nil
      return
    }
    if let old {
      fate.position = old.position
    } else {
      fate.position = order.count
      order.append(path)
      index?.insert(path)
    }
    fates[path] = fate
  }

  /// The net changes since the last call. Forgets them.
  package mutating func take() -> [ChangeBatch.Change] {
    defer { self = Coalescer() }
    for departure in departures.values {
      // The directory has left the watched tree.
      put(departure.descendants.map { ($0.path, gone($0.fate)) }, below: departure.path)
    }
    removeDescendantsOfRemovedDirectories()
    // The old name of a reported rename is not reported as removed. If the old name has been
    // reused, the rename of a directory is still reported, because it covers the descendants; that
    // of a file becomes a change of both names.
    var reportedOrigins: Set<Path> = []
    for case let path? in order {
      guard let fate = fates[path], fate.exists, let origin = fate.origin else { continue }
      if fate.type == .directory || fates[origin]?.exists != true { reportedOrigins.insert(origin) }
    }
    return order.compactMap { path -> ChangeBatch.Change? in
      guard let path, let fate = fates[path] else { return nil }
      if !fate.exists {
        guard fate.existedBefore, !reportedOrigins.contains(path) else { return nil }
        return ChangeBatch.Change(path: path, kind: .removed, type: .unknown)
      }
      if let origin = fate.origin, reportedOrigins.contains(origin) {
        return ChangeBatch.Change(path: path, kind: .renamed, type: fate.type, from: origin)
      }
      guard let kind = fate.kindInPlace else { return nil }
      return ChangeBatch.Change(path: path, kind: kind, type: fate.type)
    }
  }

  private func arrived(_ fate: Fate?, replacing: Bool, type: FileType) -> Fate {
    var fate = fate ?? Fate(existedBefore: replacing, exists: true, type: type)
    fate.exists = true
    fate.isWritten = true
    fate.isOpen = false
    return fate
  }

  private func gone(_ fate: Fate?) -> Fate {
    var fate = fate ?? Fate(existedBefore: true, exists: false, type: .unknown)
    fate.exists = false
    fate.isWritten = false
    fate.isTouched = false
    fate.isOpen = false
    fate.origin = nil
    return fate
  }

  /// The path at the beginning of the burst of a file that has just been renamed; `nil` if it did
  /// not exist then, or is back at that path.
  private func origin(of departure: Departure, arrivingAt path: Path) -> Path? {
    let origin: Path?
    if let fate = departure.fate {
      origin = fate.origin ?? (fate.existedBefore ? departure.pathBefore : nil)
    } else {
      origin = departure.pathBefore
    }
    return origin == path ? nil : origin
  }
}

// MARK: - Directories

extension Coalescer {
  /// Marks the descendants of removed directories as removed. They may have no events of their own.
  private mutating func removeDescendantsOfRemovedDirectories() {
    let directories = Set(
      fates.lazy.filter { !$0.value.exists && $0.value.type == .directory }.map(\.key))
    if directories.isEmpty { return }
    for case let path? in order where fates[path]?.exists == true {
      if Self.isBelow(path, directories) { set(gone(fates[path]), at: path) }
    }
  }

  private static func isBelow(_ path: Path, _ directories: Set<Path>) -> Bool {
    var ancestor = path.parent
    while let directory = ancestor, !directories.contains(directory) { ancestor = directory.parent }
    return ancestor != nil
  }

  /// Removes the changes below a directory that is being renamed, and returns those that move with
  /// it.
  private mutating func takeDescendants(of directory: Path) -> [(path: Path, fate: Fate)] {
    let index = self.index.take() ?? DirectoryIndex(order.lazy.compactMap { $0 })
    defer { self.index = index }
    var pending = index.entries(of: directory).map { (path: $0, isBelowGone: false) }
    var taken: [(path: Path, fate: Fate)] = []
    while let (path, isBelowGone) = pending.popLast() {
      let fate = fates[path]
      let isGone = isBelowGone || fate.map { !$0.exists && $0.type == .directory } ?? false
      pending += index.entries(of: path).map { ($0, isGone) }
      guard let fate, fate.exists, let rest = path.relative(to: directory) else { continue }
      if isBelowGone {
        // It had left the directory before, in a subdirectory.
        set(gone(fate), at: path)
      } else {
        set(nil, at: path)
        taken.append((rest, fate))
      }
    }
    return taken
  }

  private mutating func put(_ descendants: [(path: Path, fate: Fate)], below directory: Path) {
    for (rest, fate) in descendants {
      let path = directory.appending(rest.bytes)
      if let former = fates[path] {
        // The file that was at this path is gone, with the directory that the renamed one replaced.
        guard !former.exists, fate.exists else { continue }
        var arrived = Fate(existedBefore: former.existedBefore, exists: true, type: fate.type)
        arrived.isWritten = true
        arrived.isOpen = fate.isOpen
        arrived.origin = fate.origin
        set(arrived, at: path)
        continue
      }
      fates[path] = fate
      order[fate.position] = path
      index?.insert(path)
      if fate.isOpen { openCount += 1 }
    }
  }
}
