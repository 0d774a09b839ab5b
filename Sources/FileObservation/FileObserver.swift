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
/// writes a change was. Writes through a memory map are seen when the file is closed. On file systems
/// of which the kernel tells nothing, changes are found by looking for them from time to time
/// (``Polling``): what comes and goes between two looks is not seen there, and a rename may be told
/// of as a removal and a creation. Of a folder that has come, or has been renamed, read what is in it:
/// what went along is not told of each by itself.
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
    /// Which mechanism is used, such as `inotify`, `polling`, or both as `inotify+polling`.
    public let backend: String
    /// The ignore files in force.
    public let ignoreFiles: [IgnoreFile]
  }

  /// How an observer stands, in numbers.
  public struct Statistics: Sendable, Hashable {
    /// How many watches the kernel keeps for it.
    public let watches: Int
    /// How many folders are looked at from time to time, because they cannot be watched.
    public let polledFolders: Int
    /// How many ignored folders have been passed by, not counting those in them.
    public let pruned: Int
    /// How often the kernel has dropped events.
    public let overflows: Int
    /// How often the whole tree was read again because of that.
    public let rescans: Int
    /// How many batches have been handed over.
    public let batches: Int
  }

  struct State {
    var backend: (any Backend)?
    var debouncer: Debouncer?
    var handler: (@Sendable (Event) -> Void)?
    var handlerQueue: DispatchQueue?
    var isHandlerAwaited = false
    var streams: [Int: BatchStream] = [:]
    var streamCount = 0
    var coalescer = Coalescer()
    var overflow = false
    var batchCount = 0
    var roots: [BackendConfiguration.Root] = []
    /// Files that exist while git is at work.
    var gitLocks: Set<Path> = []
    var readingAhead: ReadingAhead?
    var isPaused = false
    /// A burst has ended during the pause.
    var isBurstKept = false
    var isStopped = false
  }

  let options: ObserverOptions
  let state = Mutex(State())
  /// Batches for those who wait for one.
  let inbox = BatchInbox()
  /// Where all is done. Tests suspend it, so that the kernel has to keep what happens meanwhile.
  let queue = DispatchQueue(label: "watchrun.observer", qos: .userInitiated)
  private let scheduler: DispatchScheduler
  /// Where only changes of content count.
  private let comparison: ContentComparison?

  /// An observer of these files and folders, which must exist; folders with all that is in them.
  public convenience init(
    paths: [Path], options: ObserverOptions = ObserverOptions()
  ) throws(ObserverError) {
    try self.init(watching: paths.map { WatchedPath($0) }, options: options)
  }

  /// An observer of these files and folders, which must exist unless it is said that they need not.
  public init(
    watching paths: [WatchedPath], options: ObserverOptions = ObserverOptions()
  ) throws(ObserverError) {
    self.options = options
    scheduler = DispatchScheduler(queue: queue)
    comparison = options.makeComparison()
    var roots: [BackendConfiguration.Root] = []
    var known: Set<BackendConfiguration.Root> = []
    for path in paths {
      let root = try Self.root(of: path)
      if known.insert(root).inserted { roots.append(root) }
    }
    state.withLock { $0.setRoots(roots) }
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

  /// The same, for what has changed since a time that may lie a little back. A handler that is awaited
  /// keeps the observer from all else: who is quick with it is spared the way from thread to thread.
  package func start(
    on queue: DispatchQueue? = nil, awaitingHandler isAwaited: Bool = false,
    countingFrom start: FileTime,
    makeBackend: @Sendable (BackendConfiguration, Polling) -> any Backend = {
      CombinedBackend($0, polling: $1)
    },
    _ handler: @escaping @Sendable (Event) -> Void
  ) throws(ObserverError) {
    let debouncer = Debouncer(
      quietPeriod: options.quietPeriod, maximumWait: options.maximumWait,
      scheduler: scheduler, isHeld: makeHold()
    ) { [weak self] in
      self?.burstEnded()
    }
    let roots = state.withLock { $0.roots }
    let configuration = BackendConfiguration(
      roots: roots, filter: options.filter, followsLinks: options.followsLinks, start: start,
      queue: self.queue
    ) { [weak self] report in
      self?.receive(report)
    }
    let backend = makeBackend(configuration, options.polling)
    let readingAhead = comparison.map { options.makeReadingAhead(of: roots, since: start, for: $0) }
    let isFirst = state.withLock { state in
      guard state.backend == nil, !state.isStopped else { return false }
      state.backend = backend
      state.debouncer = debouncer
      state.readingAhead = readingAhead
      state.handler = handler
      state.isHandlerAwaited = isAwaited
      state.handlerQueue = queue ?? DispatchQueue(label: "watchrun.observer.events")
      return true
    }
    precondition(isFirst, "a FileObserver is started once")
    try backend.start()
  }

  /// Reads everything up to now: hands over every change made before this call, without waiting for
  /// the end of the quiet period, then calls `done` once.
  ///
  /// Polled directories are polled once more. During the first walk, `done` waits for its end; while
  /// git holds its index locked, for the end of the burst. `done` is called on a queue of the
  /// observer's; where the handler has a queue of its own, dispatch to that, and the batches come
  /// first. An observer that is not running, or is paused, hands nothing over and calls `done` all the
  /// same.
  public func flush(then done: @escaping @Sendable () -> Void) {
    guard let backend = state.withLock({ $0.isStopped ? nil : $0.backend }) else {
      return queue.async { done() }
    }
    backend.flush { [weak self] in
      guard let self, let debouncer = state.withLock({ $0.debouncer }) else { return done() }
      debouncer.flush { [comparison] in
        if let comparison { comparison.flush(then: done) } else { done() }
      }
    }
  }

  /// Ends it: no event is handed over any more but those that are on their way already, and the
  /// streams end. Calling it again does nothing.
  public func stop() {
    let (backend, debouncer, streams) = state.withLock { state in
      state.isStopped = true
      state.handler = nil
      state.readingAhead = nil
      defer { state.streams = [:] }
      return (state.backend, state.debouncer, Array(state.streams.values))
    }
    debouncer?.stop()
    comparison?.stop()
    backend?.stop()
    for stream in streams { stream.finish() }
    inbox.close()
  }
}

// MARK: - From the backend to the handler

extension FileObserver {
  private func receive(_ report: BackendReport) {
    switch report {
    case .events(let events, let overflow):
      let isMetadataWanted = options.kinds.contains(.metadata)
      let (debouncer, isBeingWritten) = state.withLock { state -> (Debouncer?, Bool) in
        // What changes only a file's metadata neither begins a burst nor prolongs it.
        let counted = isMetadataWanted ? events : events.filter { $0.kind != .metadata }
        for event in counted { state.coalescer.note(event) }
        state.overflow = state.overflow || overflow
        let isNews = !counted.isEmpty || overflow
        return (isNews ? state.debouncer : nil, state.coalescer.isBeingWritten)
      }
      debouncer?.noteChange(isBeingWritten: isBeingWritten)
    case .ready(let readiness):
      send(.ready(readiness))
      state.withLock { $0.readingAhead.take() }?.begin()
    case .warning(let error):
      send(.warning(error))
    case .failed(let error):
      send(.failed(error))
    }
  }

  func burstEnded() {
    let burst = state.withLock { state -> Burst? in
      if state.isPaused {
        state.isBurstKept = true
        return nil
      }
      defer { state.overflow = false }
      return Burst(changes: state.coalescer.take(), overflow: state.overflow)
    }
    guard let burst = burst?.withTypesLookedUp() else { return }
    if let comparison {
      comparison.follow(burst.changes) { [weak self] in self?.handOver($0, of: burst) }
    } else {
      handOver(burst.changes.filter { options.kinds.contains($0.kind) }, of: burst)
    }
  }

  /// What one burst has come to.
  private struct Burst: Sendable {
    var changes: [ChangeBatch.Change]
    let overflow: Bool

    /// What was renamed with its folder before it could be looked at has its place by now.
    func withTypesLookedUp() -> Burst {
      let isUnknown = { (change: ChangeBatch.Change) in
        change.type == .unknown && change.kind != .removed
      }
      guard changes.contains(where: isUnknown) else { return self }
      var burst = self
      for index in changes.indices where isUnknown(changes[index]) {
        burst.changes[index].type = (try? FileStatus(of: changes[index].path).type) ?? .unknown
      }
      return burst
    }
  }

  /// Hands over those of a burst's changes that count.
  private func handOver(_ changes: [ChangeBatch.Change], of burst: Burst) {
    // After an overflow too: the tree was compared, and nothing has changed.
    if changes.isEmpty { return }
    let number = state.withLock { state in
      state.batchCount += 1
      return state.batchCount
    }
    send(.changed(ChangeBatch(number: number, changes: changes, overflow: burst.overflow)))
    if changes.count > Self.largeBatch { returnMemorySoon() }
  }

  private static let largeBatch = 1000

  /// What a large burst needed is not needed again, as soon as everybody is done with it.
  private func returnMemorySoon() {
    let soon = scheduler.now.advanced(by: .seconds(1))
    _ = scheduler.schedule(at: soon, leeway: .seconds(1)) { returnFreeMemory() }
  }

  private func send(_ event: Event) {
    let (handler, queue, isAwaited, streams) = state.withLock { state in
      (state.handler, state.handlerQueue, state.isHandlerAwaited, Array(state.streams.values))
    }
    if case .changed(let batch) = event {
      for stream in streams { stream.yield(batch) }
      inbox.put(batch)
    }
    if case .failed(let error) = event { inbox.close(error) }
    guard let handler, let queue else { return }
    if isAwaited { queue.sync { handler(event) } } else { queue.async { handler(event) } }
  }
}

// MARK: - Holding a burst

extension FileObserver {
  /// Whether git holds its index locked, as during a checkout, so that more changes will follow.
  /// A lock that is older than the longest hold was left behind by a git that was killed.
  private func makeHold() -> @Sendable () -> Bool {
    { [weak self] in
      let locks = self?.state.withLock { $0.gitLocks } ?? []
      let oldest = FileTime.now().advanced(by: .zero - DebounceStateMachine.longestHold)
      return locks.contains { lock in
        (try? FileStatus(of: lock)).map { $0.modified > oldest } ?? false
      }
    }
  }
}

// MARK: - Roots

extension FileObserver {
  /// What a path to watch comes down to.
  static func root(of watched: WatchedPath) throws(ObserverError) -> BackendConfiguration.Root {
    let folder: Coverage = watched.isRecursive ? .recursive : .entries
    do throws(SystemError) {
      let path = watched.path.absolute(from: try currentDirectory())
      if watched.mayBeMissing && (try? FileStatus(of: path)) == nil {
        // What it will be is not known: if a file, then that is all there is to it.
        return .init(path: path, coverage: folder)
      }
      let own = try FileStatus(of: path)
      let target = try? FileStatus(of: path, followsLinks: true)
      let isFolder = own.type == .directory || target?.type == .directory
      return .init(path: path, coverage: isFolder ? folder : .named)
    } catch {
      throw .pathNotFound(watched.path, error)
    }
  }
}

extension FileObserver.State {
  mutating func setRoots(_ roots: [BackendConfiguration.Root]) {
    self.roots = roots
    gitLocks = Set(roots.compactMap { gitIndexLock(above: $0.path) })
  }
}
