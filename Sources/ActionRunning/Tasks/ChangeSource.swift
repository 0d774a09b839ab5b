import FileObservation

/// The source of the changes that are submitted to a queue or a runner.
///
/// Commands write files. When a run has ended, the queue must know all changes that were made
/// before, so it flushes its source. A run to which they lead begins when the burst that is under
/// way has ended, like any other run. `FileObserver` is a source.
public protocol ChangeSource: AnyObject, Sendable {
  /// Submits every change made before this call, then calls `done` once, on any queue.
  func flush(then done: @escaping @Sendable () -> Void)

  /// Calls `done` once, on any queue, when the burst that is under way has ended and its changes
  /// were submitted; soon if no burst is under way.
  func awaitBurstEnd(then done: @escaping @Sendable () -> Void)
}

extension ChangeSource {
  /// Calls `done` at once: each flush ends the burst that is under way.
  public func awaitBurstEnd(then done: @escaping @Sendable () -> Void) { done() }
}

extension FileObserver: ChangeSource {}
