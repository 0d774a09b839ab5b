#if os(Linux)

import Dispatch
import PathFiltering
import Support
import Synchronization
import SystemCalls

/// Watches through inotify: one descriptor, read on the backend's queue whenever it has something.
///
/// The first walk over the tree is done in slices, between which events are read, so that neither
/// waits long for the other.
package final class InotifyBackend: Backend {
  private struct State {
    var inotify: InotifyTree
    var phase = Phase.learning
    /// When the kernel's queue was last read to its end: what it dropped is younger.
    var readToEndAt: FileTime
    var rescan = RescanPacing()
    var hasToldOfOverflow = false
    var pacing = ReadPacing()
    var looks = LookPacing()
    var lastLook: FileTime?
    /// Calls `drain` when there is something to read. Nil before the start and after the end.
    var source: (any DispatchSourceRead)?
    var isStopped = false
    /// Callers that wait until every earlier change has been reported.
    var flushes: [@Sendable () -> Void] = []

    /// Whether reading the kernel's queue to its end leaves no change unreported, apart from polled
    /// directories.
    var isUpToDate: Bool {
      guard case .watching = phase else { return false }
      return !inotify.sawOverflow && inotify.lifted.isEmpty
    }

    /// The callers that need not wait any longer.
    mutating func takeFlushes() -> [@Sendable () -> Void] {
      guard isStopped || isUpToDate else { return [] }
      defer { flushes = [] }
      return flushes
    }
  }

  private enum Phase {
    /// The tree is walked for the first time.
    case learning
    /// Folders are looked at again for what changed before they were watched.
    case catchingUp([TreeSnapshot.Entry])
    case watching
  }

  private static let foldersPerSlice = 128
  /// How long the second half of a folder's rename is waited for. The kernel writes both at once.
  private static let renamePatience = Duration.milliseconds(20)

  private let configuration: BackendConfiguration
  private let state: Confined<State>
  private let currentStatistics = Mutex(BackendStatistics())
  private let scheduler: DispatchScheduler

  package init(_ configuration: BackendConfiguration) throws(ObserverError) {
    let inotify: Inotify
    do throws(SystemError) {
      inotify = try Inotify()
    } catch {
      throw error.code == EMFILE || error.code == ENFILE
        ? .instanceLimitReached(error) : .observationFailed(error)
    }
    self.configuration = configuration
    scheduler = DispatchScheduler(queue: configuration.queue)
    state = Confined(
      State(
        inotify: InotifyTree(inotify: inotify, configuration),
        readToEndAt: configuration.start),
      to: configuration.queue)
  }

  package func start() {
    configuration.queue.async { [self] in
      state.access { state in
        if state.isStopped { return }
        state.source = makeSource(of: state.inotify.inotify)
        for root in configuration.roots { state.inotify.tree.add(root, since: configuration.start) }
      }
      deliver()
      walk()
    }
  }

  package func add(_ root: BackendConfiguration.Root) {
    let now = FileTime.now()
    configuration.queue.async { [self] in
      drain()
      state.access { state in
        if !state.isStopped { state.inotify.tree.addAtOnce(root, since: now) }
      }
      drain()
    }
  }

  package func remove(_ path: Path) {
    configuration.queue.async { [self] in
      drain()
      state.access { state in
        if !state.isStopped { state.inotify.tree.remove(rootAt: path) }
      }
      drain()
    }
  }

  package func flush(then done: @escaping @Sendable () -> Void) {
    configuration.queue.async { [self] in
      state.access { $0.flushes.append(done) }
      drain()
    }
  }

  package var statistics: BackendStatistics {
    currentStatistics.withLock { $0 }
  }

  package func stop() {
    configuration.queue.async { [self] in end() }
  }
}

// MARK: - On the queue

extension InotifyBackend {
  private func makeSource(of inotify: Inotify) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(
      fileDescriptor: inotify.bell.number, queue: configuration.queue)
    source.setEventHandler { @Sendable [weak self] in self?.eventsCame() }
    // The descriptor must not be closed before the source is done with it: until then, the state
    // that owns it is held.
    source.setCancelHandler { @Sendable [state] in withExtendedLifetime(state) {} }
    source.activate()
    return source
  }

  private func end() {
    state.access { state in
      state.isStopped = true
      state.source?.cancel()
      state.source = nil
    }
    finishFlushes()
  }

  /// Polls what cannot be watched, then answers the callers of `flush`, unless changes are still due.
  private func finishFlushes() {
    let isPollNeeded = state.access { state in
      !state.flushes.isEmpty && state.isUpToDate && !state.inotify.tree.unwatched.isEmpty
    }
    if isPollNeeded { look() }
    for done in state.access({ $0.takeFlushes() }) { done() }
  }

  private func eventsCame() {
    state.access { $0.inotify.inotify.silenceBell() }
    drain()
    let now = scheduler.now
    if let pause = state.access({ $0.pacing.pauseAfterRead(at: now) }) {
      after(pause) { [weak self] in self?.listen() }
    } else {
      listen()
    }
  }

  /// What has come meanwhile is heard of at once.
  private func listen() {
    let failure = state.access { state -> SystemError? in
      if state.isStopped { return nil }
      do throws(SystemError) {
        try state.inotify.inotify.armBell()
        return nil
      } catch {
        return error
      }
    }
    if let failure { fail(failure) }
  }

  private func fail(_ error: SystemError) {
    end()
    configuration.report(.failed(.observationFailed(error)))
  }

  private func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    _ = scheduler.schedule(at: scheduler.now.advanced(by: delay), body)
  }

  private func drain() {
    let failure = state.access { state -> SystemError? in
      if state.isStopped { return nil }
      // What is done about the events may take its time, and what the kernel drops meanwhile is younger
      // than this.
      let now = FileTime.now()
      do throws(SystemError) {
        try state.inotify.readEvents()
        if !state.inotify.sawOverflow { state.readToEndAt = now }
        return nil
      } catch {
        return error
      }
    }
    deliver()
    if let failure { return fail(failure) }
    afterDrain()
  }

  /// What cannot be done while events are still to be read.
  private func afterDrain() {
    let now = scheduler.now
    let (isLifted, rescanDelay) = state.access { state -> (Bool, Duration?) in
      let isDue = state.inotify.sawOverflow && !state.rescan.isPlanned
      return (!state.inotify.lifted.isEmpty, isDue ? state.rescan.plan(at: now) : nil)
    }
    if isLifted { after(Self.renamePatience) { [weak self] in self?.dropLifted() } }
    if let rescanDelay { after(rescanDelay) { [weak self] in self?.rescan() } }
    finishFlushes()
  }

  private func dropLifted() {
    drain()
    state.access { state in
      if !state.isStopped { state.inotify.dropLifted() }
    }
    deliver()
    finishFlushes()
  }

  /// The next slice of the first walk, or of the second look that follows it.
  private func walk() {
    drain()
    let readiness = state.access { state -> BackendReport? in
      if state.isStopped { return nil }
      switch state.phase {
      case .learning:
        if state.inotify.tree.visitPending(atMost: Self.foldersPerSlice) { return nil }
        state.phase = .catchingUp(state.inotify.tree.table.watchedFolders)
        return .ready(state.inotify.tree.readiness(backend: "inotify"))
      case .catchingUp(var folders):
        let slice = folders.suffix(Self.foldersPerSlice)
        folders.removeLast(slice.count)
        for folder in slice {
          state.inotify.tree.visitAtOnce(
            folder, for: .compare(since: configuration.start, .untilWatched))
        }
        state.phase = folders.isEmpty ? .watching : .catchingUp(folders)
        return nil
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
      configuration.queue.async { [weak self] in self?.walk() }
    } else {
      drain()
      endWalk()
    }
  }

  /// The walk is over; what it needed for itself is not needed again.
  private func endWalk() {
    state.access { $0.inotify.tree.toldMeanwhile = nil }
    returnFreeMemory()
    finishFlushes()
  }

  /// After an overflow: the whole tree is compared with what was known of it.
  private func rescan() {
    let scheduler = scheduler
    let isFirst = state.access { state -> Bool in
      if state.isStopped { return false }
      state.rescan.begin(at: scheduler.now)
      state.inotify.dropLifted()
      state.inotify.sawOverflow = false
      currentStatistics.withLock {
        $0.overflows += 1
        $0.rescans += 1
      }
      let since = state.readToEndAt
      state.readToEndAt = FileTime.now()
      state.inotify.tree.compareAll(since: since)
      state.rescan.end(at: scheduler.now)
      defer { state.hasToldOfOverflow = true }
      return !state.hasToldOfOverflow
    }
    if isFirst {
      configuration.report(.warning(.queueOverflowed(limit: Inotify.queueLimit)))
    }
    deliver(afterOverflow: true)
    drain()
  }

  /// Looks at the folders that could not be watched, as long as there are some.
  private func look() {
    let (before, began) = (processorTimeOfThread(), FileTime.now())
    state.access { state in
      if state.isStopped { return }
      let folders = state.inotify.tree.unwatched
      state.inotify.tree.lookAtUnwatched(
        folders, since: state.lastLook ?? configuration.start)
      state.inotify.tree.refreshLinks()
      state.inotify.tree.refreshRules()
      state.lastLook = began
      state.looks.ended(
        foundSomething: state.inotify.tree.hasFindings, took: processorTimeOfThread() - before)
    }
    deliver()
  }

  private func deliver(afterOverflow: Bool = false) {
    let (findings, delay) =
      state.access { state in
        if state.isStopped { return (ObservedTree.Findings(), nil) }
        if case .learning = state.phase {} else { state.inotify.tree.tellOfLimit() }
        currentStatistics.withLock { $0.note(state.inotify.tree) }
        let isLookNeeded = !state.inotify.tree.unwatched.isEmpty
        return (state.inotify.tree.takeFindings(), isLookNeeded ? state.looks.plan() : nil)
      } as (ObservedTree.Findings, Duration?)
    if let delay { after(delay) { [weak self] in self?.look() } }
    configuration.report(findings, afterOverflow: afterOverflow)
  }
}

#endif  // os(Linux)
