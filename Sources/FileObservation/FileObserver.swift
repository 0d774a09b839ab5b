import Dispatch
import PathFiltering
import Synchronization
import SystemCalls

/// Watches files and folders, and hands over what changed, one burst at a time.
///
/// ```swift
/// let observer = try FileObserver(paths: ["Sources"])
/// try observer.start { event in
///   if case .changed(let batch) = event { print(batch.changes) }
/// }
/// ```
///
/// Every change from the moment of `start` on is in a batch, or its loss is told by a batch whose
/// `overflow` is true. What is not promised: the order of changes to different paths, and how many
/// writes a change was; writes through a memory map are seen when the file is closed, and changes
/// made by other machines on a network file system are not seen.
///
/// An observer is used once: a stopped one is not started again. All its methods may be called from
/// any thread.
public final class FileObserver: Sendable {
  /// What an observer has to say.
  public enum Event: Sendable {
    /// Everything is watched now.
    case ready(Readiness)
    /// Something changed.
    case changed(ChangeBatch)
    /// Something cannot be watched; the rest is.
    case warning(ObserverError)
    /// Watching is over.
    case failed(ObserverError)
  }

  /// How things stand when everything is watched.
  public struct Readiness: Sendable {
    /// How many watches the kernel keeps for the observer.
    public let watches: Int
    /// How many folders are left out because they are ignored, not counting those in them.
    public let pruned: Int
    /// Which mechanism is used, such as `inotify`.
    public let backend: String
    /// The ignore files in force.
    public let ignoreFiles: [IgnoreFile]
  }

  private struct State {
    var backend: (any Backend)?
    var debouncer: Debouncer?
    var handler: (@Sendable (Event) -> Void)?
    var handlerQueue: DispatchQueue?
    var streams: [Int: AsyncStream<ChangeBatch>.Continuation] = [:]
    var streamCount = 0
    var coalescer = Coalescer()
    var overflow = false
    var batchCount = 0
    var noticed: ClosedRange<Instant>?
    var isStopped = false
  }

  private let roots: [BackendConfiguration.Root]
  private let options: ObserverOptions
  private let state = Mutex(State())
  /// Where all is done. Tests suspend it, so that the kernel has to keep what happens meanwhile.
  let queue = DispatchQueue(label: "watchrun.observer", qos: .userInitiated)
  private let scheduler: DispatchScheduler

  /// An observer of these files and folders, which must exist; folders with all that is in them.
  public convenience init(
    paths: [Path], options: ObserverOptions = ObserverOptions()
  ) throws(ObserverError) {
    try self.init(watching: paths.map { WatchedPath($0) }, options: options)
  }

  /// An observer of these files and folders, which must exist.
  public init(
    watching paths: [WatchedPath], options: ObserverOptions = ObserverOptions()
  ) throws(ObserverError) {
    self.options = options
    scheduler = DispatchScheduler(queue: queue)
    var roots: [BackendConfiguration.Root] = []
    var known: Set<BackendConfiguration.Root> = []
    for path in paths {
      for root in try Self.roots(of: path) where known.insert(root).inserted {
        roots.append(root)
      }
    }
    self.roots = roots
  }

  deinit {
    stop()
  }

  /// Begins to watch, and returns at once: the folders are set under watch meanwhile, which the
  /// `ready` event tells of. Changes made meanwhile are not lost.
  ///
  /// - Parameters:
  ///   - queue: Where `handler` is called; one of the observer's own if there is none. If it is a
  ///     concurrent queue, the calls may overlap.
  ///   - handler: Is given each event. It is kept until the observer is stopped.
  /// - Throws: `ObserverError` if nothing can be watched at all.
  public func start(
    on queue: DispatchQueue? = nil, _ handler: @escaping @Sendable (Event) -> Void
  ) throws(ObserverError) {
    try start(on: queue, countingFrom: .now(), handler)
  }

  /// The same, for what has changed since a time that may lie a little back.
  package func start(
    on queue: DispatchQueue? = nil, countingFrom start: FileTime,
    _ handler: @escaping @Sendable (Event) -> Void
  ) throws(ObserverError) {
    let debouncer = Debouncer(
      quietPeriod: options.quietPeriod, maximumWait: options.maximumWait,
      scheduler: scheduler, isHeld: makeHold()
    ) { [weak self] in
      self?.burstEnded()
    }
    let backend = try makeBackend(
      BackendConfiguration(
        roots: roots, filter: options.filter, start: start, queue: self.queue
      ) { [weak self] report in
        self?.receive(report)
      })
    let isFirst = state.withLock { state in
      guard state.backend == nil, !state.isStopped else { return false }
      state.backend = backend
      state.debouncer = debouncer
      state.handler = handler
      state.handlerQueue = queue ?? DispatchQueue(label: "watchrun.observer.events")
      return true
    }
    precondition(isFirst, "a FileObserver is started once")
    try backend.start()
  }

  /// Ends it: no event is handed over any more but those that are on their way already, and the
  /// streams end. Calling it again does nothing.
  public func stop() {
    let (backend, debouncer, streams) = state.withLock { state in
      state.isStopped = true
      state.handler = nil
      defer { state.streams = [:] }
      return (state.backend, state.debouncer, Array(state.streams.values))
    }
    debouncer?.stop()
    backend?.stop()
    for stream in streams { stream.finish() }
  }

  /// The batches from now on, for `for await`. Each call gives a stream of its own, which keeps what
  /// has not been taken from it, and ends when the observer is stopped.
  public var batches: AsyncStream<ChangeBatch> {
    AsyncStream { continuation in
      let number = state.withLock { state -> Int? in
        if state.isStopped { return nil }
        state.streamCount += 1
        state.streams[state.streamCount] = continuation
        return state.streamCount
      }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { state in _ = state.streams.removeValue(forKey: number) }
      }
    }
  }
}

// MARK: - From the backend to the handler

extension FileObserver {
  private func receive(_ report: BackendReport) {
    switch report {
    case .events(let events, let overflow):
      let now = scheduler.now
      let isMetadataWanted = options.kinds.contains(.metadata)
      let (debouncer, isBeingWritten) = state.withLock { state -> (Debouncer?, Bool) in
        // What changes only a file's metadata neither begins a burst nor prolongs it.
        let counted = isMetadataWanted ? events : events.filter { $0.kind != .metadata }
        for event in counted { state.coalescer.note(event) }
        state.overflow = state.overflow || overflow
        let isNews = !counted.isEmpty || overflow
        if isNews { state.noticed = (state.noticed?.lowerBound ?? now)...now }
        return (isNews ? state.debouncer : nil, state.coalescer.isBeingWritten)
      }
      debouncer?.noteChange(isBeingWritten: isBeingWritten)
    case .ready(let readiness):
      send(.ready(readiness))
    case .warning(let error):
      send(.warning(error))
    case .failed(let error):
      send(.failed(error))
    }
  }

  private func burstEnded() {
    let kinds = options.kinds
    let batch = state.withLock { state -> ChangeBatch? in
      let changes = state.coalescer.take().filter { kinds.contains($0.kind) }
      let overflow = state.overflow
      let noticed = state.noticed
      state.overflow = false
      state.noticed = nil
      // After an overflow too: the tree was compared, and nothing has changed.
      if changes.isEmpty { return nil }
      state.batchCount += 1
      var batch = ChangeBatch(number: state.batchCount, changes: changes, overflow: overflow)
      batch.noticed = noticed
      return batch
    }
    if let batch { send(.changed(batch)) }
  }

  private func send(_ event: Event) {
    let (handler, queue, streams) = state.withLock { state in
      (state.handler, state.handlerQueue, Array(state.streams.values))
    }
    if case .changed(let batch) = event {
      for stream in streams { stream.yield(batch) }
    }
    guard let handler, let queue else { return }
    queue.async { handler(event) }
  }
}

// MARK: - Holding a burst

extension FileObserver {
  /// While git holds its index locked, as during a checkout, what it does is not done.
  private func makeHold() -> @Sendable () -> Bool {
    let locks = Set(roots.compactMap { gitIndexLock(above: $0.path) })
    return { locks.contains { (try? FileStatus(of: $0)) != nil } }
  }
}

// MARK: - Roots

extension FileObserver {
  /// What a path to watch comes down to. A file that is a link is watched together with what it
  /// points to.
  private static func roots(
    of watched: WatchedPath
  ) throws(ObserverError) -> [BackendConfiguration.Root] {
    do throws(SystemError) {
      let path = watched.path.absolute(from: try currentDirectory())
      let own = try FileStatus(of: path)
      let target = try? FileStatus(of: path, followsLinks: true)
      if own.type == .directory || target?.type == .directory {
        return [.init(path: path, coverage: watched.isRecursive ? .recursive : .entries)]
      }
      var roots = [BackendConfiguration.Root(path: path, coverage: .named)]
      if own.type == .symlink, let target = try? resolvedPath(path) {
        roots.append(.init(path: target, coverage: .named))
      }
      return roots
    } catch {
      throw .pathNotFound(watched.path, error)
    }
  }
}
