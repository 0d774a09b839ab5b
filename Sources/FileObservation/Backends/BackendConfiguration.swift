import Dispatch
import PathFiltering
import SystemCalls

/// The settings with which a backend is created.
package struct BackendConfiguration: Sendable {
  package var roots: [Root]
  package let filter: PathFilter
  /// Whether symbolic links to directories are entered, each real directory once.
  package let followsLinks: Bool
  /// Changes from this time on are reported, including those in directories that are watched only
  /// later.
  package let start: FileTime
  /// The directory in which a program runs; `nil` if none is known. What is above it stays where it is.
  package var base: Path?
  /// Directories in the roots that another backend observes.
  package var excluded: Set<Path> = []
  /// The shortest and the longest interval between two polls of what cannot be watched.
  package var pollInterval = Polling().interval
  /// Receives the changes that the filter does not report; `nil` if nothing does.
  package var ignoredChanges: IgnoredChangeSink?
  package private(set) var queue: DispatchQueue
  /// Called on `queue`.
  package private(set) var report: @Sendable (BackendReport) -> Void

  /// A path to observe, and how much of it.
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

  /// Reports the findings of a tree; after an overflow also if there are none.
  func report(_ findings: ObservedTree.Findings, afterOverflow: Bool = false) {
    for warning in findings.warnings { report(.warning(warning)) }
    if !findings.events.isEmpty || afterOverflow {
      report(.events(findings.events, overflow: afterOverflow))
    }
  }

  /// The same settings with other roots and another recipient.
  func part(
    _ roots: [Root], on queue: DispatchQueue? = nil,
    report: @escaping @Sendable (BackendReport) -> Void
  ) -> BackendConfiguration {
    var part = self
    (part.roots, part.queue, part.report) = (roots, queue ?? self.queue, report)
    return part
  }
}
