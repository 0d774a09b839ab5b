import Dispatch
import PathFiltering
import Support
import Synchronization
import SystemCalls

/// Learns of changes by looking: each folder is listed and each entry compared with what it was.
///
/// For file systems that send no events, and where the kernel has no room for a watch. A look at a
/// large tree is done in slices, so that it can be stopped between them; what it has found is
/// reported when it is over, because only then can it be seen what was renamed.
package final class PollingBackend: Backend {
  private struct State {
    var tree: ObservedTree
    var phase = Phase.learning
    var looks: LookPacing
    var timer: (any ScheduledWork)?
    var isStopped = false
    /// Callers of `flush` that need a poll which has not begun yet.
    var flushes: [@Sendable () -> Void] = []
    /// Those that are answered when the present poll has ended.
    var flushesOfPoll: [@Sendable () -> Void] = []
    /// How many polls in a row were made for them.
    var flushPolls = 0

    /// A poll has ended. One that found a directory replaced leaves its entries to the next.
    mutating func pollEnded() {
      let isComplete = !tree.hasFindings || flushPolls >= PollingBackend.mostFlushPolls
      flushPolls = isComplete ? 0 : flushPolls + 1
      if isComplete { return }
      flushes = flushesOfPoll + flushes
      flushesOfPoll = []
    }
  }

  private enum Phase {
    /// The tree is walked for the first time.
    case learning
    /// These directories are polled; those from the index `next` on are not done yet.
    case looking([TreeSnapshot.Entry], next: Int, began: FileTime, spent: Duration)
    case resting
  }

  private static let foldersPerSlice = 128
  private static let mostFlushPolls = 3

  private let configuration: BackendConfiguration
  private let state: Confined<State>
  private let currentStatistics = Mutex(BackendStatistics())
  private let scheduler: DispatchScheduler

  /// - Parameter interval: How long is waited between two looks, at least and at most.
  package init(_ configuration: BackendConfiguration, interval: ClosedRange<Duration>) {
    self.configuration = configuration
    scheduler = DispatchScheduler(queue: configuration.queue)
    state = Confined(
      State(
        tree: ObservedTree(configuration, watcher: nil), looks: LookPacing(bounds: interval)),
      to: configuration.queue)
  }

  package func start() {
    configuration.queue.async { [self] in
      state.access { state in
        for root in configuration.roots { state.tree.add(root, since: configuration.start) }
      }
      goOn()
    }
  }

  package func add(_ root: BackendConfiguration.Root) {
    let now = FileTime.now()
    configuration.queue.async { [self] in
      state.access { state in
        if !state.isStopped { state.tree.addAtOnce(root, since: now) }
      }
      deliver()
    }
  }

  package func remove(_ path: Path) {
    configuration.queue.async { [self] in
      state.access { state in
        if !state.isStopped { state.tree.remove(rootAt: path) }
      }
      deliver()
    }
  }

  package func flush(then done: @escaping @Sendable () -> Void) {
    configuration.queue.async { [self] in
      let (isStopped, timer) = state.access { state in
        state.flushes.append(done)
        defer { state.timer = nil }
        return (state.isStopped, state.timer)
      }
      if isStopped { return finishFlushes() }
      guard let timer else { return }
      // Between two polls: the next one begins now.
      timer.cancel()
      goOn()
    }
  }

  private func finishFlushes() {
    let flushes = state.access { state in
      defer {
        state.flushesOfPoll = []
        if state.isStopped { state.flushes = [] }
      }
      return state.flushesOfPoll + (state.isStopped ? state.flushes : [])
    }
    for done in flushes { done() }
  }

  package var statistics: BackendStatistics {
    currentStatistics.withLock { $0 }
  }

  package func stop() {
    configuration.queue.async { [self] in
      let timer = state.access { state in
        state.isStopped = true
        defer { state.timer = nil }
        return state.timer
      }
      timer?.cancel()
      finishFlushes()
    }
  }
}

// MARK: - On the queue

extension PollingBackend {
  private enum Step {
    case goOn
    case ready(FileObserver.Readiness)
    case rest(Duration, leeway: Duration)
    case end
  }

  /// The next slice of what is under way.
  private func goOn() {
    let step = state.access { state -> Step in
      if state.isStopped { return .end }
      switch state.phase {
      case .learning:
        if state.tree.visitPending(atMost: Self.foldersPerSlice) { return .goOn }
        state.phase = .resting
        return .ready(state.tree.readiness(backend: "polling"))
      case .looking(let folders, let next, let began, var spent):
        let before = processorTimeOfThread()
        let slice = folders.dropFirst(next).prefix(Self.foldersPerSlice)
        state.tree.lookAtUnwatched(slice, since: configuration.start)
        if slice.endIndex == folders.endIndex {
          state.tree.lookForMissingRoots()
          state.tree.refreshRules()
          state.tree.lastLook = began
          spent += processorTimeOfThread() - before
          state.looks.ended(foundSomething: state.tree.hasFindings, took: spent)
          if !state.flushesOfPoll.isEmpty { state.pollEnded() }
          state.phase = .resting
        } else {
          spent += processorTimeOfThread() - before
          state.phase = .looking(folders, next: slice.endIndex, began: began, spent: spent)
        }
        return .goOn
      case .resting:
        if state.flushes.isEmpty, let delay = state.looks.plan() {
          return .rest(delay, leeway: state.looks.leeway)
        }
        state.flushesOfPoll = state.flushes
        state.flushes = []
        state.phase = .looking(
          Array(state.tree.unwatched), next: 0, began: .now(), spent: .zero)
        return .goOn
      }
    }
    switch step {
    case .goOn:
      if isBetweenLooks {
        deliver()
        finishFlushes()
      }
      configuration.queue.async { [weak self] in self?.goOn() }
    case .ready(let readiness):
      deliver()
      configuration.report(.ready(readiness))
      configuration.queue.async { [weak self] in self?.goOn() }
    case .rest(let delay, let leeway):
      let time = scheduler.now.advanced(by: delay)
      let timer = scheduler.schedule(at: time, leeway: leeway) { [weak self] in
        self?.state.access { $0.timer = nil }
        self?.goOn()
      }
      state.access { $0.timer = timer }
    case .end:
      break
    }
  }

  private var isBetweenLooks: Bool {
    state.access { state in
      if case .looking = state.phase { return false }
      return true
    }
  }

  private func deliver() {
    let findings = state.access { state -> ObservedTree.Findings in
      if state.isStopped { return ObservedTree.Findings() }
      currentStatistics.withLock { $0.note(state.tree) }
      return state.tree.takeFindings()
    }
    configuration.report(findings)
  }
}
