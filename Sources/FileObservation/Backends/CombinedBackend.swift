import Dispatch
import Synchronization
import SystemCalls

/// Sends each root to the backend that fits the file system on which it lies, and makes one voice of
/// theirs.
package final class CombinedBackend: Backend {
  private struct State {
    var native: (any Backend)?
    var polling: PollingBackend?
    /// Which roots are polled, to be found again when they are removed.
    var polledRoots: Set<Path> = []
    /// What those backends have said that are ready; all is when each has.
    var readiness: [FileObserver.Readiness] = []
    var awaited = 0
  }

  /// Makes the system's own backend.
  package typealias NativeMaker =
    @Sendable (BackendConfiguration) throws(ObserverError) -> any Backend

  private let configuration: BackendConfiguration
  private let polling: Polling
  private let makeNative: NativeMaker
  private let fileSystemKind: @Sendable (Path) -> FileSystemKind?
  private let state = Mutex(State())

  package init(
    _ configuration: BackendConfiguration, polling: Polling,
    makeNative: @escaping NativeMaker = makeNativeBackend,
    fileSystemKind: @escaping @Sendable (Path) -> FileSystemKind? = fileSystemWithoutEvents
  ) {
    self.configuration = configuration
    self.polling = polling
    self.makeNative = makeNative
    self.fileSystemKind = fileSystemKind
  }

  package func start() throws(ObserverError) {
    var warnings: [ObserverError] = []
    var (told, polled) = divide(configuration.roots, &warnings)
    let mounts = mountsWithoutEvents(in: told, &warnings)
    polled += mounts
    var native: (any Backend)?
    if !told.isEmpty {
      var part = configuration.part(told) { [weak self] in self?.receive($0) }
      part.excluded = Set(mounts.map(\.path))
      do throws(ObserverError) {
        native = try makeNative(part)
      } catch {
        guard error.code == .instanceLimitReached else { throw error }
        warnings.append(error)
        polled += told
      }
    }
    let poller = polled.isEmpty ? nil : makePoller(polled, isAwaited: true)
    state.withLock { state in
      state.native = native
      state.polling = poller
      state.polledRoots = Set(polled.map(\.path))
      state.awaited = (native == nil ? 0 : 1) + (poller == nil ? 0 : 1)
    }
    tell(warnings)
    try native?.start()
    poller?.start()
  }

  package func add(_ root: BackendConfiguration.Root) {
    var warnings: [ObserverError] = []
    let (told, polled) = divide([root], &warnings)
    tell(warnings)
    let (native, known) = state.withLock { ($0.native, $0.polling) }
    for root in told {
      if let native { native.add(root) } else { poll(root, with: known) }
    }
    for root in polled { poll(root, with: known) }
  }

  private func poll(_ root: BackendConfiguration.Root, with known: PollingBackend?) {
    let poller = known ?? makePoller([], isAwaited: false)
    state.withLock { state in
      state.polling = poller
      state.polledRoots.insert(root.path)
    }
    if known == nil { poller.start() }
    poller.add(root)
  }

  package func remove(_ root: Path) {
    let backend = state.withLock { state -> (any Backend)? in
      state.polledRoots.remove(root) != nil ? state.polling : state.native
    }
    backend?.remove(root)
  }

  package func flush(then done: @escaping @Sendable () -> Void) {
    let (native, poller) = state.withLock { ($0.native, $0.polling) }
    let queue = configuration.queue
    let polls: @Sendable () -> Void = {
      guard let poller else { return queue.async { done() } }
      // What the poller reports takes the same way, and so comes first.
      poller.flush { queue.async { done() } }
    }
    if let native { native.flush(then: polls) } else { polls() }
  }

  package func stop() {
    let (native, poller) = state.withLock { ($0.native, $0.polling) }
    native?.stop()
    poller?.stop()
  }

  package var statistics: BackendStatistics {
    let (native, poller) = state.withLock { ($0.native, $0.polling) }
    let none = BackendStatistics()
    return (native?.statistics ?? none) + (poller?.statistics ?? none)
  }
}

// MARK: - Which backend

extension CombinedBackend {
  /// The roots of which the kernel tells, and those that are to be looked at.
  private func divide(
    _ roots: [BackendConfiguration.Root], _ warnings: inout [ObserverError]
  ) -> (told: [BackendConfiguration.Root], polled: [BackendConfiguration.Root]) {
    if polling.use == .always { return ([], roots) }
    var (told, polled) = ([BackendConfiguration.Root](), [BackendConfiguration.Root]())
    for root in roots {
      guard let kind = fileSystemKind(root.path) else {
        told.append(root)
        continue
      }
      polled.append(root)
      warnings.append(.noEvents(at: root.path, on: kind, interval: polling.interval))
    }
    return (told, polled)
  }

  /// What is mounted in the roots, and of what kind no events come.
  private func mountsWithoutEvents(
    in roots: [BackendConfiguration.Root], _ warnings: inout [ObserverError]
  ) -> [BackendConfiguration.Root] {
    let recursive = roots.filter { $0.coverage == .recursive }
    if recursive.isEmpty { return [] }
    var found: [BackendConfiguration.Root] = []
    for mount in mountPoints() {
      let root = recursive.first { mount != $0.path && mount.isWithin($0.path) }
      guard let root, !isIgnored(mount, in: root.path), let kind = fileSystemKind(mount) else {
        continue
      }
      found.append(.init(path: mount, coverage: .recursive))
      warnings.append(.noEvents(at: mount, on: kind, interval: polling.interval))
    }
    return found
  }

  private func isIgnored(_ folder: Path, in root: Path) -> Bool {
    let decision = configuration.filter.decision(for: folder, isDirectory: true, below: root)
    // Filters say what is told of, not which folders are entered.
    switch decision.rule?.source {
    case .option(.filter), .option(.extensions): return false
    case .option(.ignore), .builtIn, .file, nil: return !decision.isIncluded
    }
  }

  private func makePoller(
    _ roots: [BackendConfiguration.Root], isAwaited: Bool
  ) -> PollingBackend {
    // Nobody waits for a look: it gives way to what somebody waits for.
    let queue = DispatchQueue(label: "watchrun.polling", qos: .utility)
    let part = configuration.part(roots, on: queue) { [weak self, configuration] report in
      if case .ready = report, !isAwaited { return }
      configuration.queue.async { [weak self] in self?.receive(report) }
    }
    return PollingBackend(part, interval: polling.interval)
  }
}

// MARK: - One voice

extension CombinedBackend {
  private func tell(_ warnings: [ObserverError]) {
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
  /// Of several backends together.
  fileprivate init(of parts: [FileObserver.Readiness]) {
    self.init(
      watches: parts.map(\.watches).reduce(0, +), pruned: parts.map(\.pruned).reduce(0, +),
      backend: parts.map(\.backend).sorted().joined(separator: "+"),
      ignoreFiles: parts.flatMap(\.ignoreFiles))
  }
}

/// The kind of file system on which a path lies, or will lie, if the kernel tells of nothing there.
@Sendable
package func fileSystemWithoutEvents(at path: Path) -> FileSystemKind? {
  var place: Path? = path
  while let step = place {
    if (try? FileStatus(of: step, followsLinks: true)) != nil {
      return FileSystemKind.withoutEvents(at: step)
    }
    place = step.parent
  }
  return nil
}
