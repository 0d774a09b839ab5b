import Dispatch

/// State that is confined to a serial queue, which every access asserts.
///
/// It is for state that is used for long operations, during which a lock would be held. Elsewhere,
/// use a `Mutex`.
package final class Confined<State>: @unchecked Sendable {
  // Unchecked, because the compiler cannot check that the queue is serial and that `access` is only
  // called on it. The precondition in `access`, the only access to the state, does.
  private var state: State
  private let queue: DispatchQueue

  package init(_ state: State, to queue: DispatchQueue) {
    self.state = state
    self.queue = queue
    assert(queue.isMarked())
  }

  /// Calls `body` with the state. Must be called on the queue; anything else is a programming
  /// error, and traps.
  package func access<Result>(_ body: (inout State) -> Result) -> Result {
    dispatchPrecondition(condition: .onQueue(queue))
    return body(&state)
  }
}

extension DispatchQueue {
  /// The queues that wait, and are waited for: each waits only for those after it. Two that wait for each
  /// other would wait for ever.
  private static let order = ["watchrun.observer", "watchrun.tasks", "watchrun.pages"]
  private static let place = DispatchSpecificKey<Int>()

  /// Does work on the queue, and waits for it. A debug build stops if that is against the order.
  package func wait<Result>(for work: () -> Result) -> Result {
    assert(mayBeAwaited, "\(label) is awaited by a queue that comes after it")
    return sync(execute: work)
  }

  /// Whether the present queue may wait for this one.
  package var mayBeAwaited: Bool {
    guard let own = Self.order.firstIndex(of: label),
      let present = DispatchQueue.getSpecific(key: Self.place)
    else { return true }
    return present < own
  }

  /// Marks the queue with its place in the order, so that work on it knows that. Returns true.
  fileprivate func isMarked() -> Bool {
    // Once: Dispatch releases a value that is replaced on a global queue, so that an idle process wakes
    // up every second from then on.
    if let place = Self.order.firstIndex(of: label), getSpecific(key: Self.place) == nil {
      setSpecific(key: Self.place, value: place)
    }
    return true
  }
}
