import SystemCalls

/// Coalesces the events of a burst into net changes, at most one for each path.
///
/// Each path has a fate of its own: the file that was there when the burst began, and the one that
/// is there now. Renames are found at the end of the burst: the same file was at one path and is at
/// another. What it was called in between, and in which order things happened, has no effect.
struct Coalescer {
  /// The fates in the order of the paths' first events.
  private var fates: [Fate] = []
  /// The indices of the fates.
  private var indices: [Path: Int] = [:]
  /// The traces of files that have disappeared from a path, by inode.
  private var traces: [UInt64: Fate.Traces] = [:]
  private var openCount = 0
  /// The inodes of files that were renamed and have not replaced others, while nothing has their former paths.
  private var departed: Set<UInt64> = []

  /// Whether a file of this burst is open for writing.
  var isBeingWritten: Bool { openCount > 0 }

  /// Whether a file was renamed and its former path is free, as during a save that makes a backup first.
  var isPathFree: Bool { !departed.isEmpty }

  /// Adds an event.
  ///
  /// - Returns: Whether a file is at its path which has another content, or is another one, than before, and which
  ///   is not open for writing.
  @discardableResult
  mutating func note(_ event: RawEvent) -> Bool {
    let index = indices[event.path] ?? fates.count
    if index == fates.count {
      indices[event.path] = index
      fates.append(Fate(before: event))
    }
    if fates[index].isOpen { openCount -= 1 }
    if let inode = fates[index].departed { departed.remove(inode) }
    fates[index].add(event, &traces)
    if fates[index].isOpen { openCount += 1 }
    if let inode = fates[index].departed { departed.insert(inode) }
    if !departed.isEmpty, event.kind == .created, fates[index].existedBefore, let file = event.file
    {
      departed.remove(file.inode)
    }
    return fates[index].isSaved
  }

  /// The net changes since the last call. Forgets them.
  mutating func take() -> [ChangeBatch.Change] {
    defer { self = Coalescer() }
    let renames = Renames(fates, indices)
    return fates.indices.compactMap { change(at: $0, renames) }
  }

  private func change(at index: Int, _ renames: Renames) -> ChangeBatch.Change? {
    let fate = fates[index]
    var kind = fate.kindInPlace
    var from: Path?
    if !fate.exists {
      // A file that has a new name is not removed, unless another file had that name.
      if let destination = renames.destination(of: index), !replaces(destination, renames) {
        return nil
      }
    } else if let origin = renames.origin(of: index) {
      if origin.isCovered {
        let isReplaced = fate.existedBefore && renames.destination(of: index) == nil
        kind = isReplaced ? .modified : changeWithDirectory(of: fate, from: fates[origin.index])
      } else if replaces(index, renames) {
        kind = .modified
      } else if fate.type == .directory || !fates[origin.index].exists {
        // The rename of a directory also covers its descendants. That of a file whose old name
        // exists again is a change of both names.
        (kind, from) = (.renamed, fates[origin.index].path)
      }
    }
    return kind.map {
      ChangeBatch.Change(
        path: fate.path, kind: $0, type: $0 == .removed ? .unknown : fate.type, from: from)
    }
  }

  /// Whether a file that was moved by itself has the path of another one, as after a save that goes to a temporary
  /// file first, and may have renamed the former one to a backup.
  private func replaces(_ index: Int, _ renames: Renames) -> Bool {
    let fate = fates[index]
    return fate.existedBefore && fate.type != .directory
      && renames.origin(of: index)?.isCovered == false
  }

  /// The change of an entry that was renamed with its directory, under any of its paths. Which of
  /// these is found or missed first has no effect.
  private func changeWithDirectory(of fate: Fate, from origin: Fate) -> ChangeBatch.Kind? {
    var traces = fate.traces
    if let inode = fate.after?.inode, let former = self.traces[inode] { traces.formUnion(former) }
    if !traces.isWritten, let before = origin.before?.fingerprint,
      let now = fate.after?.fingerprint, let difference = before.difference(to: now)
    {
      return difference == .content ? .modified : .metadata
    }
    return traces.kind
  }
}
