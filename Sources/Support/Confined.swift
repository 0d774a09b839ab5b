import Dispatch

/// State that is only ever touched on one serial queue, which every access asserts.
///
/// For state that is worked on at length, where a lock would be held at length; elsewhere a `Mutex`
/// is the better guard.
package final class Confined<State>: @unchecked Sendable {
  // Unchecked, because the compiler cannot know that the queue is serial and that `access` is only
  // called on it. The precondition in `access`, the one way to the state, does.
  private var state: State
  private let queue: DispatchQueue

  package init(_ state: State, to queue: DispatchQueue) {
    self.state = state
    self.queue = queue
  }

  /// Calls `body` with the state. Only on the queue.
  package func access<Result>(_ body: (inout State) -> Result) -> Result {
    dispatchPrecondition(condition: .onQueue(queue))
    return body(&state)
  }
}
