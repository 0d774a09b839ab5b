import ActionRunning
import LiveReload
import SessionControl
import Support
import Synchronization
import SystemCalls

/// Answers the questions of clients about a session: reports, plans and questions in, answers out.
final class SessionDesk: ServedSession {
  /// What the session consists of, once it runs.
  private struct Parts {
    let runner: TaskRunner
    let keys: KeyPresses
    /// `nil` if nothing is observed.
    let source: (any ChangeSource)?
    let server: SessionServer
  }

  private let session: Session
  private let waiting: WaitingReporter
  private let picture: Mutex<SessionPicture>
  private let parts = Mutex<Parts?>(nil)
  private let clock = DispatchScheduler(queue: .global())

  init(_ session: Session, _ plan: SessionPlan, _ waiting: WaitingReporter) {
    (self.session, self.waiting) = (session, waiting)
    picture = Mutex(SessionPicture(directory: session.directory, plan))
  }

  /// Begins to answer.
  func serve(_ runner: TaskRunner, _ keys: KeyPresses, flushing source: (any ChangeSource)?) {
    guard let server = session.serve(self, on: runner.queue) else { return }
    parts.withLock { $0 = Parts(runner: runner, keys: keys, source: source, server: server) }
  }

  func take(_ plan: SessionPlan) { picture.withLock { $0.take(plan) } }

  func take(_ output: TaskOutput) { picture.withLock { $0.take(output) } }

  func take(_ report: TaskReport) {
    let (now, time) = (clock.now, Int(FileTime.latest().nanoseconds / 1_000_000))
    picture.withLock { $0.take(report, at: now, time: time) }
  }

  /// The runner has taken a step.
  func changed() {
    parts.withLock { $0?.server }?.changed()
  }

  // MARK: - Questions

  func flush(then done: @escaping @Sendable () -> Void) {
    guard let source = parts.withLock({ $0?.source }) else { return done() }
    source.flush(then: done)
  }

  func condition(of tasks: [String]) -> SessionCondition {
    guard let parts = parts.withLock({ $0 }) else { return SessionCondition() }
    let (restless, waiting) = (parts.runner.restlessTasks, parts.runner.waitingTasks)
    let now = clock.now
    var condition = picture.withLock {
      $0.condition(
        of: tasks, at: now, restless: restless, waiting: waiting, isUp: parts.runner.isUp)
    }
    condition.isBlocked = parts.keys.isPaused
    return condition
  }

  func answer(about tasks: [String], lines: Int) -> SessionAnswer {
    let runs = parts.withLock { $0?.runner }?.waitingTasks ?? []
    let condition = condition(of: tasks)
    let state: SessionAnswer.State =
      condition.isBlocked
      ? .paused : condition.isBusy || condition.settlesAfter != nil ? .busy : .rest
    let isCommandLine = picture.withLock { $0.plan.origin } == .commandLine
    return picture.withLock { picture in
      picture.answer(
        about: tasks, lines: lines, state, process: Int(processIDs().own),
        waiting: isCommandLine ? WaitingReporter.ofCommand(runs) : runs
      ) { WaitingReporter.line($0, waiting.cause($0.trigger)) }
    }
  }

  func perform(_ request: SessionRequest) -> String? {
    picture.withLock { $0.refusal(of: request.tasks) }
  }
}
