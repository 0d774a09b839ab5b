import SystemCalls

/// The targets of symbolic links, which are watched because their changes count as changes of the
/// links. The targets of a link are the file it resolves to and the other links on the way there, and
/// those of a root all that is on the way to it and can be replaced.
struct LinkTargets {
  private struct Target {
    var links: Set<Path> = []
    /// Whether it is only watched because links point to it.
    var isForLinksOnly = false
  }

  private var targets: [Path: Target] = [:]
  private var targetsByLink: [Path: Set<Path>] = [:]
  /// The paths to which links resolve.
  private var ends: [Path: Path] = [:]

  var isEmpty: Bool { targets.isEmpty }

  /// The links whose targets are known.
  var allLinks: some Sequence<Path> { targetsByLink.keys }

  /// The links that have this target.
  func links(to target: Path) -> Set<Path> { targets[target]?.links ?? [] }

  /// Whether a target is only watched because links point to it.
  func isForLinksOnly(_ target: Path) -> Bool { targets[target]?.isForLinksOnly ?? false }

  /// Whether a link resolves to a path.
  func doesLink(_ link: Path, resolveTo path: Path) -> Bool { ends[link] == path }

  /// Whether the targets of a link are known.
  func contains(_ link: Path) -> Bool { targetsByLink[link] != nil }

  /// Replaces the targets of a link, and the path to which it resolves. Returns the former targets
  /// that no link has any more and that were only watched for links.
  mutating func set(_ new: Set<Path>, end: Path?, of link: Path) -> Set<Path> {
    let old = targetsByLink[link] ?? []
    targetsByLink[link] = new.isEmpty && end == nil ? nil : new
    ends[link] = end
    for target in new { targets[target, default: Target()].links.insert(link) }
    return release(old.subtracting(new), of: link)
  }

  /// Removes a link. Returns the targets that no link has any more and that were only watched for
  /// links.
  mutating func remove(_ link: Path) -> Set<Path> {
    ends[link] = nil
    return release(targetsByLink.removeValue(forKey: link) ?? [], of: link)
  }

  private mutating func release(_ unused: Set<Path>, of link: Path) -> Set<Path> {
    unused.filter { target in
      targets[target]?.links.remove(link)
      guard let rest = targets[target], rest.links.isEmpty else { return false }
      targets[target] = nil
      return rest.isForLinksOnly
    }
  }

  mutating func setForLinksOnly(_ target: Path, _ isForLinksOnly: Bool) {
    // Which allocates the dictionary even if it stays empty.
    if targets.isEmpty { return }
    targets[target]?.isForLinksOnly = isForLinksOnly
  }
}
