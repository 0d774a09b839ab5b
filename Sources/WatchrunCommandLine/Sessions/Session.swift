import ActionRunning
import Dispatch
import FileObservation
import PathFiltering
import Support
import Synchronization
import SystemCalls

/// What all ways to run watchrun have in common: how it listens to signals and to the terminal, and how
/// it ends. What is done meanwhile is the affair of `PrintSession`, `CommandSession` and
/// `ProjectSession`.
final class Session: Sendable {
  let settings: Settings
  let console: Console
  let directory: Path
  /// The time from which on changes count.
  let began: FileTime
  let ignoredSignals: Set<Signal>
  let guardian: Guardian?
  /// Nil if standard input is no terminal, or nothing is run.
  let keeper: TerminalController?

  private struct State {
    var observers: [FileObserver] = []
    /// Ends what is run; `end` is called when that has ended.
    var endWork: (@Sendable () -> Void)?
    /// How it ends once nothing is left of what is run; the first to set it decides.
    var ending: Ending?
  }

  private let state = Mutex(State())

  enum Ending: Sendable {
    case exit(Int32)
    /// Ended by a signal: the parent is to see that.
    case raise(Signal)
  }

  init(
    _ settings: Settings, console: Console, directory: Path, began: FileTime,
    ignoredSignals: Set<Signal>, guardian: Guardian?
  ) {
    self.settings = settings
    self.console = console
    self.directory = directory
    self.began = began
    self.ignoredSignals = ignoredSignals
    self.guardian = guardian
    keeper = settings.makeTerminalController(guardian)
  }
}

// MARK: - Observing

extension Session {
  /// An observer as the command line wants it, but for what others say in its stead.
  ///
  /// - Parameters:
  ///   - filters: Whether `--filter` and `--exts` are for all that is observed.
  ///   - adaptiveQuietPeriod: Applies unless the user has chosen a fixed one.
  func makeObserver(
    of paths: [WatchedPath], with settings: Settings? = nil, ignoring ignores: [GlobPattern] = [],
    kinds: Set<ChangeBatch.Kind>? = nil, sources: IgnoreSources? = nil, filters: Bool = true,
    adaptiveQuietPeriod: QuietPeriod = .adaptive
  ) throws(Failure) -> FileObserver {
    var settings = settings ?? self.settings
    settings.ignores = ignores + settings.ignores + ownOutput
    if let sources { settings.ignoreSources = sources }
    if !filters { (settings.filters, settings.extensions) = ([], []) }
    let options = ObserverOptions(
      filter: settings.makeFilter(in: directory),
      quietPeriod: settings.quietPeriod == .adaptive ? adaptiveQuietPeriod : settings.quietPeriod,
      maximumWait: settings.maximumWait, kinds: kinds ?? settings.effectiveKinds,
      followsLinks: settings.followsLinks, polling: settings.polling,
      skipsUnchanged: settings.skipsUnchanged)
    do throws(ObserverError) {
      return try FileObserver(watching: paths, options: options)
    } catch {
      throw Failure(
        error.description,
        error.code == .pathUnavailable ? ExitCode.noInput : ExitCode.failure)
    }
  }

  /// The files to which our own output goes, and the command's with it: else each line in them would be
  /// a reason for the next run.
  private var ownOutput: [GlobPattern] {
    [STDOUT_FILENO, STDERR_FILENO].compactMap {
      pathOfFile($0)?.relative(to: directory).flatMap { GlobPattern(only: $0) }
    }
  }

  /// Begins to observe, until the end, and calls the handler on the queue of what is run, if there is
  /// one: what is done there is soon done. If it cannot begin, it ends.
  func start(
    _ observer: FileObserver, on queue: DispatchQueue? = nil, countingFrom start: FileTime,
    _ handler: @escaping @Sendable (FileObserver.Event) -> Void
  ) {
    state.withLock { $0.observers.append(observer) }
    do throws(ObserverError) {
      try observer.start(
        on: queue, awaitingHandler: queue != nil, countingFrom: start
      ) { event in
        handler(event)
        if case .ready = event { returnProgramPages() }
      } onFailure: { [self] error in
        failed(error)
      }
    } catch {
      failed(error)
    }
  }

  /// Ends observing with this one.
  func stop(_ observer: FileObserver) {
    state.withLock { $0.observers.removeAll { $0 === observer } }
    observer.stop()
  }

  /// The same, when it can have nothing more to tell of what was before.
  func stop(_ observer: FileObserver, after time: Duration) {
    let scheduler = DispatchScheduler(queue: DispatchQueue.global())
    _ = scheduler.schedule(at: scheduler.now.advanced(by: time)) { [self] in stop(observer) }
  }

  func warn(_ warning: ObserverWarning) {
    console.say(.problem, warning.text, style: .warning)
  }

  /// Watching is over, and so are we.
  func failed(_ error: ObserverError) {
    console.problem(error.description)
    endWork(.exit(ExitCode.failure), insists: false)
  }
}

// MARK: - What asks to end

extension Session {
  /// From now on, whoever asks to end is heard. It ends at once, or by `endWork`, which then leads to
  /// `workHasEnded`.
  func listen(endWork: (@Sendable () -> Void)? = nil) {
    state.withLock { $0.endWork = endWork }
    let endings: [(Signal, Ending)] = [
      (.interrupt, .exit(ExitCode.success)), (.hangup, .exit(ExitCode.success)),
      (.terminate, .raise(.terminate)), (.quit, .exit(128 + Signal.quit.rawValue)),
    ]
    // Those that we were started to ignore, as by `nohup`, stay ignored.
    for (signal, ending) in endings where !ignoredSignals.contains(signal) {
      // Of a closed terminal one is told by the kernel and by the shell: twice is not more than once.
      whenSignaled(signal) { [self] in self.endWork(ending, insists: signal != .hangup) }
    }
    console.onBrokenPipe { [self] in self.endWork(.exit(ExitCode.success), insists: false) }
  }

  /// Passes on the signals whose meaning is the affair of what is run.
  func passOnSignals(_ send: @escaping @Sendable (Signal) -> Void) {
    let passedOn = [SIGUSR1, SIGUSR2, SIGWINCH].map(Signal.init(rawValue:))
    for signal in passedOn where !ignoredSignals.contains(signal) {
      whenSignaled(signal) { send(signal) }
    }
  }

  /// Reads keys, if there is a terminal to read them from.
  func readKeys(_ keys: KeyPresses, for runner: some KeyListener) {
    guard let keeper else { return }
    let reader = KeyReader(keeper) { [self] event in
      let isOver =
        switch event {
        case .key(let key): !keys.press(key, runner)
        case .hangUp: !ignoredSignals.contains(.hangup)
        }
      if isOver { endWork(.exit(ExitCode.success), insists: event != .hangUp) }
    }
    do throws(SystemError) {
      let isReading = try reader.start()
      if isReading { console.say(.news, "press h for a list of keys", style: .faint) }
    } catch {
      console.say(.detail, "cannot see to the terminal: \(error.reason)", style: .warning)
    }
  }

  /// Who stops what is run with us, and says so if that wants the terminal.
  func makeJobControl(_ warning: String) -> JobControl {
    JobControl(keeper, ignoredSignals: ignoredSignals) { [console] in
      console.say(.problem, warning, style: .warning)
    }
  }
}

// MARK: - Ending

extension Session {
  /// Whether a signal, a key or an error has asked watchrun to end.
  var isEnding: Bool { state.withLock { $0.ending != nil } }

  /// Ends what is run, and us when nothing is left of it. Who insists, the second time, does not want
  /// to wait for that.
  func endWork(_ ending: Ending, insists: Bool) {
    let (isFirst, endWork) = state.withLock { state in
      defer { state.ending = state.ending ?? ending }
      return (state.ending == nil, state.endWork)
    }
    console.stopWaiting()
    guard let endWork else { return end(ending) }
    if isFirst || insists { endWork() }
  }

  /// Nothing is left of what was run.
  func workHasEnded(_ status: ExitStatus?) {
    end(state.withLock { $0.ending } ?? .exit(status?.code ?? ExitCode.success))
  }

  func end(_ ending: Ending) {
    for observer in state.withLock({ $0.observers }) { observer.stop() }
    console.flush()
    keeper?.restore()
    switch ending {
    case .exit(let status):
      exit(status)
    case .raise(let signal):
      signal.raiseWithDefaultAction()
      exit(128 + signal.rawValue)
    }
  }
}
