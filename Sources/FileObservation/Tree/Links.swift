import SystemCalls

/// The symbolic links of the tree, and their targets, which are watched because their changes count as
/// changes of the links. The targets of a link are the file it resolves to, the other links on the way there, and the
/// first on it that does not exist; those of a root are also all that is on the way to it and can be replaced.
struct Links {
  /// A directory in a root. Each root knows a directory by one name if links are followed.
  struct RealDirectory: Hashable {
    let identity: FileIdentity
    let root: TreeSnapshot.Entry
  }

  let areFollowed: Bool
  /// The entry by which each real directory is known. Only kept if links are followed.
  var realDirectories: [RealDirectory: TreeSnapshot.Entry] = [:]
  /// Links that may resolve to another file now.
  var stale: Set<Path> = []
  private var linksByTarget: [Path: Set<Path>] = [:]
  private var targets: [Path: Set<Path>] = [:]
  /// The paths to which links resolve.
  private var ends: [Path: Path] = [:]

  init(areFollowed: Bool) {
    self.areFollowed = areFollowed
  }

  var isEmpty: Bool { linksByTarget.isEmpty }

  func links(to target: Path) -> Set<Path> { linksByTarget[target] ?? [] }

  func doesLink(_ link: Path, resolveTo path: Path) -> Bool { ends[link] == path }

  func targets(of link: Path) -> Set<Path> { targets[link] ?? [] }

  func contains(_ link: Path) -> Bool { targets[link] != nil }

  /// Has links with targets within a path resolved again, since what has covered these may have gone. Covered targets
  /// of followed links are not known.
  mutating func refresh(within path: Path) {
    for (link, targets) in targets
    where areFollowed || ends[link]?.isWithin(path) == true
      || targets.contains(where: { $0.isWithin(path) })
    {
      stale.insert(link)
    }
  }

  /// Replaces the targets of a link, and the path to which it resolves. Returns the former targets
  /// that no link has any more.
  mutating func setTargets(_ new: Set<Path>, end: Path?, of link: Path) -> Set<Path> {
    let old = targets(of: link)
    targets[link] = new.isEmpty && end == nil ? nil : new
    ends[link] = end
    for target in new { linksByTarget[target, default: []].insert(link) }
    return old.subtracting(new).filter { target in
      linksByTarget[target]?.remove(link)
      guard linksByTarget[target]?.isEmpty == true else { return false }
      linksByTarget[target] = nil
      return true
    }
  }
}

/// The identity of a file, regardless of its name.
struct FileIdentity: Hashable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: FileStatus) {
    device = status.device
    inode = status.inode
  }
}

extension FileStatus {
  func isBorn(since: FileTime) -> Bool {
    born.map { $0 >= since } ?? false
  }
}
