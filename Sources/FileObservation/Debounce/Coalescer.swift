import SystemCalls

/// Coalesces the events of a burst into net changes, at most one for each path.
///
/// Each path has a fate of its own: the file that was there when the burst began, and the one that
/// is there now. Renames are found at the end of the burst: the same file was at one path and is at
/// another. What it was called in between, and in which order things happened, has no effect.
package struct Coalescer {
  private var fates: [Path: Fate] = [:]
  /// The paths in the order of their first events.
  private var order: [Path] = []
  /// The traces of files that have disappeared from a path, by inode.
  private var traces: [UInt64: Fate.Traces] = [:]
  private var openCount = 0

  package init() {}

  /// Whether nothing has been noted since the last `take`.
  package var isEmpty: Bool { order.isEmpty }

  /// Whether a file of this burst is open for writing.
  package var isBeingWritten: Bool { openCount > 0 }

  /// Adds an event.
  package mutating func note(_ event: RawEvent) {
    var fate: Fate
    if let known = fates[event.path] {
      fate = known
    } else {
      fate = Fate(before: event)
      order.append(event.path)
    }
    if fate.isOpen { openCount -= 1 }
    fate.add(event, &traces)
    if fate.isOpen { openCount += 1 }
    fates[event.path] = fate
  }

  /// The net changes since the last call. Forgets them.
  package mutating func take() -> [ChangeBatch.Change] {
    defer { self = Coalescer() }
    let renames = Renames(fates, inOrder: order)
    return order.compactMap { path in fates[path].flatMap { change(of: path, $0, renames) } }
  }

  private func change(of path: Path, _ fate: Fate, _ renames: Renames) -> ChangeBatch.Change? {
    var kind = fate.kindInPlace
    var from: Path?
    if !fate.exists {
      // A file that has a new name is not removed.
      if renames.destinations[path] != nil { return nil }
    } else if let origin = renames.origins[path] {
      if renames.hasMovedWithDirectory(path) {
        let isReplaced = fate.existedBefore && renames.destinations[path] == nil
        kind = isReplaced ? .modified : changeWithDirectory(of: fate, from: origin)
      } else if fate.type == .directory || fates[origin]?.exists != true {
        // The rename of a directory also covers its descendants. That of a file whose old name
        // exists again is a change of both names.
        (kind, from) = (.renamed, origin)
      }
    }
    return kind.map {
      ChangeBatch.Change(
        path: path, kind: $0, type: $0 == .removed ? .unknown : fate.type, from: from)
    }
  }

  /// The change of an entry that was renamed with its directory.
  private func changeWithDirectory(of fate: Fate, from origin: Path) -> ChangeBatch.Kind? {
    if fate.type != .directory, let before = fates[origin]?.before?.fingerprint,
      let now = fate.after?.fingerprint, !before.hasSameContent(as: now)
    {
      return .modified
    }
    return fate.traces.kind
  }
}
