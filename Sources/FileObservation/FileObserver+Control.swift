import Dispatch
import PathFiltering
import SystemCalls

// What can be asked of an observer while it is at work.
extension FileObserver {
  /// Watches one more file or directory. Changes in it from now on are reported like all others.
  /// What is watched already stays as it is. An observer that is not running remembers it for its
  /// start.
  ///
  /// - Throws: `ObserverError` if the path does not exist but must.
  public func add(_ path: WatchedPath) throws(ObserverError) {
    let root = try Self.root(of: path)
    let lock = gitIndexLock(above: root.path)
    let backend = state.withLock { state -> (any Backend)? in
      if state.roots.contains(root) { return nil }
      state.roots.append(root)
      state.gitLocks[root.path] = lock
      return state.backend(for: { $0.add(root) })
    }
    backend?.add(root)
  }

  /// Ends watching a file or directory that was given at the start or added since, by the same path.
  /// What another one covers stays watched. Changes that were noticed before are still reported.
  public func remove(_ path: Path) {
    guard let here = try? currentDirectory() else { return }
    let path = path.absolute(from: here)
    let backend = state.withLock { state -> (any Backend)? in
      let rest = state.roots.filter { $0.path != path }
      if rest.count == state.roots.count { return nil }
      state.roots = rest
      state.gitLocks[path] = nil
      return state.backend(for: { $0.remove(path) })
    }
    backend?.remove(path)
  }

  /// Holds changes back until `resume`. The observer goes on watching; nothing is lost.
  public func pause() {
    state.withLock { $0.isPaused = true }
  }

  /// Ends a pause. Changes that were made in it are handed over as one batch.
  public func resume() {
    let isBurstKept = state.withLock { state in
      state.isPaused = false
      defer { state.isBurstKept = false }
      return state.isBurstKept
    }
    // On the queue, like every other burst, so that batches keep their order.
    if isBurstKept { queue.async { [weak self] in self?.burstEnded() } }
  }

  /// How it stands at present.
  public var statistics: Statistics {
    let (backend, batches) = state.withLock { ($0.backend, $0.batchCount) }
    let numbers = backend?.statistics ?? BackendStatistics()
    return Statistics(
      watches: numbers.watches, polledDirectories: numbers.polledDirectories,
      pruned: numbers.pruned,
      overflows: numbers.overflows, rescans: numbers.rescans, batches: batches)
  }

  /// Waits for the next batch, for scripts and tools that do nothing else meanwhile.
  ///
  /// ```swift
  /// let observer = try FileObserver(paths: ["Sources"])
  /// while let batch = try observer.waitForChange() { build(batch.changes) }
  /// ```
  ///
  /// The first call starts the observer if it has not been started. From then on, changes between two
  /// calls are kept for the next. It blocks the thread, so do not call it in a task, which takes
  /// ``events`` or ``batches`` instead.
  ///
  /// - Parameter timeout: The longest time to wait; `nil` for no limit.
  /// - Returns: The oldest batch that has not been taken; `nil` if the time is over, or the observer
  ///   stopped.
  /// - Throws: `ObserverError` if observing cannot begin, or has failed.
  public func waitForChange(timeout: Duration? = nil) throws(ObserverError) -> ChangeBatch? {
    let inbox = openInbox()
    try startIfNeeded()
    let deadline =
      timeout.map { DispatchTime.now() + .nanoseconds(Int(clamping: $0.nanoseconds)) }
      ?? .distantFuture
    return try inbox.take(until: deadline)
  }

  private func openInbox() -> BatchInbox {
    let (inbox, isNew) = state.withLock { state in
      let known = state.inbox
      let inbox = known ?? BatchInbox()
      state.inbox = inbox
      return (inbox, known == nil)
    }
    if isNew {
      subscribe(
        Subscriber(
          receive: { if case .changed(let batch) = $0 { inbox.put(batch) } },
          end: { inbox.close($0) }))
    }
    return inbox
  }
}
