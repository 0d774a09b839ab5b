import SystemCalls

/// Observes roots and reports raw events.
///
/// `start` is called once, before any other method. The other methods may be called on any thread,
/// concurrently.
package protocol Backend: Sendable {
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

  var statistics: BackendStatistics { get }

  /// Stops observing and releases all resources. A report that is being delivered is completed; no
  /// other follows. Has no effect when called again.
  func stop()
}

extension Backend {
  package func add(_ root: BackendConfiguration.Root) { add(root, excluding: []) }
}
