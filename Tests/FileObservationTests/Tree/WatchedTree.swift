#if os(Linux)

import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// A tree on the real kernel, without queue and debouncing: an inotify event stands in the queue as
/// soon as the call that caused it has returned, so nothing needs to be waited for.
final class WatchedTree {
  let folder: TemporaryDirectory
  private let hints: InotifyHints
  private var tree: ObservedTree
  /// What was said to be wrong so far.
  private(set) var warnings: [ObserverError] = []

  /// Watches these roots in a fresh folder; an empty name is the folder itself.
  init(
    _ roots: [(name: String, coverage: Coverage)] = [("", .recursive)],
    followsLinks: Bool = false, extensions: [String] = [],
    prepare: (TemporaryDirectory) throws -> Void = { _ in }
  ) throws {
    folder = try TemporaryDirectory()
    try prepare(folder)
    // What was prepared is older than the start.
    let prepared = FileTime.latest()
    while FileTime.now() <= prepared {}
    hints = InotifyHints(try Inotify())
    tree = ObservedTree(
      filter: PathFilter(extensions: extensions.map { Array($0.utf8) }), source: hints,
      followsLinks: followsLinks)
    for root in roots { tree.add(.init(path: folder[root.name], coverage: root.coverage)) }
    while tree.visitPending(atMost: 2) {}
    tree.walk.isComparedOnce = true
    #expect(takeEvents().isEmpty)
  }

  /// What has happened since the last call, as lines such as `created a/b`, sorted.
  func news() throws -> [String] {
    var coalescer = Coalescer()
    for event in try rawEvents() { coalescer.note(event) }
    return coalescer.take().map { change in
      let from = change.from.map { " from \(name(of: $0))" } ?? ""
      return "\(change.kind) \(name(of: change.path))\(from)"
    }.sorted()
  }

  /// The events themselves, before they are made into changes.
  func rawEvents() throws -> [RawEvent] {
    // What has happened is older than the time up to which hints are read.
    let end = FileTime.latest()
    while FileTime.now() <= end {}
    _ = try tree.readHints()
    // All hints of a rename that has happened are in the queue.
    tree.stopAwaitingArrivals()
    return takeEvents()
  }

  private func takeEvents() -> [RawEvent] {
    let findings = tree.takeFindings()
    warnings += findings.warnings
    return findings.events
  }

  func rawKinds() throws -> [RawEvent.Kind] {
    try rawEvents().map(\.kind)
  }

  /// Reads what the kernel has queued without following it, as if it had been dropped.
  func loseEvents() throws {
    _ = try hints.read { _ in }
  }

  /// Lists the folder again, for what is not known.
  func listAgain() throws {
    guard let entry = tree.existingEntry(at: folder.path) else { return }
    tree.visitAtOnce(entry, for: .discover)
  }

  /// The comparison that follows the first scan, for what had changed before that.
  func lookForTheSecondTime(since: FileTime) {
    tree.walk.isComparedOnce = true
    for directory in tree.directories.entries {
      tree.visitAtOnce(directory, for: .diff(since: since, .firstTime))
    }
  }

  /// As before that comparison.
  func forgetComparison() {
    tree.walk.isComparedOnce = false
  }

  /// Begins with one more root, which was wished for at that time.
  func add(_ name: String, _ coverage: Coverage = .recursive, since: FileTime) {
    tree.addAtOnce(.init(path: folder[name], coverage: coverage), since: since)
  }

  /// Applies changed rules, without reading first what else has happened.
  func judgeAgain() {
    if let entry = tree.existingEntry(at: folder.path) { tree.rules.stale.insert(entry) }
    tree.refreshRules()
  }

  /// Compares all with what is known, as after an overflow.
  func compareAll(since: FileTime) throws {
    try loseEvents()
    tree.compareAll(since: since)
  }

  /// How many watches are thought to be there.
  var watchCount: Int { tree.directories.watchCount }

  /// How many watches the kernel keeps.
  func kernelWatchCount() throws -> Int {
    let info =
      try fileContents(of: Path("/proc/self/fdinfo/\(hints.inotify.descriptor.number)")) ?? []
    return String(decoding: info, as: UTF8.self).split(separator: "\n").count {
      $0.hasPrefix("inotify ")
    }
  }

  /// How many entries are remembered.
  var entryCount: Int { tree.snapshot.count }

  private func name(of path: Path) -> String {
    (path.relative(to: folder.path) ?? path).description
  }
}

#endif  // os(Linux)
