import Dispatch
import SystemCalls

extension FileObserver {
  /// The stage of an observer's life. It never returns to an earlier one.
  enum Phase {
    case idle
    /// The backend is starting. It receives requests that are made meanwhile later.
    case starting([BackendRequest])
    case running(any Backend)
    case failed(ObserverError)
    case stopped
  }

  /// Adds or removes a path, or flushes. Called without a backend if there is none, or none any
  /// more.
  typealias BackendRequest = @Sendable ((any Backend)?) -> Void

  /// A receiver of events.
  struct Subscriber: Sendable {
    let receive: @Sendable (Event) -> Void
    /// Called once, after the last event: with the error if observing failed.
    let end: @Sendable (ObserverError?) -> Void
    /// Calls a closure when the receiver has dealt with all events so far. A task that asks is not
    /// waited for.
    let settle: @Sendable (_ task: Int?, _ done: @escaping @Sendable () -> Void) -> Void
  }

  typealias Subscription = Int

  struct State {
    fileprivate(set) var phase = Phase.idle
    fileprivate var subscribers: [(subscription: Subscription, subscriber: Subscriber)] = []
    fileprivate var subscriptionCount = 0
    /// The batches for `waitForChange`.
    var inbox: EventBuffer?
    var debouncer: Debouncer?
    var burst = Burst()
    var batchCount = 0
    var roots: [WatchedRoot] = []
    var isPaused = false
    var handlerQueue: DispatchQueue?
    /// Whether a burst has ended during the pause.
    var isBurstKept = false
    var changesArrived: (@Sendable (_ isFirst: Bool, _ saved: [Path]) -> Void)?
  }
}

// MARK: - Phases

extension FileObserver.State {
  var backend: (any Backend)? {
    if case .running(let backend) = phase { backend } else { nil }
  }

  /// Begins to start. Returns the roots to watch; `nil` if the observer is not idle.
  mutating func beginStart() -> [BackendConfiguration.Root]? {
    guard case .idle = phase else { return nil }
    phase = .starting([])
    return roots.map(\.root)
  }

  /// Takes the requests that were made since the start began or since the last call. If there are
  /// none, the backend is running from now on.
  mutating func finishStart(of backend: any Backend) -> [FileObserver.BackendRequest] {
    guard case .starting(let requests) = phase else { return [] }
    phase = requests.isEmpty ? .running(backend) : .starting([])
    return requests
  }

  /// Makes a request, at once or when the backend has started. Returns what the caller must call
  /// after it has released the lock.
  mutating func makeRequest(_ request: @escaping FileObserver.BackendRequest) -> () -> Void {
    if case .starting(let requests) = phase {
      phase = .starting(requests + [request])
      return {}
    }
    return { [backend] in request(backend) }
  }
}

// MARK: - Subscribers

extension FileObserver {
  /// Calls a subscriber for each event from now on. If observing is over, its `end` is called at
  /// once.
  @discardableResult
  func subscribe(_ subscriber: Subscriber) -> Subscription {
    let (subscription, outcome) = state.withLock { state in
      (state.add(subscriber), state.outcome)
    }
    if let outcome { subscriber.end(outcome.error) }
    return subscription
  }

  func unsubscribe(_ subscription: Subscription) {
    state.withLock { state in
      state.subscribers.removeAll { $0.subscription == subscription }
    }
  }

  func send(_ event: Event) {
    let subscribers = state.withLock { $0.subscribers }
    for (_, subscriber) in subscribers { subscriber.receive(event) }
  }

  /// Calls `done` when all receivers but the task that asks have dealt with all events so far.
  func settle(for task: Int?, _ done: @escaping @Sendable () -> Void) {
    let subscribers = state.withLock { $0.subscribers.map(\.subscriber) }
    // One after the other, the last one first.
    subscribers.reduce(done) { done, subscriber in
      { subscriber.settle(task, done) }
    }()
  }

  /// Ends observing, with an error if it failed, and releases everything. Only the first call
  /// counts.
  func end(_ error: ObserverError? = nil) {
    guard let ended = state.withLock({ $0.end(error) }) else { return }
    comparison?.stop()
    ended.backend?.stop()
    for request in ended.requests { request(nil) }
    // On the queue, because stopping the debouncer calls the completion handlers of `flush`.
    queue.async { ended.debouncer?.stop() }
    for subscriber in ended.subscribers { subscriber.end(error) }
  }
}

extension FileObserver.State {
  /// How observing ended; `nil` as long as it has not.
  fileprivate var outcome: (error: ObserverError?, Void)? {
    switch phase {
    case .idle, .starting, .running: nil
    case .failed(let error): (error, ())
    case .stopped: (nil, ())
    }
  }

  mutating func add(_ subscriber: FileObserver.Subscriber) -> FileObserver.Subscription {
    subscriptionCount += 1
    if outcome == nil { subscribers.append((subscriptionCount, subscriber)) }
    return subscriptionCount
  }

  fileprivate mutating func end(_ error: ObserverError?) -> (
    backend: (any Backend)?, requests: [FileObserver.BackendRequest], debouncer: Debouncer?,
    subscribers: [FileObserver.Subscriber]
  )? {
    guard outcome == nil else { return nil }
    let requests =
      if case .starting(let requests) = phase { requests } else { [FileObserver.BackendRequest]() }
    defer {
      phase = error.map { .failed($0) } ?? .stopped
      (debouncer, subscribers) = (nil, [])
    }
    return (backend, requests, debouncer, subscribers.map(\.subscriber))
  }
}
