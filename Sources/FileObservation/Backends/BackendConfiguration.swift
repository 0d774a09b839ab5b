import Dispatch
import PathFiltering
import SystemCalls

/// The settings with which a backend is created.
struct BackendConfiguration: Sendable {
  var roots: [Root]
  let filter: PathFilter
  /// Whether symbolic links to directories are entered, each real directory once.
  var followsLinks = false
  /// Changes from this time on are reported, including those in directories that are watched only
  /// later.
  let start: FileTime
  /// The directory in which a program runs; `nil` if none is known. What is above it stays where it is.
  var base: Path?
  /// Directories in the roots that another backend observes.
  var excluded: Set<Path> = []
  /// The shortest and the longest interval between two polls of what cannot be watched.
  var pollInterval = Polling().interval
  /// Receives the changes that the filter does not report; `nil` if nothing does.
  var ignoredChanges: IgnoredChangeSink?
  private(set) var queue: DispatchQueue
  /// Called on `queue`.
  private(set) var report: @Sendable (BackendReport) -> Void

  /// A path to observe, and how much of it.
  struct Root: Sendable, Hashable {
    let path: Path
    let coverage: Coverage
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
