import ActionRunning
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Reports what waits, once it has waited for a while, and lists it for the key `e`.
///
/// Has a timer only while something waits that has not been reported.
final class WaitingReporter: Sendable {
  private struct State {
    /// That of the runner, whose time stands still while all is suspended.
    var scheduler: any Scheduler
    var waiting = WaitingState()
    var timer: (any ScheduledWork)?
    var timerTime: Instant?
  }

  private let reporter: RunReporter
  private let state: Mutex<State>
  private var scheduler: any Scheduler { state.withLock(\.scheduler) }
  /// Whether watchrun is ending, so that another Ctrl-C kills what runs.
  private let isEnding: @Sendable () -> Bool

  init(
    _ reporter: RunReporter,
    scheduler: any Scheduler = DispatchScheduler(queue: .separate()),
    isEnding: @escaping @Sendable () -> Bool
  ) {
    self.reporter = reporter
    state = Mutex(State(scheduler: scheduler))
    self.isEnding = isEnding
  }

  /// Sets the scheduler, before the first report.
  func use(_ scheduler: any Scheduler) { state.withLock { $0.scheduler = scheduler } }

  /// Handles a report of the runner. Must be called with each, in order.
  func handle(_ report: TaskReport) {
    var report = report
    if case .runner(.waiting(let waiting)) = report { report = .runner(.waiting(shown(waiting))) }
    change { [report] in $0.handle(report, at: $1) }
  }

  /// What users see of what waits. On a command line, the build and the command are one thing: the command,
  /// which is the last.
  func shown(_ waiting: [TaskRunner.Waiting]) -> [TaskRunner.Waiting] {
    if !reporter.isCommandLine { return waiting }
    let known = waiting.filter { entry in
      if case .dependencies = entry.cause { return false }
      return entry.cause != .changes
    }
    return known.filter { $0.name == known.last?.name }
  }

  /// Changes the state, and sets the timer to the next notice.
  private func change<Result>(_ body: (inout WaitingState, Instant) -> Result) -> Result {
    let (result, outdated) = state.withLock { state in
      let scheduler = state.scheduler
      let result = body(&state.waiting, scheduler.now)
      let time = state.waiting.nextTime
      if time == state.timerTime { return (result, nil as (any ScheduledWork)?) }
      let outdated = state.timer
      (state.timerTime, state.timer) = (time, time.map { schedule(at: $0, scheduler) })
      return (result, outdated)
    }
    outdated?.cancel()
    return result
  }

  private func schedule(at time: Instant, _ scheduler: any Scheduler) -> any ScheduledWork {
    scheduler.schedule(at: time) { [weak self] in
      guard let self else { return }
      for notice in change({ $0.takeNotices(at: $1) }) {
        report(notice, .news, isEnding: isEnding())
      }
    }
  }
}

// MARK: - Messages

extension WaitingReporter {
  /// Answers a request to stop what is being stopped already. Ctrl-C is an interrupt.
  func answerStop(toInterrupt isInterrupt: Bool) {
    let now = scheduler.now
    let (stops, restarts) = state.withLock {
      // A signal that arrives twice at once, as timeout(1) sends it, is no second request.
      (
        $0.waiting.pendingStops(at: now, after: .milliseconds(100)),
        $0.waiting.restarts.keys.sorted()
      )
    }
    for notice in stops { report(notice, .answer, isEnding: isInterrupt || isEnding()) }
    if isInterrupt { return }
    for task in restarts {
      reporter.say(.answer, task, "not restarted; the next change starts it", style: .faint)
    }
  }

  private func report(_ notice: WaitingState.Notice, _ level: Console.Level, isEnding: Bool) {
    switch notice {
    case .waiting(let waiting):
      report(waiting)
    case .stopping(let run, let stop, let isCommand, let waited, let killIn, let isEnded):
      let way = isEnding ? " (Ctrl-C again kills it now)" : ""
      let subject = isEnded ? "processes that it left are " : reporter.subject(of: run)
      reporter.say(
        level, run.task,
        "\(subject)still running \(waited.shortDescription) after \(stop): "
          + "killing \(isCommand ? "that" : isEnded ? "them" : "it") in \(killIn.shortDescription)\(way)",
        style: .faint)
    }
  }

  private func report(_ waiting: TaskRunner.Waiting) {
    switch waiting.cause {
    case .job(let holders):
      let jobs = holders.count == 1 ? "the only job" : "all \(holders.count) jobs"
      reporter.say(
        .news, waiting.name,
        "waiting: \(Self.verb(holders, "takes", "take")) \(jobs); "
          + "if one of them is a service, set \"service\": true, otherwise raise \"jobs\"",
        style: .warning)
    default:
      let advice = waiting.cause == .hook ? "" : advice(for: waiting).map { "; " + $0 } ?? ""
      let line = Self.line(waiting, cause(waiting.trigger))
      reporter.say(.news, waiting.name, line + advice, style: .faint)
    }
  }

  /// How the user ends the wait. A restart is no advice for what the run may have written itself, nor for a
  /// program that reacts to changes by itself, nor where it is set.
  func advice(for waiting: TaskRunner.Waiting) -> String? {
    if waiting.trigger.reason == .key { return "s stops it" }
    let words = reporter.text(of: waiting.name).words
    let place = ProjectDirectory(path: reporter.directory)
    if waiting.mayBeMissed && !state.withLock({ $0.waiting.mayBeByRuns(waiting) }) {
      return
        "a program that compares times may take it for up to date: save it again after this run"
    }
    if reporter.isRestarted(waiting.name) || state.withLock({ $0.waiting.mayBeByRuns(waiting) })
      || ProjectDetection.Script(words, in: place).watchesByItself
    {
      return nil
    }
    return reporter.hasFile ? "\"onBusy\": \"restart\" restarts at once" : "-r restarts at once"
  }

  func cause(_ trigger: RunTrigger) -> String {
    if trigger.reason == .key { return "a run was requested by key" }
    return reporter.changes(of: trigger) ?? "a change was reported"
  }

  /// What a task waits for, and why.
  static func line(_ waiting: TaskRunner.Waiting, _ cause: String) -> String {
    switch waiting.cause {
    case .runs(let names):
      names == [waiting.name]
        ? "\(cause); runs again when this run ends"
        : "\(cause); runs again when \(verb(names, "ends", "end"))"
    case .hook: "\(cause); runs again when the hook ends"
    case .job(let holders): "waits for a job: \(verb(holders, "runs", "run"))"
    case .dependencies(let names): "waits for \(names.listed)"
    case .changes: "waits until what changes now is known"
    case .dependents(let names): "waits until \(verb(names, "ends", "end"))"
    case .predecessor: "waits until its former run has ended"
    case .terminal: "waits for the terminal"
    case .pause: "runs when the session is resumed"
    case .delay: "\(cause); runs later, since it changes so often; r runs now"
    case .nextRun: "\(cause), changed by the run; r runs it"
    }
  }

  private static func verb(_ names: [String], _ one: String, _ many: String) -> String {
    "\(names.listed) \(names.count == 1 ? one : many)"
  }
}

// MARK: - The key e

extension WaitingReporter {
  /// Lists what waits, in the order in which it will run.
  func list() {
    let now = scheduler.now
    let waiting = state.withLock { $0.waiting }
    let isNamed = !reporter.isAlone
    for line in Self.lines(of: waiting, at: now, isNamed: isNamed, cause) {
      reporter.console.say(.answer, line)
    }
  }

  /// A line for each thing that waits, with the name of the task if `isNamed`.
  static func lines(
    of waiting: WaitingState, at now: Instant, isNamed: Bool, _ cause: (RunTrigger) -> String
  ) -> [String] {
    let prefix = { (task: String) in isNamed ? task + ": " : "" }
    var lines: [String] = []
    for case .stopping(let run, let stop, let isCommand, let waited, let killIn, _)
      in waiting.pendingStops(at: now)
    {
      lines.append(
        "\(prefix(run.task))\(stop) was \(isCommand ? "started" : "sent") \(waited.shortDescription) ago; "
          + "killing it in \(killIn.shortDescription)")
    }
    for task in waiting.restarts.keys.sorted() {
      let pause = max(.zero, now.duration(to: waiting.restarts[task] ?? now)).shortDescription
      lines.append("\(prefix(task))restarting in \(pause)")
    }
    return lines + waiting.waiting.map { prefix($0.name) + line($0, cause($0.trigger)) }
  }
}
