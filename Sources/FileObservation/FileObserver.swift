import Dispatch
import PathFiltering
import Support
import Synchronization
import SystemCalls

/// Watches files and directories, and reports changes in batches.
///
/// ```swift
/// let observer = try FileObserver(paths: ["Sources"])
/// for try await event in observer.events {
///   if case .changed(let batch) = event { print(batch.changes) }
/// }
/// ```
///
/// Events are received in a task (``events``, ``batches``), by a handler (``start(on:_:)``) or by a
/// thread that waits (``waitForChange(timeout:)``).
///
/// Every change after the start is in a batch, or a batch with `overflow` reports its loss. Not
/// promised are the order of changes to different paths and the number of writes. Writes through a
/// memory map are reported when the file is closed. Where the kernel reports no events, changes are
/// found by ``Polling``: a file that is created and removed between two polls is not reported, and a
/// rename may be reported as a removal and a creation. ``ChangeBatch`` says what the change of a
/// directory stands for.
///
/// An observer is started once, and a stopped one stays stopped. It stops when it is released. All
/// methods may be called on any thread.
public final class FileObserver: Sendable {
  /// A report of an observer.
  public enum Event: Sendable {
    /// Everything is watched.
    case ready(Readiness)
    /// Something changed.
    case changed(ChangeBatch)
    /// Something cannot be watched; the rest is.
    case warning(ObserverError)
    /// Observing has failed and is over. A stream throws the error instead.
    case failed(ObserverError)
  }

  /// The state when everything is watched.
  public struct Readiness: Sendable {
    /// The number of kernel watches.
    public let watches: Int
    /// The number of ignored directories, not counting those below them.
    public let pruned: Int
    /// The mechanism, such as `inotify`, `polling` or `inotify+polling`; `none` without paths.
    public let backend: String
    /// The ignore files in force.
    public let ignoreFiles: [IgnoreFile]
  }

  /// Counters of an observer. One that is not running has no watches.
  public struct Statistics: Sendable, Hashable {
    /// The number of kernel watches.
    public let watches: Int
    /// The number of directories that are polled, because they cannot be watched.
    public let polledDirectories: Int
    /// The number of ignored directories, not counting those below them.
    public let pruned: Int
    /// The number of times that the kernel has dropped events.
    public let overflows: Int
    /// The number of rescans of the whole tree because of that.
    public let rescans: Int
    /// The number of batches.
    public let batches: Int
  }

  let options: ObserverOptions
  let state = Mutex(State())
  /// Where all work is done. Tests suspend it, so that the kernel has to keep what happens meanwhile.
  let queue = DispatchQueue(label: "watchrun.observer", qos: .userInitiated)
  let scheduler: DispatchScheduler
  /// Leaves out files with the content that they had before; `nil` if every change counts.
  let comparison: ContentComparison?

  /// Creates an observer of existing files and, recursively, directories.
  ///
  /// - Throws: `ObserverError` if a path does not exist.
  public convenience init(
    paths: [Path], options: ObserverOptions = ObserverOptions()
  ) throws(ObserverError) {
    try self.init(watching: paths.map { WatchedPath($0) }, options: options)
  }

  /// Creates an observer of files and directories.
  ///
  /// - Throws: `ObserverError` if a path does not exist but must.
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
      scheduler: scheduler, isHeld: { [weak self] in self?.isGitAtWork ?? false }
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

// MARK: - Roots

extension FileObserver {
  /// The root that a path to watch resolves to.
  static func root(of watched: WatchedPath) throws(ObserverError) -> BackendConfiguration.Root {
    let coverage: Coverage = watched.isRecursive ? .recursive : .entries
    do throws(SystemError) {
      let path = watched.path.absolute(from: try currentDirectory())
      if watched.mayBeMissing && (try? FileStatus(of: path)) == nil {
        // Should it become a file, coverage does not matter.
        return .init(path: path, coverage: coverage)
      }
      let own = try FileStatus(of: path)
      let target = try? FileStatus(of: path, followsLinks: true)
      let isDirectory = own.type == .directory || target?.type == .directory
      return .init(path: path, coverage: isDirectory ? coverage : .named)
    } catch {
      throw .pathUnavailable(watched.path, error)
    }
  }
}
