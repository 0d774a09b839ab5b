import Dispatch
import PathFiltering
import Support
import Synchronization
import SystemCalls

/// Observes a tree with the hints of a source, and polls what the source cannot watch. Without a
/// source, polls everything.
///
/// Owns the tree, its queue and its timing. Scans are made in slices, and hints are read between
/// them. A poll is made in slices too; its changes are reported at its end, when renames can be
/// paired.
package final class TreeBackend: Backend {
  private struct State {
    var tree: ObservedTree
    var phase = Phase.scanning
    var readPacing = ReadPacing()
    var rescanPacing = RescanPacing()
    var pollPacing: PollPacing
    var poll: Poll?
    var pollTimer: (any ScheduledWork)?
    var isRefilterPlanned = false
    var hasReportedOverflow = false
    var isStopped = false
    var flushes = PendingFlushes()

    /// Whether processing all hints leaves no change unreported, except in polled directories.
    var isUpToDate: Bool {
      guard case .watching = phase else { return false }
      return !tree.hasDroppedHints && tree.awaited.isEmpty && !tree.rules.isPending
    }

    mutating func takeTimer() -> (any ScheduledWork)? {
      defer { pollTimer = nil }
      return pollTimer
    }
  }

  private enum Phase {
    /// The first scan is under way.
    case scanning
    /// Directories are scanned for what changed before they were watched, until that time.
    case catchingUp([TreeSnapshot.Entry], until: FileTime)
    case watching
  }

  private struct Poll {
    var remaining: ArraySlice<TreeSnapshot.Entry>
    /// What the poll has found. Other events are delivered meanwhile.
    var events: [RawEvent] = []
    let began: FileTime
    var processorTime = Duration.zero
  }

  private static let directoriesPerSlice = 128
  /// How long to wait for the second hint of a rename. The kernel queues both at once.
  private static let renameTimeout = Duration.milliseconds(5)

  private let configuration: BackendConfiguration
  private let state: Confined<State>
  private let currentStatistics = Mutex(BackendStatistics())
  private let scheduler: DispatchScheduler
  /// How long polls and changed rules may keep the queue from other work.
  private let sliceDuration: Duration

  /// - Parameters:
  ///   - source: The source of hints; `nil` to poll everything.
  package init(
    _ configuration: BackendConfiguration, source: (any HintSource)?,
    disk: any Disk = SystemDisk(), sliceDuration: Duration = .milliseconds(2)
  ) {
    self.configuration = configuration
    self.sliceDuration = sliceDuration
    scheduler = DispatchScheduler(queue: configuration.queue)
    state = Confined(
      State(
        tree: ObservedTree(configuration, source: source, disk: disk),
        pollPacing: PollPacing(bounds: configuration.pollInterval)),
      to: configuration.queue)
  }

  package func start() {
    configuration.queue.async { [self] in
      state.access { state in
        if state.isStopped { return }
        state.tree.source?.start(on: configuration.queue) { [weak self] in self?.hintsAvailable() }
        for root in configuration.roots { state.tree.add(root) }
      }
      deliver()
      scan()
    }
  }

  package func add(_ root: BackendConfiguration.Root, excluding excluded: Set<Path>) {
    let now = FileTime.now()
    change {
      $0.excluded.formUnion(excluded)
      $0.addAtOnce(root, since: now)
    }
  }

  package func remove(_ path: Path) {
    change { $0.remove(rootAt: path) }
  }

  private func change(_ body: @escaping @Sendable (inout ObservedTree) -> Void) {
    configuration.queue.async { [self] in
      readHints()
      state.access { state in
        if !state.isStopped { body(&state.tree) }
      }
      readHints()
    }
  }

  package func flush(then done: @escaping @Sendable () -> Void) {
    configuration.queue.async { [self] in
      state.access { $0.flushes.add(done) }
      afterSettling { [self] in
        state.access { state in
          if state.isUpToDate && !state.isStopped { state.tree.lookUpDirectoryRoots() }
        }
        readHints()
      }
    }
  }

  package var statistics: BackendStatistics {
    currentStatistics.withLock { $0 }
  }

  package func stop() {
    configuration.queue.async { [self] in end() }
  }
}

// MARK: - Hints

extension TreeBackend {
  private func hintsAvailable() {
    afterSettling { [weak self] in self?.processNewHints() }
  }

  /// Calls `body` when all hints of one change have arrived.
  private func afterSettling(_ body: @escaping @Sendable () -> Void) {
    let settlingTime = state.access { $0.tree.source?.settlingTime } ?? .zero
    if settlingTime == .zero { body() } else { after(settlingTime, body) }
  }

  private func processNewHints() {
    readHints()
    let now = scheduler.now
    if let pause = state.access({ $0.readPacing.pauseAfterRead(at: now) }) {
      after(pause) { [weak self] in self?.rearm() }
    } else {
      rearm()
    }
  }

  private func rearm() {
    let failure = state.access { state -> SystemError? in
      if state.isStopped { return nil }
      do throws(SystemError) {
        try state.tree.source?.rearm()
        return nil
      } catch {
        return error
      }
    }
    if let failure { fail(failure) }
  }

  private func readHints() {
    let failure = state.access { state -> SystemError? in
      if state.isStopped { return nil }
      do throws(SystemError) {
        try state.tree.readHints()
        return nil
      } catch {
        return error
      }
    }
    deliver()
    if let failure { return fail(failure) }
    let now = scheduler.now
    let (isAwaiting, rescanDelay) = state.access { state -> (Bool, Duration?) in
      let isDue = state.tree.hasDroppedHints && !state.rescanPacing.isPlanned
      return (
        !state.tree.awaited.isEmpty, isDue ? state.rescanPacing.plan(at: now) : nil
      )
    }
    planRefilter()
    if isAwaiting { after(Self.renameTimeout) { [weak self] in self?.stopAwaitingArrivals() } }
    if let rescanDelay { after(rescanDelay) { [weak self] in self?.rescan() } }
    finishFlushes()
  }

  private func stopAwaitingArrivals() {
    let isAwaiting = state.access { state in
      !state.isStopped && !state.tree.awaited.isEmpty
    }
    guard isAwaiting else { return }
    state.access { state in
      try? state.tree.readHints()
      state.tree.stopAwaitingArrivals()
    }
    // Before further hints are read, which may make the tree wait again.
    deliver()
    readHints()
  }

  /// Compares the whole tree with the snapshot after hints were dropped.
  private func rescan() {
    let scheduler = scheduler
    let warning = state.access { state -> ObserverWarning? in
      if state.isStopped { return nil }
      state.rescanPacing.begin(at: scheduler.now)
      currentStatistics.withLock {
        $0.overflows += 1
        $0.rescans += 1
      }
      state.tree.rescan()
      state.rescanPacing.end(at: scheduler.now)
      defer { state.hasReportedOverflow = true }
      return state.hasReportedOverflow
        ? nil : .queueOverflowed(limit: state.tree.source?.queueLimit)
    }
    if let warning { configuration.report(.warning(warning)) }
    deliver(afterOverflow: true)
    readHints()
  }
}

// MARK: - Scans

extension TreeBackend {
  /// Makes the next slice of the first scan, or of the comparison that follows it.
  private func scan() {
    readHints()
    let readiness = state.access { state -> BackendReport? in
      if state.isStopped { return nil }
      let source = state.tree.source
      switch state.phase {
      case .scanning:
        if state.tree.scanPending(atMost: Self.directoriesPerSlice)
          || state.tree.refilter(until: endOfSlice())
        {
          return nil
        }
        state.phase = .catchingUp(state.tree.directories.entries, until: .latest())
        // Otherwise files need watches of their own, which the comparison adds.
        guard let source, source.namesEntries else { return nil }
        return .ready(state.tree.readiness(backend: source.name))
      case .catchingUp(var directories, let watched):
        let slice = directories.suffix(Self.directoriesPerSlice)
        directories.removeLast(slice.count)
        for directory in slice {
          state.tree.scanNow(
            directory, for: .diff(since: configuration.start, .firstTime(until: watched)))
        }
        state.phase =
          directories.isEmpty ? .watching : .catchingUp(directories, until: watched)
        state.tree.walk.isComparedOnce = directories.isEmpty
        guard directories.isEmpty, source?.namesEntries != true else { return nil }
        return .ready(state.tree.readiness(backend: source?.name ?? "polling"))
      case .watching:
        return nil
      }
    }
    deliver()
    if let readiness { configuration.report(readiness) }
    let goesOn = state.access { state in
      if case .watching = state.phase { return false }
      return !state.isStopped
    }
    if goesOn {
      configuration.queue.async { [weak self] in self?.scan() }
    } else {
      readHints()
      returnFreeMemory()
    }
  }

  private func planRefilter() {
    let isDue = state.access { state -> Bool in
      if state.isStopped || state.isRefilterPlanned || !state.tree.rules.isPending { return false }
      state.isRefilterPlanned = true
      return true
    }
    if isDue { configuration.queue.async { [weak self] in self?.refilter() } }
  }

  /// Applies changed ignore rules to some of the directories.
  private func refilter() {
    state.access { state in
      state.isRefilterPlanned = false
      if !state.isStopped { _ = state.tree.refilter(until: endOfSlice()) }
    }
    readHints()
  }

  /// Returns whether the slice that begins now is over.
  private func endOfSlice() -> () -> Bool {
    let end = scheduler.now.advanced(by: sliceDuration)
    return { [scheduler] in scheduler.now >= end }
  }

  /// Makes the next slice of a poll.
  private func poll() {
    let isOver = state.access { state -> Bool in
      if state.isStopped { return true }
      let before = processorTimeOfThread()
      if state.poll == nil { state.flushes.pollBegins() }
      var poll =
        state.poll
        ?? Poll(
          remaining: Array(state.tree.watches.unwatched)[...], began: state.tree.disk.now)
      let isSliceOver = endOfSlice()
      let others = state.tree.exchangeEvents(for: poll.events)
      while let next = poll.remaining.popFirst() {
        state.tree.poll(CollectionOfOne(next), since: configuration.start)
        if isSliceOver() { break }
      }
      var isOver = false
      if poll.remaining.isEmpty {
        state.tree.pollMissingRoots()
        state.tree.refreshLinks()
        state.tree.refreshRules()
        if state.tree.source == nil { state.tree.comparedUntil = poll.began }
        isOver = !state.tree.refilter(until: isSliceOver)
      }
      poll.processorTime += processorTimeOfThread() - before
      poll.events = state.tree.exchangeEvents(for: others)
      state.poll = isOver ? nil : poll
      guard isOver else { return false }
      state.pollPacing.ended(foundSomething: !poll.events.isEmpty, took: poll.processorTime)
      state.flushes.pollEnded(foundChanges: !poll.events.isEmpty)
      _ = state.tree.exchangeEvents(for: others + poll.events)
      return true
    }
    if !isOver {
      configuration.queue.async { [weak self] in self?.poll() }
      return
    }
    deliver()
    for done in state.access({ $0.flushes.takePolled() }) { done() }
    finishFlushes()
  }
}

// MARK: - Reports

extension TreeBackend {
  /// Calls the callers of `flush` back, after a poll if anything is polled.
  private func finishFlushes() {
    let (done, isPollDue) = state.access { state -> ([@Sendable () -> Void], Bool) in
      if state.flushes.isEmpty || state.poll != nil { return ([], false) }
      if state.isStopped {
        return (state.flushes.takePolled() + state.flushes.takeWaiting(), false)
      }
      guard state.isUpToDate else { return ([], false) }
      return state.tree.needsPolls ? ([], true) : (state.flushes.takeWaiting(), false)
    }
    for call in done { call() }
    if isPollDue {
      let timer = state.access { $0.takeTimer() }
      timer?.cancel()
      poll()
    }
  }

  private func deliver(afterOverflow: Bool = false) {
    let (findings, delay) =
      state.access { state in
        if state.isStopped { return (ObservedTree.Findings(), nil) }
        var isWatching = false
        if case .watching = state.phase { isWatching = true }
        if case .scanning = state.phase {} else { state.tree.warnOfLimit() }
        currentStatistics.withLock { $0.update(from: state.tree) }
        let isPollDue = isWatching && state.poll == nil && state.tree.needsPolls
        return (state.tree.takeFindings(), isPollDue ? state.pollPacing.plan() : nil)
      } as (ObservedTree.Findings, Duration?)
    if let delay {
      let leeway = state.access { $0.pollPacing.leeway }
      let timer = scheduler.schedule(at: scheduler.now.advanced(by: delay), leeway: leeway) {
        [weak self] in
        guard let self else { return }
        _ = self.state.access { $0.takeTimer() }
        self.poll()
      }
      state.access { $0.pollTimer = timer }
    }
    configuration.report(findings, afterOverflow: afterOverflow)
  }

  private func fail(_ error: SystemError) {
    end()
    configuration.report(.failed(.observationFailed(error)))
  }

  private func end() {
    let timer = state.access { state in
      state.isStopped = true
      state.tree.source?.stop()
      return state.takeTimer()
    }
    timer?.cancel()
    state.access { $0.poll = nil }
    finishFlushes()
  }

  private func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    _ = scheduler.schedule(at: scheduler.now.advanced(by: delay), body)
  }
}

extension ObservedTree {
  /// Whether directories or missing roots must be polled.
  fileprivate var needsPolls: Bool {
    !watches.unwatched.isEmpty || (source == nil && !missingRoots.isEmpty)
  }
}
