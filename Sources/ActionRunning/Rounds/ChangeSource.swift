import FileObservation

/// Where the changes that are submitted come from.
///
/// Commands write files. When a run has ended, a queue must know which changes were made before its
/// end, so it asks its source to hand over everything up to now. A `FileObserver` is a source.
public protocol ChangeSource: AnyObject, Sendable {
  /// Submits every change made before this call, then calls `done` once, on any queue.
  func flush(then done: @escaping @Sendable () -> Void)
}

extension FileObserver: ChangeSource {}
