import SystemCalls

/// Observes roots and reports raw events.
///
/// `start` is called once, before any other method. The other methods may be called on any thread,
/// concurrently.
protocol Backend: Sendable {
  /// Starts observing. Changes from the moment of this call on are reported on the queue of the
  /// configuration, including those in directories that are watched only later.
  func start() throws(ObserverError)

  /// Observes another root, except directories that another backend observes. Changes in it from
  /// the moment of this call on are reported.
  func add(_ root: BackendConfiguration.Root, excluding: Set<Path>)

  /// Stops observing a root. What another root covers stays watched.
  func remove(_ root: Path)

  /// Reports every change made before this call, then calls `done` once on the queue of the
  /// configuration. During the first scan, `done` is called when the scan has ended; after `stop`,
  /// it is called without further reports.
  func flush(then done: @escaping @Sendable () -> Void)

  /// Without the number of batches.
  var statistics: FileObserver.Statistics { get }

  /// Stops observing and releases all resources. A report that is being delivered is completed; no
  /// other follows. Has no effect when called again.
  func stop()
}

extension Backend {
  func add(_ root: BackendConfiguration.Root) { add(root, excluding: []) }
}

/// How much of a root or of a directory is observed. Each case includes the ones before it.
enum Coverage: Comparable, Sendable {
  /// A root that is only watched because links lead to it, whose changes are theirs.
  case linked
  /// The entries that were asked for by name.
  case named
  /// All entries.
  case entries
  /// All descendants.
  case recursive
}

/// A report of a backend. Reports are delivered in order.
enum BackendReport: Sendable {
  /// Raw events; `overflow` if the kernel dropped events and the tree was rescanned.
  case events([RawEvent], overflow: Bool)
  /// Everything is watched.
  case ready(FileObserver.Readiness)
  /// Something cannot be watched; the rest is.
  case warning(ObserverWarning)
  /// Observation has ended.
  case failed(ObserverError)
}
