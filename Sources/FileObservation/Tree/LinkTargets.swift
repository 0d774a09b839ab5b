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

  /// A link leads to a file. True if it is the first.
  mutating func insert(_ link: Path, to target: Path) -> Bool {
    ofLinks[link, default: []].insert(target)
    targets[target, default: Target()].links.insert(link)
    return targets[target]?.links.count == 1
  }

  /// Says whether a file to which links lead is watched for their sake alone.
  mutating func setAdded(_ target: Path, _ isAdded: Bool) {
    targets[target]?.isAdded = isAdded
  }

  /// A link leads nowhere any more. What was watched for its sake alone.
  mutating func remove(_ link: Path) -> [Path] {
    var unneeded: [Path] = []
    for target in ofLinks.removeValue(forKey: link) ?? [] {
      targets[target]?.links.remove(link)
      guard let rest = targets[target], rest.links.isEmpty else { continue }
      targets[target] = nil
      if rest.isAdded { unneeded.append(target) }
    }
    return unneeded
  }
}
