import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Random operations on a tree in memory, with the events that they cause. A consumer that knew the
/// tree before and follows the net changes must know it afterwards.
struct CoalescerModelTests {
  @Test(arguments: 1...UInt64(Effort.count(60, quick: 15)))
  func `a consumer of the net changes knows the tree`(seed: UInt64) {
    var model = Model(seed: seed)
    for burst in 1...60 {
      model.beginBurst()
      for _ in 0..<model.random(12) { model.step() }
      let faults = model.endBurst()
      if faults.isEmpty { continue }
      Issue.record("burst \(burst): \(faults.joined(separator: "; "))\n\(model.log)")
      return
    }
  }
}

private struct Model {
  private struct Node: Equatable {
    let inode: UInt64
    let type: FileType
    let born: Int64
    var version: Int64
  }

  private var nodes: [Path: Node] = [:]
  private var before: [Path: Node] = [:]
  private var coalescer = Coalescer()
  private var generator: SeededGenerator
  private var time: Int64 = 0
  private var freeInodes: [UInt64] = []
  private var inodeCount: UInt64 = 0
  private(set) var log = ""

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    nodes["/r"] = Node(inode: 0, type: .directory, born: 0, version: 0)
  }

  mutating func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  mutating func beginBurst() {
    before = nodes
    log = "before: \(text(before))"
  }

  mutating func step() {
    time += 1
    let directories = nodes.keys.filter { nodes[$0]?.type == .directory }.sorted()
    let path = directories[random(directories.count)].appending(["a", "b", "c"][random(3)])
    let known = nodes.keys.filter { $0 != "/r" }.sorted()
    switch random(8) {
    case 0...1 where nodes[path] == nil:
      let type: FileType = random(2) == 0 ? .file : .directory
      perform("create \(path) \(type)") { $0.create(path, type) }
    case 2 where nodes[path]?.type == .file:
      perform("write \(path)") { model in
        model.nodes[path]?.version = model.time
        model.coalescer.note(RawEvent(path: path, kind: .modified(isOpen: false), type: .file))
      }
    case 2 where nodes[path] != nil:
      coalescer.note(RawEvent(path: path, kind: .metadata, type: .directory))
    case 3 where nodes[path] != nil:
      perform("remove \(path)") { $0.remove(path) }
    case 4...6 where !known.isEmpty:
      let old = known[random(known.count)]
      guard !path.isWithin(old), !old.isWithin(path), canReplace(path, with: old) else { return }
      perform("rename \(old) to \(path)") { model in
        if model.nodes[path] == nil, model.random(2) == 0 { return model.move(old, path) }
        let moved = model.take(old)
        if model.nodes[path] != nil { model.remove(path) }
        model.put(moved, path)
      }
    case 7 where !known.isEmpty && nodes[path] != nil:
      let other = known[random(known.count)]
      guard !path.isWithin(other), !other.isWithin(path) else { return }
      perform("exchange \(other) and \(path)") { model in
        let (one, two) = (model.take(other), model.take(path))
        model.put(one, path)
        model.put(two, other)
      }
    default:
      break
    }
  }

  private mutating func perform(_ text: String, _ operation: (inout Model) -> Void) {
    log += "\n\(text)"
    operation(&self)
  }

  private func canReplace(_ path: Path, with other: Path) -> Bool {
    guard let node = nodes[path] else { return true }
    let isEmpty = !nodes.keys.contains { $0.isWithin(path) && $0 != path }
    return node.type == nodes[other]?.type && isEmpty
  }

  private mutating func create(_ path: Path, _ type: FileType) {
    inodeCount += 1
    let inode = freeInodes.popLast() ?? inodeCount
    let node = Node(inode: inode, type: type, born: time, version: time)
    put([("", node)], path)
  }

  private mutating func remove(_ path: Path) {
    freeInodes += take(path).map(\.node.inode)
  }

  /// Moves a subtree. Its new paths are found before the old ones are missed, as a poll does.
  private mutating func move(_ old: Path, _ path: Path) {
    let moved = subtree(old)
    put(moved, path)
    _ = take(old)
  }

  private func subtree(_ path: Path) -> [(rest: String, node: Node)] {
    nodes.keys.filter { $0.isWithin(path) }.sorted().compactMap { inner in
      nodes[inner].map { (String(inner.description.dropFirst(path.description.count)), $0) }
    }
  }

  /// Removes a subtree, and returns its nodes with their relative paths, parents first.
  private mutating func take(_ path: Path) -> [(rest: String, node: Node)] {
    let subtree = subtree(path)
    for (rest, node) in subtree.reversed() {
      let path = Path(path.description + rest)
      nodes[path] = nil
      let file = RawEvent.Sighting(
        inode: node.inode, existed: FileTime(nanoseconds: time), fingerprint: nil,
        type: node.type, mayBeRenamed: true)
      coalescer.note(RawEvent(path: path, kind: .removed, type: node.type, file: file))
    }
    return subtree
  }

  private mutating func put(_ subtree: [(rest: String, node: Node)], _ path: Path) {
    for (rest, node) in subtree {
      let path = Path(path.description + rest)
      nodes[path] = node
      coalescer.note(.to(path, node.inode, node.type, born: node.born))
    }
  }

  /// Follows the net changes. Returns what is wrong with them.
  mutating func endBurst() -> [String] {
    let changes = coalescer.take()
    for change in changes {
      log += "\n  \(change.kind) \(change.path)" + (change.from.map { " from \($0)" } ?? "")
    }
    let directories = changes.filter { $0.type == .directory && $0.from != nil }
    let moved = Self.following(directories, from: before, reading: [:])
    var faults: [String] = []
    let paths = changes.map(\.path)
    if Set(paths).count != paths.count { faults.append("a path has two changes") }
    for change in changes {
      let isRight =
        switch change.kind {
        case .created: before[change.path] == nil && nodes[change.path] != nil
        case .modified, .metadata:
          (before[change.path] ?? moved[change.path]) != nil && nodes[change.path] != nil
        case .removed: before[change.path] != nil && nodes[change.path] == nil
        case .renamed:
          change.from.flatMap { before[$0]?.born } == nodes[change.path]?.born
            && nodes[change.path] != nil
        }
      if !isRight { faults.append("\(change.path) is not \(change.kind)") }
    }
    let mirror = Self.following(changes, from: before, reading: nodes)
    for path in Set(mirror.keys).union(nodes.keys).sorted() where mirror[path] != nodes[path] {
      faults.append("\(path) is wrong")
    }
    return faults
  }

  /// The tree that results from what was known and the reported paths, which are read.
  private static func following(
    _ changes: [ChangeBatch.Change], from before: [Path: Node], reading nodes: [Path: Node]
  ) -> [Path: Node] {
    let renames = DirectoryRenames(changes)
    var mirror = renames.applied(to: before)
    for change in changes where change.kind == .removed || change.from != nil {
      let old = change.from ?? change.path
      for path in [old, renames.present(old)] { mirror[path] = nodes[path] }
    }
    for change in changes { mirror[change.path] = nodes[change.path] }
    return mirror
  }

  private func text(_ nodes: [Path: Node]) -> String {
    nodes.keys.sorted().map { "\($0)" + (nodes[$0]?.type == .directory ? "/" : "") }
      .joined(separator: " ")
  }
}
