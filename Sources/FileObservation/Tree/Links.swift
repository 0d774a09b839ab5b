import SystemCalls

/// The symbolic links of the tree.
struct Links {
  /// A directory in a root. Each root knows a directory by one name if links are followed.
  struct RealDirectory: Hashable {
    let identity: FileIdentity
    let root: TreeSnapshot.Entry
  }

  let areFollowed: Bool
  /// The entry by which each real directory is known. Only kept if links are followed.
  var realDirectories: [RealDirectory: TreeSnapshot.Entry] = [:]
  var targets = LinkTargets()
  /// Links that may resolve to another file now.
  var stale: Set<Path> = []

  /// What has covered targets may have gone: all links are resolved again.
  mutating func refresh() { stale.formUnion(targets.allLinks) }

  init(areFollowed: Bool) {
    self.areFollowed = areFollowed
  }
}
