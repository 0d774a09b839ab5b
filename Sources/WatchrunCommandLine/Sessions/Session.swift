import ActionRunning
import Dispatch
import FileObservation
import PathFiltering
import SessionControl
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// What the caller of this process has set up for it and the commands, captured before anything changes it.
struct CallerSetup: Sendable {
  /// The signals that this process was started to ignore, as by `nohup`. Commands ignore them as well.
  let ignoredSignals = SystemCalls.ignoredSignals()
  /// The descriptors besides the standard ones that were passed, in ascending order. Commands inherit them.
  let descriptors = inheritableDescriptors()
}

/// What all modes of watchrun share: observers, signals, keys, and how it ends.
///
/// `PrintSession` and `RunSession` do the work of each mode.
final class Session: Sendable {
  let settings: Settings
  let console: Console
  let directory: Path
  /// Changes count from this time on.
  let began: FileTime
  let caller: CallerSetup
  var ignoredSignals: Set<Signal> { caller.ignoredSignals }
  let guardian: Guardian?
  /// `nil` if standard input is not a terminal, or nothing is run.
  let terminalController: TerminalController?
  /// Reports why changes did not count; `nil` if nothing asks for that.
  let ignoredChanges: IgnoredChangeReporter?
  let notifier: Notifier

  private struct State {
    var observers: [FileObserver] = []
    var server: SessionServer?
    /// `nil` before keys are read.
    var keys: KeyReader?
    /// Stops the command; `workHasEnded` is called when that is done.
    var endWork: (@Sendable () -> Void)?
    /// How watchrun ends after the command, and when that was requested; the first request decides.
    var ending: (how: Ending, since: Instant)?
    var pageReturn: (any ScheduledWork)?
  }

  private let state = Mutex(State())
  private let scheduler = DispatchScheduler(queue: .separate())
  /// The free ports that were chosen for services, by task.
  let ports = Mutex<[String: UInt16]>([:])
  /// The sockets that are held for services.
  let sockets = Mutex<[HeldSocket]>([])

  enum Ending: Sendable {
    case exit(Int32)
    /// Raises the signal again, so that the parent process sees it.
    case raise(Signal)
  }

  init(
    _ settings: Settings, console: Console, directory: Path, began: FileTime,
    caller: CallerSetup, guardian: Guardian?
  ) {
    self.settings = settings
    self.console = console
    self.directory = directory
    self.began = began
    self.caller = caller
    self.guardian = guardian
    console.row.guardian.withLock { $0 = guardian }
    notifier = Notifier(console, directory: directory)
    let terminalController = settings.makeTerminalController(guardian)
    self.terminalController = terminalController
    let explains =
      settings.isVerbose || terminalController?.readsKeys == true && !settings.isInteractive
    ignoredChanges =
      explains
      ? IgnoredChangeReporter(console, directory: directory)
      : nil
  }
}

// MARK: - Observing

extension Session {
  /// Makes an observer with the options of the command line, or those with the defaults of a project, except for what
  /// the observation replaces.
  func makeObserver(
    _ observation: SessionPlan.Observation, with settings: Settings? = nil
  ) throws(Failure) -> FileObserver {
    let options = observerOptions(observation, with: settings)
    var onIgnoredChange: (@Sendable (IgnoredChange) -> Void)?
    if let ignoredChanges { onIgnoredChange = { ignoredChanges.note($0) } }
    do throws(ObserverError) {
      return try FileObserver(
        watching: observation.paths, options: options, onIgnoredChange: onIgnoredChange)
    } catch {
      guard error.code == .pathUnavailable else {
        throw .launch(error.description, ExitCode.failure)
      }
      let missing = error.path?.absolute(from: directory)
      let path = observation.paths.map(\.path).first { $0.absolute(from: directory) == missing }
      let explanation = path.flatMap { WatchAdvice.explanation(of: $0, in: directory) }
      throw .launch(explanation ?? error.description, ExitCode.noInput)
    }
  }

  private func observerOptions(
    _ observation: SessionPlan.Observation, with settings: Settings?
  ) -> ObserverOptions {
    var settings = settings ?? self.settings
    settings.ignores = observation.ignores + settings.ignores
    if let sources = observation.sources { settings.ignoreSources = sources }
    if !observation.filters { (settings.filters, settings.extensions) = ([], []) }
    let isAdaptive = settings.quietPeriod == .adaptive
    var filter = settings.makeFilter(in: directory)
    filter.hidden = ownFiles(settings, observation.allLogs)
    return ObserverOptions(
      filter: filter,
      quietPeriod: isAdaptive ? observation.adaptiveQuietPeriod : settings.quietPeriod,
      maximumWait: settings.maximumWait, kinds: observation.kinds ?? settings.effectiveKinds,
      followsLinks: settings.followsLinks, polling: settings.polling,
      skipsUnchanged: settings.skipsUnchanged)
  }

  /// Finds out which tasks of a project are fresh; `nil` if nowhere is a place to record that. A run of a task that may
  /// not be fresh now also ends what was recorded before, and the project file may be read again.
  func makeFreshTasks(
    _ plan: SessionPlan, with settings: Settings, isObserved: Bool
  ) -> FreshTasks? {
    guard plan.origin == .project, let records = Self.recordDirectory else { return nil }
    return FreshTasks(
      of: directory, in: records,
      observation: observerOptions(plan.observation, with: settings), isObserved: isObserved,
      isUsed: settings.freshMode == .yes)
  }

  /// Where the last successes of tasks are recorded: in the user's directory for caches.
  private static var recordDirectory: Path? {
    let cache = environmentVariable("XDG_CACHE_HOME").flatMap { $0.hasPrefix("/") ? Path($0) : nil }
    let home = environmentVariable("HOME").flatMap { $0.hasPrefix("/") ? Path($0) : nil }
    return (cache ?? home?.appending(cacheDirectoryName)).map { $0.appending("watchrun") }
  }

  /// The files that watchrun itself writes: logs, those to which standard output, standard error and descriptors
  /// for the command are redirected, and those that runs read. Otherwise each run or line of output would
  /// lead to the next.
  private func ownFiles(_ settings: Settings, _ logs: Set<Path>) -> PatternList {
    let descriptors = [STDOUT_FILENO, STDERR_FILENO] + caller.descriptors.filter(isWritable)
    let outputs = descriptors.compactMap { pathOfFile($0)?.relative(to: "/") }
    let sockets = SessionServer.socketDirectories.filter { path in
      path.parent.map { (try? resolvedPath($0)) != nil } ?? false
    }
    let own =
      sockets + [Self.recordDirectory].compactMap(\.self)
      + logs.flatMap { [$0, LogFiles.former(of: $0)] }
    let temporary = temporaryFilesDirectory().absolute(from: directory)
    return PatternList(
      ((outputs + own.flatMap(\.names)).map { GlobPattern(only: $0) }
        + temporary.names.map { GlobPattern(only: $0, entries: RunDirectory.namePattern) }
        + settings.diagnosticsPatterns(in: directory))
        .compactMap(\.self))
  }

  /// Starts an observer, which is stopped at the end. Ends watchrun if it cannot be started.
  ///
  /// - Parameter queue: The queue of the command, on which the handler is called, if there is one.
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
        switch event {
        case .ready, .changed: self.returnProgramPagesSoon()
        case .warning: break
        }
      } onFailure: { [self] error in
        failed(error)
      }
    } catch {
      failed(error)
    }
  }

  /// Returns the pages of the program after the latest change, when what it leads to has probably ended: waiting needs
  /// few of them.
  private func returnProgramPagesSoon() {
    let time = scheduler.now.advanced(by: .seconds(2))
    let work = scheduler.schedule(at: time) { csystem_return_program_pages() }
    state.withLock { exchange(&$0.pageReturn, with: work) }?.cancel()
  }

  func stop(_ observer: FileObserver) {
    state.withLock { $0.observers.removeAll { $0 === observer } }
    observer.stop()
  }

  /// Stops an observer after a time, when it has reported all earlier changes.
  func stop(_ observer: FileObserver, after time: Duration) {
    _ = scheduler.schedule(at: scheduler.now.advanced(by: time)) { [self] in stop(observer) }
  }

  func failed(_ error: ObserverError) {
    console.problem(error.description)
    endWork(.exit(ExitCode.failure), escalates: false)
  }
}

// MARK: - Signals and keys

extension Session {
  /// Handles the signals that end watchrun: at once, or after `endWork`, which leads to `workHasEnded`. For Ctrl-C that
  /// kills nothing, calls `answer`, in case that something is being stopped.
  func listen(
    endWork: (@Sendable () -> Void)? = nil, answer: @escaping @Sendable () -> Void = {}
  ) {
    state.withLock { $0.endWork = endWork }
    // As the shell expects of what Ctrl-C ends: it does not go on with a list or a loop then.
    let endings: [Signal: Ending] = [
      .interrupt: .raise(.interrupt), .hangup: .exit(ExitCode.success),
      .terminate: .raise(.terminate), .quit: .exit(128 + Signal.quit.rawValue),
    ]
    // Signals that were ignored at the start, as by `nohup`, stay ignored.
    whenSignaled(
      endings.keys.filter { !ignoredSignals.contains($0) }, on: .separate()
    ) { [self] signal in
      guard let ending = endings[signal] else { return }
      if signal == .interrupt && (!isEnding || isRepeat) { answer() }
      // The kernel and the shell both report a closed terminal.
      self.endWork(ending, escalates: signal != .hangup && !isRepeat)
    }
    watchReaders()
  }

  /// Passes on the signals whose meaning only the command knows.
  func passOnSignals(_ send: @escaping @Sendable (Signal) -> Void) {
    let passedOn = [SIGUSR1, SIGUSR2].map(Signal.init(rawValue:)) + [.windowChange]
    whenSignaled(passedOn.filter { !ignoredSignals.contains($0) }, on: .separate(), send)
  }

  /// Reads keys if standard input is a terminal.
  func readKeys(for orders: SessionOrders) {
    guard let terminalController else { return }
    let reader = KeyReader(terminalController) { [self] key in
      let isOver = key.map { !orders.press($0) } ?? !ignoredSignals.contains(.hangup)
      if isOver { endWork(.exit(ExitCode.success), escalates: key != nil) }
    }
    state.withLock { $0.keys = reader }
    do throws(SystemError) {
      let givesTerminal = settings.isInteractive && !settings.isPostponed
      let isReading = try reader.start(prepares: !givesTerminal)
      if givesTerminal && terminalController.readsKeys && terminalController.terminal.isForeground {
        console.say(
          .news, "between runs: r runs again, q quits, h lists all keys", style: .faint)
      } else if isReading {
        console.say(.news, "press h for a list of keys", style: .faint)
      }
    } catch {
      console.say(.detail, "cannot read keys: \(error.reason)", style: .warning)
    }
  }

  /// Stops the command together with watchrun, and prints `warning` if the command reads from the terminal.
  func makeJobControl(_ warning: String) -> JobControl {
    terminalController?.whenHolderChanges { [console, settings] holder in
      // With -I, little is said beside the command.
      console.setHolder(holder, isShared: settings.isInteractive)
    }
    return JobControl(terminalController, ignoredSignals: ignoredSignals) { [console] in
      console.warn(warning)
    } suspending: { [self] isSuspended in
      if isSuspended { state.withLock(\.keys)?.endName() }
      console.hideStatus(isSuspended)
    }
  }
}

// MARK: - Ending

extension Session {
  /// Whether a signal, a key or an error has asked watchrun to end.
  var isEnding: Bool { state.withLock { $0.ending != nil } }

  /// Signals within this time after the first are the same request: `timeout` sends its signal twice, and
  /// npm passes on the one of Ctrl-C.
  private static let repeatTime = Duration.milliseconds(500)

  private var isRepeat: Bool {
    state.withLock { state in
      state.ending.map { Instant.now - $0.since < Self.repeatTime } ?? false
    }
  }

  /// Stops the command, then exits. A second request that escalates kills it.
  func endWork(_ ending: Ending, escalates: Bool) {
    let (isFirst, endWork) = state.withLock { state in
      defer { state.ending = state.ending ?? (ending, .now) }
      return (state.ending == nil, state.endWork)
    }
    console.stopWaiting()
    guard let endWork else { return end(ending) }
    if isFirst || escalates { endWork() }
  }

  /// Ends watchrun after the command and its process group have ended.
  func workHasEnded(_ status: ExitStatus?) {
    end(state.withLock { $0.ending?.how } ?? .exit(status?.code ?? ExitCode.success))
  }

  /// Listens for clients until the end. Returns the server; `nil` without a directory for its socket.
  func serve(_ served: some ServedSession, on queue: DispatchQueue) -> SessionServer? {
    do throws(SessionError) {
      let server = try SessionServer(served, in: directory, on: queue)
      state.withLock { $0.server = server }
      return server
    } catch {
      console.say(.detail, "watchrun --status finds no session: \(error)", style: .warning)
      return nil
    }
  }

  func end(_ ending: Ending) {
    let (observers, server) = state.withLock { ($0.observers, $0.server) }
    server?.stop()
    for observer in observers { observer.stop() }
    console.hideStatus(true)
    console.flush()
    terminalController?.restore()
    guardian?.end()
    switch ending {
    case .exit(ExitCode.success) where console.readers.hasLostOutput:
      exit(ExitCode.outputFailed)
    case .exit(let status):
      exit(status)
    case .raise(let signal):
      signal.raiseWithDefaultAction()
      exit(128 + signal.rawValue)
    }
  }
}
