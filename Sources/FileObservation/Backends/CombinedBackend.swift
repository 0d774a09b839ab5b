import Dispatch
import Synchronization
import SystemCalls

/// Combines the native backend and a poller: each root is observed by the one that fits its file
/// system. Backends are created when a root needs them.
final class CombinedBackend: Backend {
  private struct State {
    var native: (any Backend)?
    var polling: TreeBackend?
    /// The roots that are polled. The others belong to the native backend.
    var polledRoots: Set<Path> = []
    /// The recursive roots of the native backend.
    var watchedTrees: Set<Path> = []
    /// Mount points in those trees that are polled, because the kernel reports no events there.
    var polledMounts: Set<Path> = []
    /// The readiness of the backends that are ready. This backend is ready when `awaited` of them
    /// are.
    var readiness: [FileObserver.Readiness] = []
    var awaited = 0
    var isStopped = false

    mutating func note(_ division: Division) {
      watchedTrees.formUnion(
        division.watched.lazy.filter { $0.coverage == .recursive }.map(\.path))
      polledRoots.formUnion(division.polled.map(\.path))
      polledMounts.formUnion(division.mounts.map(\.path))
    }
  }

  /// Creates the native backend.
  typealias NativeMaker =
    @Sendable (BackendConfiguration) throws(ObserverError) -> any Backend

  private let configuration: BackendConfiguration
  private let polling: Polling
  private let makeNative: NativeMaker
  private let fileSystemKind: @Sendable (Path) -> String?
  private let mountPoints: @Sendable () -> [Path]
  private let makePolledDisk: @Sendable () -> Disk
  private let state = Mutex(State())

  init(
    _ configuration: BackendConfiguration, polling: Polling,
    makeNative: @escaping NativeMaker = makeNativeBackend,
    fileSystemKind: @escaping @Sendable (Path) -> String? = fileSystemWithoutEvents,
    mountPoints: @escaping @Sendable () -> [Path] = { SystemCalls.mountPoints() },
    makePolledDisk: @escaping @Sendable () -> Disk = { Disk() }
  ) {
    var configuration = configuration
    configuration.pollInterval = polling.interval
    self.configuration = configuration
    self.polling = polling
    self.makeNative = makeNative
    self.fileSystemKind = fileSystemKind
    self.mountPoints = mountPoints
    self.makePolledDisk = makePolledDisk
  }

  func start() throws(ObserverError) {
    var division = division(of: configuration.roots)
    var native: (any Backend)?
    if !division.watched.isEmpty {
      var part = configuration.part(division.watched) { [weak self] in self?.receive($0) }
      part.excluded = Set(division.mounts.map(\.path))
      do throws(ObserverError) {
        native = try makeNative(part)
      } catch {
        guard error.code == .instanceLimitReached || error.code == .eventsUnavailable else {
          throw error
        }
        division.pollAll(instead: error)
      }
    }
    let polled = division.polled + division.mounts
    let poller = polled.isEmpty ? nil : makePoller(polled, isAwaited: true)
    state.withLock { state in
      state.native = native
      state.polling = poller
      state.note(division)
      state.awaited = (native == nil ? 0 : 1) + (poller == nil ? 0 : 1)
    }
    report(division.warnings)
    try native?.start()
    poller?.start()
    if native == nil && poller == nil {
      configuration.queue.async { [configuration] in configuration.report(.ready(.init(of: []))) }
    }
  }

  func add(_ root: BackendConfiguration.Root, excluding: Set<Path>) {
    var division = division(of: [root])
    do throws(ObserverError) {
      if !division.watched.isEmpty {
        try openNative()?.add(root, excluding: excluding.union(division.mounts.map(\.path)))
      }
    } catch {
      division.pollAll(instead: error)
    }
    state.withLock { $0.note(division) }
    report(division.warnings)
    for root in division.polled + division.mounts { openPoller()?.add(root) }
  }

  func remove(_ root: Path) {
    let (backend, poller, outdated) = state.withLock { state in
      let isPolled = state.polledRoots.remove(root) != nil
      state.watchedTrees.remove(root)
      let mounts = state.polledMounts.filter { mount in
        !state.watchedTrees.contains { mount.isWithin($0) }
      }
      state.polledMounts.subtract(mounts)
      // The same path may be polled as a mount point and as a root.
      let isNeeded = isPolled && state.polledMounts.contains(root)
      let backend: (any Backend)? = isPolled ? state.polling : state.native
      return (isNeeded ? nil : backend, state.polling, mounts.subtracting(state.polledRoots))
    }
    backend?.remove(root)
    for mount in outdated { poller?.remove(mount) }
  }

  func flush(then done: @escaping @Sendable () -> Void) {
    let (native, poller) = state.withLock { ($0.native, $0.polling) }
    let queue = configuration.queue
    let polls: @Sendable () -> Void = {
      guard let poller else { return queue.async { done() } }
      // The poller's reports go through the same queue and arrive first.
      poller.flush { queue.async { done() } }
    }
    if let native { native.flush(then: polls) } else { polls() }
  }

  func stop() {
    let (native, poller) = state.withLock { state in
      state.isStopped = true
      return (state.native, state.polling)
    }
    native?.stop()
    poller?.stop()
  }

  var statistics: FileObserver.Statistics {
    let (native, poller) = state.withLock { ($0.native, $0.polling) }
    var sum = native?.statistics ?? FileObserver.Statistics()
    guard let polled = poller?.statistics else { return sum }
    sum.watches += polled.watches
    sum.polledDirectories += polled.polledDirectories
    sum.pruned += polled.pruned
    sum.overflows += polled.overflows
    return sum
  }
}

// MARK: - Choosing a backend

extension CombinedBackend {
  /// Which roots are observed by which backend.
  struct Division {
    var watched: [BackendConfiguration.Root] = []
    var polled: [BackendConfiguration.Root] = []
    /// Mount points in watched roots that are polled.
    var mounts: [BackendConfiguration.Root] = []
    var warnings: [ObserverWarning] = []

    /// Polls what would be watched, because that is not possible.
    mutating func pollAll(instead error: ObserverError) {
      warnings.append(.pollingInstead(for: error))
      polled += watched
      watched = []
    }
  }

  func division(of roots: [BackendConfiguration.Root]) -> Division {
    var division = Division()
    func isWithoutEvents(_ path: Path) -> Bool {
      guard let kind = fileSystemKind(path) else { return false }
      division.warnings.append(.eventsUnavailable(at: path, on: kind, interval: polling.interval))
      return true
    }
    for root in roots {
      if polling.use == .always || isWithoutEvents(root.path) {
        division.polled.append(root)
      } else {
        division.watched.append(root)
      }
    }
    let trees = division.watched.filter { $0.coverage == .recursive }.map(\.path)
    for mount in trees.isEmpty ? [] : mountPoints() {
      let tree = trees.first { mount != $0 && mount.isWithin($0) }
      if let tree, !isIgnored(mount, in: tree), isWithoutEvents(mount) {
        division.mounts.append(.init(path: mount, coverage: .recursive))
      }
    }
    return division
  }

  private func isIgnored(_ directory: Path, in root: Path) -> Bool {
    let decision = configuration.filter.decision(for: directory, isDirectory: true, below: root)
    // Filters decide which changes are reported, not which directories are entered.
    switch decision.rule?.source {
    case .parameter(.filter), .parameter(.extensions): return false
    case .parameter(.ignore), .builtIn, .file, nil: return !decision.isIncluded
    }
  }

  /// The native backend, created and started on demand; `nil` after `stop`.
  private func openNative() throws(ObserverError) -> (any Backend)? {
    let made = try state.withLock {
      state throws(ObserverError) -> (backend: any Backend, isNew: Bool)? in
      if state.isStopped { return nil }
      if let native = state.native { return (native, false) }
      // Its readiness is not awaited.
      let native = try makeNative(
        configuration.part([]) { [weak self] report in
          if case .ready = report { return }
          self?.receive(report)
        })
      state.native = native
      return (native, true)
    }
    if let made, made.isNew { try made.backend.start() }
    return made?.backend
  }

  /// The poller, created and started on demand; `nil` after `stop`.
  private func openPoller() -> TreeBackend? {
    let made = state.withLock { state -> (poller: TreeBackend, isNew: Bool)? in
      if state.isStopped { return nil }
      if let poller = state.polling { return (poller, false) }
      let poller = makePoller([], isAwaited: false)
      state.polling = poller
      return (poller, true)
    }
    if let made, made.isNew { made.poller.start() }
    return made?.poller
  }

  private func makePoller(
    _ roots: [BackendConfiguration.Root], isAwaited: Bool
  ) -> TreeBackend {
    // Polling is never urgent, and what is polled may be on a server that does not answer.
    let queue = DispatchQueue(label: "watchrun.polling", qos: .utility)
    let part = configuration.part(roots, on: queue) { [weak self, configuration] report in
      if case .ready = report, !isAwaited { return }
      configuration.queue.async { [weak self] in self?.receive(report) }
    }
    return TreeBackend(part, source: nil, disk: makePolledDisk())
  }
}

// MARK: - Reports

extension CombinedBackend {
  private func report(_ warnings: [ObserverWarning]) {
    if warnings.isEmpty { return }
    configuration.queue.async { [configuration] in
      for warning in warnings { configuration.report(.warning(warning)) }
    }
  }

  private func receive(_ report: BackendReport) {
    guard case .ready(let readiness) = report else { return configuration.report(report) }
    let all = state.withLock { state -> [FileObserver.Readiness]? in
      state.readiness.append(readiness)
      return state.readiness.count == state.awaited ? state.readiness : nil
    }
    if let all { configuration.report(.ready(.init(of: all))) }
  }
}

extension FileObserver.Readiness {
  /// Combines the readiness of several backends.
  fileprivate init(of parts: [FileObserver.Readiness]) {
    self.init(
      watches: parts.map(\.watches).reduce(0, +), pruned: parts.map(\.pruned).reduce(0, +),
      backend: parts.isEmpty ? "none" : parts.map(\.backend).sorted().joined(separator: "+"),
      ignoreFiles: parts.flatMap(\.ignoreFiles))
  }
}

/// The kind of file system on which a path lies, or would be created, if the kernel reports no
/// events there.
@Sendable
func fileSystemWithoutEvents(at path: Path) -> String? {
  let place = path.lineage.first { (try? FileStatus(of: $0, followsLinks: true)) != nil }
  return place.flatMap { eventlessFileSystem(of: $0) }
}
