import SystemCalls

@testable import FileObservation

// What a consumer of the changes knows.

extension ObservationModel {
  static func known(_ disk: MemoryDisk) -> [Path: Known] {
    disk.tree(at: root).mapValues { node in
      Known(
        inode: node.inode, born: disk.traits.storesBirths ? node.born : 0, type: node.type,
        content: node.type == .directory ? 0 : node.content, mode: node.mode)
    }
  }

  mutating func endBurst(isFirst: Bool) -> [String] {
    let changes = coalescer.take()
    changeCount += changes.count
    checkSnapshot()
    for change in changes {
      world.write(
        "  \(change.kind) \(change.path) \(change.type)"
          + (change.from.map { " from \($0)" } ?? ""))
    }
    let now = Self.known(disk)
    var faults = brokenInvariants
    let paths = changes.map(\.path)
    if Set(paths).count != paths.count { faults.append("a path has two changes") }
    // Of the directories that have changed before they were known, all is read.
    let reads = isFirst ? changes.filter { $0.type == .directory }.map(\.path) : []
    let mirror = Self.following(changes, from: before, reading: now, whole: reads)
    for path in Set(mirror.keys).union(now.keys).sorted() where mirror[path] != now[path] {
      if isFirst, isUnknowable(path, mirror[path], now[path]) { continue }
      if !isReported(path, mirror[path], now[path]) { continue }
      let (known, present) = (mirror[path].map { "\($0)" }, now[path].map { "\($0)" })
      faults.append("\(path) is wrong: \(known ?? "unknown") instead of \(present ?? "nothing")")
    }
    for change in changes {
      if let fault = fault(of: change, now) {
        // It appeared again before it was listed, and may be another file with the same inode.
        let isArrival = disk.arrivals.contains { change.path.isWithin($0) }
        if isFirst && change.kind == .created && isArrival && now[change.path] != nil { continue }
        // What changed rules leave to its hint may have gone, or be another file, when that is read.
        if isFirst && change.kind != .created || setting.appliesRules { continue }
        // What could not be read at the start is new when it can be.
        if isFirst && (setting.fails || setting.lacksPermissionsAtStart) { continue }
        faults.append("\(change.path) is not \(change.kind): \(fault)")
      }
      if before[change.path] == now[change.path], change.from == nil { needless += 1 }
    }
    return faults
  }

  /// Whether the observer cannot know of a difference that was made before it had listed the
  /// directory: a removal, also one by what is not reported, or the mode of a directory in which
  /// something else was changed.
  private func isUnknowable(_ path: Path, _ was: Known?, _ now: Known?) -> Bool {
    guard let now, isReported(path, now.type) else { return true }
    return now.type == .directory && was?.isSameFile(as: now) == true
  }

  /// Whether changes of a path are reported: of files with an extension, if there is a selection, and roots.
  private func isReported(_ path: Path, _ was: Known?, _ now: Known?) -> Bool {
    [was, now].contains { $0.map { isReported(path, $0.type) } ?? false }
  }

  func isReported(_ path: Path, _ type: FileType) -> Bool {
    if setting.extensions.isEmpty || setting.roots.contains(path) { return true }
    return type != .directory
      && setting.extensions.contains { path.description.hasSuffix(".\($0)") }
  }

  /// Why a change cannot be right, if it cannot.
  private func fault(of change: ChangeBatch.Change, _ now: [Path: Known]) -> String? {
    let (was, present) = (before[change.path], now[change.path])
    switch change.kind {
    case .created:
      if present == nil { return "it does not exist" }
      return present.flatMap { was?.isSameFile(as: $0) } == true ? "it was there" : nil
    case .modified, .metadata:
      return present == nil ? "it does not exist" : nil
    case .removed:
      if let present, isReported(change.path, nil, present) { return "it exists" }
      return was == nil ? "it did not exist" : nil
    case .renamed:
      guard let present else { return "it does not exist" }
      let isSame = change.from.flatMap { before[$0] }?.isSameFile(as: present) == true
      return isSame ? nil : "it is another file"
    }
  }

  /// The tree that results from what was known and the reported paths, which are read.
  private static func following(
    _ changes: [ChangeBatch.Change], from before: [Path: Known], reading now: [Path: Known],
    whole: [Path]
  ) -> [Path: Known] {
    let renames = DirectoryRenames(changes)
    var mirror = renames.applied(to: before)
    func read(_ path: Path) { mirror[path] = now[path] }
    for change in changes where change.kind == .removed || change.from != nil {
      let old = change.from ?? change.path
      for path in [old, renames.present(old)] {
        read(path)
        // With a directory, all in it is gone.
        if now[path] == nil {
          for inner in mirror.keys where inner.isWithin(path) { mirror[inner] = nil }
        }
      }
    }
    for change in changes { read(change.path) }
    for directory in whole {
      for path in Set(mirror.keys).union(now.keys) where path.isWithin(directory) { read(path) }
    }
    return mirror
  }

  static func text(_ known: [Path: Known]) -> String {
    known.keys.sorted().map { "\($0)" + (known[$0]?.type == .directory ? "/" : "") }
      .joined(separator: " ")
  }
}
