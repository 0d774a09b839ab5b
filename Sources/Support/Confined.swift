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
  }

  /// Calls `body` with the state. Must be called on the queue; anything else is a programming
  /// error, and traps.
  package func access<Result>(_ body: (inout State) -> Result) -> Result {
    dispatchPrecondition(condition: .onQueue(queue))
    return body(&state)
  }
}
