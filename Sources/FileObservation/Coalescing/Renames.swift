import SystemCalls

/// The files that are at other paths than when the burst began. Paths are given by the indices of
/// their fates.
struct Renames {
  /// Where the file at a path was when the burst began.
  struct Origin {
    let index: Int
    /// Whether the file has moved with its directory, as a part of the directory's rename.
    let isCovered: Bool
  }

  /// The former paths, by the present ones.
  private var origins: [Int: Origin] = [:]
  /// The present paths, by the former ones.
  private var destinations: [Int: Int] = [:]
  private var hasDirectories = false

  init(_ fates: [Fate], _ indices: [Path: Int]) {
    var candidates: [UInt64: [Int]] = [:]
    for index in fates.indices {
      if let inode = fates[index].before?.inode { candidates[inode, default: []].append(index) }
    }
    // Directories come before their descendants.
    let arrivals = fates.indices.filter { fates[$0].after != nil }.sorted {
      fates[$0].path.bytes.count < fates[$1].path.bytes.count
    }
    if candidates.isEmpty || arrivals.isEmpty { return }
    var refused: Set<Int> = []
    while true {
      for index in arrivals {
        pair(index, candidates[fates[index].after?.inode ?? 0] ?? [], refused, fates, indices)
      }
      if !hasDirectories { return }
      let ambiguous = fates.indices.flatMap { ambiguousDirectories(around: $0, fates, indices) }
      if ambiguous.isEmpty { return }
      refused.formUnion(ambiguous)
      self = Renames()
    }
  }

  private init() {}

  /// Where the file at a path was.
  func origin(of index: Int) -> Origin? { origins.isEmpty ? nil : origins[index] }

  /// Where the file is that was at a path.
  func destination(of index: Int) -> Int? { destinations.isEmpty ? nil : destinations[index] }

  /// Pairs a file that has appeared with one that has disappeared.
  private mutating func pair(
    _ index: Int, _ candidates: [Int], _ refused: Set<Int>, _ fates: [Fate], _ indices: [Path: Int]
  ) {
    guard !candidates.isEmpty, let file = fates[index].after else { return }
    let inherited = hasDirectories ? formerIndex(of: fates[index].path, fates, indices) : nil
    func isOrigin(_ candidate: Int) -> Bool {
      guard candidate != index, let before = fates[candidate].before,
        before.isSameFile(as: file, movedWithDirectory: candidate == inherited)
      else { return false }
      return destinations[candidate] == nil && !refused.contains(candidate)
    }
    // With its directory first: other names of a file have the same inode.
    let moved = inherited.flatMap { isOrigin($0) ? $0 : nil }
    guard let origin = moved ?? candidates.first(where: isOrigin) else { return }
    origins[index] = Origin(index: origin, isCovered: origin == inherited)
    destinations[origin] = index
    if file.type == .directory { hasDirectories = true }
  }

  /// The former path of an entry whose directory was renamed.
  private func formerIndex(of path: Path, _ fates: [Fate], _ indices: [Path: Int]) -> Int? {
    guard let parent = path.parent, let directory = indices[parent],
      let origin = origins[directory], let name = path.relative(to: parent)
    else { return nil }
    return indices[fates[origin.index].path.appending(name.bytes)]
  }

  /// The former paths of directories around a path whose renames would be misunderstood: the file
  /// that was there has not moved with them, and is not reported as removed either, since the path
  /// exists again.
  private func ambiguousDirectories(
    around index: Int, _ fates: [Fate], _ indices: [Path: Int]
  ) -> [Int] {
    let fate = fates[index]
    guard fate.existedBefore, fate.hasDisappeared, fate.exists,
      fate.before?.type != .directory || destinations[index] == nil
    else { return [] }
    var left: [Int] = []
    for path in fate.path.lineage.dropFirst() {
      guard let directory = indices[path], let destination = destinations[directory] else {
        continue
      }
      if left.isEmpty, let rest = fate.path.relative(to: path),
        let present = indices[fates[destination].path.appending(rest.bytes)],
        fates[present].exists
      {
        return []
      }
      left.append(directory)
    }
    return left
  }
}
