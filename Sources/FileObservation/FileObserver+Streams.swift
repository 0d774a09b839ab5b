#if !WITHOUT_CONCURRENCY

// The only file here that uses Swift concurrency. It is left out of the program of a release: what is
// async is never stripped, and neither is the runtime that it needs.

extension FileObserver {
  /// The events from now on: the primary way to observe from a task.
  ///
  /// The first iteration starts the observer if it has not been started; call ``start()`` to choose
  /// an earlier moment, after you have taken the stream. Each access returns a new stream of the events from then on, which keeps the
  /// observer alive. While its task does not read, batches are merged (``ChangeBatch/merge(_:)``), so
  /// that the stream holds no more than the paths that have changed.
  ///
  /// The stream ends when the observer is stopped or the task is cancelled, and throws an
  /// ``ObserverError`` if observing cannot start, or fails. The observer runs on after its last
  /// stream has ended, until `stop` or until it is released.
  public var events: some AsyncSequence<Event, ObserverError> & Sendable {
    EventStream(of: self) { $0 }
  }

  /// The batches from now on: ``events`` without readiness and warnings.
  ///
  /// It drops warnings, such as that a part of the tree is polled or cannot be watched; see
  /// ``batches(onWarning:)``.
  public var batches: some AsyncSequence<ChangeBatch, ObserverError> & Sendable {
    batches { _ in }
  }

  /// The batches from now on, with a closure for the warnings between them.
  ///
  /// - Parameter onWarning: Called by the iterating task, in order with the batches.
  public func batches(
    onWarning: @escaping @Sendable (ObserverWarning) -> Void
  ) -> some AsyncSequence<ChangeBatch, ObserverError> & Sendable {
    EventStream(of: self) { event in
      switch event {
      case .changed(let batch): return batch
      case .warning(let warning): onWarning(warning)
      case .ready: break
      }
      return nil
    }
  }

  /// Delivers every change made before this call, like ``flush(then:)``, and returns when the handler
  /// has returned from it, and each task that reads a stream has come back for the next element.
  ///
  /// A task that reads a stream may call it between two elements, and is not waited for: it finds the
  /// changes in the stream. It must not await a child task that calls it.
  public func flush() async {
    let task = currentTask()
    await withCheckedContinuation { continuation in
      flush { [self] in settle(for: task) { continuation.resume() } }
    }
  }

  /// Stops observing, like the other method of this name, and returns when no handler is running any
  /// more, or will be called again.
  public func stop() async {
    await withCheckedContinuation { continuation in
      stop { continuation.resume() }
    }
  }
}

/// The events that `select` returns an element for.
private struct EventStream<Element: Sendable>: AsyncSequence, Sendable {
  struct Iterator: AsyncIteratorProtocol {
    /// `nil` after the end, so that the observer is released.
    var reading: StreamReading?
    let select: @Sendable (FileObserver.Event) -> Element?

    mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(ObserverError) -> Element? {
      while let event = try await nextEvent(isolation: actor) {
        if let element = select(event) { return element }
      }
      return nil
    }

    private mutating func nextEvent(
      isolation actor: isolated (any Actor)?
    ) async throws(ObserverError) -> FileObserver.Event? {
      guard let reading else { return nil }
      reading.task = currentTask()
      do throws(ObserverError) {
        try reading.reader.observer.startIfNeeded()
        if let event = try await reading.reader.buffer.next() { return event }
      } catch {
        self.reading = nil
        throw error
      }
      self.reading = nil
      return nil
    }
  }

  private let reader: StreamReader
  private let select: @Sendable (FileObserver.Event) -> Element?

  init(
    of observer: FileObserver, _ select: @escaping @Sendable (FileObserver.Event) -> Element?
  ) {
    reader = StreamReader(observer)
    self.select = select
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(reading: StreamReading(reader), select: select)
  }
}

/// An iteration of a stream. Its task is not waited for any more after it has left the loop.
private final class StreamReading {
  let reader: StreamReader
  var task: Int?

  init(_ reader: StreamReader) {
    self.reader = reader
  }

  deinit {
    if let task { _ = reader.buffer.leave(task) }
  }
}

/// Tells the present task from others that exist at the same time.
private func currentTask() -> Int? { withUnsafeCurrentTask { $0?.hashValue } }

extension EventBuffer {
  /// Waits for the next event; `nil` at the end, or when the task is cancelled.
  func next() async throws(ObserverError) -> FileObserver.Event? {
    let task = currentTask()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation {
        (continuation: CheckedContinuation<Result<FileObserver.Event?, ObserverError>, Never>) in
        // What waits is for others that share the stream.
        if Task.isCancelled {
          _ = leave(task)
          return continuation.resume(returning: .success(nil))
        }
        wait(by: task) { continuation.resume(returning: $0) }
        // Before there was a reader.
        if Task.isCancelled { leave(task)?(.success(nil)) }
      }
    } onCancel: {
      leave(task)?(.success(nil))
    }
    return try result.get()
  }
}

#endif  // !WITHOUT_CONCURRENCY
