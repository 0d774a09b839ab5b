import Dispatch
import PathFiltering
import SystemCalls

/// A source of changes: the kernel, or polling.
///
/// `start` is called first, and once. All other methods may then be called on any thread, also at the
/// same time.
package protocol Backend: Sendable {
  /// Begins to watch. Changes from the moment of this call on are reported, on the queue of the
  /// configuration, though the whole tree may not be watched yet.
  func start() throws(ObserverError)

  /// Watches one more root. Changes in it from the moment of this call on are reported.
  func add(_ root: BackendConfiguration.Root)

  /// Ends with a root. What is also covered by another stays watched.
  func remove(_ root: Path)

  /// Reports every change made before this call, then calls `done` once on the queue with which the
  /// backend was made. While the tree is walked for the first time, `done` waits for the end of the
  /// walk; once the backend has stopped, it is called without further reports.
  func flush(then done: @escaping @Sendable () -> Void)

  /// How things stand.
  var statistics: BackendStatistics { get }

  /// Ends it and gives everything back. Nothing is reported any more once a report that is on its
  /// way has been made. Calling it again does nothing.
  func stop()
}

/// What a backend has to say, in the order in which it happened.
package enum BackendReport: Sendable {
  /// Something changed. `overflow` if the kernel dropped events and the tree was read again.
  case events([RawEvent], overflow: Bool)
  /// Everything is watched now.
  case ready(FileObserver.Readiness)
  /// Something cannot be watched; the rest is.
  case warning(ObserverError)
  /// Watching is over.
  case failed(ObserverError)
}

/// How a backend stands, in numbers.
package struct BackendStatistics: Sendable, Hashable {
  package var watches = 0
  /// Folders that are looked at from time to time.
  package var polledDirectories = 0
  package var pruned = 0
  package var overflows = 0
  package var rescans = 0

  package init() {}

  /// Takes over what a tree knows.
  mutating func note(_ tree: borrowing ObservedTree) {
    watches = tree.directories.watchCount
    polledDirectories = tree.watches.unwatched.count
    pruned = tree.walk.prunedCount
  }

  static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.watches += right.watches
    sum.polledDirectories += right.polledDirectories
    sum.pruned += right.pruned
    sum.overflows += right.overflows
    sum.rescans += right.rescans
    return sum
  }
}

/// What every backend is made with.
package struct BackendConfiguration: Sendable {
  package var roots: [Root]
  package let filter: PathFilter
  /// Links to folders are entered, each real folder once.
  package let followsLinks: Bool
  /// Changes from this time on are reported, also in folders that are watched only later.
  package let start: FileTime
  /// Folders in the roots that are left to another backend.
  package var excluded: Set<Path> = []
  package let queue: DispatchQueue
  package let report: @Sendable (BackendReport) -> Void

  /// A path to watch, found to be there.
  package struct Root: Sendable, Hashable {
    package let path: Path
    package let coverage: Coverage

    package init(path: Path, coverage: Coverage) {
      self.path = path
      self.coverage = coverage
    }
  }

  package init(
    roots: [Root], filter: PathFilter, followsLinks: Bool = false, start: FileTime,
    queue: DispatchQueue,
    report: @escaping @Sendable (BackendReport) -> Void
  ) {
    self.roots = roots
    self.filter = filter
    self.followsLinks = followsLinks
    self.start = start
    self.queue = queue
    self.report = report
  }

  /// Reports what a tree has found; after an overflow also if that is nothing.
  func report(_ findings: ObservedTree.Findings, afterOverflow: Bool = false) {
    for warning in findings.warnings { report(.warning(warning)) }
    if !findings.events.isEmpty || afterOverflow {
      report(.events(findings.events, overflow: afterOverflow))
    }
  }

  /// The same for a part of it: other roots, and somebody else who is reported to.
  func part(
    _ roots: [Root], on queue: DispatchQueue? = nil,
    report: @escaping @Sendable (BackendReport) -> Void
  ) -> BackendConfiguration {
    var part = BackendConfiguration(
      roots: roots, filter: filter, followsLinks: followsLinks, start: start,
      queue: queue ?? self.queue, report: report)
    part.excluded = excluded
    return part
  }
}

/// How much of a folder is watched. A larger one includes the smaller.
package enum Coverage: Int, Comparable, Sendable {
  /// Only the entries in it that were asked for by name.
  case named
  /// All its entries.
  case entries
  /// All its entries, and those of its subfolders.
  case recursive

  package static func < (left: Coverage, right: Coverage) -> Bool {
    left.rawValue < right.rawValue
  }
}
