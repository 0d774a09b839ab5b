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
/// ``events`` is the primary way to receive. Beside it there are ``batches``, which has only the
/// changes; a handler (``start(on:_:onFailure:)``), for programs without Swift concurrency; and
/// ``waitForChange(timeout:)``, for scripts. An observer may have any number of streams.
///
/// Each change after the start is reported. If the kernel drops events, the tree is scanned, and
/// the batch with the differences has `overflow` set. Not promised are the order of changes to
/// different paths, the number of writes, and the states between them. Writes through a memory map
/// are reported when the file is closed. Where the kernel reports no events, changes are found by
/// ``Polling``: a file that is created and removed between two polls is not reported, and a rename
/// may be reported as a removal and a creation. ``ChangeBatch`` explains how directories are
/// reported.
///
/// An observer is started once, and stays stopped after `stop`. It stops when it is released.
/// All methods may be called on any thread, also at the same time.
public final class FileObserver: Sendable {
  let options: ObserverOptions
  let state = Mutex(State())
  /// The serial queue on which all work is done. Tests suspend it to let events collect in the
  /// kernel.
  let queue = DispatchQueue(label: "watchrun.observer", qos: .userInitiated)
  let scheduler: DispatchScheduler
  /// Drops changes of files whose content is the same as before; `nil` if every change is reported.
  let comparison: ContentComparison?
  /// Receives the changes that are not reported; `nil` if nothing does.
  let ignoredChanges: IgnoredChangeSink?

  /// Creates an observer of files and, recursively, directories. It does nothing until it is
  /// started.
  ///
  /// Relative paths are resolved now, against the current directory.
  ///
  /// - Throws: ``ObserverError/Code-swift.struct/pathUnavailable`` if a path does not exist.
  public convenience init(
    paths: [Path], options: ObserverOptions = ObserverOptions()
  ) throws(ObserverError) {
    try self.init(watching: paths.map { WatchedPath($0) }, options: options)
  }

  /// Creates an observer of files and directories. It does nothing until it is started.
  ///
  /// Relative paths are resolved now, against the current directory.
  ///
  /// - Parameters:
  ///   - paths: The paths to watch.
  ///   - options: The options.
  ///   - onIgnoredChange: Called with changes that the observer has seen and does not report, at most a
  ///     hundred in a second, on a queue of the observer, which it must not block. Meant for users
  ///     who ask why nothing happens; without it, nothing is spent on such changes.
  /// - Throws: ``ObserverError/Code-swift.struct/pathUnavailable`` if a path does not exist, unless
  ///   it may be missing.
  public convenience init(
    watching paths: [WatchedPath], options: ObserverOptions = ObserverOptions(),
    onIgnoredChange: (@Sendable (IgnoredChange) -> Void)? = nil
  ) throws(ObserverError) {
    try self.init(watching: paths, options: options, onIgnoredChange: onIgnoredChange) {
      makeAlarm(on: $0, $1)
    }
  }

  /// Creates an observer whose timers use the alarms of a function.
  init(
    watching paths: [WatchedPath], options: ObserverOptions,
    onIgnoredChange: (@Sendable (IgnoredChange) -> Void)? = nil,
    makeAlarm: @escaping DispatchScheduler.AlarmMaker
  ) throws(ObserverError) {
    self.options = options
    scheduler = DispatchScheduler(queue: queue, makeAlarm: makeAlarm)
    let limits = options.contentLimits
    comparison =
      options.skipsUnchanged
      ? ContentComparison(mostFiles: limits.mostFiles, wanted: options.kinds) {
        contentDigest(of: $0, atMost: limits.largestFile)
      } : nil
    ignoredChanges = onIgnoredChange.map { IgnoredChangeSink($0) }
    var roots: [WatchedRoot] = []
    var known: Set<BackendConfiguration.Root> = []
    for path in paths {
      let root = try WatchedRoot(path, isObserved: true)
      if known.insert(root.root).inserted { roots.append(root) }
    }
    state.withLock { $0.roots = roots }
  }

  deinit {
    stop()
  }

  /// Starts observing with a handler, and returns at once. Changes from now on are reported, also
  /// in directories that are not watched yet; the event `ready` says that all are.
  ///
  /// - Parameters:
  ///   - queue: The queue on which both closures are called; by default a serial queue of the
  ///     observer's own. On a concurrent queue, calls may overlap.
  ///   - handler: Called with each event. The observer keeps it until it stops or fails.
  ///   - onFailure: Called once if observing fails later. It is the last call. It is not called for
  ///     the error that this method throws, nor after `stop`.
  /// - Throws: ``ObserverError`` if nothing can be watched, or if the observer has been started or
  ///   stopped before.
  public func start(
    on queue: DispatchQueue? = nil, _ handler: @escaping @Sendable (Event) -> Void,
    onFailure: @escaping @Sendable (ObserverError) -> Void
  ) throws(ObserverError) {
    try start(on: queue, countingFrom: .now(), handler, onFailure: onFailure)
  }

  /// Starts observing for ``events``, ``batches`` or ``waitForChange(timeout:)``. They start the
  /// observer themselves, with the first iteration or call; use this to choose an earlier moment.
  ///
  /// - Throws: ``ObserverError`` if nothing can be watched, or if the observer has been started or
  ///   stopped before.
  public func start() throws(ObserverError) {
    if try !start(for: nil, countingFrom: .now()) { throw misuse }
  }

  /// Starts observing, and reports changes since a time that may be in the past. With
  /// `awaitingHandler`, the observer waits for each call of the closures, which saves a change of
  /// threads.
  package func start(
    on queue: DispatchQueue? = nil, awaitingHandler isAwaited: Bool = false,
    countingFrom start: FileTime, _ handler: @escaping @Sendable (Event) -> Void,
    onFailure: @escaping @Sendable (ObserverError) -> Void
  ) throws(ObserverError) {
    try self.start(
      on: queue, awaitingHandler: isAwaited, countingFrom: start,
      makeBackend: { CombinedBackend($0, polling: $1) }, handler, onFailure: onFailure)
  }

  func start(
    on queue: DispatchQueue? = nil, awaitingHandler isAwaited: Bool = false,
    countingFrom start: FileTime, makeBackend: BackendMaker,
    _ handler: @escaping @Sendable (Event) -> Void,
    onFailure: @escaping @Sendable (ObserverError) -> Void
  ) throws(ObserverError) {
    let queue = queue ?? DispatchQueue(label: "watchrun.observer.events")
    let call = { @Sendable (body: @escaping @Sendable () -> Void) in
      if isAwaited { queue.wait(for: body) } else { queue.async(execute: body) }
    }
    let subscriber = Subscriber(
      receive: { event in call { handler(event) } },
      end: { error in if let error { call { onFailure(error) } } },
      settle: { queue.async(flags: .barrier, execute: $1) })
    state.withLock { if case .idle = $0.phase { $0.handlerQueue = queue } }
    if try !self.start(for: subscriber, countingFrom: start, makeBackend) { throw misuse }
  }

  typealias BackendMaker = @Sendable (BackendConfiguration, Polling) -> any Backend

  func startIfNeeded() throws(ObserverError) {
    _ = try start(for: nil, countingFrom: .now())
  }

  /// Starts the observer unless it has been started or stopped.
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
    scheduler.prepare()
    let debouncer = Debouncer(
      quietPeriod: options.quietPeriod, maximumWait: options.maximumWait,
      scheduler: scheduler, isHeld: { [weak self] in self?.isGitAtWork ?? false }
    ) { [weak self] isPartial in
      self?.deliverBurst(isPartial: isPartial)
    }
    state.withLock { $0.debouncer = debouncer }
    var configuration = BackendConfiguration(
      roots: roots, filter: options.filter, followsLinks: options.followsLinks, start: start,
      queue: queue
    ) { [weak self] report in
      self?.receive(report)
    }
    configuration.base = try? currentDirectory()
    configuration.ignoredChanges = ignoredChanges
    let backend = makeBackend(configuration, options.polling)
    do throws(ObserverError) {
      try backend.start()
    } catch {
      if let subscription { unsubscribe(subscription) }
      end(error)
      throw error
    }
    while case let requests = state.withLock({ $0.finishStart(of: backend) }), !requests.isEmpty {
      for request in requests { request(backend) }
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

  /// Delivers every change made before this call, without waiting for the end of the quiet period,
  /// and then calls `done` once.
  ///
  /// The burst that is under way goes on: its later changes are delivered when it ends, for which
  /// ``awaitBurstEnd(then:)`` waits.
  ///
  /// Polled directories are polled once more. During the first scan, `done` waits for its end. An observer that is not
  /// running, or is paused, delivers nothing and calls `done`.
  ///
  /// It never waits for its caller: it returns at once, also when a handler, a completion handler of
  /// the observer or a task that reads a stream calls it, and `done` is called while they are busy.
  ///
  /// - Parameter done: Called on a queue of the observer's, after the batches were handed to the
  ///   handler's queue and to the streams. To run after the handler, dispatch to its queue.
  public func flush(then done: @escaping @Sendable () -> Void) {
    let request = state.withLock { state in
      state.makeRequest { [weak self, queue] backend in
        guard let backend else { return queue.async { done() } }
        backend.flush { [weak self] in
          if let self { flushBurst(then: done) } else { done() }
        }
      }
    }
    request()
  }

  /// Calls `done` once, when the burst that is under way has ended by its quiet period or the
  /// maximum wait, and its changes were delivered; soon if no burst is under way.
  ///
  /// After ``flush(then:)``, it tells a program whether more changes of the same burst may follow,
  /// and when they have. Changes that the observer has not read yet do not count.
  ///
  /// - Parameter done: Called on a queue of the observer's, like that of ``flush(then:)``.
  public func awaitBurstEnd(then done: @escaping @Sendable () -> Void) {
    queue.async { [weak self] in
      guard let self, let debouncer = state.withLock({ $0.debouncer }) else { return done() }
      debouncer.awaitBurstEnd { [weak self] in self?.afterDelivery(done) ?? done() }
    }
  }

  /// Stops observing, and returns at once. Streams end after the events that they have buffered; a
  /// handler may still be called with events that were delivered to its queue before. Calling it again
  /// does nothing.
  public func stop() {
    end()
  }

  /// Stops observing, and calls `done` once when no handler is running any more, or will be called
  /// again, like the cancel handler of a `DispatchSource`.
  ///
  /// - Parameter done: Called on the handler's queue; without a handler, on a queue of the observer's.
  public func stop(then done: @escaping @Sendable () -> Void) {
    end()
    queue.async { [self] in
      afterDelivery { [self] in
        let handlerQueue = state.withLock { $0.handlerQueue } ?? queue
        handlerQueue.async(flags: .barrier, execute: done)
      }
    }
  }
}
