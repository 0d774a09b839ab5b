// The only file that uses Swift concurrency. A program without streams is linked without its
// runtime, as long as no type here conforms to one of its protocols.

extension FileObserver {
  /// The events from now on: the primary way to observe from a task.
  ///
  /// ```swift
  /// let observer = try FileObserver(paths: ["Sources"])
  /// for try await event in observer.events {
  ///   if case .changed(let batch) = event { print(batch.changes) }
  /// }
  /// ```
  ///
  /// The first iteration starts the observer if it has not been started; call ``start()`` to choose
  /// an earlier moment. Each access returns a new stream of the events from then on. It buffers
  /// events without limit until they are consumed, and keeps the observer alive.
  ///
  /// The stream ends when the observer is stopped or the task is cancelled, and throws an
  /// ``ObserverError`` if observing cannot start, or fails. The observer runs on after its last
  /// stream has ended, until ``stop()`` or until it is released.
  public var events: AsyncThrowingStream<Event, any Error> {
    makeStream { $0 }
  }

  /// The batches from now on: ``events`` without readiness and warnings.
  public var batches: AsyncThrowingStream<ChangeBatch, any Error> {
    makeStream { if case .changed(let batch) = $0 { batch } else { nil } }
  }

  private func makeStream<Element: Sendable>(
    of select: @escaping @Sendable (Event) -> Element?
  ) -> AsyncThrowingStream<Element, any Error> {
    let received = AsyncThrowingStream<Element, any Error> { continuation in
      let subscription = subscribe(
        Subscriber(
          receive: { event in
            if let element = select(event) { continuation.yield(element) }
          },
          end: { continuation.finish(throwing: $0) }))
      continuation.onTermination = { [weak self] _ in self?.unsubscribe(subscription) }
    }
    return AsyncThrowingStream { [self] in
      try startIfNeeded()
      var iterator = received.makeAsyncIterator()
      return try await iterator.next()
    }
  }
}
