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
    /// The tasks that have received an event, and have not come back for the next one.
    var busy: Set<Int?> = []
    /// Called when no task is busy any more but the one that asks.
    var settled: [(task: Int?, call: @Sendable () -> Void)] = []
    /// Set when the events are the last ones.
    var end: Result<Void, ObserverError>?
  }

  private let state = Mutex(State())

  func put(_ event: FileObserver.Event) {
    let reader = state.withLock { state -> Reader? in
      if state.readers.isEmpty {
        if state.end == nil { state.add(event) }
        return nil
      }
      let reader = state.readers.removeFirst()
      state.busy.insert(reader.task)
      return reader.call
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
    for asking in settled { asking.call() }
  }

  /// Calls `done` when all readers have dealt with all events so far; at once if there is none but the
  /// task that asks, which would wait for itself.
  func settle(for task: Int?, _ done: @escaping @Sendable () -> Void) {
    let isSettled = state.withLock { state in
      if state.end != nil || state.isSettled(for: task) { return true }
      state.settled.append((task, done))
      return false
    }
    if isSettled { done() }
  }

  /// Calls `reader` with the next event, or with `nil` at the end.
  func wait(by task: Int?, _ reader: @escaping Reader) {
    let (result, settled) = state.withLock {
      state -> (Result<FileObserver.Event?, ObserverError>?, [@Sendable () -> Void]) in
      if !state.events.isEmpty {
        state.busy.insert(task)
        return (.success(state.events.removeFirst()), [])
      }
      state.busy.remove(task)
      if let end = state.end { return (end.map { nil }, []) }
      state.readers.append((task, reader))
      return (nil, state.takeSettled())
    }
    if let result { reader(result) }
    for call in settled { call() }
  }

  /// A task does not read any longer. Returns its reader; `nil` if it does not wait.
  func leave(_ task: Int?) -> Reader? {
    let (reader, settled) = state.withLock { state -> (Reader?, [@Sendable () -> Void]) in
      let index = state.readers.firstIndex { $0.task == task }
      state.busy.remove(task)
      return (index.map { state.readers.remove(at: $0).call }, state.takeSettled())
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
  fileprivate func isSettled(for task: Int?) -> Bool {
    busy.allSatisfy { $0 != nil && $0 == task }
  }

  fileprivate mutating func takeSettled() -> [@Sendable () -> Void] {
    let asking = settled
    settled = asking.filter { !isSettled(for: $0.task) }
    return asking.filter { isSettled(for: $0.task) }.map(\.call)
  }

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
