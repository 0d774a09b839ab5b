import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Random changes, bursts that end at random, files that are read ahead and remembered late, and a
/// reader who looks at what they are told of, and at nothing else. In the end, they know all.
struct ContentModelTests {
  @Test(arguments: UInt64(1)...40)
  func `who looks at what is told of knows what is there`(seed: UInt64) {
    var model = Model(seed: seed)
    for _ in 0..<600 { model.step() }
    model.endBurst()
    #expect(model.known == model.watched)
    // Most of what was written again as it was is left out, or the test says nothing.
    #expect(model.skippedCount > 5)
  }
}

private struct Model {
  private static let folders: [Path] = ["/p/a", "/p/b", "/p/c"]

  let disk = FakeDisk()
  private(set) var known: [Path: String] = [:]
  private(set) var skippedCount = 0
  private var generator: SeededGenerator
  private var memory = ContentMemory(mostFiles: 7)
  private var coalescer = Coalescer()
  private var start = FileTime(nanoseconds: 0)
  private var samples: [(path: Path, sample: ContentSample)] = []
  private var number = 0

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    disk.makeFolder("/p")
    for folder in Self.folders.dropLast() {
      disk.makeFolder(folder)
      for name in ["f", "g", "h"] { disk.write(fresh(), to: folder.appending(name)) }
    }
    disk.makeFolder("/elsewhere")
    disk.write("", to: "/elsewhere/f")
    start = disk.now
    disk.write("", to: "/elsewhere/f")
    known = watched
  }

  var watched: [Path: String] { disk.files.filter { $0.key.isWithin("/p") } }

  mutating func step() {
    let file = pick(Self.folders).appending(pick(["f", "g", "h"]))
    guard let folder = file.parent else { return }
    let content = disk.content(of: file)
    switch Int.random(in: 0..<14, using: &generator) {
    case 0...1 where content != nil:
      disk.write(fresh(), to: file)
      coalescer.note(.closed(file))
    case 2...4 where content != nil:
      disk.write(content ?? "", to: file)
      coalescer.note(.closed(file))
    case 5 where content != nil:
      disk.replace(file, with: Bool.random(using: &generator) ? content ?? "" : fresh())
      coalescer.note(.to(file, cookie(), replacing: true))
    case 6 where content != nil:
      disk.remove(file)
      coalescer.note(.removed(file))
    case 7 where content == nil && disk.stamp(of: folder) != nil:
      disk.write(fresh(), to: file)
      coalescer.note(.created(file))
    case 8 where disk.stamp(of: folder) != nil:
      let other = pick(Self.folders)
      if other == folder { return }
      exchangeOrRename(folder, other)
    case 9...10:
      if let sample = disk.sample(of: file) { samples.append((file, sample)) }
    case 11:
      learn()
    case 12...13:
      endBurst()
    default:
      break
    }
  }

  private mutating func exchangeOrRename(_ folder: Path, _ other: Path) {
    let isThere = disk.stamp(of: other) != nil
    if isThere { move(other, to: "/p/t") }
    move(folder, to: other)
    if isThere { move("/p/t", to: folder) }
  }

  private mutating func move(_ old: Path, to new: Path) {
    disk.rename(old, to: new)
    let cookie = cookie()
    coalescer.note(.from(old, cookie, .directory))
    coalescer.note(.to(new, cookie, .directory))
  }

  /// What was read ahead, some time ago, is remembered.
  private mutating func learn() {
    for sample in samples {
      guard let folder = sample.path.parent else { continue }
      memory.learn([sample], of: folder, since: start, from: disk)
    }
    samples = []
  }

  mutating func endBurst() {
    let changes = coalescer.take()
    let told = memory.follow(changes, wanted: Set(ChangeBatch.Kind.allCases)) { [disk] path in
      disk.sample(of: path)?.digest
    }
    skippedCount += told.count { $0.kind == .metadata }
    let files = watched
    for change in told where change.kind != .metadata {
      for path in [change.path, change.from].compactMap({ $0 }) {
        for old in known.keys where old.isWithin(path) { known[old] = nil }
        for (file, content) in files where file.isWithin(path) { known[file] = content }
      }
    }
  }

  /// Content that was never there before: what comes back within one burst is not seen, and not
  /// promised to be.
  private mutating func fresh() -> String {
    number += 1
    return "\(number)"
  }

  private mutating func cookie() -> UInt32 {
    number += 1
    return UInt32(number)
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &generator)]
  }
}
