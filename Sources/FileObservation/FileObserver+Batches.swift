/// Who takes batches one by one. A program that has none is linked without the concurrency library.
struct BatchStream: Sendable {
  let yield: @Sendable (ChangeBatch) -> Void
  let finish: @Sendable () -> Void
}

extension FileObserver {
  /// The batches from now on, for `for await`. Each call gives a stream of its own, which keeps what
  /// has not been taken from it, and ends when the observer is stopped.
  public var batches: AsyncStream<ChangeBatch> {
    AsyncStream { continuation in
      let stream = BatchStream(
        yield: { continuation.yield($0) }, finish: { continuation.finish() })
      let number = state.withLock { state -> Int? in
        if state.isStopped { return nil }
        state.streamCount += 1
        state.streams[state.streamCount] = stream
        return state.streamCount
      }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { state in _ = state.streams.removeValue(forKey: number) }
      }
    }
  }
}
