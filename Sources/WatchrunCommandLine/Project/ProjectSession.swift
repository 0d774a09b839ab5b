import ActionRunning
import FileObservation
import Synchronization
import SystemCalls

/// Runs the tasks of a project on changes, and serves its pages: observer → runner → console and pages.
/// Reads the project file again when it changes.
final class ProjectSession: ChangeSource {
  private let session: Session
  private let source: ProjectSource
  private let reporter: TaskReporter
  private let waiting: WaitingReporter
  private let keys: KeyPresses
  /// Reports changes.
  private let plain: RunReporter

  struct State {
    /// The project that is run.
    var project: Project
    /// The command line with the defaults of the project.
    var settings: Settings
    var observer: FileObserver?
    /// `nil` as long as there was no page.
    var pages: PageHost?
    /// Whether the file had errors when it was read the last time.
    var isBroken = false
  }

  private let state: Mutex<State>

  init(
    _ session: Session, _ source: ProjectSource, _ project: Project
  ) {
    self.session = session
    self.source = source
    reporter = TaskReporter(
      project, console: session.console, directory: session.directory)
    plain = RunReporter(console: session.console, command: [], directory: session.directory)
    waiting = WaitingReporter(
      restartAdvice: "\"onBusy\": \"restart\" restarts at once",
      isEnding: { session.isEnding }, reporter: { [reporter] in reporter.reporter(of: $0) })
    keys = KeyPresses(plain, waiting: waiting, ignored: session.ignoredChanges)
    state = Mutex(
      State(project: project, settings: session.settings.adding(project.defaults)))
  }

  func begin() throws(Failure) {
    let project = state.withLock { $0.project }
    let graph = try graph(of: project)
    let isOneRound = session.settings.isOneRound
    let pages = project.pages.isEmpty || isOneRound ? nil : PageHost(session)
    pages?.take(graph, commands: project.shownCommands)
    let runner = makeRunner(graph, readsOutput: pages != nil)
    let observer = try makeObserver(for: project)
    try pages?.open(project.servedPages(in: session.directory))
    state.withLock { ($0.observer, $0.pages) = (observer, pages) }
    session.listen { runner.end() }
    session.readKeys(keys, for: runner)
    session.passOnSignals { runner.send($0) }
    warnOfMissingPaths(in: project)
    if !isOneRound || project.tasks.allSatisfy(\.isPostponed) {
      // The first runs see all changes made before they start; only later changes count.
      session.start(observer, on: runner.queue, countingFrom: .now()) { [self] event in
        handle(event, runner)
      }
    }
    runner.start()
  }

  private func graph(of project: Project) throws(Failure) -> TaskGraph {
    do throws(TaskGraphError) {
      let settings = session.settings.adding(project.defaults)
      return try project.graph(
        settings.projectContext(in: session.directory, ignoring: session.ignoredSignals))
    } catch {
      throw Failure("\(source.file): \(error)", ExitCode.usage)
    }
  }

  private func makeRunner(_ graph: TaskGraph, readsOutput: Bool) -> TaskRunner {
    var options = TaskRunner.Options(
      completion: session.settings.completion, ignoredSignals: session.ignoredSignals,
      guardian: session.guardian)
    options.readsOutput = readsOutput
    options.reportsSettling = true
    options.reportsUnwatched = session.ignoredChanges != nil
    options.jobControl = session.makeJobControl(
      "a task has stopped, since it wants the terminal; run its command by itself, with -I")
    return TaskRunner(graph, options: options, source: self) { [self] report in
      let beginsAnew = reporter.beginsAnew(with: report)
      let settings = state.withLock { $0.settings }
      if beginsAnew && settings.clearsScreen { session.console.clearScreen() }
      reporter.report(report)
      waiting.note(report)
      session.notifier.note(report, settings)
      state.withLock { $0.pages }?.note(report)
      switch report {
      case .started(let task, let run):
        let dependencies = state.withLock { state in
          state.project.tasks.first { $0.name == task }?.after ?? []
        }
        keys.remember(
          run, of: reporter.isAlone ? nil : task, after: dependencies, beginsAnew: beginsAnew)
      case .ignored(let task, let trigger):
        session.ignoredChanges?.note(
          trigger.changes, "\(task) is running, with \"onBusy\": \"ignore\"")
      case .unwatched(let changes):
        session.ignoredChanges?.note(changes, "no task watches it")
      case .finished(let status):
        session.workHasEnded(status)
      default:
        break
      }
    }
  }

  func flush(then done: @escaping @Sendable () -> Void) {
    guard let observer = state.withLock({ $0.observer }) else { return done() }
    observer.flush(then: done)
  }

  /// Warns of paths that are watched and do not exist.
  private func warnOfMissingPaths(in project: Project, since old: Project? = nil) {
    for page in project.pages where old?.pages.contains(page) != true {
      for path in page.observed
      where (try? FileStatus(of: path.absolute(from: session.directory))) == nil {
        session.console.say(
          .problem,
          "\(page.name): no such path: \(path); it is served and watched as soon as it exists",
          style: .warning)
      }
    }
    for task in project.tasks where old?.tasks.contains(task) != true {
      for path in task.watched
      where (try? FileStatus(of: path.absolute(from: session.directory))) == nil {
        session.console.say(
          .problem,
          "\(task.name): no such path to watch: \(path); it is watched as soon as it exists",
          style: .warning)
      }
    }
  }
}

// MARK: - Changes

extension ProjectSession {
  /// One observer for the paths of all tasks and for the project file.
  private func makeObserver(for project: Project) throws(Failure) -> FileObserver {
    let files = source.candidates.map { WatchedPath($0, isRecursive: false, mayBeMissing: true) }
    return try session.makeObserver(
      of: project.watched(in: session.directory) + files,
      with: session.settings.adding(project.defaults), ignoring: project.ignores,
      kinds: project.kinds.union([.created, .modified, .removed, .renamed]))
  }

  private func handle(_ event: FileObserver.Event, _ runner: TaskRunner) {
    switch event {
    case .ready(let readiness):
      plain.report(readiness)
    case .changed(let batch):
      plain.report(batch)
      handle(batch, runner)
    case .warning(let warning):
      session.warn(warning)
    }
  }

  private func handle(_ batch: ChangeBatch, _ runner: TaskRunner) {
    let files = source.candidates
    var rest = batch
    rest.changes.removeAll { files.contains($0.path) }
    let isFileAffected = batch.changes.contains { change in
      files.contains { $0 == change.path || $0 == change.from }
    }
    if isFileAffected { readAgain(runner) }
    if rest.changes.isEmpty { return }
    runner.accept(rest)
    // The round that the batch causes has begun.
    state.withLock { $0.pages }?.changed(rest)
  }

  private func readAgain(_ runner: TaskRunner) {
    do throws(Failure) {
      guard let project = try source.readAgain(session.settings, session.console) else {
        return session.console.say(
          .problem, "\(source.file) was removed; its tasks stay as they were", style: .warning)
      }
      let wasBroken = state.withLock { state in
        defer { state.isBroken = false }
        return state.isBroken
      }
      let old = state.withLock { $0.project }
      if project == old {
        if wasBroken { session.console.say(.news, "\(source.file) has no errors any more") }
        return
      }
      let graph = try graph(of: project)
      try observe(project, insteadOf: old, runner)
      let settings = session.settings.adding(project.defaults)
      state.withLock { ($0.project, $0.settings) = (project, settings) }
      session.console.say(.news, "\(source.file) read again (\(project.changes(since: old)))")
      warnOfMissingPaths(in: project, since: old)
      reporter.take(project)
      let pages = servePages(of: project, graph)
      runner.replace(graph, readsOutput: pages != nil)
    } catch {
      state.withLock { $0.isBroken = true }
      session.console.problem(error.message)
      session.console.say(
        .problem, "the tasks stay as they were until \(source.file) is correct", style: .warning)
    }
  }

  /// Opens, closes and replaces pages.
  private func servePages(of project: Project, _ graph: TaskGraph) -> PageHost? {
    if session.settings.isOneRound { return nil }
    let pages = state.withLock { state in
      if state.pages == nil && !project.pages.isEmpty { state.pages = PageHost(session) }
      return state.pages
    }
    guard let pages else { return nil }
    pages.take(graph, commands: project.shownCommands)
    for problem in pages.replace(with: project.servedPages(in: session.directory)) {
      session.console.problem(problem)
    }
    return project.pages.isEmpty ? nil : pages
  }

  /// Watches the paths of the new tasks.
  private func observe(
    _ project: Project, insteadOf old: Project, _ runner: TaskRunner
  ) throws(Failure) {
    let hasSameOptions =
      project.ignores == old.ignores && project.kinds == old.kinds
      && project.defaults == old.defaults
    if hasSameOptions { return try observeOtherPaths(of: project, than: old) }
    // The options of an observer are fixed. Until the new observer has read the tree, the old one keeps
    // reporting: a change may then start two runs, but is never lost.
    let start = FileTime.now()
    let observer = try makeObserver(for: project)
    let outdated = state.withLock { state in
      defer { state.observer = observer }
      return state.observer
    }
    let wait = session.settings.maximumWait
    session.start(observer, on: runner.queue, countingFrom: start) { [self] event in
      if case .ready = event, let outdated { session.stop(outdated, after: wait) }
      handle(event, runner)
    }
  }

  private func observeOtherPaths(of project: Project, than old: Project) throws(Failure) {
    guard let observer = state.withLock({ $0.observer }) else { return }
    let paths = project.watched(in: session.directory)
    let oldPaths = old.watched(in: session.directory)
    do throws(ObserverError) {
      for path in paths where !oldPaths.contains(path) { try observer.add(path) }
    } catch {
      throw Failure(error.description, ExitCode.failure)
    }
    for path in oldPaths where !paths.contains(path) { observer.remove(path.path) }
  }
}

extension Project {
  /// The differences, in one line.
  func changes(since old: Project) -> String {
    let (now, before) = (entries, old.entries)
    let common = now.filter { before[$0.key] != nil && before[$0.key] != $0.value }
    let parts = [
      ("new", names.filter { before[$0] == nil }),
      ("changed", names.filter { common[$0] != nil }),
      ("removed", old.names.filter { now[$0] == nil }),
      ("for all tasks", changedKeys(since: old)),
    ]
    let shown = parts.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }
    return shown.isEmpty ? "in another order" : shown.joined(separator: "; ")
  }

  /// The changed keys of the file's top level.
  private func changedKeys(since old: Project) -> [String] {
    let (now, before) = (defaults, old.defaults)
    let keys = [
      ("jobs", jobs == old.jobs), ("ignore", ignores == old.ignores),
      ("debounce", now.quietPeriod == before.quietPeriod), ("poll", now.polling == before.polling),
      ("skipUnchanged", now.skipsUnchanged == before.skipsUnchanged),
      ("shell", now.shell == before.shell), ("clear", now.clearsScreen == before.clearsScreen),
      ("color (at the next start)", now.colorMode == before.colorMode),
    ]
    return keys.filter { !$0.1 }.map(\.0)
  }

  private var names: [String] { tasks.map(\.name) + pages.map(\.name) }

  /// Tasks and pages by name.
  private var entries: [String: AnyHashable] {
    let all = tasks.map { ($0.name, AnyHashable($0)) } + pages.map { ($0.name, AnyHashable($0)) }
    return Dictionary(all) { first, _ in first }
  }
}
