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
  private struct State {
    /// `nil` before the session runs.
    var orders: SessionOrders?
    /// `nil` if nothing is observed.
    var source: (any ChangeSource)?
    /// `nil` if only pages can be asked.
    var server: SessionServer?
    /// The state that was sent last.
    var sent: (state: SessionAnswer.State, isRed: Bool)?
    /// The next look at a state that may change by itself.
    var look: (any ScheduledWork)?
    var file: DiagnosticsFile?
  }

  private let session: Session
  private let waiting: WaitingReporter
  let picture: Mutex<SessionPicture>
  private let state = Mutex(State())
  private var orders: SessionOrders? { state.withLock(\.orders) }
  private var server: SessionServer? { state.withLock(\.server) }

  init(_ session: Session, _ plan: SessionPlan, _ waiting: WaitingReporter) {
    (self.session, self.waiting) = (session, waiting)
    picture = Mutex(SessionPicture(directory: session.directory, plan))
  }

  /// Listens for clients, which are answered from `serve` on.
  func listen(_ orders: SessionOrders, flushing source: (any ChangeSource)?) {
    let server = session.serve(self, on: orders.runner.queue)
    state.withLock { ($0.orders, $0.source, $0.server) = (orders, source, server) }
  }

  func serve() { server?.start() }

  /// By the clock of the runner, which stands still while all is suspended.
  private var now: Instant { orders?.runner.scheduler.now ?? .now }

  /// Sets the errors in the project file; `nil` if it has none.
  func setProblem(_ problem: String?) { picture.withLock { $0.problem = problem } }

  /// A file that has changed is read again after this time only, for this reason.
  func postpone(_ reason: String, for delay: Duration) {
    let now = now
    picture.withLock { $0.postponed = (reason, now, now.advanced(by: delay)) }
  }

  func handle(_ output: TaskOutput) {
    picture.withLock { $0.output.handle(output) }
    guard output.isFinished, let server, server.isFollowed else { return }
    server.emit(SessionEvent(.output, task: output.run.task, TerminalLine.shown(output.line)))
  }

  func changed(_ changes: [ChangeBatch.Change]) {
    let now = now
    picture.withLock { $0.changed(changes, at: now) }
  }

  /// Searches the output of a run that has ended by itself, before the report is handled. Returns what is worth saying.
  func diagnose(_ report: TaskReport) -> DiagnosticSummary? {
    guard case .run(let run, .ended(let status, _, let ending)) = report, run.job == .command,
      ending != .stopped
    else { return nil }
    let searched = picture.withLock { picture in
      picture.output.isLatest(run)
        ? (picture.output.latest(of: run.task), picture.directory(of: run.task)) : nil
    }
    // A process whose successor has failed is the task's again, and what is kept is the successor's.
    guard let (text, directory) = searched else { return nil }
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
    state.withLock { $0.file = file }
  }

  /// Goes on with another plan.
  func setPlan(_ plan: SessionPlan) {
    picture.withLock { $0.setPlan(plan) }
    writeDiagnostics()
  }

  private func writeDiagnostics() {
    state.withLock(\.file)?.write(picture.withLock(\.allDiagnostics))
  }

  /// Variables for a hook of a task, which say what the output of the run says about errors.
  func hookVariables(of task: String) -> [Command.EnvironmentVariable] {
    let (directory, found) = picture.withLock {
      ($0.directory(of: task), $0.diagnostics[task])
    }
    func list(_ severity: Diagnostic.Severity) -> String {
      Diagnostic.list(found.filter { $0.severity == severity }, in: directory, most: 16 * 1024)
    }
    return [.init("WATCHRUN_ERRORS", list(.error)), .init("WATCHRUN_WARNINGS", list(.warning))]
  }

  /// Handles a report of the runner. Returns the activities of pages.
  func handle(_ report: TaskReport) -> [Activity] {
    let time = Int(FileTime.latest().nanoseconds / 1_000_000)
    let now = now
    let activities = picture.withLock { $0.handle(report, at: now, time: time) }
    if report.changesDiagnostics { writeDiagnostics() }
    if let server, server.isFollowed {
      for event in activities.compactMap(SessionEvent.init) { server.emit(event) }
    }
    return activities
  }

  /// The runner has taken a step.
  func changed() {
    guard let server else { return }
    server.changed()
    if server.isFollowed { emitState(server) }
  }

  /// Sends the state to those who follow the session, if it has changed.
  private func emitState(_ server: SessionServer) {
    let condition = condition(of: [])
    let look = condition.settlesAfter.flatMap { rest in
      (orders?.runner.queue).map { queue in
        let scheduler = DispatchScheduler(queue: queue)
        return scheduler.schedule(at: scheduler.now.advanced(by: rest)) { [weak self] in
          self?.changed()
        }
      }
    }
    state.withLock { exchange(&$0.look, with: look) }?.cancel()
    var request = SessionRequest(.status)
    request.lines = 0
    let answer = answer(to: request, in: condition)
    let now = (state: answer.state, isRed: answer.isRed)
    let last = state.withLock { exchange(&$0.sent, with: now) }
    if let last, last == now { return }
    var event = SessionEvent(.state, now.state.rawValue)
    event.isGreen = !now.isRed
    server.emit(event)
  }

  /// The tasks with their states, for the status line. It may be called on any queue.
  func status() -> StatusText {
    let now = now
    var text = picture.withLock { picture in
      StatusText(
        tasks: picture.tasks(at: now), errors: picture.errorCounts, unchecked: picture.unchecked)
    }
    text.block = orders?.block.map { block in
      let count = picture.withLock(\.waitingChanges)
      return block.rawValue + (count == 0 ? "" : ", \(counted(count, "change"))")
    }
    return text
  }

  // MARK: - Questions

  /// Calls `body` with the state of all tasks and their output, on the runner's queue.
  func withAnswer(_ body: @escaping @Sendable (SessionAnswer) -> Void) {
    orders?.runner.queue.async { [self] in
      var request = SessionRequest(.logs)
      request.lines = .max
      body(answer(to: request, in: condition(of: [])))
    }
  }

  func flush(then done: @escaping @Sendable () -> Void) {
    let (orders, source) = state.withLock { ($0.orders, $0.source) }
    guard let orders, let source else { return done() }
    source.flush { [self] in
      guard picture.withLock({ $0.postponed != nil }) else { return done() }
      // As what is delayed runs for a question, a file whose reading is delayed is read.
      orders.runner.queue.async {
        orders.readFiles()
        done()
      }
    }
  }

  func condition(of tasks: [String]) -> SessionCondition {
    guard let orders else { return SessionCondition() }
    let runner = orders.runner
    let (restless, waiting, behind) = (runner.restlessTasks, runner.waiting, runner.tasksBehind)
    var condition = picture.withLock {
      $0.condition(
        of: tasks, at: runner.scheduler.now, restless: restless, behind: behind, waiting: waiting,
        isUp: runner.isUp, activity: runner.activity(of:))
    }
    condition.isBlocked = orders.block != nil
    return condition
  }

  func answer(to request: SessionRequest, in condition: SessionCondition) -> SessionAnswer {
    let (runner, block) = (orders?.runner, orders?.block)
    let (runs, missed) = (runner?.waiting ?? [], runner?.missed ?? [:])
    let now = now
    let state: SessionAnswer.State =
      condition.isBlocked
      ? block ?? .held : condition.isBusy || condition.settlesAfter != nil ? .busy : .rest
    return picture.withLock { picture in
      picture.answer(
        to: request, state, process: Int(processIDs().own), at: now,
        waiting: waiting.shown(runs), missed: missed
      ) { entry in
        entry.cause == .pause
          ? "runs when the session is \(block == .paused ? "resumed" : "released")"
          : WaitingReporter.line(entry, waiting.cause(entry.trigger))
      }
    }
  }

  // MARK: - Orders

  /// Why tasks cannot be asked for; `nil` if they can.
  func refusal(of tasks: [String]) -> String? { picture.withLock { $0.refusal(of: tasks) } }

  /// Runs a task again, as the status page asks.
  func runAgain(_ task: String) { _ = perform(SessionRequest(.run, tasks: [task])) }

  func perform(_ request: SessionRequest) -> String? {
    if request.verb != .wait, let refusal = refusal(of: request.tasks) { return refusal }
    guard let orders else { return nil }
    let tasks = picture.withLock { $0.members(of: request.tasks) }
    switch request.verb {
    case .status, .logs: return nil
    case .wait: orders.release(of: request.owner)
    case .run, .restart:
      let names = request.tasks.map(\.printable).joined(separator: ", ")
      say(
        "\(request.verb.rawValue) requested by another program"
          + (names.isEmpty ? "" : ": \(names)"))
      if !tasks.isEmpty {
        orders.runner.submitKey(for: tasks)
      } else {
        if request.verb == .restart { orders.runner.stop() }
        orders.runNow()
      }
    case let verb where !tasks.isEmpty: return "\(verb.rawValue) is for the whole session"
    case .stop: orders.runner.stop()
    case .pause:
      orders.setPaused(true)
      say("paused by another program; p resumes")
    case .resume:
      orders.setPaused(false)
      say("resumed by another program")
    case .hold: orders.hold(for: request.time, by: request.owner)
    case .release: orders.release()
    case .reload: if !orders.reload() { return "this session has no page" }
    }
    return nil
  }

  private func say(_ text: String) { session.console.say(.news, text, style: .faint) }
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
