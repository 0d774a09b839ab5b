import SystemCalls

/// The files that are at other paths than when the burst began.
struct Renames {
  /// The former paths, by the present ones.
  private(set) var origins: [Path: Path] = [:]
  /// The present paths, by the former ones.
  private(set) var destinations: [Path: Path] = [:]
  /// The former paths of directories, by the present ones.
  private var directories: [Path: Path] = [:]

  init(_ fates: [Path: Fate], inOrder order: [Path]) {
    var refused: Set<Path> = []
    while true {
      pair(fates, order, refused)
      let ambiguous = ambiguousDirectories(fates, order)
      if ambiguous.isEmpty { return }
      refused.formUnion(ambiguous)
      self = Renames()
    }
  }

  private init() {}

  /// Whether the file at a path has moved there with its directory.
  func hasMovedWithDirectory(_ path: Path) -> Bool {
    guard let origin = origins[path] else { return false }
    return formerPath(of: path) == origin
  }

  /// Pairs the files that have disappeared with those that have appeared.
  private mutating func pair(_ fates: [Path: Fate], _ order: [Path], _ refused: Set<Path>) {
    var candidates: [UInt64: [Path]] = [:]
    for path in order where !refused.contains(path) {
      if let inode = fates[path]?.before?.inode { candidates[inode, default: []].append(path) }
    }
    if candidates.isEmpty { return }
    // Directories come before their descendants.
    let arrivals = order.filter { fates[$0]?.after != nil }.sorted {
      $0.bytes.count < $1.bytes.count
    }
    for path in arrivals {
      guard let file = fates[path]?.after, let candidates = candidates[file.inode] else { continue }
      let inherited = formerPath(of: path)
      let origin = candidates.filter { $0 != path && destinations[$0] == nil }.first { candidate in
        guard let before = fates[candidate]?.before else { return false }
        return candidate == inherited ? before.type == file.type : before.isSameFile(as: file)
      }
      guard let origin else { continue }
      origins[path] = origin
      destinations[origin] = path
      if file.type == .directory { directories[path] = origin }
    }
  }

  /// The former paths of directories whose renames would be misunderstood: a file that was in them
  /// has not moved with them, and is not reported as removed either, since its path exists again.
  private func ambiguousDirectories(_ fates: [Path: Fate], _ order: [Path]) -> [Path] {
    if directories.isEmpty { return [] }
    return order.flatMap { path -> [Path] in
      guard let fate = fates[path], fate.existedBefore, fate.hasDisappeared, fate.exists,
        fate.before?.type != .directory || destinations[path] == nil
      else { return [] }
      var left: [Path] = []
      var ancestor = path.parent
      while let directory = ancestor {
        if let destination = destinations[directory] {
          if left.isEmpty, let rest = path.relative(to: directory),
            fates[destination.appending(rest.bytes)]?.exists == true
          {
            return []
          }
          left.append(directory)
        }
        ancestor = directory.parent
      }
      return left
    }
  }

  /// The path of an entry before its directory was renamed; `nil` if none was.
  private func formerPath(of path: Path) -> Path? {
    if directories.isEmpty { return nil }
    var ancestor = path.parent
    while let directory = ancestor {
      if let origin = directories[directory], let rest = path.relative(to: directory) {
        return origin.appending(rest.bytes)
      }
      ancestor = directory.parent
    }
    return nil
  }
}
