import FileObservation

/// The source of the changes that are submitted to a queue or a runner.
///
/// Commands write files. When a run has ended, the queue must know all changes that were made
/// before, so it flushes its source. `FileObserver` is a source.
public protocol ChangeSource: AnyObject, Sendable {
  /// Submits every change made before this call, then calls `done` once, on any queue.
  func flush(then done: @escaping @Sendable () -> Void)
}

extension FileObserver: ChangeSource {}
