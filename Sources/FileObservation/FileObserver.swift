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

  let options: ObserverOptions
  let state = Mutex(State())
  /// Where all work is done. Tests suspend it, so that the kernel has to keep what happens meanwhile.
  let queue = DispatchQueue(label: "watchrun.observer", qos: .userInitiated)
  private let scheduler: DispatchScheduler
  /// Leaves out files with the content that they had before; `nil` if every change counts.
  let comparison: ContentComparison?

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
    let locks = roots.compactMap { root in
      gitIndexLock(above: root.path).map { (root.path, $0) }
    }
    state.withLock { state in
      state.roots = roots
      state.gitLocks = Dictionary(locks) { first, _ in first }
    }
  }

  deinit {
    stop()
  }

  /// Starts observing, and returns at once; the event `ready` reports that everything is watched.
  /// Changes made meanwhile are not lost.
  ///
  /// - Parameters:
  ///   - queue: Where `handler` is called; by default a serial queue of the observer's own. On a
  ///     concurrent queue, calls may overlap.
  ///   - handler: Is called with each event. It is released when the observer stops or fails.
  /// - Throws: `ObserverError` if nothing can be watched at all, or if the observer has been started
  ///   or stopped before.
  public func start(
    on queue: DispatchQueue? = nil, _ handler: @escaping @Sendable (Event) -> Void
  ) throws(ObserverError) {
    try start(on: queue, countingFrom: .now(), handler)
  }

  /// Starts observing for those who take ``events`` or ``batches``, or call `waitForChange`.
  ///
  /// - Throws: As the other `start` does.
  public func start() throws(ObserverError) {
    if try !start(for: nil, countingFrom: .now()) { throw misuse }
  }

  /// Starts observing, and reports changes since a time that may be in the past. With
  /// `awaitingHandler`, the observer waits for each call of the handler, which saves a change of
  /// threads.
  package func start(
    on queue: DispatchQueue? = nil, awaitingHandler isAwaited: Bool = false,
    countingFrom start: FileTime,
    makeBackend: BackendMaker = { CombinedBackend($0, polling: $1) },
    _ handler: @escaping @Sendable (Event) -> Void
  ) throws(ObserverError) {
    let queue = queue ?? DispatchQueue(label: "watchrun.observer.events")
    let deliver = { @Sendable (event: Event) in
      if isAwaited { queue.sync { handler(event) } } else { queue.async { handler(event) } }
    }
    let subscriber = Subscriber(
      receive: deliver, end: { if let error = $0 { deliver(.failed(error)) } })
    if try !self.start(for: subscriber, countingFrom: start, makeBackend) { throw misuse }
  }

  /// Makes the backend that watches everything.
  package typealias BackendMaker = @Sendable (BackendConfiguration, Polling) -> any Backend

  /// Starts an observer that has not been started.
  func startIfNeeded() throws(ObserverError) {
    _ = try start(for: nil, countingFrom: .now())
  }

  /// Starts observing unless that was done before, or the observer is stopped.
  ///
  /// - Parameter subscriber: Receives every event, but not the error that is thrown here.
  /// - Returns: Whether this call has started it.
  private func start(
    for subscriber: Subscriber?, countingFrom start: FileTime,
    _ makeBackend: BackendMaker = { CombinedBackend($0, polling: $1) }
  ) throws(ObserverError) -> Bool {
    let begun = state.withLock { state in
      state.beginStart().map { ($0, subscriber.map { state.add($0) }) }
    }
    guard let (roots, subscription) = begun else { return false }
    let debouncer = makeDebouncer()
    let readingAhead = comparison.map { options.makeReadingAhead(of: roots, since: start, for: $0) }
    state.withLock { ($0.debouncer, $0.readingAhead) = (debouncer, readingAhead) }
    let configuration = BackendConfiguration(
      roots: roots, filter: options.filter, followsLinks: options.followsLinks, start: start,
      queue: queue
    ) { [weak self] report in
      self?.receive(report)
    }
    let backend = makeBackend(configuration, options.polling)
    do throws(ObserverError) {
      try backend.start()
    } catch {
      if let subscription { unsubscribe(subscription) }
      end(error)
      throw error
    }
    while case let changes = state.withLock({ $0.finishStart(of: backend) }), !changes.isEmpty {
      for change in changes { change(backend) }
    }
    // Stopped, or failed, meanwhile.
    if state.withLock({ $0.backend == nil }) { backend.stop() }
    return true
  }

  /// Why the observer cannot be started.
  private var misuse: ObserverError {
    state.withLock { state in
      if case .stopped = state.phase { .alreadyStopped } else { .alreadyStarted }
    }
  }

  private func makeDebouncer() -> Debouncer {
    Debouncer(
      quietPeriod: options.quietPeriod, maximumWait: options.maximumWait,
      scheduler: scheduler, isHeld: makeHold()
    ) { [weak self] in
      self?.burstEnded()
    }
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
    guard let backend = state.withLock({ $0.backend }) else { return queue.async { done() } }
    backend.flush { [weak self] in
      if let self { endBurst(then: done) } else { done() }
    }
  }

  /// Stops observing: no further event is delivered but those that are on their way already, and
  /// streams end. Calling it again does nothing.
  public func stop() {
    end()
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
      endBurst { [weak self] in self?.end(error) }
    }
  }

  /// Hands over the burst that is being collected, then calls `done`.
  private func endBurst(then done: @escaping @Sendable () -> Void) {
    guard let debouncer = state.withLock({ $0.debouncer }) else { return done() }
    debouncer.flush { [comparison] in
      if let comparison { comparison.flush(then: done) } else { done() }
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
}

// MARK: - Holding a burst

extension FileObserver {
  /// Whether git holds its index locked, as during a checkout, so that more changes will follow.
  /// A lock that is older than the longest hold was left behind by a git that was killed.
  private func makeHold() -> @Sendable () -> Bool {
    { [weak self] in
      let locks = self?.state.withLock { $0.gitLocks } ?? [:]
      let oldest = FileTime.now().advanced(by: .zero - DebounceStateMachine.longestHold)
      return Set(locks.values).contains { lock in
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
