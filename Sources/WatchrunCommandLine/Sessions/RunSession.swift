import ActionRunning
import FileObservation
import Synchronization
import SystemCalls

/// Runs tasks on changes, and serves pages: observer → runner → console and pages.
///
/// Everything that is reported comes from one stream of reports, which each reader takes as it is: the
/// console, the keys, the notices of what waits, notifications and pages. Output has a stream of its own.
final class RunSession: ChangeSource {
  let session: Session
  /// Where the project comes from; `nil` for a command line.
  let source: ProjectSource?
  let reporter: RunReporter
  private let waiting: WaitingReporter
  private let pause: PauseControl
  /// Answers clients.
  let desk: SessionDesk

  struct State {
    var plan: SessionPlan
    /// The project that is run; `nil` for a command line.
    var project: Project?
    /// The command line with the defaults of the project.
    var settings: Settings
    var observer: FileObserver?
    /// `nil` as long as there was no page.
    var pages: PageHost?
    /// Changed paths during a pause, where pages are served and nothing is run; `nil` without a pause.
    var pausedPaths: [Path]?
    /// Whether the project file had errors when it was read the last time.
    var isBroken = false
  }

  let state: Mutex<State>

  /// A session for a command line.
  convenience init(_ session: Session, _ plan: SessionPlan) {
    self.init(session, State(plan: plan, settings: session.settings), nil)
  }

  /// A session for a project.
  convenience init(
    _ session: Session, _ project: Project, of source: ProjectSource
  ) throws(Failure) {
    let plan = try session.plan(of: project, from: source)
    let settings = session.settings.adding(project.defaults)
    self.init(session, State(plan: plan, project: project, settings: settings), source)
  }

  private init(_ session: Session, _ state: State, _ source: ProjectSource?) {
    self.session = session
    self.source = source
    reporter = RunReporter(session.console, directory: session.directory)
    reporter.take(state.plan)
    waiting = WaitingReporter(reporter) { session.isEnding }
    pause = PauseControl { [reporter] in reporter.reportHold($0 != nil) }
    desk = SessionDesk(session, state.plan, waiting, pause)
    self.state = Mutex(state)
  }

  func begin() throws(Failure) {
    let (plan, settings, project) = state.withLock { ($0.plan, $0.settings, $0.project) }
    let pages = plan.pages.isEmpty ? nil : PageHost(session)
    pages?.take(plan)
    let observer = try session.makeObserver(plan.observation, with: settings)
    try pages?.open(plan.pages)
    state.withLock { ($0.observer, $0.pages) = (observer, pages) }
    let keys = makeKeys()
    let runner = makeRunner(plan, keys)
    session.listen {
      runner.end()
    } answer: { [waiting] in
      waiting.answerStop(toInterrupt: true)
    }
    let target = KeyTarget(session: self, runner: runner)
    pause.connect(target)
    session.readKeys(keys, for: target)
    session.passOnSignals { runner.send($0, to: plan.command) }
    if let project { warnOfMissingPaths(in: project) }
    if plan.command != nil && settings.filesFrom == nil {
      PipedList.warnSoon(session.console, in: session.directory)
    }
    // Before the first run, which asks the observer at its end for what changed meanwhile.
    let isObserved = !settings.isOneRound || plan.graph.tasks.allSatisfy(\.isPostponed)
    if isObserved {
      observer.whenBurstBegins { [weak runner] in runner?.burstBegan() }
      // The first runs see all changes made before they start; only later changes count.
      let start = plan.hasOnlyPages ? session.began : .now()
      session.start(observer, on: runner.queue, countingFrom: start) { [self] event in
        handle(event, runner)
      }
    }
    runner.start()
    // A question that arrives finds the first runs requested.
    desk.serve(runner, target, flushing: isObserved ? self : nil)
  }

  private func makeKeys() -> KeyPresses {
    KeyPresses(
      reporter, waiting: waiting, ignored: session.ignoredChanges, pause: pause
    ) { [self] task in
      state.withLock { $0.plan.graph[task]?.dependencies ?? [] }
    }
  }

  private func makeRunner(_ plan: SessionPlan, _ keys: KeyPresses) -> TaskRunner {
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
    options.inheritedDescriptors = session.caller.descriptors
    options.reading = plan.reading
    options.outputRoom = { [console = session.console] in console.hasRoom($0) }
    options.frequentPathsChanged = { [weak self] paths in
      self?.state.withLock { $0.observer }?.setFrequentPaths(paths)
    }
    options.reportsSettling = true
    options.stepTaken = { [desk] in desk.changed() }
    options.reportsJudgments = session.settings.isVerbose
    options.reportsUnwatched = source != nil && session.ignoredChanges != nil
    options.jobControl = session.makeJobControl(
      plan.origin == .commandLine
        ? "the command has stopped, since it wants the terminal: -I gives it"
        : "a task has stopped, since it wants the terminal; run its command by itself, with -I")
    return TaskRunner(plan.graph, options: options, source: self) { [self] output in
      reporter.write(output)
      desk.take(output)
      state.withLock { $0.pages }?.take(output)
    } report: { [self] report in
      take(report, keys)
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
  /// Passes a report to its readers.
  private func take(_ report: TaskReport, _ keys: KeyPresses) {
    let (plan, settings, pages) = state.withLock { ($0.plan, $0.settings, $0.pages) }
    if case .roundBegan = report, settings.clearsScreen { session.console.clearScreen() }
    reporter.report(report)
    waiting.take(report)
    keys.take(report)
    desk.take(report)
    session.notifier.take(report, of: plan, settings)
    pages?.take(report)
    switch report {
    case .ignored(let task, let trigger):
      let isCommand = plan.origin == .commandLine
      session.ignoredChanges?.note(
        trigger.changes,
        isCommand
          ? "--on-busy ignore: a run is under way"
          : "\(task) is running, with \"onBusy\": \"ignore\"")
    case .unwatched(let changes):
      session.ignoredChanges?.note(changes, "no task watches it")
    case .finished(let status):
      session.workHasEnded(status)
    default:
      break
    }
  }
}

// MARK: - Changes

extension RunSession {
  func handle(_ event: FileObserver.Event, _ runner: TaskRunner) {
    switch event {
    case .ready(let readiness):
      reporter.report(readiness)
    case .changed(let batch):
      reporter.report(batch)
      handle(batch, runner)
    case .warning(let warning):
      session.warn(warning)
    }
  }

  private func handle(_ batch: ChangeBatch, _ runner: TaskRunner) {
    let rest = takeFileChanges(from: batch, runner)
    if rest.changes.isEmpty { return }
    runner.accept(rest)
    // The round that the batch causes has begun.
    let pages = state.withLock { state -> PageHost? in
      if state.pausedPaths == nil { return state.pages }
      state.pausedPaths?.append(contentsOf: rest.changes.map(\.path))
      return nil
    }
    pages?.changed(rest)
  }
}

// MARK: - Keys

/// Performs keys: on the runner, or on pages where nothing is run.
private struct KeyTarget: KeyListener {
  let session: RunSession
  let runner: TaskRunner

  /// The pages to reload, if there is nothing to run.
  private var onlyPages: (host: PageHost, watched: [Path])? {
    session.state.withLock { state in
      guard state.plan.hasOnlyPages, let pages = state.pages else { return nil }
      return (pages, state.plan.pages.flatMap(\.watched))
    }
  }

  func runNow() {
    runner.submitKey()
    if let (host, watched) = onlyPages { host.changed(watched) }
  }

  func stopNow() {
    runner.stop()
  }

  func reload() -> Bool {
    let (pages, watched) = session.state.withLock { state in
      (state.pages, state.plan.pages.flatMap(\.watched))
    }
    pages?.changed(watched)
    return pages != nil
  }

  func pause() {
    runner.pause()
    session.state.withLock { state in
      if state.plan.hasOnlyPages { state.pausedPaths = [] }
    }
  }

  func resume() {
    runner.resume()
    let paths = session.state.withLock { $0.pausedPaths.take() } ?? []
    if let (host, _) = onlyPages { host.changed(paths) }
  }
}
