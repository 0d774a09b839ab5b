import SystemCalls

// The way from the reports of the backend to batches.
extension FileObserver {
  func receive(_ report: BackendReport) {
    switch report {
    case .events(let events, let overflow):
      let isMetadataWanted = options.kinds.contains(.metadata)
      let (news, debouncer, arrived) = state.withLock { state in
        let news = state.burst.note(
          events, afterOverflow: overflow, countsMetadata: isMetadataWanted)
        return (news, state.debouncer, state.changesArrived)
      }
      if !isMetadataWanted { noteIgnoredMetadata(in: events) }
      if let news { debouncer?.noteChange(isBeingWritten: news.isBeingWritten, events) }
      if let news { arrived?(news.isFirst, news.saved) }
    case .ready(let readiness):
      send(.ready(readiness))
    case .warning(let error):
      send(.warning(error))
    case .failed(let error):
      flushBurst { [weak self] in self?.end(error) }
    }
  }

  /// Delivers the changes so far of the burst that is being collected, then calls `done`.
  func flushBurst(then done: @escaping @Sendable () -> Void) {
    state.withLock { $0.debouncer }?.flush()
    afterDelivery(done)
  }

  /// Calls `done` after the bursts that are being compared.
  func afterDelivery(_ done: @escaping @Sendable () -> Void) {
    if let comparison { comparison.flush(then: done) } else { done() }
  }

  /// Sets the paths whose changes do not prolong a burst, so that other changes do not wait for them: logs.
  package func setFrequentPaths(_ paths: Set<Path>) {
    state.withLock { $0.burst.frequentPaths = paths }
  }

  /// Sets what is called when changes are noted, long before they are delivered: on the observer's queue, which it
  /// must not block. It is told whether a burst begins with them, and the files among them that existed before and
  /// are not open for writing. A flush delivers them at once; the burst goes on then.
  package func whenChangesArrive(
    _ body: @escaping @Sendable (_ isFirst: Bool, _ saved: [Path]) -> Void
  ) {
    state.withLock { $0.changesArrived = body }
  }

  /// - Parameter isPartial: Whether the burst goes on, and a flush asks for the changes so far.
  func deliverBurst(isPartial: Bool) {
    let burst = state.withLock { state -> Burst? in
      if state.isPaused {
        state.isBurstKept = true
        return nil
      }
      return state.burst.take()
    }
    guard let burst else { return }
    // Renames are paired outside of the lock.
    var batch = ChangeBatch(
      number: 0, changes: Self.withTypes(burst.netChanges()), overflow: burst.overflow)
    batch.isPartial = isPartial
    if let comparison {
      comparison.filterUnchanged(batch.changes) { [weak self, batch] in
        self?.deliver($0, of: batch)
      }
    } else {
      deliver(batch.changes.filter { options.kinds.contains($0.kind) }, of: batch)
    }
  }

  /// Completes the types of entries that were renamed with their directory before they could be
  /// examined.
  private static func withTypes(_ changes: [ChangeBatch.Change]) -> [ChangeBatch.Change] {
    changes.map { change in
      guard change.type == .unknown, change.kind != .removed else { return change }
      var change = change
      change.type = (try? FileStatus(of: change.path).type) ?? .unknown
      return change
    }
  }

  private static let largeBatch = 1000

  /// Sends a batch with the changes of a burst that remain after filtering.
  ///
  /// - Parameter all: All net changes of the burst.
  private func deliver(_ changes: [ChangeBatch.Change], of all: ChangeBatch) {
    noteIgnored(all.changes, except: changes)
    // Also after an overflow: the scan has found no differences.
    if changes.isEmpty { return }
    var batch = all
    batch.changes = changes
    batch.number = state.withLock { state in
      state.batchCount += 1
      return state.batchCount
    }
    send(.changed(batch))
    if changes.count <= Self.largeBatch { return }
    // The memory of a large burst is returned to the system once its receivers have released it.
    let soon = scheduler.now.advanced(by: .seconds(1))
    _ = scheduler.schedule(at: soon) { csystem_return_free_memory() }
  }

  /// Whether git changes the tree with its index locked, as during a checkout, so that more changes will follow.
  ///
  /// Git writes the new index into the lock when it is through with the tree. While a hook of `git commit -a` or an
  /// editor for its message runs, git holds the lock and changes nothing. A lock that is older than the longest
  /// hold is a leftover of a git that was killed.
  var isGitAtWork: Bool {
    let locks = state.withLock { Set($0.roots.compactMap(\.gitLock)) }
    let oldest = FileTime.now().advanced(by: .zero - DebounceStateMachine.longestHold)
    return locks.contains { lock in
      (try? FileStatus(of: lock)).map { $0.size == 0 && $0.modified > oldest } ?? false
    }
  }
}
