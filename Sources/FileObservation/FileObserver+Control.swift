import Dispatch
import SystemCalls

// What can be asked of an observer while it is at work.
extension FileObserver {
  /// Watches one more file or folder. Changes in it from now on are told of, as are those in all
  /// else. What is watched already stays as it is.
  ///
  /// - Throws: `ObserverError` if it does not exist and has to.
  public func add(_ path: WatchedPath) throws(ObserverError) {
    let root = try Self.root(of: path)
    let backend = state.withLock { state -> (any Backend)? in
      if state.roots.contains(root) { return nil }
      state.setRoots(state.roots + [root])
      return state.backend
    }
    backend?.add(root)
  }

  /// Ends watching a file or folder that was given at the start or added since, by the same path.
  /// What another one covers stays watched. What has been noticed already is still told of.
  public func remove(_ path: Path) {
    guard let here = try? currentDirectory() else { return }
    let path = path.absolute(from: here)
    let backend = state.withLock { state -> (any Backend)? in
      let rest = state.roots.filter { $0.path != path }
      if rest.count == state.roots.count { return nil }
      state.setRoots(rest)
      return state.backend
    }
    backend?.remove(path)
  }

  /// Keeps back what changes until `resume`. It goes on watching; nothing is lost.
  public func pause() {
    state.withLock { $0.isPaused = true }
  }

  /// Ends a pause. What has changed in it is handed over as one batch.
  public func resume() {
    let isBurstKept = state.withLock { state in
      state.isPaused = false
      defer { state.isBurstKept = false }
      return state.isBurstKept
    }
    if isBurstKept { burstEnded() }
  }

  /// How it stands at present.
  public var statistics: Statistics {
    let (backend, batches) = state.withLock { ($0.backend, $0.batchCount) }
    let numbers = backend?.statistics ?? BackendStatistics()
    return Statistics(
      watches: numbers.watches, polledFolders: numbers.polledFolders, pruned: numbers.pruned,
      overflows: numbers.overflows, rescans: numbers.rescans, batches: batches)
  }

  /// Waits until something has changed, for scripts and tools that do nothing else meanwhile.
  ///
  /// ```swift
  /// let observer = try FileObserver(paths: ["Sources"])
  /// while let batch = try observer.waitForChange() { build(batch.changes) }
  /// ```
  ///
  /// The first call starts the observer if it has not been started. From then on what changes
  /// between two calls is kept for the next. It blocks the thread, so it does not belong into a
  /// task: there, take `batches`.
  ///
  /// - Parameter timeout: How long to wait; if nil, for as long as it takes.
  /// - Returns: The oldest batch that has not been taken; nil if the time is over, or the observer
  ///   stopped.
  /// - Throws: `ObserverError` if watching cannot begin, or has failed.
  public func waitForChange(timeout: Duration? = nil) throws(ObserverError) -> ChangeBatch? {
    let isFirst = inbox.open()
    let isStarted = state.withLock { $0.backend != nil || $0.isStopped }
    if isFirst && !isStarted { try start { _ in } }
    let deadline =
      timeout.map { DispatchTime.now() + .nanoseconds(Int(clamping: $0.nanoseconds)) }
      ?? .distantFuture
    return try inbox.take(until: deadline)
  }
}
