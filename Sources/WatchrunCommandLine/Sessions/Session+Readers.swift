import Dispatch
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

extension Session {
  /// Ends watchrun as a hang-up does when nothing reads its output any more, in the moment in which the last
  /// reader closes its pipe or socket. Does nothing if this process was started to ignore hang-ups or closed
  /// pipes, as by `nohup`.
  func watchReaders() {
    let gone = Mutex(OutputReaders())
    let handle: @Sendable (Int32) -> Void = { [self] descriptor in
      if gone.withLock({ $0.closed(descriptor) }) {
        endWork(.exit(ExitCode.success), escalates: false)
      }
    }
    console.failures.whenBroken(handle)
    if !ignoredSignals.isDisjoint(with: [.hangup, Signal(rawValue: SIGPIPE)]) { return }
    let queue = DispatchQueue(label: "watchrun.readers")
    for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
      whenReaderCloses(descriptor, on: queue) { handle(descriptor) }
    }
  }
}

/// The readers of standard output and standard error: which of them have closed their pipes, and whether any is
/// left that matters.
struct OutputReaders: Sendable {
  /// The descriptors that lead to a reader: a pipe, a socket or a terminal. A file needs none.
  private var read: Set<Int32>

  init(
    read: Set<Int32> = Set([STDOUT_FILENO, STDERR_FILENO].filter(hasReader))
  ) {
    self.read = read
  }

  /// The reader of the descriptor has closed it. Returns whether watchrun ends: without a reader of standard
  /// output as other programs do (SIGPIPE), without one of messages only if nothing else is read.
  mutating func closed(_ descriptor: Int32) -> Bool {
    read.remove(descriptor)
    return descriptor == STDOUT_FILENO || read.isEmpty
  }
}

/// Whether what is written to the descriptor goes to a process or a person, not to a file.
func hasReader(_ descriptor: Int32) -> Bool {
  isPipeOrSocket(descriptor) || Terminal.isTerminal(descriptor)
}

/// Calls `body` on the queue when the last reader of a pipe, or the peer of a socket, has closed it. Of other
/// descriptors, it is never called.
private func whenReaderCloses(
  _ descriptor: Int32, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
) {
  // Without it, a write notices the same.
  guard let hangUp = try? ReaderHangUp(of: descriptor) else { return }
  let number = hangUp.release()
  let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
  source.setCancelHandler { @Sendable in _ = Descriptor(owning: number) }
  source.activateRetained { cancel in
    cancel()
    body()
  }
}
