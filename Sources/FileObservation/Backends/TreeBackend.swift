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
final class TreeBackend: Backend {
  /// What is used on the queue only. A class, so that a step may use it while another one does.
  final class State {
    var tree: ObservedTree
    var phase = Phase.scanning
    var readPacing = ReadPacing()
    var isRescanPlanned = false
    /// When the next rescan may begin; `nil` before the first one.
    var earliestRescan: Instant?
    var pollPacing: PollPacing
    var poll: Poll?
    /// The next poll, if one is planned.
    var pollTimer: (any ScheduledWork)?
    var isRefilterPlanned = false
    var isStopped = false
    var mounts: MountObserver?
    /// Those that do not wait for the current poll.
    var flushes: [Flush] = []

    init(_ tree: ObservedTree, pollInterval: ClosedRange<Duration>) {
      self.tree = tree
      pollPacing = PollPacing(bounds: pollInterval)
    }

    /// Whether processing all hints leaves no change unreported, except in polled directories.
    var isUpToDate: Bool {
      guard case .watching = phase else { return false }
      return !tree.hints.areDropped && !tree.hints.areArrivalsAwaited && !tree.rules.isPending
    }
  }

  enum Phase {
    /// The first scan is under way.
    case scanning
    /// Directories are scanned for what changed before they were watched, until that time.
    case catchingUp([TreeSnapshot.Entry], until: FileTime)
    case watching
  }

  /// A caller of `flush`, which waits until every earlier change has been reported, and the number of polls for it
  /// that have found changes.
  typealias Flush = (polls: Int, call: @Sendable () -> Void)

  struct Poll {
    var remaining: ArraySlice<TreeSnapshot.Entry>
    /// Those that wait for it.
    let flushes: [Flush]
    var hasFound = false
    let began: FileTime
    var processorTime = Duration.zero
  }

  /// How long to wait for the second hint of a rename. The kernel queues both at once.
  private static let renameTimeout = Duration.milliseconds(5)

  let configuration: BackendConfiguration
  var state: State { confined.access { $0 } }
  private let confined: Confined<State>
  let currentStatistics = Mutex(FileObserver.Statistics())
  let scheduler: DispatchScheduler
  /// How long scans, polls and changed rules may keep the queue from other work.
  let sliceDuration: Duration
  private let observesMounts: Bool

  /// - Parameters:
  ///   - source: The source of hints; `nil` to poll everything.
  ///   - observesMounts: Whether the source does not tell what is mounted over a directory.
  init(
    _ configuration: BackendConfiguration, source: (any HintSource)?,
    observesMounts: Bool = false, disk: Disk = Disk(),
    sliceDuration: Duration = .milliseconds(2),
    makeAlarm: @escaping DispatchScheduler.AlarmMaker = { Support.makeAlarm(on: $0, $1) }
  ) {
    self.configuration = configuration
    self.sliceDuration = sliceDuration
    self.observesMounts = observesMounts
    scheduler = DispatchScheduler(queue: configuration.queue, makeAlarm: makeAlarm)
    confined = Confined(
      State(
        ObservedTree(
          filter: configuration.filter, source: source, followsLinks: configuration.followsLinks,
          base: configuration.base, excluded: configuration.excluded, disk: disk,
          start: configuration.start, ignoredChanges: configuration.ignoredChanges),
        pollInterval: configuration.pollInterval),
      to: configuration.queue)
  }

  func start() {
    scheduler.prepare()
    configuration.queue.async { [self] in
      let state = state
      if !state.isStopped {
        state.tree.source?.start(on: configuration.queue) { [weak self] in self?.hintsAvailable() }
        if observesMounts {
          state.mounts = MountObserver(on: configuration.queue) { [weak self] points in
            self?.change { $0.compareMounts(at: points) }
          }
        }
        for root in configuration.roots { state.tree.add(root) }
      }
      deliver()
      scan()
    }
  }

  func add(_ root: BackendConfiguration.Root, excluding excluded: Set<Path>) {
    let now = FileTime.now()
    change {
      if root.coverage == .recursive {
        // What was mounted in it before may not be any more.
        $0.settings.excluded = $0.settings.excluded.filter { !$0.isWithin(root.path) }
      }
      $0.settings.excluded.formUnion(excluded)
      $0.addAtOnce(root, since: now)
    }
  }

  func remove(_ path: Path) {
    change { $0.remove(rootAt: path) }
  }

  private func change(_ body: @escaping @Sendable (inout ObservedTree) -> Void) {
    configuration.queue.async { [self] in
      readHints()
      if !state.isStopped { body(&state.tree) }
      readHints()
    }
  }

  func flush(then done: @escaping @Sendable () -> Void) {
    configuration.queue.async { [self] in
      state.flushes.append((polls: 0, call: done))
      afterSettling { [self] in
        if state.isUpToDate && !state.isStopped { state.tree.lookUpDirectoryRoots() }
        readHints()
      }
    }
  }

  var statistics: FileObserver.Statistics {
    currentStatistics.withLock { $0 }
  }

  func stop() {
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
    let settlingTime = state.tree.source?.settlingTime ?? .zero
    if settlingTime == .zero { body() } else { after(settlingTime, body) }
  }

  private func processNewHints() {
    readHints()
    if let pause = state.readPacing.pauseAfterRead(at: scheduler.now) {
      after(pause) { [weak self] in self?.rearm() }
    } else {
      rearm()
    }
  }

  private func rearm() {
    if state.isStopped { return }
    do throws(SystemError) {
      try state.tree.source?.rearm()
    } catch {
      fail(error)
    }
  }

  func readHints() {
    let state = state
    var failure: SystemError?
    do throws(SystemError) {
      if !state.isStopped { try state.tree.readHints() }
    } catch {
      failure = error
    }
    deliver()
    if let failure { return fail(failure) }
    planRefilter()
    if state.tree.hints.areArrivalsAwaited {
      after(Self.renameTimeout) { [weak self] in self?.stopAwaitingArrivals() }
    }
    if state.tree.hints.areDropped && !state.isRescanPlanned {
      state.isRescanPlanned = true
      _ = scheduler.schedule(at: state.earliestRescan ?? scheduler.now) { [weak self] in
        self?.rescan()
      }
    }
    finishFlushes()
  }

  private func stopAwaitingArrivals() {
    let state = state
    if state.isStopped || !state.tree.hints.areArrivalsAwaited { return }
    try? state.tree.readHints()
    state.tree.stopAwaitingArrivals()
    // Before further hints are read, which may make the tree wait again.
    deliver()
    readHints()
  }

  /// Compares the whole tree with the snapshot after hints were dropped.
  private func rescan() {
    let state = state
    if state.isStopped { return }
    let began = scheduler.now
    currentStatistics.withLock { $0.overflows += 1 }
    state.tree.rescan()
    let now = scheduler.now
    state.isRescanPlanned = false
    if state.earliestRescan == nil {
      configuration.report(.warning(.queueOverflowed(limit: state.tree.source?.queueLimit)))
    }
    // At most half of the time.
    let pause = min(max(began.duration(to: now), .milliseconds(100)), .seconds(1))
    state.earliestRescan = now.advanced(by: pause)
    deliver(afterOverflow: true)
    readHints()
  }
}

// MARK: - Reports

extension TreeBackend {
  /// Calls the callers of `flush` back, after a poll if anything is polled.
  func finishFlushes() {
    let state = state
    if state.flushes.isEmpty || state.poll != nil { return }
    if state.isStopped || state.isUpToDate && !state.tree.needsPolls {
      for flush in exchange(&state.flushes, with: []) { flush.call() }
    } else if state.isUpToDate {
      state.pollTimer.take()?.cancel()
      poll()
    }
  }

  func deliver(afterOverflow: Bool = false) {
    let state = state
    if state.isStopped { return }
    if case .scanning = state.phase {} else { state.tree.warnOfLimit() }
    currentStatistics.withLock {
      $0.watches = state.tree.directories.watchCount
      $0.polledDirectories = state.tree.directories.unwatched.count
      $0.pruned = state.tree.walk.prunedCount
    }
    if case .watching = state.phase, state.poll == nil, state.pollTimer == nil,
      state.tree.needsPolls
    {
      let time = scheduler.now.advanced(by: state.pollPacing.interval)
      state.pollTimer = scheduler.schedule(at: time) { [weak self] in
        self?.state.pollTimer = nil
        self?.poll()
      }
    }
    // What is found while everything is polled is delivered at the end of the poll, when renames can be
    // paired. A directory that is watched from now on has hints, which are later.
    let found = state.tree.takeFindings(withEvents: state.poll == nil || state.tree.source != nil)
    for warning in found.warnings { configuration.report(.warning(warning)) }
    if !found.events.isEmpty || afterOverflow {
      configuration.report(.events(found.events, overflow: afterOverflow))
    }
  }

  func fail(_ error: SystemError) {
    end()
    configuration.report(.failed(.observationFailed(error)))
  }

  private func end() {
    let state = state
    state.isStopped = true
    state.tree.source?.stop()
    state.mounts = nil
    state.pollTimer.take()?.cancel()
    state.flushes = (state.poll?.flushes ?? []) + state.flushes
    state.poll = nil
    finishFlushes()
  }

  func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    _ = scheduler.schedule(at: scheduler.now.advanced(by: delay), body)
  }
}
