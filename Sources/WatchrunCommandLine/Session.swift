import ActionRunning
import Dispatch
import FileObservation
import Synchronization
import SystemCalls

/// One run of watchrun, from the checked command line to the exit.
///
/// Wires the stages together and knows nothing of how they work: observer → queue → console.
final class Session: Sendable {
  private let settings: Settings
  private let console: Console
  private let began: FileTime
  private let ignoredSignals: Set<Signal>
  private let guardian: Guardian?
  /// Nil if standard input is no terminal, or nothing is run.
  private let keeper: TerminalKeeper?
  private let directory: Path
  private let observer: FileObserver
  /// How it ends once nothing is left of the command; the first to set it decides.
  private let ending = Mutex<Ending?>(nil)
  private let queue = Mutex<ActionQueue?>(nil)

  private enum Ending: Sendable {
    case exit(Int32)
    /// Ended by a signal: the parent is to see that.
    case raise(Signal)
  }

  /// - Parameter began: The time from which on changes count.
  init(
    _ settings: Settings, console: Console, directory: Path, began: FileTime,
    ignoredSignals: Set<Signal>, guardian: Guardian?
  ) throws(Failure) {
    self.settings = settings
    self.console = console
    self.began = began
    self.ignoredSignals = ignoredSignals
    self.guardian = guardian
    keeper = settings.makeTerminalKeeper(guardian)
    self.directory = directory
    let options = ObserverOptions(
      filter: settings.makeFilter(in: directory), quietPeriod: settings.quietPeriod,
      maximumWait: settings.maximumWait, kinds: settings.effectiveKinds,
      followsLinks: settings.followsLinks, polling: settings.polling,
      skipsUnchanged: settings.skipsUnchanged)
    do throws(ObserverError) {
      observer = try FileObserver(watching: settings.effectiveWatched, options: options)
    } catch {
      throw Failure(
        error.description,
        error.code == .pathNotFound ? ExitCode.noInput : ExitCode.failure)
    }
  }

  /// Runs until it exits.
  func run() -> Never {
    if let mode = settings.printMode {
      runPrinting(PrintStream(mode: mode, separatesByNUL: settings.separatesByNUL))
    } else {
      runCommand()
    }
    dispatchMain()
  }
}

// MARK: - Printing

extension Session {
  private func runPrinting(_ stream: PrintStream) {
    let narration = Narration(console: console, command: [], directory: directory)
    handleSignals { [self] ending, _ in end(ending) }
    console.onBrokenPipe { [self] in end(.exit(ExitCode.success)) }
    startObserver(countingFrom: began, orElse: { [self] in end($0) }) { [self] event in
      do throws(SystemError) {
        switch event {
        case .ready(let readiness):
          narration.tell(readiness)
          try stream.write(readiness)
        case .changed(let batch):
          try stream.write(batch)
          if settings.endsAfterFirstRun { end(.exit(ExitCode.success)) }
        case .warning(let error):
          console.say(.problem, error.description, style: .warning)
        case .failed(let error):
          console.problem(error.description)
          end(.exit(ExitCode.failure))
        }
      } catch {
        // The reader has gone: that is how one asks for no more.
        if error.code != EPIPE { console.problem("cannot print: \(error.reason)") }
        end(.exit(error.code == EPIPE ? ExitCode.success : ExitCode.failure))
      }
    }
  }
}

// MARK: - Running a command

extension Session {
  private func runCommand() {
    let narration = Narration(console: console, command: settings.command, directory: directory)
    let keys = KeyPresses(narration)
    var options = settings.makeQueueOptions(ignoring: ignoredSignals, guardian: guardian)
    options.jobControl = JobControl(keeper, ignoredSignals: ignoredSignals) { [console] in
      console.say(
        .problem, "the command has stopped, since it wants the terminal: -I gives it",
        style: .warning)
    }
    let queue = ActionQueue(settings.makeCommand(), options: options) { [self] report in
      if settings.clearsScreen && report.beginsAnew(withBuild: settings.build != nil) {
        console.clearScreen()
      }
      if case .started(let run) = report { keys.remember(run) }
      narration.tell(report)
      if case .finished(let status) = report {
        end(ending.withLock { $0 } ?? .exit(status?.code ?? ExitCode.success))
      }
    }
    self.queue.withLock { $0 = queue }
    handleSignals { [self] ending, insists in endQueue(ending, insists: insists) }
    console.onBrokenPipe { [self] in endQueue(.exit(ExitCode.success), insists: false) }
    readTerminal { [self] event in
      let isOver =
        switch event {
        case .key(let key): !keys.press(key, queue)
        case .hangUp: !ignoredSignals.contains(.hangup)
        }
      if isOver { endQueue(.exit(ExitCode.success), insists: event != .hangUp) }
    }
    for signal in Self.passedOn where !ignoredSignals.contains(signal) {
      whenSignaled(signal) { queue.send(signal) }
    }
    // The first run sees all that has changed before it; what counts is what changes from then on.
    let start = FileTime.now()
    if !settings.isPostponed { queue.submit(Trigger(.start)) }
    startObserver(
      countingFrom: start, orElse: { [self] in endQueue($0, insists: false) }
    ) { [self] event in
      switch event {
      case .ready(let readiness):
        narration.tell(readiness)
      case .changed(let batch):
        narration.tell(batch)
        queue.submit(Trigger(batch))
      case .warning(let error):
        console.say(.problem, error.description, style: .warning)
      case .failed(let error):
        console.problem(error.description)
        endQueue(.exit(ExitCode.failure), insists: false)
      }
    }
  }

  /// Ends the queue, and us when nothing is left of the command. Who insists, the second time, does
  /// not want to wait for that.
  private func endQueue(_ ending: Ending, insists: Bool) {
    let isFirst = self.ending.withLock { decided in
      defer { decided = decided ?? ending }
      return decided == nil
    }
    if isFirst || insists { queue.withLock { $0 }?.end() }
    guard isFirst else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.longEnough) { @Sendable [console] in
      console.say(.news, "the command has not ended yet; to kill it, ask once more", style: .faint)
    }
  }

  /// After this time a person wants to know what is waited for.
  private static let longEnough = DispatchTimeInterval.seconds(1)

  private func readTerminal(_ handler: @escaping @Sendable (KeyReader.Event) -> Void) {
    guard let keeper else { return }
    do throws(SystemError) {
      let isReading = try KeyReader(keeper, event: handler).start()
      if isReading { console.say(.news, "press h for a list of keys", style: .faint) }
    } catch {
      console.say(.detail, "cannot see to the terminal: \(error.reason)", style: .warning)
    }
  }

  /// What these mean is the command's affair.
  private static let passedOn = [SIGUSR1, SIGUSR2, SIGWINCH].map(Signal.init(rawValue:))
}

// MARK: - Beginning and ending

extension Session {
  private func startObserver(
    countingFrom start: FileTime, orElse fail: (Ending) -> Void,
    _ handler: @escaping @Sendable (FileObserver.Event) -> Void
  ) {
    do throws(ObserverError) {
      try observer.start(countingFrom: start, handler)
    } catch {
      console.problem(error.description)
      fail(.exit(ExitCode.failure))
    }
  }

  /// Calls `handler` for each signal that asks us to end. Those that we were started to ignore, as
  /// by `nohup`, stay ignored.
  private func handleSignals(_ handler: @escaping @Sendable (Ending, _ insists: Bool) -> Void) {
    let endings: [(Signal, Ending)] = [
      (.interrupt, .exit(ExitCode.success)), (.hangup, .exit(ExitCode.success)),
      (.terminate, .raise(.terminate)), (.quit, .exit(128 + Signal.quit.rawValue)),
    ]
    for (signal, ending) in endings where !ignoredSignals.contains(signal) {
      // Of a closed terminal one is told by the kernel and by the shell: twice is not more than once.
      whenSignaled(signal) { handler(ending, signal != .hangup) }
    }
  }

  private func end(_ ending: Ending) {
    observer.stop()
    keeper?.giveUp()
    switch ending {
    case .exit(let status):
      exit(status)
    case .raise(let signal):
      signal.raiseWithDefaultAction()
      exit(128 + signal.rawValue)
    }
  }
}
