import FileObservation
import Synchronization
import SystemCalls

/// The observer whose batches are submitted, if it is known. It is not kept alive.
final class AttachedObserver: Sendable {
  private struct State {
    weak var observer: FileObserver?
  }

  private let state = Mutex(State())

  func set(_ observer: FileObserver) {
    state.withLock { $0.observer = observer }
  }

  /// As `FileObserver.catchUp`.
  func catchUp(_ done: @escaping @Sendable (ClosedRange<Instant>) -> Void) {
    state.withLock { $0.observer }?.catchUp(done)
  }
}
