import Dispatch
import PathFiltering
import Synchronization
import SystemCalls

// Changes of a running observer, and questions to it.
extension FileObserver {
  /// The watched paths, made absolute, in the order in which they were added. Empty once the
  /// observer has stopped or failed.
  public var watchedPaths: [WatchedPath] {
    state.withLock { state in
      switch state.phase {
      case .idle, .starting, .running: state.roots.map(\.watched)
      case .failed, .stopped: []
      }
    }
  }

  /// Watches one more file or directory. Changes in it from now on are reported like all others.
  ///
  /// A path that is already watched in the same way is not added again. An observer that has not
  /// been started watches the path from its start. A stopped observer does nothing.
  ///
  /// - Throws: ``ObserverError/Code-swift.struct/pathUnavailable`` if the path does not exist,
  ///   unless it may be missing.
  public func add(_ path: WatchedPath) throws(ObserverError) {
    let added = try WatchedRoot(path, isObserved: true)
    let root = added.root
    let request = state.withLock { state -> (() -> Void)? in
      if state.roots.contains(where: { $0.root == root }) { return nil }
      state.roots.append(added)
      return state.makeRequest { $0?.add(root) }
    }
    request?()
  }

  /// Watches one more file or directory, recursively, which must exist.
  @_disfavoredOverload
  public func add(_ path: Path) throws(ObserverError) {
    try add(WatchedPath(path))
  }

  /// Stops watching a file or directory that is one of ``watchedPaths``.
  ///
  /// A part of it that another watched path covers stays watched. Changes that were noticed before
  /// are still reported.
  ///
  /// - Parameter path: The path. A relative one is resolved against the current directory.
  /// - Returns: Whether the path was watched.
  @discardableResult
  public func remove(_ path: Path) -> Bool {
    guard let base = path.isAbsolute ? "/" : (try? currentDirectory()) else { return false }
    let path = path.absolute(from: base)
    let request = state.withLock { state -> (() -> Void)? in
      let rest = state.roots.filter { $0.path != path }
      if rest.count == state.roots.count { return nil }
      state.roots = rest
      return state.makeRequest { $0?.remove(path) }
    }
    request?()
    return request != nil
  }

  /// Holds changes back until ``resume()``. The observer goes on watching, and no change is lost.
  public func pause() {
    state.withLock { $0.isPaused = true }
  }

  /// Ends a pause. Changes made during the pause are delivered as one batch.
  public func resume() {
    let isBurstKept = state.withLock { state in
      state.isPaused = false
      defer { state.isBurstKept = false }
      return state.isBurstKept
    }
    // On the queue, like every other burst, so that batches keep their order.
    if isBurstKept { queue.async { [weak self] in self?.deliverBurst(isPartial: false) } }
  }

  /// The present values of the observer's counters.
  public var statistics: Statistics {
    let (backend, batches) = state.withLock { ($0.backend, $0.batchCount) }
    var statistics = backend?.statistics ?? Statistics()
    statistics.batches = batches
    return statistics
  }

  /// Waits for the next batch, for scripts that do nothing else meanwhile.
  ///
  /// The first call starts the observer if it has not been started. From then on, changes between
  /// two calls are kept for the next call, as in a stream. The method blocks its thread; a task uses ``events`` or
  /// ``batches`` instead.
  ///
  /// - Returns: The oldest batch that has not been returned, merged with those that follow it; `nil` if
  ///   the observer is stopped.
  /// - Throws: ``ObserverError`` if observing cannot start, or has failed.
  public func waitForChange() throws(ObserverError) -> ChangeBatch? {
    if case .changed(let batch) = try wait(until: .distantFuture) { batch } else { nil }
  }

  /// Waits for the next batch like ``waitForChange()``, but not longer than a time.
  ///
  /// - Throws: ``ObserverError`` if observing cannot start, or has failed.
  public func waitForChange(timeout: Duration) throws(ObserverError) -> WaitResult {
    try wait(until: .now() + .nanoseconds(Int(clamping: timeout.nanoseconds)))
  }

  /// Why ``waitForChange(timeout:)`` has returned.
  public enum WaitResult: Sendable, Hashable {
    /// The oldest batch that has not been returned, merged with those that follow it.
    case changed(ChangeBatch)
    /// Nothing has changed in that time.
    case timedOut
    /// The observer is stopped.
    case stopped
  }

  private func wait(until deadline: DispatchTime) throws(ObserverError) -> WaitResult {
    let inbox = openInbox()
    try startIfNeeded()
    let arrived = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Event?, ObserverError>?>(nil)
    let reader = ObjectIdentifier(arrived).hashValue
    inbox.wait(by: reader) { event in
      result.withLock { $0 = event }
      arrived.signal()
    }
    if arrived.wait(timeout: deadline) == .timedOut {
      if inbox.leave(reader) != nil { return .timedOut }
      // It is being called.
      arrived.wait()
    }
    let event = try result.withLock { $0 }?.get()
    return if case .changed(let batch) = event { .changed(batch) } else { .stopped }
  }

  private func openInbox() -> EventBuffer {
    let (inbox, isNew) = state.withLock { state in
      let known = state.inbox
      let inbox = known ?? EventBuffer()
      state.inbox = inbox
      return (inbox, known == nil)
    }
    if isNew {
      subscribe(
        Subscriber(
          receive: { if case .changed = $0 { inbox.put($0) } },
          end: { inbox.close($0) }, settle: { $1() }))
    }
    return inbox
  }
}
