import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct ChangeBatchMergingTests {
  private func merged(_ batches: [ChangeBatch.Change]...) -> [ChangeBatch.Change] {
    var batch = ChangeBatch(number: 1, changes: [])
    for (number, changes) in batches.enumerated() {
      batch.merge(ChangeBatch(number: number + 2, changes: changes))
    }
    #expect(batch.number == batches.count + 1)
    return batch.changes.sorted { $0.path < $1.path }
  }

  @Test func `kinds of one path are composed`() {
    #expect(merged([.created("/f")], [.modified("/f")]) == [.created("/f")])
    #expect(merged([.created("/f")], [.removed("/f")]).isEmpty)
    #expect(merged([.modified("/f")], [.metadata("/f")]) == [.modified("/f")])
    #expect(merged([.metadata("/f")], [.metadata("/f")]) == [.metadata("/f")])
    #expect(merged([.modified("/f")], [.removed("/f")]) == [.removed("/f")])
    #expect(merged([.removed("/f")], [.created("/f")]) == [.modified("/f")])
    #expect(
      merged([.removed("/d")], [.created("/d", .directory)]) == [.modified("/d", .directory)])
  }

  @Test func `renames are composed`() {
    // Whether the first rename replaced a file is not known.
    #expect(
      merged([.renamed("/b", from: "/a")], [.renamed("/c", from: "/b")])
        == [.removed("/b"), .renamed("/c", from: "/a")])
    #expect(merged([.created("/a")], [.renamed("/b", from: "/a")]) == [.modified("/b")])
    #expect(
      merged([.renamed("/b", from: "/a")], [.removed("/b")]) == [.removed("/a"), .removed("/b")])
    #expect(
      merged([.renamed("/b", from: "/a")], [.renamed("/a", from: "/b")])
        == [.modified("/a"), .removed("/b")])
    #expect(
      merged([.renamed("/b", from: "/a")], [.modified("/b"), .created("/a")])
        == [.modified("/a"), .renamed("/b", from: "/a")])
    // A save in two steps, of which the first fell into the first batch.
    #expect(
      merged([.removed("/f"), .created("/g")], [.renamed("/f", from: "/g")]) == [.modified("/f")])
    #expect(
      merged([.renamed("/b", from: "/a")], [.renamed("/b", from: "/x")])
        == [.removed("/a"), .renamed("/b", from: "/x")])
  }

  @Test func `what is in renamed directories moves with them`() {
    #expect(
      merged(
        [.modified("/d/f"), .created("/d/g"), .removed("/d/h")],
        [.renamed("/e", from: "/d", .directory)])
        == [
          .removed("/d/h"), .renamed("/e", from: "/d", .directory), .modified("/e/f"),
          .created("/e/g"),
        ])
    #expect(
      merged(
        [.renamed("/e", from: "/d", .directory)],
        [.modified("/e/f"), .removed("/e/h"), .created("/e/g")]
      ) == [
        .removed("/d/h"), .renamed("/e", from: "/d", .directory), .modified("/e/f"),
        .created("/e/g"),
      ])
    #expect(
      merged([.created("/d/f"), .renamed("/d/g", from: "/x")], [.removed("/d")])
        == [.removed("/d"), .removed("/d/g"), .removed("/x")])
    #expect(
      merged([.created("/a/d", .directory)], [.renamed("/b", from: "/a", .directory)])
        == [.renamed("/b", from: "/a", .directory), .created("/b/d", .directory)])
  }

  @Test func `an overflow of either batch counts`() {
    for first in [true, false] {
      for second in [true, false] {
        var batch = ChangeBatch(number: 1, changes: [], overflow: first)
        batch.merge(ChangeBatch(number: 2, changes: [], overflow: second))
        #expect(batch.overflow == (first || second))
      }
    }
  }

  @Test(arguments: (1...20).map { UInt64($0) })
  func `whoever applies the merged batch has the tree as it is`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for round in 1...60 {
      var tree = ModelTree()
      for _ in 0..<8 { tree.change(&generator) }
      let before = tree
      var batch = ChangeBatch(number: 0, changes: [])
      var log = "\(before)"
      for number in 1...3 {
        let between = tree
        for _ in 0..<Int.random(in: 1...4, using: &generator) { tree.change(&generator) }
        let changes = tree.changes(since: between)
        log += "\n\(tree): \(changes)"
        #expect(between.applying(changes, reading: tree) == tree, "seed \(seed), \(round): \(log)")
        batch.merge(ChangeBatch(number: number, changes: changes))
      }
      let result = before.applying(batch.changes, reading: tree)
      #expect(result == tree, "seed \(seed), round \(round): \(log)\nmerged: \(batch.changes)")
      for change in batch.changes where change.kind != .removed {
        #expect(tree.nodes[change.path] != nil, "\(change): \(log)")
      }
      if result != tree { return }
    }
  }
}

/// A tree in memory. A node keeps its number wherever it is.
private struct ModelTree: Equatable, CustomStringConvertible {
  struct Node: Equatable {
    let number: Int
    let type: FileType
    var content = 0
    var mode = 0
  }

  var nodes: [Path: Node] = [:]
  private var count = 0

  static func == (one: ModelTree, other: ModelTree) -> Bool { one.nodes == other.nodes }

  var description: String {
    nodes.sorted { $0.key < $1.key }.map { "\($0)#\($1.number).\($1.content).\($1.mode)" }
      .joined(separator: " ")
  }

  mutating func change(_ generator: inout SeededGenerator) {
    let directories = ["/r"] + nodes.filter { $0.value.type == .directory }.keys.sorted()
    let name = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
    let path = (directories.randomElement(using: &generator) ?? "/r").appending(name)
    let other = nodes.keys.sorted().randomElement(using: &generator)
    count += 1
    switch Int.random(in: 0..<9, using: &generator) {
    case 0...1 where nodes[path] == nil:
      nodes[path] = Node(number: count, type: .file)
    case 2 where nodes[path] == nil:
      nodes[path] = Node(number: count, type: .directory)
    case 3 where nodes[path]?.type == .file:
      nodes[path]?.content = count
    case 4 where nodes[path] != nil:
      nodes[path]?.mode = count
    case 5:
      for inner in nodes.keys where inner.isWithin(path) { nodes[inner] = nil }
    case 6, 7, 8:
      guard let other, !path.isWithin(other), !other.isWithin(path) else { return }
      let isFull = nodes.keys.contains { $0.isWithin(path) && $0 != path }
      if isFull || (nodes[path] != nil && nodes[path]?.type != nodes[other]?.type) { return }
      let moved = take(other)
      nodes[path] = nil
      put(moved, at: path)
    default: break
    }
  }

  private mutating func take(_ path: Path) -> [(rest: Path, node: Node)] {
    let taken = nodes.filter { $0.key.isWithin(path) }
    for inner in taken.keys { nodes[inner] = nil }
    return taken.map { ($0.key.relative(to: path) ?? ".", $0.value) }
  }

  private mutating func put(_ subtree: [(rest: Path, node: Node)], at path: Path) {
    for (rest, node) in subtree {
      nodes[rest == "." ? path : path.appending(rest.bytes)] = node
    }
  }

  /// The net changes, as a batch has them.
  func changes(since before: ModelTree) -> [ChangeBatch.Change] {
    let former = Dictionary(uniqueKeysWithValues: before.nodes.map { ($0.value.number, $0.key) })
    var changes: [ChangeBatch.Change] = []
    for (path, node) in nodes.sorted(by: { $0.key < $1.key }) {
      guard let from = former[node.number], let old = before.nodes[from] else {
        let isNew = before.nodes[path] == nil
        changes.append(isNew ? .created(path, node.type) : .modified(path, node.type))
        continue
      }
      let directory = path.parent.flatMap { nodes[$0] }
      let parent = directory.flatMap { former[$0.number] }
      if from == path, directory != nil, parent == nil {
        // In another directory at the same path.
        changes += [.removed(path), .modified(path, node.type)]
        continue
      }
      let isCarried = from == (parent ?? path.parent)?.appending(path.lastComponent)
      if !isCarried {
        changes.append(.renamed(path, from: from, node.type))
      } else if node.content != old.content {
        changes.append(.modified(path, node.type))
      } else if node.mode != old.mode {
        changes.append(.metadata(path, node.type))
      }
    }
    let present = Dictionary(uniqueKeysWithValues: nodes.map { ($0.value.number, $0.key) })
    for (path, node) in before.nodes.sorted(by: { $0.key < $1.key })
    where present[node.number] == nil {
      let parent = path.parent.flatMap { before.nodes[$0] }.map { present[$0.number] }
      if nodes[path] == nil || (parent != nil && parent != path.parent) {
        changes.append(.removed(path))
      }
    }
    return changes
  }

  /// What a consumer has that knew this tree, and applies changes: first what has left its path, from
  /// the leaves up, then what is new at one, from the top. It reads the named paths.
  func applying(_ changes: [ChangeBatch.Change], reading tree: ModelTree) -> ModelTree {
    var mirror = self
    var moving: [Path: [(rest: Path, node: Node)]] = [:]
    let leaving = changes.filter { $0.kind == .removed || $0.from != nil }
    for change in leaving.sorted(by: { ($0.from ?? $0.path) > ($1.from ?? $1.path) }) {
      let taken = mirror.take(change.from ?? change.path)
      if let from = change.from { moving[from] = taken }
    }
    for change in changes.sorted(by: { $0.path < $1.path }) where change.kind != .removed {
      if [.created, .renamed].contains(change.kind) { _ = mirror.take(change.path) }
      if let from = change.from { mirror.put(moving[from] ?? [], at: change.path) }
      if mirror.nodes[change.path]?.type != tree.nodes[change.path]?.type {
        _ = mirror.take(change.path)
      }
      mirror.nodes[change.path] = tree.nodes[change.path]
      // Another directory than before: only its own entries count.
      if change.kind == .modified, change.type == .directory {
        _ = mirror.take(change.path)
        for (path, node) in tree.nodes where path.isWithin(change.path) {
          mirror.nodes[path] = node
        }
      }
    }
    return mirror
  }
}
