import Dispatch
import Synchronization

/// A queue of batches, and of threads that wait for them.
final class BatchInbox: Sendable {
  private struct State {
    var batches: [ChangeBatch] = []
    var isClosed = false
    var failure: ObserverError?
  }

  private let state = Mutex(State())
  /// Counts the batches, and one more when it is closed.
  private let available = DispatchSemaphore(value: 0)

  func put(_ batch: ChangeBatch) {
    state.withLock { $0.batches.append(batch) }
    available.signal()
  }

  /// Closes the queue after the batches that it contains, with an error if observing failed.
  func close(_ failure: ObserverError? = nil) {
    state.withLock { state in
      state.isClosed = true
      state.failure = state.failure ?? failure
    }
    available.signal()
  }

  /// Removes and returns the oldest batch, if one arrives before the deadline.
  func take(until deadline: DispatchTime) throws(ObserverError) -> FileObserver.WaitResult {
    guard available.wait(timeout: deadline) == .success else { return .timedOut }
    let (batch, failure, isClosed) = state.withLock { state in
      (
        state.batches.isEmpty ? nil : state.batches.removeFirst(), state.failure, state.isClosed
      )
    }
    if let batch { return .changed(batch) }
    // Wakes the next waiting thread.
    if isClosed { available.signal() }
    if let failure { throw failure }
    return .stopped
  }
}
