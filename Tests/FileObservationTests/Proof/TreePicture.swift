import FileObservation
import SystemCalls

/// A picture of a tree, as somebody has it who once listed it, and was told of changes since.
struct TreePicture {
  enum Node: Hashable {
    case directory
    case file(content: [UInt8])
    case symlink(target: [UInt8])
    case other
  }

  private(set) var nodes: [Path: Node] = [:]

  /// What of it is told of at all.
  private let isReported: (Path) -> Bool

  /// Of an empty folder.
  init() {
    isReported = { _ in true }
  }

  /// What is below a folder now.
  init(of folder: Path, isReported: @escaping (Path) -> Bool = { _ in true }) throws {
    self.isReported = isReported
    try list(folder)
  }

  /// The part of it that counts.
  func filtered(_ counts: (Path, Node) -> Bool) -> TreePicture {
    var picture = self
    picture.nodes = nodes.filter { counts($0.key, $0.value) }
    return picture
  }

  /// What is made of a folder that is told of.
  enum Trust {
    /// What is in it is told of by itself, or was there before; only one that took another's place is
    /// read.
    case eachPathIsTold
    /// It is read.
    case foldersAreRead
    /// Nothing is read but the paths that are reported.
    case onlyWhatIsReported
  }

  /// Follows the batches, and looks then at what has changed: until somebody looks, it may have gone
  /// elsewhere.
  ///
  /// In a batch, a path that is gone may bear the name from before the rename of a folder around it, or
  /// that from after; so it is looked for under both.
  mutating func apply(_ batches: [ChangeBatch], trusting trust: Trust) throws {
    var news = News()
    for batch in batches {
      let gone = batch.changes.compactMap { $0.kind == .removed ? $0.path : $0.from }
      news.gone.formUnion(gone)
      let moves = batch.changes.compactMap { change in
        change.type == .file || change.type == .symlink
          ? nil : change.from.map { Move(old: $0, new: change.path) }
      }
      // An origin may bear the name that it had at a later stage, too.
      let known = moves.filter { nodes[$0.old] != nil }
      var done: [Move] = []
      for step in [known] + moves.filter({ nodes[$0.old] == nil }).map({ [$0] }) {
        func place(_ path: Path) -> Path? { step.place(of: path, after: done) }
        nodes = Dictionary(
          nodes.compactMap { path, node in place(path).map { ($0, node) } },
          uniquingKeysWith: { one, _ in one })
        news.gone = Set(news.gone.compactMap(place))
        news.paths = Set(news.paths.compactMap(place))
        news.trees = Set(news.trees.compactMap(place))
        done += step
      }
      news.gone.formUnion(gone)
      for change in batch.changes where change.kind != .removed {
        news.paths.insert(change.path)
        let isRead =
          switch trust {
          case .eachPathIsTold: change.kind == .modified
          case .foldersAreRead: true
          case .onlyWhatIsReported: false
          }
        if isRead { news.trees.insert(change.path) }
      }
    }
    for path in news.gone where (try? FileStatus(of: path)) == nil {
      removeTree(at: path)
      news.paths = news.paths.filter { !$0.isWithin(path) }
    }
    for path in news.paths.sorted() { try look(at: path) }
    for path in news.trees.sorted() where nodes[path] == .directory {
      removeTree(at: path)
      nodes[path] = .directory
      try list(path)
    }
  }

  /// What is to be looked at.
  private struct News {
    var gone: Set<Path> = []
    var paths: Set<Path> = []
    var trees: Set<Path> = []
  }

  /// What must be changed in the picture to be the other one, as lines.
  func differences(from other: TreePicture) -> [String] {
    let paths = Set(nodes.keys).union(other.nodes.keys).sorted()
    return paths.compactMap { path in
      nodes[path] == other.nodes[path]
        ? nil : "\(path): \(Self.text(other.nodes[path])) is taken for \(Self.text(nodes[path]))"
    }
  }

  private static func text(_ node: Node?) -> String {
    switch node {
    case nil: "nothing"
    case .directory: "a folder"
    case .file(let content): "a file of '\(String(decoding: content.prefix(40), as: UTF8.self))'"
    case .symlink(let target): "a link to \(Path(bytes: target))"
    case .other: "something else"
    }
  }

  private mutating func list(_ folder: Path) throws {
    let names: [[UInt8]]
    do {
      names = try File.names(in: folder)
    } catch let error as SystemError where error.code == ENOENT || error.code == ENOTDIR {
      return
    }
    for name in names {
      let path = folder.appending(name)
      guard isReported(path) else { continue }
      try look(at: path)
      if nodes[path] == .directory { try list(path) }
    }
  }

  /// Takes what is at the path now for what is there.
  private mutating func look(at path: Path) throws {
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
  /// Where something is after moves that happened together, and after others; nil if it was replaced.
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
  /// Where it is after the rename of what it is or lies in; the same if it is elsewhere.
  func moved(from old: Path, to new: Path) -> Path {
    if self == old { return new }
    return relative(to: old).map { new.appending($0.bytes) } ?? self
  }
}
