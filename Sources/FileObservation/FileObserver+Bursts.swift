import SystemCalls

// The way from the reports of the backend to batches.
extension FileObserver {
  func receive(_ report: BackendReport) {
    switch report {
    case .events(let events, let overflow):
      let isMetadataWanted = options.kinds.contains(.metadata)
      let (debouncer, isBeingWritten, burstBegan) = state.withLock {
        state -> (Debouncer?, Bool, (@Sendable () -> Void)?) in
        // A change of metadata alone neither begins nor prolongs a burst.
        var isNews = overflow
        for event in events where isMetadataWanted || event.kind != .metadata {
          state.coalescer.note(event)
          isNews = isNews || !(state.isCollecting && state.frequentPaths.contains(event.path))
        }
        state.overflow = state.overflow || overflow
        let begins = isNews && !state.isCollecting
        state.isCollecting = state.isCollecting || isNews
        return (
          isNews ? state.debouncer : nil, state.coalescer.isBeingWritten,
          begins ? state.burstBegan : nil
        )
      }
      burstBegan?()
      if !isMetadataWanted { noteIgnoredMetadata(in: events) }
      debouncer?.noteChange(isBeingWritten: isBeingWritten, events)
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
    guard let debouncer = state.withLock({ $0.debouncer }) else { return done() }
    debouncer.flush { [weak self] in self?.afterDelivery(done) ?? done() }
  }

  /// Calls `done` when the burst that is being collected has ended and was delivered.
  func awaitDelivery(then done: @escaping @Sendable () -> Void) {
    guard let debouncer = state.withLock({ $0.debouncer }) else { return done() }
    debouncer.awaitBurstEnd { [weak self] in self?.afterDelivery(done) ?? done() }
  }

  /// Calls `done` after the bursts that are being compared.
  func afterDelivery(_ done: @escaping @Sendable () -> Void) {
    if let comparison { comparison.flush(then: done) } else { done() }
  }

  /// Sets the paths whose changes do not prolong a burst, so that other changes do not wait for them: logs.
  package func setFrequentPaths(_ paths: Set<Path>) {
    state.withLock { $0.frequentPaths = paths }
  }

  /// Sets what is called when the first change of a burst is noted, long before it is delivered: on the
  /// observer's queue, which it must not block.
  package func whenBurstBegins(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.burstBegan = body }
  }

  /// - Parameter isPartial: Whether the burst goes on, and a flush asks for the changes so far.
  func deliverBurst(isPartial: Bool) {
    let burst = state.withLock { state -> Burst? in
      if state.isPaused {
        state.isBurstKept = true
        return nil
      }
      defer { (state.overflow, state.isCollecting) = (false, false) }
      return Burst(
        changes: state.coalescer.take(), overflow: state.overflow, isPartial: isPartial)
    }
    guard let burst = burst?.withTypesLookedUp() else { return }
    if let comparison {
      comparison.filterUnchanged(burst.changes) { [weak self] in self?.deliver($0, of: burst) }
    } else {
      deliver(burst.changes.filter { options.kinds.contains($0.kind) }, of: burst)
    }
  }

  /// The net changes of a burst.
  private struct Burst: Sendable {
    var changes: [ChangeBatch.Change]
    let overflow: Bool
    let isPartial: Bool

    /// Completes the types of entries that were renamed with their directory before they could be
    /// examined.
    func withTypesLookedUp() -> Burst {
      let isUnknown = { (change: ChangeBatch.Change) in
        change.type == .unknown && change.kind != .removed
      }
      guard changes.contains(where: isUnknown) else { return self }
      var burst = self
      for index in changes.indices where isUnknown(changes[index]) {
        burst.changes[index].type = (try? FileStatus(of: changes[index].path).type) ?? .unknown
      }
      return burst
    }
  }

  /// Sends a batch with the changes of a burst that remain after filtering.
  private func deliver(_ changes: [ChangeBatch.Change], of burst: Burst) {
    noteIgnored(burst.changes, except: changes)
    // Also after an overflow: the scan has found no differences.
    if changes.isEmpty { return }
    let number = state.withLock { state in
      state.batchCount += 1
      return state.batchCount
    }
    var batch = ChangeBatch(number: number, changes: changes, overflow: burst.overflow)
    batch.isPartial = burst.isPartial
    send(.changed(batch))
    if changes.count > Self.largeBatch { returnMemorySoon() }
  }

  private static let largeBatch = 1000

  /// Returns the memory of a large burst to the system once its receivers have released it.
  private func returnMemorySoon() {
    let soon = scheduler.now.advanced(by: .seconds(1))
    _ = scheduler.schedule(at: soon, leeway: .seconds(1)) { returnFreeMemory() }
  }

  /// Whether git holds its index locked, as during a checkout, so that more changes will follow.
  ///
  /// A lock that is older than the longest hold is a leftover of a git that was killed.
  var isGitAtWork: Bool {
    let locks = state.withLock { Set($0.gitLocks.values) }
    let oldest = FileTime.now().advanced(by: .zero - DebounceStateMachine.longestHold)
    return locks.contains { lock in
      (try? FileStatus(of: lock)).map { $0.modified > oldest } ?? false
    }
  }
}
