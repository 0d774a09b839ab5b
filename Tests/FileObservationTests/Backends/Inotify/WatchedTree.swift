#if os(Linux)

import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// A tree on the real kernel, without queue and debouncing: an inotify event stands in the queue as
/// soon as the call that caused it has returned, so nothing needs to be waited for.
final class WatchedTree {
  let folder: TemporaryFolder
  private var inotify: InotifyTree
  /// What was said to be wrong so far.
  private(set) var warnings: [ObserverError] = []

  /// Watches these roots in a fresh folder; an empty name is the folder itself.
  init(
    _ roots: [(name: String, coverage: Coverage)] = [("", .recursive)],
    followsLinks: Bool = false, extensions: [String] = [],
    prepare: (TemporaryFolder) throws -> Void = { _ in }
  ) throws {
    folder = try TemporaryFolder()
    try prepare(folder)
    inotify = InotifyTree(
      inotify: try Inotify(), filter: PathFilter(extensions: extensions.map { Array($0.utf8) }),
      followsLinks: followsLinks)
    for root in roots {
      inotify.tree.add(.init(path: folder[root.name], coverage: root.coverage), since: .latest())
    }
    while inotify.tree.visitPending(atMost: 2) {}
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
    try inotify.readEvents()
    return takeEvents()
  }

  private func takeEvents() -> [RawEvent] {
    let findings = inotify.tree.takeFindings()
    warnings += findings.warnings
    return findings.events
  }

  func rawKinds() throws -> [RawEvent.Kind] {
    try rawEvents().map(\.kind)
  }

  /// Reads what the kernel has told without following it, as if it had not been told.
  func loseEvents() throws {
    while try inotify.inotify.readEvents({ _ in }) {}
  }

  /// Lists the folder again, for what is not known.
  func listAgain() throws {
    guard let entry = inotify.tree.existingEntry(at: folder.path) else { return }
    inotify.tree.visitAtOnce(entry, for: .tell)
  }

  /// The second look that follows the first walk, for what had changed before it came by.
  func lookForTheSecondTime(since: FileTime) {
    for folder in inotify.tree.table.watchedFolders {
      inotify.tree.visitAtOnce(folder, for: .compare(since: since, .untilWatched))
    }
  }

  /// Begins with one more root, which was wished for at that time.
  func add(_ name: String, _ coverage: Coverage = .recursive, since: FileTime) {
    inotify.tree.addAtOnce(.init(path: folder[name], coverage: coverage), since: since)
  }

  /// Judges all anew, as after a change of rules, without reading first what else has happened.
  func judgeAgain() {
    if let entry = inotify.tree.existingEntry(at: folder.path) {
      inotify.tree.staleRules.insert(entry)
    }
    inotify.tree.refreshRules()
  }

  /// Compares all with what is known, as after an overflow.
  func compareAll(since: FileTime) throws {
    try loseEvents()
    inotify.tree.compareAll(since: since)
  }

  /// Gives up waiting for the second halves of renames.
  func dropLifted() {
    inotify.dropLifted()
  }

  /// How many watches are thought to be there.
  var watchCount: Int { inotify.tree.table.watchCount }

  /// How many watches the kernel keeps.
  func kernelWatchCount() throws -> Int {
    let info =
      try fileContents(of: Path("/proc/self/fdinfo/\(inotify.inotify.descriptor.number)")) ?? []
    return String(decoding: info, as: UTF8.self).split(separator: "\n").count {
      $0.hasPrefix("inotify ")
    }
  }

  /// How many entries are remembered.
  var entryCount: Int { inotify.tree.snapshot.count }

  private func name(of path: Path) -> String {
    (path.relative(to: folder.path) ?? path).description
  }
}

#endif  // os(Linux)
