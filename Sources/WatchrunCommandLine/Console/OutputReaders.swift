import Synchronization
import SystemCalls

/// The readers of standard output and standard error: which of them have closed their pipes, and what they have lost.
final class OutputReaders: Sendable {
  private struct State {
    /// The descriptors that lead to a reader: a pipe, a socket or a terminal. A file needs none.
    var read = Set([STDOUT_FILENO, STDERR_FILENO].filter(hasReader))
    /// The descriptors that could not be written for another reason, such as a full disk.
    var lossy: Set<Int32> = []
    var isOver = false
    var whenOver: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Calls `body` when watchrun ends for lack of readers: without one of standard output as other programs do
  /// (SIGPIPE), without one of messages only if nothing else is read. It may be called more than once.
  func whenOver(_ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      state.whenOver = body
      return state.isOver
    }
    if isOver { body() }
  }

  /// Whether messages or output were lost for another reason than a reader that has closed its pipe.
  var hasLostOutput: Bool { state.withLock { !$0.lossy.isEmpty } }

  /// The reader of the descriptor has closed it.
  func closed(_ descriptor: Int32) {
    let body = state.withLock { state in
      state.read.remove(descriptor)
      if descriptor == STDOUT_FILENO || state.read.isEmpty { state.isOver = true }
      return state.isOver ? state.whenOver : nil
    }
    body?()
  }

  /// Takes a failure to write. Returns whether it is the first one of the descriptor that is lost output.
  @discardableResult
  func note(_ error: SystemError, of descriptor: Int32) -> Bool {
    // A terminal that is closed needs no output, and its hang-up ends watchrun.
    if Terminal(descriptor).isGone { return false }
    if error.code != EPIPE { return state.withLock { $0.lossy.insert(descriptor).inserted } }
    closed(descriptor)
    return false
  }
}

/// Whether what is written to the descriptor goes to a process or a person, not to a file.
private func hasReader(_ descriptor: Int32) -> Bool {
  isPipeOrSocket(descriptor) || Terminal.isTerminal(descriptor)
}
