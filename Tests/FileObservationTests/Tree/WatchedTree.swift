#if os(Linux)

import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// A disk that counts how often it is asked for links.
final class CountingDisk: Disk {
  var linkCount = 0

  override func linkTarget(of path: Path) throws(SystemError) -> Path {
    linkCount += 1
    return try super.linkTarget(of: path)
  }
}

/// A tree that is observed with inotify, without a Dispatch queue and debouncing. Events are in the
/// kernel's queue when the call that caused them returns, so tests need not wait.
final class WatchedTree {
  let directory: TemporaryDirectory
  private let hints: InotifyHints
  private var tree: ObservedTree
  private(set) var warnings: [ObserverWarning] = []
  /// Events that were taken while hints were processed.
  private var delivered: [RawEvent] = []

  /// Watches roots in a new directory; an empty name is the directory itself. It starts before it is
  /// prepared, or else after that.
  init(
    _ roots: [(name: String, coverage: Coverage)] = [("", .recursive)],
    followsLinks: Bool = false, extensions: [String] = [], hasBase: Bool = false,
    startsBeforePreparation: Bool = false, disk: Disk = Disk(),
    prepare: (TemporaryDirectory) throws -> Void = { _ in }
  ) throws {
    directory = try TemporaryDirectory()
    let beforePreparation = Self.nextTick()
    try prepare(directory)
    let start = startsBeforePreparation ? beforePreparation : Self.nextTick()
    hints = InotifyHints(try Inotify())
    tree = ObservedTree(
      filter: PathFilter(extensions: extensions), source: hints,
      followsLinks: followsLinks, base: hasBase ? directory.path : nil, disk: disk, start: start)
    for root in roots { tree.add(.init(path: directory[root.name], coverage: root.coverage)) }
    while tree.scanPending(until: { true }) {}
    tree.walk.isComparedOnce = true
    #expect(takeEvents().isEmpty)
  }

  /// Waits for the next tick of the clock that stamps files, and returns its time.
  private static func nextTick() -> FileTime {
    let before = FileTime.latest()
    while FileTime.now() <= before { usleep(1000) }
    return .now()
  }

  /// The net changes since the last call, as sorted lines such as `created a/b`.
  func changes() throws -> [String] {
    var coalescer = Coalescer()
    for event in try rawEvents() { coalescer.note(event) }
    return coalescer.take().map { change in
      let from = change.from.map { " from \(name(of: $0))" } ?? ""
      return "\(change.kind) \(name(of: change.path))\(from)"
    }.sorted()
  }

  /// The raw events since the last call.
  func rawEvents() throws -> [RawEvent] {
    // Changes must be older than the time until which hints are read.
    _ = Self.nextTick()
    try tree.readHints()
    if !tree.hints.areArrivalsAwaited { #expect(tree.roots.links.stale.isEmpty) }
    while tree.refilter() {}
    // Both hints of a rename are in the queue.
    tree.stopAwaitingArrivals()
    defer { delivered = [] }
    return delivered + takeEvents()
  }

  /// Makes a change after the hints of earlier ones were read, and before they are processed.
  func readHints(beforeProcessing change: () throws -> Void) throws {
    _ = try hints.read { tree.accept($0) }
    try change()
    tree.processHints()
    while tree.refilter() {}
    delivered += takeEvents()
  }

  /// Drops all hints, as the kernel does when its queue is full.
  func dropHints() throws {
    _ = try hints.read { _ in }
    tree.hints.areDropped = true
  }

  func rescan() {
    tree.rescan()
  }

  private func takeEvents() -> [RawEvent] {
    let findings = tree.takeFindings()
    warnings += findings.warnings
    return findings.events
  }

  func rawKinds() throws -> [RawEvent.Kind] {
    try rawEvents().map(\.kind)
  }

  /// Reads the events in the queue and discards them, as if the kernel had dropped them.
  func loseEvents() throws {
    _ = try hints.read { _ in }
  }

  /// Scans the directory again for unknown entries.
  func listAgain() throws {
    guard let entry = tree.snapshot.entry(at: directory.path) else { return }
    tree.scanNow(entry, for: .discover)
  }

  /// Makes the comparison that follows the first scan, for earlier changes.
  func lookForTheSecondTime(since: FileTime, until watched: FileTime = .latest()) {
    tree.walk.isComparedOnce = true
    for directory in tree.directories.entries {
      tree.scanNow(directory, for: .diff(since: since, .firstTime(until: watched)))
    }
    delivered += takeEvents()
  }

  /// Returns to the state before that comparison.
  func forgetComparison() {
    tree.walk.isComparedOnce = false
  }

  /// Adds a root, and reports the changes in it since a time.
  func add(_ name: String, _ coverage: Coverage = .recursive, since: FileTime) {
    tree.addAtOnce(.init(path: directory[name], coverage: coverage), since: since)
  }

  func remove(_ name: String) { tree.remove(rootAt: directory[name]) }

  /// Adds the root of the file system, and removes it.
  func addAndRemoveFileSystem() {
    tree.addAtOnce(.init(path: "/", coverage: .entries), since: .now())
    tree.remove(rootAt: "/")
    _ = takeEvents()
  }

  /// The number of ignore files whose rules apply in a directory.
  func ignoreFileCount(of name: String) -> Int? {
    tree.snapshot.entry(at: directory[name]).flatMap { tree.directories[$0]?.stack?.files.count }
  }

  /// Applies changed rules, without reading other hints first.
  func judgeAgain() {
    if let entry = tree.snapshot.entry(at: directory.path) { tree.rules.stale.insert(entry) }
    tree.refreshRules()
    while tree.refilter() {}
  }

  /// Compares everything with the snapshot, as after an overflow.
  func compareAll(since: FileTime) throws {
    try loseEvents()
    tree.compareAll(since: since)
  }

  var start: FileTime { tree.start }

  var watchCount: Int { tree.directories.watchCount }

  /// The number of watches in the kernel.
  func kernelWatchCount() throws -> Int {
    let info =
      try fileContents(of: Path("/proc/self/fdinfo/\(hints.inotify.descriptor.number)")) ?? []
    return String(decoding: info, as: UTF8.self).split(separator: "\n").count {
      $0.hasPrefix("inotify ")
    }
  }

  var entryCount: Int { tree.snapshot.count }

  private func name(of path: Path) -> String {
    (path.relative(to: directory.path) ?? path).description
  }
}

#endif  // os(Linux)
