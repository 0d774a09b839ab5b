import Synchronization
import SystemCalls

/// What has become known by writes that failed: readers that have closed their pipes, and lost output.
final class WriteFailures: Sendable {
  private struct State {
    /// The descriptors whose readers have closed their pipes.
    var broken: Set<Int32> = []
    /// The descriptors that could not be written for another reason, such as a full disk.
    var lossy: Set<Int32> = []
    var whenBroken: (@Sendable (Int32) -> Void)?
  }

  private let state = Mutex(State())

  /// Calls `body` once for each descriptor whose reader has closed its pipe.
  func whenBroken(_ body: @escaping @Sendable (Int32) -> Void) {
    let broken = state.withLock { state in
      state.whenBroken = body
      return state.broken
    }
    for descriptor in broken.sorted() { body(descriptor) }
  }

  /// Whether messages or output were lost for another reason than a reader that has closed its pipe.
  var hasLostOutput: Bool { state.withLock { !$0.lossy.isEmpty } }

  /// Takes a failure. Returns whether it is the first one of the descriptor that is lost output.
  @discardableResult
  func note(_ error: SystemError, of descriptor: Int32) -> Bool {
    // Nobody misses the output of a terminal that is closed, whose hang-up ends watchrun.
    if Terminal(descriptor).isGone { return false }
    if error.code != EPIPE { return state.withLock { $0.lossy.insert(descriptor).inserted } }
    let body = state.withLock { state in
      state.broken.insert(descriptor).inserted ? state.whenBroken : nil
    }
    body?(descriptor)
    return false
  }
}
