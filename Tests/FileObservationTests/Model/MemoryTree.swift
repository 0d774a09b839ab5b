import PathFiltering
import SystemCalls

@testable import FileObservation

/// An observed tree on a disk in memory.
final class MemoryTree {
  let disk = MemoryDisk(.init())
  let hints: MemoryHints
  let roots: [Path]
  var tree: ObservedTree

  init(
    roots: [Path] = ["/r"], base: Path? = nil, extensions: [String] = [], watchLimit: Int = .max,
    prepare: (MemoryDisk) -> Void
  ) {
    self.roots = roots
    disk.create("/r", .directory)
    prepare(disk)
    disk.pass(1_000_000_000)
    hints = MemoryHints(disk)
    hints.limit = watchLimit
    tree = ObservedTree(
      filter: PathFilter(extensions: extensions, sources: []), source: hints, base: base, disk: disk
    )
  }

  /// The first scan, and the comparison that follows it.
  func start() throws {
    for root in roots { tree.add(.init(path: root, coverage: .recursive)) }
    while tree.scanPending(until: { true }) {}
    disk.pass(1_000_000_000)
    let until = disk.latest
    for directory in tree.directories.entries {
      tree.scanNow(directory, for: .diff(since: tree.start, .firstTime(until: until)))
    }
    tree.walk.isComparedOnce = true
  }

  func changes() throws -> [String] {
    disk.pass(1_000_000_000)
    repeat { try tree.readHints() } while hints.hasHints
    tree.stopAwaitingArrivals()
    return takeChanges()
  }

  func takeChanges() -> [String] {
    var coalescer = Coalescer()
    for event in tree.takeFindings().events { coalescer.note(event) }
    return coalescer.take().map { "\($0.kind) \($0.path)" }.sorted()
  }
}

extension ObservedTree {
  /// Polls what must be polled.
  mutating func poll() {
    for directory in directoriesToPoll { poll(directory) }
  }
}
