import Dispatch
import PathFiltering
import SystemCalls

/// A way to learn of changes: from the kernel, or by looking.
package protocol Backend: Sendable {
  /// Begins to watch. What is found is reported on the queue that the backend was made with, from
  /// the moment of this call on, though the whole tree may not be watched yet.
  func start() throws(ObserverError)

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

/// What every backend is made with.
package struct BackendConfiguration: Sendable {
  package let roots: [Root]
  package let filter: PathFilter
  /// Links to folders are entered, each real folder once.
  package let followsLinks: Bool
  /// Changes from this time on are reported, also in folders that are watched only later.
  package let start: FileTime
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
