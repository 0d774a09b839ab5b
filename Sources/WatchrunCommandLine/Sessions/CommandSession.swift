import ActionRunning
import FileObservation
import SystemCalls

/// Runs a command on changes: observer → queue → console, and a page if there is one.
struct CommandSession: Sendable {
  private let session: Session
  private let observer: FileObserver
  private let reporter: RunReporter
  private let page: CommandPage?

  init(_ session: Session) throws(Failure) {
    self.session = session
    page = try CommandPage(session)
    if let page {
      observer = try page.makeObserver(session)
    } else {
      observer = try session.makeObserver(of: session.settings.effectiveWatched)
    }
    reporter = RunReporter(
      console: session.console, command: session.settings.command, directory: session.directory)
  }

  func begin() throws(Failure) {
    try page?.open()
    let waiting = WaitingReporter(
      restartAdvice: "-r restarts at once", isEnding: { [session] in session.isEnding },
      reporter: { [reporter] _ in reporter })
    let keys = KeyPresses(reporter, waiting: waiting, ignored: session.ignoredChanges)
    let queue = makeQueue(keys, waiting)
    session.listen { queue.end() }
    session.readKeys(keys, for: queue)
    session.passOnSignals { queue.send($0) }
    if session.settings.filesFrom == nil {
      PipedList.warnSoon(session.console, in: session.directory)
    }
    // Before the first run, which asks the observer at its end for what changed meanwhile.
    if !session.settings.isOneRound { observe(for: queue) }
    if !session.settings.isPostponed { queue.submit(RunTrigger(.start)) }
  }

  /// Starts observing. The first run sees every change before it, so changes count from now on.
  private func observe(for queue: ActionQueue) {
    session.start(observer, on: queue.queue, countingFrom: .now()) { event in
      switch event {
      case .ready(let readiness):
        reporter.report(readiness)
      case .changed(let batch):
        reporter.report(batch)
        if let part = page.map({ batch.part(for: $0.triggers) }) ?? batch {
          queue.accept(RunTrigger(part))
        }
        page?.host.changed(batch)
      case .warning(let warning):
        session.warn(warning)
      }
    }
  }

  private func makeQueue(_ keys: KeyPresses, _ waiting: WaitingReporter) -> ActionQueue {
    let settings = session.settings
    var options = settings.makeQueueOptions(
      ignoring: session.ignoredSignals, guardian: session.guardian)
    options.readsOutput = page != nil
    options.reportsSettling = page != nil
    options.jobControl = session.makeJobControl(
      "the command has stopped, since it wants the terminal: -I gives it")
    return ActionQueue(settings.makeCommand(), options: options, source: observer) { report in
      if settings.clearsScreen && report.beginsAnew(withBuild: settings.build != nil) {
        session.console.clearScreen()
      }
      if case .started(let run) = report { keys.remember(run) }
      reporter.report(report)
      waiting.note(report)
      session.notifier.note(report, of: settings.command, settings)
      if case .ignored(let trigger) = report {
        session.ignoredChanges?.note(trigger.changes, "--on-busy ignore: a run is under way")
      }
      page?.host.note(report)
      if case .finished(let status) = report { session.workHasEnded(status) }
    }
  }
}
