#if os(Linux)

import Dispatch
import PathFiltering
import SystemCalls

/// Watches through inotify: one descriptor, read on the backend's queue whenever it has something.
///
/// The first walk over the tree is done in slices, between which events are read, so that neither
/// waits long for the other.
package final class InotifyBackend: Backend {
  private struct State {
    var tree: InotifyTree
    var phase = Phase.learning
    /// When the kernel's queue was last read to its end: what it dropped is younger.
    var readToEndAt: FileTime
    var rescan = RescanPacing()
    var hasToldOfOverflow = false
    /// Calls `drain` when there is something to read. Nil before the start and after the end.
    var source: (any DispatchSourceRead)?
    var isStopped = false
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
  private static let renamePatience = DispatchTimeInterval.milliseconds(20)

  private let configuration: BackendConfiguration
  private let state: Confined<State>

  package init(_ configuration: BackendConfiguration) throws(ObserverError) {
    let inotify: Inotify
    do throws(SystemError) {
      inotify = try Inotify()
    } catch {
      throw error.code == EMFILE || error.code == ENFILE
        ? .instanceLimitReached(error) : .observationFailed(error)
    }
    self.configuration = configuration
    state = Confined(
      State(
        tree: InotifyTree(inotify: inotify, filter: configuration.filter),
        readToEndAt: configuration.start),
      to: configuration.queue)
  }

  package func start() {
    configuration.queue.async { [self] in
      state.access { state in
        if state.isStopped { return }
        state.source = makeSource(of: state.tree.inotify)
        for root in configuration.roots { state.tree.add(root) }
      }
      deliver()
      walk()
    }
  }

  package func stop() {
    configuration.queue.async { [self] in end() }
  }
}

// MARK: - On the queue

extension InotifyBackend {
  private func makeSource(of inotify: Inotify) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(
      fileDescriptor: inotify.descriptor.number, queue: configuration.queue)
    source.setEventHandler { @Sendable [weak self] in self?.drain() }
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
  }

  private func drain() {
    let failure = state.access { state -> SystemError? in
      if state.isStopped { return nil }
      do throws(SystemError) {
        try state.tree.readEvents()
        if !state.tree.sawOverflow { state.readToEndAt = FileTime.now() }
        return nil
      } catch {
        return error
      }
    }
    deliver()
    if let failure {
      end()
      configuration.report(.failed(.observationFailed(failure)))
      return
    }
    afterDrain()
  }

  /// What cannot be done while events are still to be read.
  private func afterDrain() {
    let (isLifted, rescanDelay) = state.access { state -> (Bool, Duration?) in
      let isDue = state.tree.sawOverflow && !state.rescan.isPlanned
      return (
        !state.tree.lifted.isEmpty, isDue ? state.rescan.plan(at: FileTime.now()) : nil
      )
    }
    if isLifted {
      configuration.queue.asyncAfter(deadline: .now() + Self.renamePatience) { [weak self] in
        self?.dropLifted()
      }
    }
    if let rescanDelay {
      configuration.queue.asyncAfter(
        deadline: .now() + .nanoseconds(Int(rescanDelay.nanoseconds))
      ) { [weak self] in
        self?.rescan()
      }
    }
  }

  private func dropLifted() {
    drain()
    state.access { state in
      if !state.isStopped { state.tree.dropLifted() }
    }
    deliver()
  }

  /// The next slice of the first walk, or of the second look that follows it.
  private func walk() {
    let readiness = state.access { state -> BackendReport? in
      if state.isStopped { return nil }
      switch state.phase {
      case .learning:
        if state.tree.visitPending(atMost: Self.foldersPerSlice) { return nil }
        state.phase = .catchingUp(state.tree.table.watchedFolders)
        return .ready(watches: state.tree.table.watchCount)
      case .catchingUp(var folders):
        let slice = folders.suffix(Self.foldersPerSlice)
        folders.removeLast(slice.count)
        for folder in slice {
          state.tree.visitAtOnce(
            folder, for: .compare(since: configuration.start, untilWatched: true))
        }
        state.phase = folders.isEmpty ? .watching : .catchingUp(folders)
        // The walk is over; what it needed for itself is not needed again.
        if folders.isEmpty { returnFreeMemory() }
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
    if goesOn { configuration.queue.async { [weak self] in self?.walk() } }
  }

  /// After an overflow: the whole tree is compared with what was known of it.
  private func rescan() {
    let isFirst = state.access { state -> Bool in
      if state.isStopped { return false }
      state.tree.dropLifted()
      state.tree.sawOverflow = false
      let since = state.readToEndAt
      state.readToEndAt = FileTime.now()
      for root in configuration.roots { state.tree.compare(root, since: since) }
      state.rescan.done(at: FileTime.now())
      defer { state.hasToldOfOverflow = true }
      return !state.hasToldOfOverflow
    }
    if isFirst {
      configuration.report(.warning(.queueOverflowed(limit: Inotify.queueLimit)))
    }
    deliver(afterOverflow: true)
    drain()
  }

  private func deliver(afterOverflow: Bool = false) {
    let findings = state.access { state in
      state.isStopped ? (events: [], warnings: []) : state.tree.takeFindings()
    }
    for warning in findings.warnings { configuration.report(.warning(warning)) }
    if !findings.events.isEmpty || afterOverflow {
      configuration.report(.events(findings.events, overflow: afterOverflow))
    }
  }
}

/// When the tree is read again after an overflow: at once for the first time, and then never more
/// than half of the time.
private struct RescanPacing {
  private(set) var isPlanned = false
  private var lastBegan = FileTime(nanoseconds: 0)
  private var lastEnded = FileTime(nanoseconds: 0)

  private static let shortestPause: Int64 = 100_000_000
  private static let longestPause: Int64 = 1_000_000_000

  /// How long to wait before it.
  mutating func plan(at now: FileTime) -> Duration {
    isPlanned = true
    let cost = lastEnded.nanoseconds - lastBegan.nanoseconds
    let pause = min(max(cost, Self.shortestPause), Self.longestPause)
    let delay = max(0, lastEnded.nanoseconds + pause - now.nanoseconds)
    lastBegan = FileTime(nanoseconds: now.nanoseconds + min(delay, Self.longestPause))
    return .nanoseconds(min(delay, Self.longestPause))
  }

  mutating func done(at now: FileTime) {
    isPlanned = false
    lastEnded = now
  }
}

#endif  // os(Linux)
