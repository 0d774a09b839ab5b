import Dispatch
import Synchronization

/// Batches that wait to be taken, one by one, by threads that wait for them.
final class BatchInbox: Sendable {
  private struct State {
    /// Nothing is kept before the first asks.
    var isUsed = false
    var batches: [ChangeBatch] = []
    var isClosed = false
    var failure: ObserverError?
  }

  private let state = Mutex(State())
  /// Counts what there is to take.
  private let available = DispatchSemaphore(value: 0)

  /// From now on, batches are kept. True for the first time.
  func open() -> Bool {
    state.withLock { state in
      defer { state.isUsed = true }
      return !state.isUsed
    }
  }

  func put(_ batch: ChangeBatch) {
    let isKept = state.withLock { state in
      if state.isUsed { state.batches.append(batch) }
      return state.isUsed
    }
    if isKept { available.signal() }
  }

  /// No more will come.
  func close(_ failure: ObserverError? = nil) {
    state.withLock { state in
      state.isClosed = true
      state.failure = state.failure ?? failure
    }
    available.signal()
  }

  /// The oldest batch; nil if none has come by the deadline, or none will.
  func take(until deadline: DispatchTime) throws(ObserverError) -> ChangeBatch? {
    guard available.wait(timeout: deadline) == .success else { return nil }
    let (batch, failure, isClosed) = state.withLock { state in
      (
        state.batches.isEmpty ? nil : state.batches.removeFirst(), state.failure, state.isClosed
      )
    }
    if let batch { return batch }
    // Whoever else waits is to know it as well.
    if isClosed { available.signal() }
    if let failure { throw failure }
    return nil
  }
}
