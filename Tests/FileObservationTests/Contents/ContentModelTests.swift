import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Random changes, bursts that end at random, and a reader of the reported files. In the end, the reader must know all contents.
struct ContentModelTests {
  @Test(arguments: UInt64(1)...40)
  func `a reader of the reported files knows all contents`(seed: UInt64) {
    var model = Model(seed: seed)
    for _ in 0..<600 { model.step() }
    model.endBurst()
    #expect(model.known == model.watched)
    // Most unchanged files are removed, or the test would prove nothing.
    #expect(model.skippedCount > 5)
  }
}

private struct Model {
  private static let directories: [Path] = ["/p/a", "/p/b", "/p/c"]

  let disk = FakeDisk()
  private(set) var known: [Path: String] = [:]
  private(set) var skippedCount = 0
  private var generator: SeededGenerator
  private var memory = ContentMemory(mostFiles: 7)
  private var coalescer = Coalescer()
  private var number = 0

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    disk.makeDirectory("/p")
    for directory in Self.directories.dropLast() {
      disk.makeDirectory(directory)
      for name in ["f", "g", "h"] { disk.write(fresh(), to: directory.appending(name)) }
    }
    known = watched
  }

  var watched: [Path: String] { disk.files.filter { $0.key.isWithin("/p") } }

  mutating func step() {
    let file = pick(Self.directories).appending(pick(["f", "g", "h"]))
    guard let directory = file.parent else { return }
    let content = disk.content(of: file)
    switch Int.random(in: 0..<12, using: &generator) {
    case 0...1 where content != nil:
      disk.write(fresh(), to: file)
      coalescer.note(.closed(file))
    case 2...4 where content != nil:
      disk.write(content ?? "", to: file)
      coalescer.note(.closed(file))
    case 5 where content != nil:
      disk.replace(file, with: Bool.random(using: &generator) ? content ?? "" : fresh())
      coalescer.note(.removed(file))
      coalescer.note(.created(file))
    case 6 where content != nil:
      disk.remove(file)
      coalescer.note(.removed(file))
    case 7 where content == nil && disk.stamp(of: directory) != nil:
      disk.write(fresh(), to: file)
      coalescer.note(.created(file))
    case 8 where disk.stamp(of: directory) != nil:
      let other = pick(Self.directories)
      if other == directory { return }
      exchangeOrRename(directory, other)
    case 9...10:
      endBurst()
    default:
      break
    }
  }

  private mutating func exchangeOrRename(_ directory: Path, _ other: Path) {
    let isThere = disk.stamp(of: other) != nil
    if isThere { move(other, to: "/p/t") }
    move(directory, to: other)
    if isThere { move("/p/t", to: directory) }
  }

  private mutating func move(_ old: Path, to new: Path) {
    let entries = disk.entries(in: old)
    disk.rename(old, to: new)
    for (path, inode, type) in entries { coalescer.note(.from(path, inode, type)) }
    for (path, inode, type) in disk.entries(in: new) { coalescer.note(.to(path, inode, type)) }
  }

  mutating func endBurst() {
    let changes = coalescer.take()
    let reported = memory.filterUnchanged(changes, wanted: Set(ChangeBatch.Kind.allCases)) {
      [disk] path in
      disk.digest(of: path)
    }
    skippedCount += reported.count { $0.kind == .metadata }
    let files = watched
    for change in reported where change.kind != .metadata {
      for path in [change.path, change.from].compactMap({ $0 }) {
        for old in known.keys where old.isWithin(path) { known[old] = nil }
        for (file, content) in files where file.isWithin(path) { known[file] = content }
      }
    }
  }

  /// New content. Content that returns within one burst need not be noticed.
  private mutating func fresh() -> String {
    number += 1
    return "\(number)"
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &generator)]
  }
}
