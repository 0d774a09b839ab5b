import ActionRunning
import Diagnostics
import FileObservation
import LiveReload
import SessionControl
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Answers the questions of clients about a session: reports, plans and questions in, answers out.
final class SessionDesk: ServedSession {
  /// What the session consists of, once it runs.
  private struct Parts {
    let runner: TaskRunner
    let listener: KeyTarget
    /// `nil` if nothing is observed.
    let source: (any ChangeSource)?
    /// `nil` if only pages can be asked.
    let server: SessionServer?
  }

  private struct State: Equatable {
    let state: SessionAnswer.State
    let isRed: Bool
  }

  private let session: Session
  private let waiting: WaitingReporter
  private let pause: PauseControl
  private let picture: Mutex<SessionPicture>
  private let parts = Mutex<Parts?>(nil)
  /// The state that was sent last.
  private let lastState = Mutex<State?>(nil)
  private let file = Mutex<DiagnosticsFile?>(nil)
  private let clock = DispatchScheduler(queue: .separate())

  init(
    _ session: Session, _ plan: SessionPlan, _ waiting: WaitingReporter, _ pause: PauseControl
  ) {
    (self.session, self.waiting, self.pause) = (session, waiting, pause)
    picture = Mutex(SessionPicture(directory: session.directory, plan))
  }

  /// Listens for clients, which are answered from `serve` on.
  func listen(
    _ runner: TaskRunner, _ listener: KeyTarget, flushing source: (any ChangeSource)?
  ) {
    let server = session.serve(self, on: runner.queue)
    parts.withLock {
      $0 = Parts(runner: runner, listener: listener, source: source, server: server)
    }
  }

  /// Begins to answer.
  func serve() { parts.withLock { $0?.server }?.start() }

  /// Sets the errors in the project file; `nil` if it has none.
  func setProblem(_ problem: String?) { picture.withLock { $0.problem = problem } }

  /// Reads what is postponed, on the runner's queue.
  let readPostponed = Mutex<(@Sendable () -> Void)?>(nil)

  /// A file that has changed is read again after this time only, for this reason.
  func postpone(_ reason: String, for delay: Duration) {
    let now = clock.now
    picture.withLock { $0.postponed = (reason, now, now.advanced(by: delay)) }
  }

  /// It is read.
  func postponedIsRead() { picture.withLock { $0.postponed = nil } }

  /// Replaces the tasks. Returns the activity of pages that describes them.
  func setPlan(_ plan: SessionPlan) -> Activity { picture.withLock { $0.setPlan(plan) } }

  func handle(_ output: TaskOutput) {
    picture.withLock { $0.handle(output) }
    guard output.isFinished, let server = parts.withLock({ $0?.server }), server.isFollowed else {
      return
    }
    server.emit(
      SessionEvent(
        .output, task: output.run.task, TerminalLine.shown(output.line)))
  }

  /// Files have changed.
  func changed(_ changes: [ChangeBatch.Change]) {
    picture.withLock { $0.changed(changes, at: clock.now) }
  }

  /// Searches the output of a run that has ended by itself. Comes before the report is handled.
  ///
  /// - Returns: What is worth saying at its end.
  func diagnose(_ report: TaskReport) -> DiagnosticSummary? {
    guard case .run(let run, .ended(let status, _, let ending)) = report, run.job == .command,
      ending != .stopped
    else { return nil }
    let (text, directory) = picture.withLock { $0.outputToSearch(of: run.task) }
    // Looks at files, and so without the lock.
    let found = DiagnosticReader.diagnostics(in: text, of: directory)
    let hasSucceeded = status.isSuccess && ending == .byItself
    let summary = picture.withLock { $0.found(found, in: run.task, hasSucceeded: hasSucceeded) }
    // What a run writes to the terminal is not known, nor what it has fixed.
    return run.takesTerminal ? nil : summary
  }

  /// Keeps the diagnostics in a file; `nil` for none.
  func setFile(_ path: Path?) {
    let file = path.map {
      DiagnosticsFile(
        $0.absolute(from: session.directory), directory: session.directory, session.console)
    }
    self.file.withLock { $0 = file }
  }

  /// Variables for a hook of a task, which say what the output of the run says about errors.
  func hookVariables(of task: String) -> [Command.EnvironmentVariable] {
    let directory = picture.withLock { $0.outputToSearch(of: task).directory }
    let found = diagnostics(of: task)
    func list(_ severity: Diagnostic.Severity) -> String {
      Diagnostic.list(found.filter { $0.severity == severity }, in: directory, most: 16 * 1024)
    }
    return [.init("WATCHRUN_ERRORS", list(.error)), .init("WATCHRUN_WARNINGS", list(.warning))]
  }

  /// Handles a report of the runner. Returns the activities of pages.
  func handle(_ report: TaskReport) -> [Activity] {
    let (now, time) = (clock.now, Int(FileTime.latest().nanoseconds / 1_000_000))
    let activities = picture.withLock { $0.handle(report, at: now, time: time) }
    if report.changesDiagnostics { file.withLock({ $0 })?.write(diagnostics) }
    if let server = parts.withLock({ $0?.server }), server.isFollowed {
      for event in activities.compactMap(SessionEvent.init) { server.emit(event) }
    }
    return activities
  }

  /// The runner has taken a step.
  func changed() {
    guard let server = parts.withLock({ $0?.server }) else { return }
    server.changed()
    if server.isFollowed { emitState(server) }
  }

  /// Sends the state to those who follow the session, if it has changed.
  private func emitState(_ server: SessionServer) {
    let condition = condition(of: [])
    if let rest = condition.settlesAfter, let queue = parts.withLock({ $0?.runner.queue }) {
      let time = clock.now.advanced(by: rest)
      _ = DispatchScheduler(queue: queue).schedule(at: time, leeway: .zero) { [weak self] in
        self?.changed()
      }
    }
    let answer = answer(to: SessionRequest(.status), in: condition)
    let state = State(state: answer.state, isRed: answer.isRed)
    if lastState.withLock({ exchange(&$0, with: state) }) == state { return }
    var event = SessionEvent(.state, state.state.rawValue)
    event.isGreen = !state.isRed
    server.emit(event)
  }

  /// The tasks with their states, for the status line. It may be called on any queue.
  func status() -> StatusText {
    var text = picture.withLock { $0.status }
    let condition = pause.condition
    guard condition.isPaused || condition.isHeld else { return text }
    let count = picture.withLock { $0.waitingChanges }
    text.block =
      (condition.isPaused ? "paused" : "held")
      + (count == 0 ? "" : ", \(count) change\(count == 1 ? "" : "s")")
    return text
  }

  /// The diagnostics of the latest run of a task that has ended by itself.
  func diagnostics(of task: String) -> [Diagnostic] { picture.withLock { $0.diagnostics[task] } }

  /// The tasks that have failed or were skipped.
  var redTasks: [String] { picture.withLock { $0.redTasks } }

  /// The diagnostics of all tasks, in their order.
  var diagnostics: [Diagnostic] { picture.withLock { $0.allDiagnostics } }

  // MARK: - Questions

  /// Calls `body` with the state of all tasks and their output, on the runner's queue.
  func withAnswer(_ body: @escaping @Sendable (SessionAnswer) -> Void) {
    parts.withLock { $0?.runner.queue }?.async { [self] in
      var request = SessionRequest(.logs)
      request.lines = .max
      body(answer(to: request, in: condition(of: [])))
    }
  }

  func flush(then done: @escaping @Sendable () -> Void) {
    guard let parts = parts.withLock({ $0 }), let source = parts.source else { return done() }
    source.flush { [self] in
      guard picture.withLock({ $0.postponed != nil }) else { return done() }
      // As what is delayed runs for a question, a file whose reading is delayed is read.
      parts.runner.queue.async { [self] in
        readPostponed.withLock { $0 }?()
        done()
      }
    }
  }

  func condition(of tasks: [String]) -> SessionCondition {
    guard let parts = parts.withLock({ $0 }) else { return SessionCondition() }
    let tasks = members(of: tasks)
    let (restless, waiting) = (parts.runner.restlessTasks, parts.runner.waiting)
    let behind = parts.runner.tasksBehind
    let now = clock.now
    var condition = picture.withLock {
      $0.condition(
        of: tasks, at: now, restless: restless, behind: behind, waiting: waiting,
        isUp: parts.runner.isUp, activity: parts.runner.activity(of:))
    }
    condition.isBlocked = pause.condition.isPaused || pause.condition.isHeld
    return condition
  }

  func answer(to request: SessionRequest, in condition: SessionCondition) -> SessionAnswer {
    var request = request
    request.tasks = members(of: request.tasks)
    let runner = parts.withLock { $0?.runner }
    let (runs, missed) = (runner?.waiting ?? [], runner?.missed ?? [:])
    let blocked: SessionAnswer.State = pause.condition.isPaused ? .paused : .held
    let state: SessionAnswer.State =
      condition.isBlocked
      ? blocked : condition.isBusy || condition.settlesAfter != nil ? .busy : .rest
    return picture.withLock { picture in
      picture.answer(
        to: request, state, process: Int(processIDs().own),
        waiting: waiting.shown(runs), missed: missed
      ) { entry in
        entry.cause == .pause
          ? "runs when the session is \(blocked == .held ? "released" : "resumed")"
          : WaitingReporter.line(entry, waiting.cause(entry.trigger))
      }
    }
  }

  // MARK: - Orders

  /// Why tasks cannot be asked for; `nil` if they can.
  func refusal(of tasks: [String]) -> String? {
    let tasks = members(of: tasks)
    return picture.withLock { $0.refusal(of: tasks) }
  }

  /// The tasks with those in directories in place of a name that stands for them.
  private func members(of tasks: [String]) -> [String] {
    if tasks.isEmpty { return tasks }
    let plan = picture.withLock(\.plan)
    return tasks.flatMap { task in
      let named = plan.tasks(namedBy: task)
      return named.isEmpty ? [task] : named
    }
  }

  /// Runs a task again, as the status page asks.
  func runAgain(_ task: String) { _ = perform(SessionRequest(.run, tasks: [task])) }

  func perform(_ request: SessionRequest) -> String? {
    if request.verb != .wait, let refusal = refusal(of: request.tasks) { return refusal }
    guard let parts = parts.withLock({ $0 }) else { return nil }
    if [.run, .restart].contains(request.verb) {
      let tasks = request.tasks.map(\.printable).joined(separator: ", ")
      session.console.say(
        .news,
        "\(request.verb.rawValue) requested by another program"
          + (tasks.isEmpty ? "" : ": \(tasks)"), style: .faint)
    }
    switch request.verb {
    case .status, .logs: return nil
    case .wait: pause.release(of: request.owner)
    case .run: run(request.tasks, parts)
    case .restart where request.tasks.isEmpty:
      parts.listener.stopNow()
      parts.listener.runNow()
    case .restart: run(request.tasks, parts)
    default:
      if !request.tasks.isEmpty { return "\(request.verb.rawValue) is for the whole session" }
      return performForAll(request, parts)
    }
    return nil
  }

  private func run(_ tasks: [String], _ parts: Parts) {
    let tasks = members(of: tasks)
    if tasks.isEmpty { parts.listener.runNow() } else { parts.runner.submitKey(for: tasks) }
  }

  private func performForAll(_ request: SessionRequest, _ parts: Parts) -> String? {
    switch request.verb {
    case .stop: parts.listener.stopNow()
    case .pause, .resume:
      let isPaused = request.verb == .pause
      pause.set(isPaused)
      session.console.say(
        .news, isPaused ? "paused by another program; p resumes" : "resumed by another program",
        style: .faint)
    case .hold: pause.hold(for: request.time, by: request.owner)
    case .release: pause.release()
    case .reload: if !parts.listener.reload() { return "this session has no page" }
    case .wait, .status, .run, .restart, .logs: break
    }
    return nil
  }
}

extension TaskReport {
  /// Whether the diagnostics of the task may be others afterwards.
  fileprivate var changesDiagnostics: Bool {
    switch self {
    case .run(let run, .started), .run(let run, .ended): run.job == .command
    case .task(_, .ready), .task(_, .skipped), .task(_, .fresh): true
    default: false
    }
  }
}
