import SystemCalls

extension ChangeBatch {
  /// Adds the changes of the batch that follows, so that this one has the net changes of both: what
  /// was created and removed again is left out, and a path that was renamed twice is renamed once.
  ///
  /// For those who collect batches themselves, by their own debouncing or while they are busy. In
  /// doubt the changes are too many: a file that was created, and renamed by the second batch, is
  /// `modified`, since it may have replaced another one; so is one that was renamed there and back; and
  /// a path to which something was renamed for a while is `removed`. A path may have two changes: what
  /// was there is `removed`, and something else is there now.
  ///
  /// - Parameter next: The batch that was delivered after this one by the same observer.
  public mutating func merge(_ next: ChangeBatch) {
    changes = Merge(Moves(changes), Moves(next.changes)).changes
    overflow = overflow || next.overflow
    (number, isPartial) = (next.number, next.isPartial)
  }
}

/// Where the changes of a batch have moved files to, and from where.
private struct Moves {
  let changes: [ChangeBatch.Change]
  /// The changes by the paths that exist afterwards.
  private var arrivals: [Path: ChangeBatch.Change] = [:]
  /// The paths before, with those afterwards; `nil` for what is gone.
  private var departures: [Path: Path?] = [:]
  /// The paths before of what was removed.
  private(set) var removed: [Path] = []

  init(_ changes: [ChangeBatch.Change]) {
    self.changes = changes
    for change in changes where change.kind != .removed {
      arrivals[change.path] = change
      if let from = change.from { departures[from] = change.path }
    }
    for change in changes where change.kind == .removed {
      departures.updateValue(nil, forKey: change.path)
      removed.append(change.path)
    }
  }

  /// The change of what is at a path afterwards.
  subscript(path: Path) -> ChangeBatch.Change? { arrivals[path] }

  /// Whether what was at a path was removed or renamed.
  func hasLeft(_ path: Path) -> Bool { departures[path] != nil }

  /// Where something has gone, by itself or with its directory: `nil` if it has stayed, and `.some(nil)`
  /// if it was removed.
  private func departure(of path: Path) -> Path?? {
    for (ancestor, rest) in path.ancestors {
      if let moved = departures[ancestor] { return moved?.appending(rest: rest) }
    }
    return .none
  }

  /// The path that something had before; `nil` if it is new.
  func before(_ path: Path) -> Path? {
    let moved = path.ancestors.first { ancestor, _ in
      arrivals[ancestor].map { [.created, .renamed].contains($0.kind) } ?? false
    }
    let origin = moved.map { arrivals[$0]?.from?.appending(rest: $1) } ?? path
    // What was there has gone elsewhere, and something else has taken its place.
    if let origin, let departure = departure(of: origin), departure != path { return nil }
    return origin
  }

  /// The path that something has afterwards; `nil` if it is gone.
  func after(_ path: Path) -> Path? {
    if let departure = departure(of: path) { return departure }
    let isReplaced = path.ancestors.contains { ancestor, rest in
      arrivals[ancestor].map { arrival in
        [.created, .renamed].contains(arrival.kind)
          || (arrival.type != .directory && !rest.isEmpty)
      } ?? false
    }
    return isReplaced ? nil : path
  }
}

/// The net changes of two batches.
private struct Merge {
  private let first: Moves
  private let second: Moves
  /// In the order in which the paths first appeared.
  private(set) var changes: [ChangeBatch.Change] = []
  private var isKnown: Set<Path> = []
  /// The paths that have been removed or renamed.
  private var isRemoved: Set<Path> = []
  /// The paths before both batches of what is not there any more.
  private var removed: [Path]

  init(_ first: Moves, _ second: Moves) {
    (self.first, self.second) = (first, second)
    removed = first.removed
    for change in first.changes where change.kind != .removed {
      let path = second.after(change.path)
      if let path {
        addChange(of: path)
      } else if let origin = first.before(change.path) {
        removed.append(origin)
      }
      // What it may have replaced is gone, wherever it is now.
      if change.kind == .renamed, path != change.path,
        let parent = change.path.parent.flatMap({ first.before($0) })
      {
        removed.append(parent.appending(change.path.lastComponent))
      }
    }
    for change in second.changes where change.kind != .removed { addChange(of: change.path) }
    removed += second.removed.compactMap { first.before($0) }
    isRemoved = Set(changes.compactMap(\.from))
    for path in removed { addRemoval(of: path) }
  }

  /// Adds the removal of what was at a path before both batches.
  private mutating func addRemoval(of path: Path) {
    let parent = path.parent
    let present = parent.flatMap { first.after($0) }.flatMap { second.after($0) }
    // In its place, another change says enough; what its directory has taken along must be told.
    if isKnown.contains(path), present == parent { return }
    guard isRemoved.insert(path).inserted else { return }
    changes.append(ChangeBatch.Change(path: path, kind: .removed, type: .unknown))
  }

  /// The path before both batches.
  private func origin(of path: Path) -> Path? {
    second.before(path).flatMap { first.before($0) }
  }

  /// Adds the change of what is at a path after both batches.
  private mutating func addChange(of path: Path) {
    guard isKnown.insert(path).inserted else { return }
    let between = second.before(path)
    let changed = [between.flatMap { first[$0] }, second[path]].compactMap(\.self)
    guard let type = changed.last?.type else { return }
    func has(_ kind: ChangeBatch.Kind) -> Bool { changed.contains { $0.kind == kind } }
    guard let origin = origin(of: path) else {
      // A rename may have replaced something.
      let mayHaveExisted =
        first[path].map { $0.kind != .created } ?? (has(.modified) || has(.renamed))
      let existed = first.hasLeft(path) || mayHaveExisted
      return add(existed ? .modified : .created, type, at: path)
    }
    if has(.renamed), origin != path { return add(.renamed, type, at: path, from: origin) }
    let parent = path.parent
    if origin == path, parent.flatMap({ self.origin(of: $0) }) != parent {
      // It is back at its path, but its directory is another one. The former one has lost it.
      removed.append(path)
      return add(.modified, type, at: path)
    }
    // A directory that is back has its entries.
    let isModified = has(.modified) || (has(.renamed) && type != .directory)
    add(isModified ? .modified : .metadata, type, at: path)
  }

  private mutating func add(
    _ kind: ChangeBatch.Kind, _ type: FileType, at path: Path, from: Path? = nil
  ) {
    changes.append(ChangeBatch.Change(path: path, kind: kind, type: type, from: from))
  }
}

extension Path {
  /// The path and its ancestors, from the path upwards, each with what follows it in the path.
  fileprivate var ancestors: some Sequence<(Path, ArraySlice<UInt8>)> {
    sequence(first: self) { $0.parent }.lazy.map { ancestor in
      (ancestor, self.bytes[ancestor.bytes.count...])
    }
  }

  /// - Parameter rest: Begins with a slash, or is empty.
  fileprivate func appending(rest: ArraySlice<UInt8>) -> Path {
    rest.isEmpty ? self : Path(bytes: bytes + rest)
  }
}
