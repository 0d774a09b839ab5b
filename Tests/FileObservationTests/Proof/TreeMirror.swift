import FileObservation
import SystemCalls
import TestSupport

/// A copy of a tree that was listed once and follows the reports.
struct TreeMirror {
  enum Node: Hashable {
    case directory
    case file(content: [UInt8])
    case symlink(target: [UInt8])
    case other
  }

  private(set) var nodes: [Path: Node] = [:]

  /// Whether changes at a path are reported at all.
  private let isReported: (Path) -> Bool

  /// Creates the mirror of an empty directory.
  init() {
    isReported = { _ in true }
  }

  /// Creates the mirror of the current contents of a directory.
  init(of directory: Path, isReported: @escaping (Path) -> Bool = { _ in true }) throws {
    self.isReported = isReported
    try list(directory)
  }

  /// The included part.
  func filtered(_ counts: (Path, Node) -> Bool) -> TreeMirror {
    var mirror = self
    mirror.nodes = nodes.filter { counts($0.key, $0.value) }
    return mirror
  }

  /// How a reported directory is treated.
  enum Trust {
    /// Its contents were reported by themselves, or existed before. Only a directory that replaced
    /// another entry is read.
    case eachPathIsTold
    /// Its contents are read.
    case directoriesAreRead
    /// Only reported paths are read.
    case onlyWhatIsReported
  }

  /// Applies the batches, and then reads the changed paths, which may have been renamed since.
  ///
  /// In a batch, the path of a removed entry may contain the former or the new name of a renamed
  /// ancestor, so both are tried.
  mutating func apply(_ batches: [ChangeBatch], trusting trust: Trust) throws {
    var changed = ChangedPaths()
    for batch in batches {
      let gone = batch.changes.compactMap { $0.kind == .removed ? $0.path : $0.from }
      changed.gone.formUnion(gone)
      let moves = batch.changes.compactMap { change in
        change.type == .file || change.type == .symlink
          ? nil : change.from.map { Move(old: $0, new: change.path) }
      }
      // An origin may also be a path between two renames.
      let known = moves.filter { nodes[$0.old] != nil || changed.paths.contains($0.old) }
      let others = moves.filter { nodes[$0.old] == nil && !changed.paths.contains($0.old) }
      var done: [Move] = []
      for step in [known] + others.map({ [$0] }) {
        func place(_ path: Path) -> Path? { step.place(of: path, after: done) }
        nodes = Dictionary(
          nodes.compactMap { path, node in place(path).map { ($0, node) } },
          uniquingKeysWith: { one, _ in one })
        changed.gone = Set(changed.gone.compactMap(place))
        changed.paths = Set(changed.paths.compactMap(place))
        changed.trees = Set(changed.trees.compactMap(place))
        done += step
      }
      changed.gone.formUnion(gone)
      for change in batch.changes where change.kind != .removed {
        changed.paths.insert(change.path)
        let isRead =
          switch trust {
          case .eachPathIsTold: change.kind == .modified
          case .directoriesAreRead: true
          case .onlyWhatIsReported: false
          }
        if isRead { changed.trees.insert(change.path) }
      }
    }
    for path in changed.gone where (try? FileStatus(of: path)) == nil {
      removeTree(at: path)
      changed.paths = changed.paths.filter { !$0.isWithin(path) }
    }
    for path in changed.paths.sorted() { try read(at: path) }
    for path in changed.trees.sorted() where nodes[path] == .directory {
      removeTree(at: path)
      nodes[path] = .directory
      try list(path)
    }
  }

  /// The paths that must be read.
  private struct ChangedPaths {
    var gone: Set<Path> = []
    var paths: Set<Path> = []
    var trees: Set<Path> = []
  }

  /// The differences from another mirror, as lines.
  func differences(from other: TreeMirror) -> [String] {
    let paths = Set(nodes.keys).union(other.nodes.keys).sorted()
    return paths.compactMap { path in
      nodes[path] == other.nodes[path]
        ? nil : "\(path): is \(Self.text(other.nodes[path])), not \(Self.text(nodes[path]))"
    }
  }

  private static func text(_ node: Node?) -> String {
    switch node {
    case nil: "nothing"
    case .directory: "a directory"
    case .file(let content): "a file of '\(String(decoding: content.prefix(40), as: UTF8.self))'"
    case .symlink(let target): "a link to \(Path(bytes: target))"
    case .other: "something else"
    }
  }

  private mutating func list(_ directory: Path) throws {
    guard (try? FileStatus(of: directory))?.type == .directory else { return }
    // It may be gone by now.
    for name in (try? File.names(in: directory)) ?? [] {
      let path = directory.appending(name)
      guard isReported(path) else { continue }
      try read(at: path)
      if nodes[path] == .directory { try list(path) }
    }
  }

  /// Reads a path.
  private mutating func read(at path: Path) throws {
    let node: Node?
    switch try? FileStatus(of: path).type {
    case .directory: node = .directory
    case .file: node = .file(content: try fileContents(of: path, followsLinks: false) ?? [])
    case .symlink: node = .symlink(target: try File.target(of: path).bytes)
    case .other, .unknown: node = .other
    case nil: node = nil
    }
    if nodes[path] == .directory && node != .directory { removeTree(at: path) }
    nodes[path] = node
  }

  private mutating func removeTree(at path: Path) {
    for node in nodes.keys where node.isWithin(path) { nodes[node] = nil }
  }
}

private struct Move {
  let old: Path
  let new: Path
}

extension [Move] {
  /// The path after simultaneous moves, which followed others; `nil` if the entry was replaced.
  fileprivate func place(of path: Path, after others: [Move]) -> Path? {
    let around = filter { path.isWithin($0.old) }
    if let nearest = around.max(by: { $0.old.bytes.count < $1.old.bytes.count }) {
      return path.moved(from: nearest.old, to: nearest.new)
    }
    let isReplaced = contains { move in
      path.isWithin(move.new)
        && !others.contains { $0.new.isWithin(move.new) && path.isWithin($0.new) }
    }
    return isReplaced ? nil : path
  }
}

extension Path {
  /// The path after a rename of this path or of an ancestor.
  func moved(from old: Path, to new: Path) -> Path {
    if self == old { return new }
    return relative(to: old).map { new.appending($0.bytes) } ?? self
  }
}
