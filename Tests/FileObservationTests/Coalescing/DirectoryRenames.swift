import SystemCalls

@testable import FileObservation

/// The renamed directories of a batch, as a consumer applies them to the tree that it knows.
struct DirectoryRenames {
  private let renames: [(old: Path, new: Path)]

  init(_ changes: [ChangeBatch.Change]) {
    renames = changes.compactMap { change in
      change.type == .directory ? change.from.map { (old: $0, new: change.path) } : nil
    }
  }

  /// The present path of what had this one.
  func present(_ path: Path) -> Path {
    let nearest = renames.filter { path.isWithin($0.old) }.max {
      $0.old.bytes.count < $1.old.bytes.count
    }
    guard let nearest, path != nearest.old, let rest = path.relative(to: nearest.old) else {
      return nearest?.new ?? path
    }
    return nearest.new.appending(rest.bytes)
  }

  /// The tree with the directories at their present paths. What they have replaced is gone.
  func applied<Node>(to tree: [Path: Node]) -> [Path: Node] {
    var moved: [Path: Node] = [:]
    for (path, node) in tree {
      let isMoved = renames.contains { path.isWithin($0.old) }
      if !isMoved && renames.contains(where: { path.isWithin($0.new) }) { continue }
      moved[present(path)] = node
    }
    return moved
  }
}
