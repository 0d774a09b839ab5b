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
  struct State {
    var tree: ObservedTree
    var phase = Phase.scanning
    var readPacing = ReadPacing()
    var rescanPacing = RescanPacing()
    var pollPacing: PollPacing
    /// That of polls which only examine what could not be: it may fail for ever, and is a whole subtree each time.
    var examinationPacing: PollPacing
    var poll: Poll?
    var pollTimer: (any ScheduledWork)?
    var isRefilterPlanned = false
    var hasReportedOverflow = false
    var isStopped = false
    var mounts: MountObserver?
    var flushes = PendingFlushes()

    /// Whether processing all hints leaves no change unreported, except in polled directories.
    var isUpToDate: Bool {
      guard case .watching = phase else { return false }
      return !tree.hints.areDropped && tree.hints.awaited.isEmpty && !tree.rules.isPending
    }

    /// The pacing of the polls that are needed now.
    var pacing: PollPacing {
      get { onlyExamines ? examinationPacing : pollPacing }
      set { if onlyExamines { examinationPacing = newValue } else { pollPacing = newValue } }
    }

    private var onlyExamines: Bool { tree.source != nil && tree.directories.unwatched.isEmpty }

    /// What is found while everything is polled is delivered at the end of the poll, when renames
    /// can be paired. A directory that is watched from now on has hints, which are later.
    mutating func takeFindings() -> ObservedTree.Findings {
      tree.takeFindings(withEvents: poll == nil || tree.source != nil)
    }

    mutating func takeTimer() -> (any ScheduledWork)? {
      defer { pollTimer = nil }
      return pollTimer
    }
  }

  enum Phase {
    /// The first scan is under way.
    case scanning
    /// Directories are scanned for what changed before they were watched, until that time.
    case catchingUp([TreeSnapshot.Entry], until: FileTime)
    case watching
  }

  struct Poll {
    var remaining: ArraySlice<TreeSnapshot.Entry>
    var hasFound = false
    let began: FileTime
    var processorTime = Duration.zero
  }

  /// How long to wait for the second hint of a rename. The kernel queues both at once.
  private static let renameTimeout = Duration.milliseconds(5)

  let configuration: BackendConfiguration
  let state: Confined<State>
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
    observesMounts: Bool = false, disk: any Disk = SystemDisk(),
    sliceDuration: Duration = .milliseconds(2),
    makeAlarm: @escaping DispatchScheduler.AlarmMaker = { Support.makeAlarm(on: $0, $1) }
  ) {
    self.configuration = configuration
    self.sliceDuration = sliceDuration
    self.observesMounts = observesMounts
    scheduler = DispatchScheduler(queue: configuration.queue, makeAlarm: makeAlarm)
    state = Confined(
      State(
        tree: ObservedTree(configuration, source: source, disk: disk),
        pollPacing: PollPacing(bounds: configuration.pollInterval),
        examinationPacing: PollPacing(bounds: .milliseconds(100) ... .seconds(10))),
      to: configuration.queue)
  }

  func start() {
    scheduler.prepare()
    configuration.queue.async { [self] in
      state.access { state in
        if state.isStopped { return }
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
      state.access { state in
        if !state.isStopped { body(&state.tree) }
      }
      readHints()
    }
  }

  func flush(then done: @escaping @Sendable () -> Void) {
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
    let failure = attempt { tree throws(SystemError) in try tree.source?.rearm() }
    if let failure { fail(failure) }
  }

  /// Does something with the tree and its source, unless they are stopped. Returns the error.
  private func attempt(
    _ body: (inout ObservedTree) throws(SystemError) -> Void
  ) -> SystemError? {
    state.access { state in
      if state.isStopped { return nil }
      do throws(SystemError) {
        try body(&state.tree)
        return nil
      } catch {
        return error
      }
    }
  }

  func readHints() {
    let failure = attempt { tree throws(SystemError) in try tree.readHints() }
    deliver()
    if let failure { return fail(failure) }
    let now = scheduler.now
    let (isAwaiting, rescanDelay) = state.access { state -> (Bool, Duration?) in
      let isDue = state.tree.hints.areDropped && !state.rescanPacing.isPlanned
      return (
        !state.tree.hints.awaited.isEmpty, isDue ? state.rescanPacing.plan(at: now) : nil
      )
    }
    planRefilter()
    if isAwaiting { after(Self.renameTimeout) { [weak self] in self?.stopAwaitingArrivals() } }
    if let rescanDelay { after(rescanDelay) { [weak self] in self?.rescan() } }
    finishFlushes()
  }

  private func stopAwaitingArrivals() {
    let isAwaiting = state.access { state in
      !state.isStopped && !state.tree.hints.awaited.isEmpty
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

// MARK: - Reports

extension TreeBackend {
  /// Calls the callers of `flush` back, after a poll if anything is polled.
  func finishFlushes() {
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

  func deliver(afterOverflow: Bool = false) {
    let (findings, delay) =
      state.access { state in
        if state.isStopped { return (ObservedTree.Findings(), nil) }
        var isWatching = false
        if case .watching = state.phase { isWatching = true }
        if case .scanning = state.phase {} else { state.tree.warnOfLimit() }
        currentStatistics.withLock {
          $0.watches = state.tree.directories.watchCount
          $0.polledDirectories = state.tree.directories.unwatched.count
          $0.pruned = state.tree.walk.prunedCount
        }
        let isPollDue = isWatching && state.poll == nil && state.tree.needsPolls
        return (state.takeFindings(), isPollDue ? state.pacing.plan() : nil)
      } as (ObservedTree.Findings, Duration?)
    if let delay {
      let leeway = state.access { $0.pacing.leeway }
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

  func fail(_ error: SystemError) {
    end()
    configuration.report(.failed(.observationFailed(error)))
  }

  private func end() {
    let timer = state.access { state in
      state.isStopped = true
      state.tree.source?.stop()
      state.mounts = nil
      return state.takeTimer()
    }
    timer?.cancel()
    state.access { $0.poll = nil }
    finishFlushes()
  }

  func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    _ = scheduler.schedule(at: scheduler.now.advanced(by: delay), body)
  }
}

extension ObservedTree {
  /// Whether directories or missing roots must be polled, or examined again.
  fileprivate var needsPolls: Bool {
    !directories.unwatched.isEmpty || hasUnhintedDirectories
      || (source == nil && !missingRoots.isEmpty)
  }
}
