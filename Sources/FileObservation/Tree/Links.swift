import SystemCalls

/// The symbolic links of the tree.
struct Links {
  let areFollowed: Bool
  /// The entry by which each real directory is known. Only kept if links are followed.
  var realDirectories: [FileIdentity: TreeSnapshot.Entry] = [:]
  var targets = LinkTargets()
  /// Links that may resolve to another file now.
  var stale: Set<Path> = []

  init(areFollowed: Bool) {
    self.areFollowed = areFollowed
  }
}
