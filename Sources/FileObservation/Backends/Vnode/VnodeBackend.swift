import Dispatch
import PathFiltering
import Support
import Synchronization
import SystemCalls

/// Watches through vnodes, as kqueue does: each folder, and each file that counts, has a watch of its
/// own, which tells that something has happened to it but not what. So what it tells of is looked at
/// and compared with what it was.
package final class VnodeBackend: Backend {
  private struct State {
    var tree: ObservedTree
    var watcher: VnodeWatcher
    var isLearning = true
    /// What has been told and not been seen to.
    var hints: [Int32: VnodeEvents] = [:]
    var looks = LookPacing()
    var isStopped = false
    /// Callers of `flush` that wait for the end of the first walk.
    var flushes: [@Sendable () -> Void] = []
  }

  private static let foldersPerSlice = 128
  /// How long hints are collected: a rename is told by several, which belong together.
  private static let patience = Duration.milliseconds(2)

  private let configuration: BackendConfiguration
  private let state: Confined<State>
  private let currentStatistics = Mutex(BackendStatistics())
  private let scheduler: DispatchScheduler
  private let hintReceiver: HintReceiver

  package init(_ configuration: BackendConfiguration, source: any VnodeSource) {
    self.configuration = configuration
    scheduler = DispatchScheduler(queue: configuration.queue)
    let receiver = HintReceiver()
    hintReceiver = receiver
    let watcher = VnodeWatcher(source, queue: configuration.queue) { receiver.receive($0, $1) }
    state = Confined(
      State(tree: ObservedTree(configuration, watcher: watcher), watcher: watcher),
      to: configuration.queue)
  }

  package func start() {
    hintReceiver.body.withLock { $0 = { [weak self] in self?.told($0, $1) } }
    configuration.queue.async { [self] in
      state.access { state in
        for root in configuration.roots { state.tree.add(root, since: configuration.start) }
      }
      walk()
    }
  }

  package func add(_ root: BackendConfiguration.Root) {
    let now = FileTime.now()
    change { $0.addAtOnce(root, since: now) }
  }

  package func remove(_ path: Path) {
    change { $0.remove(rootAt: path) }
  }

  private func change(_ body: @escaping @Sendable (inout ObservedTree) -> Void) {
    configuration.queue.async { [self] in
      state.access { state in
        if !state.isStopped { body(&state.tree) }
      }
      deliver()
    }
  }

  package func flush(then done: @escaping @Sendable () -> Void) {
    configuration.queue.async { [self] in
      let isReady = state.access { state in
        if state.isLearning && !state.isStopped { state.flushes.append(done) }
        return !state.isLearning || state.isStopped
      }
      if isReady { flushHints(then: done) }
    }
  }

  package var statistics: BackendStatistics {
    currentStatistics.withLock { $0 }
  }

  package func stop() {
    configuration.queue.async { [self] in
      state.access { state in
        state.isStopped = true
        state.watcher.unwatchAll()
      }
      startFlushes()
    }
  }
}

/// Where watches tell, made before the backend is that listens.
private final class HintReceiver: Sendable {
  let body = Mutex<(@Sendable (Int32, VnodeEvents) -> Void)?>(nil)

  func receive(_ watch: Int32, _ events: VnodeEvents) {
    body.withLock { $0 }?(watch, events)
  }
}

// MARK: - On the queue

extension VnodeBackend {
  /// The next slice of the first walk.
  private func walk() {
    let readiness = state.access { state -> FileObserver.Readiness? in
      if state.isStopped || state.tree.visitPending(atMost: Self.foldersPerSlice) { return nil }
      state.isLearning = false
      return state.tree.readiness(backend: "vnode")
    }
    deliver()
    if let readiness {
      configuration.report(.ready(readiness))
      startFlushes()
    } else if state.access({ !$0.isStopped }) {
      configuration.queue.async { [weak self] in self?.walk() }
    }
  }

  private func told(_ watch: Int32, _ events: VnodeEvents) {
    let isFirst = state.access { state in
      defer { state.hints[watch, default: []].formUnion(events) }
      return state.hints.isEmpty
    }
    if isFirst { after(Self.patience) { [weak self] in self?.followHints() } }
  }

  private func followHints() {
    state.access { state in
      if state.isStopped { return }
      // What has changed before may be about to be told.
      state.tree.lastLook = .now().advanced(by: .milliseconds(-50))
      let hints = state.hints
      state.hints = [:]
      for (watch, events) in hints { state.tree.follow(events, of: watch) }
      state.tree.refreshRules()
    }
    deliver()
  }

  /// Hints arrive on their own: those of earlier changes are due within the time for which hints are
  /// collected.
  private func flushHints(then done: @escaping @Sendable () -> Void) {
    after(Self.patience) { [self] in
      followHints()
      if state.access({ !$0.isStopped && !$0.tree.unwatched.isEmpty }) { look() }
      done()
    }
  }

  private func startFlushes() {
    let flushes = state.access { state in
      defer { state.flushes = [] }
      return state.flushes
    }
    for done in flushes { flushHints(then: done) }
  }

  /// Looks at what could not be watched.
  private func look() {
    let before = processorTimeOfThread()
    state.access { state in
      if state.isStopped { return }
      state.tree.lookAtUnwatched(state.tree.unwatched, since: configuration.start)
      state.tree.refreshRules()
      state.looks.ended(
        foundSomething: state.tree.hasFindings, took: processorTimeOfThread() - before)
    }
    deliver()
  }

  private func deliver() {
    let (findings, delay) =
      state.access { state in
        if state.isStopped { return (ObservedTree.Findings(), nil) }
        if !state.isLearning { state.tree.tellOfLimit() }
        currentStatistics.withLock { $0.note(state.tree) }
        let isLookNeeded = !state.tree.unwatched.isEmpty
        return (state.tree.takeFindings(), isLookNeeded ? state.looks.plan() : nil)
      } as (ObservedTree.Findings, Duration?)
    if let delay { after(delay) { [weak self] in self?.look() } }
    configuration.report(findings)
  }

  private func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    _ = scheduler.schedule(at: scheduler.now.advanced(by: delay), body)
  }
}

extension ObservedTree {
  /// Sees to what a watch has told.
  fileprivate mutating func follow(_ events: VnodeEvents, of watch: Int32) {
    guard let entry = table.owner(of: watch) else { return }
    // It is not what its path leads to any more: what is, if anything, is to be watched in its place.
    if events.contains(.gone), let outdated = table.removeWatch(of: entry) {
      watcher?.unwatch(outdated)
    }
    if events.contains(.gone), (try? FileStatus(of: snapshot.path(of: entry))) == nil {
      // A folder in which something was waited for. Of others, the folder around them tells.
      lose(entry)
    }
    if table[entry] != nil {
      if events.contains(.attributes) { lookAt(attributesOf: entry) }
      visitAtOnce(entry, for: .compare(since: .latest(), .oneFolder))
    } else {
      lookAt(file: entry)
    }
  }
}
