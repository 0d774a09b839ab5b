import SystemCalls

/// The files that count for links that lead to them, or over them.
struct LinkTargets {
  private struct Target {
    var links: Set<Path> = []
    /// It is watched for the links alone.
    var isAdded = false
  }

  private var targets: [Path: Target] = [:]
  private var ofLinks: [Path: Set<Path>] = [:]

  var isEmpty: Bool { targets.isEmpty }

  /// The links that lead to a file.
  func links(to target: Path) -> Set<Path> { targets[target]?.links ?? [] }

  /// The links in a folder.
  func links(below folder: Path) -> [Path] {
    ofLinks.keys.filter { $0 != folder && $0.isWithin(folder) }
  }

  /// True for a file that is watched for the sake of links alone.
  func isAdded(_ target: Path) -> Bool { targets[target]?.isAdded ?? false }

  /// Whether the targets of a link are known.
  func contains(_ link: Path) -> Bool { ofLinks[link] != nil }

  /// Replaces the targets of a link. Returns those that no link had before, and those that were watched for
  /// links only and that no link has any more.
  mutating func set(_ new: Set<Path>, of link: Path) -> (added: Set<Path>, removed: Set<Path>) {
    let old = ofLinks.updateValue(new, forKey: link) ?? []
    let added = new.subtracting(old).filter { target in
      targets[target, default: Target()].links.insert(link)
      return targets[target]?.links.count == 1
    }
    return (added, release(old.subtracting(new), of: link))
  }

  /// Forgets a link. Returns the targets that were watched for links only and that no link has any more.
  mutating func remove(_ link: Path) -> Set<Path> {
    release(ofLinks.removeValue(forKey: link) ?? [], of: link)
  }

  private mutating func release(_ unused: Set<Path>, of link: Path) -> Set<Path> {
    unused.filter { target in
      targets[target]?.links.remove(link)
      guard let rest = targets[target], rest.links.isEmpty else { return false }
      targets[target] = nil
      return rest.isAdded
    }
  }

  /// Sets whether a target is watched for links only.
  mutating func setAdded(_ target: Path, _ isAdded: Bool) {
    targets[target]?.isAdded = isAdded
  }
}
