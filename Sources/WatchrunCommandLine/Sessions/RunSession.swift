import ActionRunning
import FileObservation
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Runs tasks on changes, and serves pages: observer → runner → console and pages.
///
/// Everything that is reported comes from one stream of reports, which each reader takes as it is: the
/// console, the keys, the notices of what waits, notifications and pages. Output has a stream of its own.
final class RunSession: ChangeSource {
  let session: Session
  /// Where the project comes from; `nil` for a command line.
  let source: ProjectSource?
  let reporter: RunReporter
  let waiting: WaitingReporter
  let desk: SessionDesk
  let logs: LogFiles
  let statusLine: StatusLine

  struct State {
    var plan: SessionPlan
    /// The project that is run; `nil` for a command line.
    var project: Project?
    /// The command line with the defaults of the project.
    var settings: Settings
    var observer: FileObserver?
    /// `nil` as long as there was no page.
    var pages: PageHost?
    /// What has changed while the runner is paused, where pages are served and nothing is run.
    var heldPaths: [Path] = []
    /// Whether the project, or its variables, could not be read the last time.
    var isBroken = false
    /// The manifests of members that have errors.
    var brokenManifests: Set<Path> = []
  }

  let state: Mutex<State>
  let readings = Mutex(FileReadings())

  /// - Parameter project: The project of the source; `nil` for the command line.
  init(_ session: Session, _ project: Project?, of source: ProjectSource) throws(Failure) {
    self.session = session
    self.source = project == nil ? nil : source
    let plan = try session.plan(of: project, from: source)
    let settings = project.map { session.settings.adding($0.defaults) }
    reporter = RunReporter(session.console, directory: session.directory)
    reporter.setPlan(plan)
    waiting = WaitingReporter(reporter) { session.isEnding }
    let desk = SessionDesk(session, plan, waiting)
    self.desk = desk
    logs = LogFiles(reporter)
    statusLine = StatusLine(session.console) {
      // Only a controller hears of other holders of the terminal.
      let holder = session.terminalController == nil ? Terminal(STDERR_FILENO).foregroundGroup : nil
      if let holder, holder != ProcessGroup.own.leader { return nil }
      var text = desk.status()
      text.hasKeys = session.terminalController?.readsKeys == true
      return text
    }
    state = Mutex(State(plan: plan, project: project, settings: settings ?? session.settings))
  }

  func begin() throws(Failure) {
    let (plan, settings, project) = state.withLock { ($0.plan, $0.settings, $0.project) }
    try checkDiagnosticsFile(settings)
    desk.setFile(settings.diagnosticsFile)
    if let problem = logs.setPaths(of: plan) { throw .usage(problem) }
    let observer = try session.makeObserver(plan.observation, with: settings)
    if let problem = openPages(of: plan, opensBrowsers: true).first {
      throw .launch(problem, ExitCode.failure)
    }
    state.withLock { $0.observer = observer }
    // Before the first run, which asks the observer at its end for what changed meanwhile.
    let isObserved = !settings.isOneRound || plan.graph.tasks.allSatisfy(\.isPostponed)
    let freshness = session.makeFreshTasks(plan, with: settings, isObserved: isObserved)
    let runner = makeRunner(plan, freshness)
    waiting.use(runner.scheduler)
    session.listen {
      runner.end()
    } answer: { [waiting] in
      waiting.answerStop(toInterrupt: true)
    }
    let orders = SessionOrders(self, runner)
    session.readKeys(for: orders)
    // The plan may be replaced, and holds sockets.
    session.passOnSignals { [statusLine, command = plan.command] signal in
      if signal == .windowChange {
        runner.resizeTerminals()
        statusLine.update()
      }
      runner.send(signal, to: command)
    }
    if let project {
      warnOfMissingPaths(in: project)
    } else {
      warnOfMissingPaths(of: settings.page)
    }
    if plan.command != nil && settings.filesFrom == nil {
      PipedList.warnSoon(session.console, in: session.directory)
    }
    if !settings.isOneRound {
      let watched = project?.watched(in: session.directory) ?? settings.effectiveWatched
      UnmatchedFilter.warnSoon(settings, of: watched, session.console, in: session.directory)
    }
    // Before it is said that changes are awaited, after which a client may ask.
    desk.listen(orders, flushing: isObserved ? self : nil)
    if isObserved {
      // The first runs see all changes made before they start; only later changes count.
      start(observer, runner, countingFrom: plan.hasOnlyPages ? session.began : .now())
    }
    runner.start()
    // A question that arrives finds the first runs requested.
    desk.serve()
  }

  private func checkDiagnosticsFile(_ settings: Settings) throws(Failure) {
    guard let path = settings.diagnosticsFile?.absolute(from: session.directory),
      let problem = DiagnosticsFile.problem(with: path)
    else { return }
    throw .usage("cannot write \(path): \(problem)")
  }

  /// Opens, closes and replaces pages until exactly those of the plan are open. Returns why others cannot be.
  func openPages(of plan: SessionPlan, opensBrowsers: Bool = false) -> [String] {
    let (pages, isNew) = state.withLock { state in
      let isNew = state.pages == nil && !plan.pages.isEmpty
      if isNew { state.pages = PageHost(session) { [desk] in desk.runAgain($0) } }
      return (state.pages, isNew)
    }
    if isNew { pages?.takeOver(desk.picture.withLock(\.status)) }
    pages?.setPlan(plan)
    return pages?.open(plan.pages, opensBrowsers: opensBrowsers) ?? []
  }

  private func makeRunner(_ plan: SessionPlan, _ freshness: FreshTasks?) -> TaskRunner {
    SystemLauncher.adoptOrphans()
    var options = TaskRunner.Options(
      completion: session.settings.completion, ignoredSignals: session.ignoredSignals,
      guardian: session.guardian)
    if plan.origin == .commandLine {
      let prospects = LaunchProspects(
        directory: session.directory,
        watched: plan.observation.paths.map { $0.path.absolute(from: session.directory) },
        programs: programDirectories(session.settings.environment.last { $0.isPATH }?.value))
      // Later, the program was there before. A build may install it anywhere.
      options.endsAfterFailedStart = { run, error in
        run.job == .command && run.number == 1 && plan.tasks.count == 1
          && !prospects.mayImprove(after: error)
      }
    }
    options.freshness = freshness
    options.inheritedDescriptors = session.caller.descriptors
    options.reading = plan.reading
    options.terminalSize = { [reporter] in reporter.terminalSize(of: $0) }
    options.outputRoom = { [console = session.console] in console.output.hasRoom($0) }
    options.frequentPathsChanged = { [weak self] paths in
      self?.state.withLock { $0.observer }?.setFrequentPaths(paths)
    }
    options.hookVariables = { [desk] in desk.hookVariables(of: $0) }
    options.stepTaken = { [desk, statusLine] in
      desk.changed()
      statusLine.update()
    }
    options.jobControl = session.makeJobControl(
      plan.origin == .commandLine
        ? "the command has stopped, since it wants the terminal: -I gives it"
        : "a task has stopped, since it wants the terminal: interactive: true gives it")
    return TaskRunner(plan.graph, options: options, source: self) { [self] output in
      reporter.write(output)
      logs.write(output)
      desk.handle(output)
      state.withLock { $0.pages }?.handle(output)
    } report: { [self] report in
      handle(report)
    }
  }

  func flush(then done: @escaping @Sendable () -> Void) {
    guard let observer = state.withLock({ $0.observer }) else { return done() }
    observer.flush(then: done)
  }

  func awaitBurstEnd(then done: @escaping @Sendable () -> Void) {
    guard let observer = state.withLock({ $0.observer }) else { return done() }
    observer.awaitBurstEnd(then: done)
  }
}

// MARK: - Reports

extension RunSession {
  private func handle(_ report: TaskReport) {
    let (plan, settings, pages) = state.withLock { ($0.plan, $0.settings, $0.pages) }
    if case .run(let run, _) = report, run.isFormer {
      // It is not the state of the task.
      reporter.report(report)
      return waiting.handle(report)
    }
    if case .run(let run, .started) = report { logs.began(run) }
    let summary = desk.diagnose(report)
    reporter.report(report, summary, desk.picture.withLock { $0 })
    if case .round(.began) = report, settings.clearsScreen { session.console.clearScreen() }
    waiting.handle(report)
    let activities = desk.handle(report)
    statusLine.update(plan.statusLine(settings))
    session.notifier.handle(report, in: desk.picture.withLock { $0 }, settings)
    pages?.handle(activities)
    switch report {
    case .task(let task, .ignored(let trigger)):
      let isCommand = plan.origin == .commandLine
      session.ignoredChanges?.note(
        trigger.changes,
        isCommand
          ? "--on-busy ignore: a run is under way"
          : "\(task) is running, with \"onBusy\": \"ignore\"")
    case .runner(.finished(let status)):
      session.workHasEnded(status)
    default:
      break
    }
  }
}

// MARK: - Changes

extension RunSession {
  /// Starts an observer. Until it has read the tree, the one that it replaces keeps reporting: a change may then start
  /// two runs, but is never lost.
  func start(
    _ observer: FileObserver, _ runner: TaskRunner, countingFrom time: FileTime,
    insteadOf outdated: FileObserver? = nil
  ) {
    runner.attach(observer)
    session.start(observer, on: runner.queue, countingFrom: time) { [self] event in
      if case .ready = event, let outdated {
        session.stop(outdated, after: session.settings.maximumWait)
      }
      handle(event, runner)
    }
  }

  private func handle(_ event: FileObserver.Event, _ runner: TaskRunner) {
    switch event {
    case .ready(let readiness):
      reporter.report(readiness)
    case .changed(let batch):
      reporter.report(batch)
      handle(batch, runner)
    case .warning(let warning):
      session.console.warn(warning.text)
    }
  }

  private func handle(_ batch: ChangeBatch, _ runner: TaskRunner) {
    let rest = takeFileChanges(from: batch, runner)
    if rest.changes.isEmpty { return }
    noteUnwatched(rest)
    desk.changed(rest.changes)
    runner.accept(rest)
    // The round that the batch causes has begun.
    let pages = state.withLock { state -> PageHost? in
      guard state.plan.hasOnlyPages && runner.isPaused else { return state.pages }
      state.heldPaths += rest.changes.map(\.path)
      return nil
    }
    pages?.changed(rest)
  }

  /// Lists the changes that start no task.
  private func noteUnwatched(_ batch: ChangeBatch) {
    guard let log = session.ignoredChanges else { return }
    let plan = state.withLock { $0.plan }
    for change in batch.changes {
      if plan.graph.tasks.contains(where: { $0.triggers.isTriggered(by: change) }) { continue }
      let reason =
        plan.origin == .commandLine
        ? plan.graph.tasks.firstResult { $0.triggers.ruleDeclaring(change) }
          .map { "written by the command (\($0.at("--writes")))" }
        : log.rules.withLock { $0?.reason(of: change) }
      if let reason { log.note([change], reason) }
    }
  }
}
