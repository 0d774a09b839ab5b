/// A report of a backend. Reports are delivered in order.
package enum BackendReport: Sendable {
  /// Raw events; `overflow` if the kernel dropped events and the tree was rescanned.
  case events([RawEvent], overflow: Bool)
  /// Everything is watched.
  case ready(FileObserver.Readiness)
  /// Something cannot be watched; the rest is.
  case warning(ObserverWarning)
  /// Observation has ended.
  case failed(ObserverError)
}
