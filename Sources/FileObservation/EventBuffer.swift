import Synchronization

/// The events that a task or thread has not received yet. While none reads, batches are merged, so that
/// it holds not many more changes than paths that have changed.
final class EventBuffer: Sendable {
  // Not a continuation: its type would link the runtime of Swift concurrency into each program.
  typealias Reader = @Sendable (Result<FileObserver.Event?, ObserverError>) -> Void

  fileprivate struct State {
    var events: [FileObserver.Event] = []
    /// Those that wait, with their tasks. More than one if tasks share a stream.
    var readers: [(task: Int?, call: Reader)] = []
    /// Called when all events so far were received and the reader has come back for the next one.
    var settled: [@Sendable () -> Void] = []
    /// Whether a task reads.
    var isRead = false
    /// The task that has read last.
    var task: Int?
    /// Set when the events are the last ones.
    var end: Result<Void, ObserverError>?
  }

  private let state = Mutex(State())

  /// Adds an event.
  func put(_ event: FileObserver.Event) {
    let reader = state.withLock { state -> Reader? in
      if !state.readers.isEmpty { return state.readers.removeFirst().call }
      if state.end != nil { return nil }
      state.add(event)
      return nil
    }
    reader?(.success(event))
  }

  /// Ends the stream after the events that it contains, with an error if observing failed.
  func close(_ error: ObserverError?) {
    let (readers, end, settled) = state.withLock { state in
      let end = state.end ?? error.map { .failure($0) } ?? .success(())
      state.end = end
      defer { (state.readers, state.settled) = ([], []) }
      return (state.readers, end, state.settled)
    }
    for reader in readers { reader.call(end.map { nil }) }
    for call in settled { call() }
  }

  /// Calls `done` when the reader has dealt with all events so far; at once if there is no reader, or
  /// if it is the task that asks, which would wait for itself.
  func settle(for task: Int?, _ done: @escaping @Sendable () -> Void) {
    let isSettled = state.withLock { state in
      let isAsking = task != nil && state.task == task
      let isBusy = state.isRead && state.end == nil && state.readers.isEmpty && !isAsking
      if isBusy { state.settled.append(done) }
      return !isBusy
    }
    if isSettled { done() }
  }

  /// Calls `reader` with the next event, or with `nil` at the end.
  func wait(by task: Int?, _ reader: @escaping Reader) {
    let (result, settled) = state.withLock {
      state -> (Result<FileObserver.Event?, ObserverError>?, [@Sendable () -> Void]) in
      state.isRead = true
      state.task = task
      if !state.events.isEmpty { return (.success(state.events.removeFirst()), []) }
      defer { state.settled = [] }
      if let end = state.end { return (end.map { nil }, state.settled) }
      state.readers.append((task, reader))
      return (nil, state.settled)
    }
    if let result { reader(result) }
    for call in settled { call() }
  }

  /// A task does not read any longer. Returns its reader; `nil` if it does not wait.
  func leave(_ task: Int?) -> Reader? {
    let (reader, settled) = state.withLock { state -> (Reader?, [@Sendable () -> Void]) in
      let index = state.readers.firstIndex { $0.task == task }
      let reader = index.map { state.readers.remove(at: $0).call }
      guard state.task == task else { return (reader, []) }
      state.isRead = false
      defer { state.settled = [] }
      return (reader, state.settled)
    }
    for call in settled { call() }
    return reader
  }
}

/// The task of a stream. It keeps the observer alive.
final class StreamReader: Sendable {
  let observer: FileObserver
  let buffer = EventBuffer()
  let subscription: FileObserver.Subscription

  init(_ observer: FileObserver) {
    self.observer = observer
    let buffer = buffer
    subscription = observer.subscribe(
      FileObserver.Subscriber(
        receive: { buffer.put($0) }, end: { buffer.close($0) },
        settle: { buffer.settle(for: $0, $1) }))
  }

  deinit {
    observer.unsubscribe(subscription)
    buffer.close(nil)
  }
}

extension EventBuffer.State {
  /// Merging a batch costs as much as it is large. A larger one than this is merged only with one that is at
  /// least half as large, so that a change is merged a few times and not with each later batch.
  private static let mostMergedAlways = 1024

  fileprivate mutating func add(_ event: FileObserver.Event) {
    events.append(event)
    while events.count > 1, case .changed(let last) = events[events.count - 1],
      case .changed(var former) = events[events.count - 2],
      former.changes.count <= max(Self.mostMergedAlways, 2 * last.changes.count)
    {
      former.merge(last)
      events.removeLast()
      events[events.count - 1] = .changed(former)
    }
  }
}
