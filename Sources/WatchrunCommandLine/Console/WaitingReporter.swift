import ActionRunning
import Dispatch
import FileObservation
import Support
import Synchronization
import SystemCalls

/// Reports what waits, once it has waited for a while, and lists it for the key `e`.
///
/// Has a timer only while something waits that has not been reported.
final class WaitingReporter: Sendable {
  private struct State {
    var waiting = WaitingState()
    var timer: (any ScheduledWork)?
    var timerTime: Instant?
  }

  /// The reporter of a task by its name, which is empty for the only one of a command line.
  private let reporter: @Sendable (_ task: String) -> RunReporter
  private let scheduler: any Scheduler
  /// How the user makes a change restart what runs.
  private let restartAdvice: String
  private let state = Mutex(State())
  /// Whether watchrun is ending, so that another Ctrl-C kills what runs.
  private let isEnding: @Sendable () -> Bool

  init(
    restartAdvice: String,
    scheduler: any Scheduler = DispatchScheduler(queue: DispatchQueue.global()),
    isEnding: @escaping @Sendable () -> Bool,
    reporter: @escaping @Sendable (_ task: String) -> RunReporter
  ) {
    self.reporter = reporter
    self.restartAdvice = restartAdvice
    self.scheduler = scheduler
    self.isEnding = isEnding
  }

  /// Must be called with each report of an action queue, in order, before the next one.
  func note(_ report: RunReport) {
    if case .killing(let job, let gracePeriod) = report {
      reportKill(of: job, of: "", after: gracePeriod)
    }
    if case .idle = report { reportIdle() }
    update { $0.take(report, at: $1) }
  }

  /// Must be called with each report of a task runner, in order, before the next one.
  func note(_ report: TaskReport) {
    if case .detail(let task, .killing(let job, let gracePeriod)) = report {
      reportKill(of: job, of: task, after: gracePeriod)
    }
    if case .idle = report { reportIdle() }
    update { $0.take(report, at: $1) }
  }

  private func update(_ change: (inout WaitingState, Instant) -> Void) {
    let now = scheduler.now
    let outdated = state.withLock { state -> (any ScheduledWork)? in
      change(&state.waiting, now)
      let time = state.waiting.nextTime
      if time == state.timerTime { return nil }
      defer { state.timer = time.map(schedule) }
      state.timerTime = time
      return state.timer
    }
    outdated?.cancel()
  }

  private func schedule(at time: Instant) -> any ScheduledWork {
    scheduler.schedule(at: time, leeway: .milliseconds(100)) { [weak self] in self?.elapsed() }
  }

  private func elapsed() {
    let now = scheduler.now
    let notices = state.withLock { state in
      defer {
        state.timerTime = state.waiting.nextTime
        state.timer = state.timerTime.map(schedule)
      }
      return state.waiting.takeNotices(at: now)
    }
    for notice in notices { report(notice) }
  }
}

// MARK: - Messages

extension WaitingReporter {
  private func say(_ task: String, _ text: String, style: Console.Style = .faint) {
    reporter(task).say(.news, text, style: style)
  }

  /// At a terminal only, so that logs have one line less for each run.
  private func reportIdle() {
    reporter("").console.sayAtTerminal("waiting for changes")
  }

  private func reportKill(of job: ActionQueue.Job, of task: String, after gracePeriod: Duration?) {
    if let gracePeriod {
      let text =
        "\(job.subject)still running after \(gracePeriod.shortDescription): killing it (SIGKILL)"
      say(task, text, style: .warning)
    } else {
      say(task, "killing \(job.object) (SIGKILL)", style: .warning)
    }
  }

  private func report(_ notice: WaitingState.Notice) {
    switch notice {
    case .queued(let task, let trigger, let behind):
      let advice = trigger.reason == .key ? "s stops it" : restartAdvice
      say(task, "\(cause(trigger)); \(Self.turn(of: task, behind: behind)); \(advice)")
    case .queuedBehindHook(let trigger):
      say("", "\(cause(trigger)); runs again when the hook ends")
    case .stopping(let task, let job, let signal, let waited, let killIn):
      let way = isEnding() ? " (Ctrl-C again kills it now)" : ""
      say(
        task,
        "\(job.subject)still running \(waited.shortDescription) after \(signal): "
          + "killing it in \(killIn.shortDescription)\(way)")
    case .needsJob(let task, let holders):
      let jobs = holders.count == 1 ? "the only job" : "all \(holders.count) jobs"
      say(
        task,
        "waiting: \(Self.verb(holders, "takes", "take")) \(jobs); "
          + "if one of them is a service, set \"service\": true, otherwise raise \"jobs\"",
        style: .warning)
    }
  }

  private func cause(_ trigger: RunTrigger) -> String {
    if trigger.reason == .key { return "a run was requested by key" }
    return reporter("").changes(of: trigger) ?? "a change was reported"
  }

  private static func turn(of task: String, behind: [String]) -> String {
    behind == [task] || behind.isEmpty
      ? "runs again when this run ends" : "runs again when \(verb(behind, "ends", "end"))"
  }

  private static func verb(_ names: [String], _ one: String, _ many: String) -> String {
    "\(list(names)) \(names.count == 1 ? one : many)"
  }

  private static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}

// MARK: - The key e

extension WaitingReporter {
  /// Lists what waits, in the order in which it will run.
  func list() {
    let now = scheduler.now
    let waiting = state.withLock { $0.waiting }
    let console = reporter("").console
    for line in Self.lines(of: waiting, at: now, cause) { console.say(.answer, line) }
  }

  /// A line for each thing that waits.
  static func lines(
    of waiting: WaitingState, at now: Instant, _ cause: (RunTrigger) -> String
  ) -> [String] {
    let prefix = { (task: String) in task.isEmpty ? "" : task + ": " }
    var lines = waiting.stops.map { stop in
      let waited = stop.since.duration(to: now)
      return "\(prefix(stop.task))\(stop.signal) was sent \(waited.shortDescription) ago; "
        + "killing it in \(max(.zero, stop.killAfter - waited).shortDescription)"
    }
    lines += waiting.restarts.map { restart in
      "\(prefix(restart.task))restarting in \(max(.zero, now.duration(to: restart.time)).shortDescription)"
    }
    let queued = waiting.queued.filter { queued in
      !waiting.tasks.contains { $0.name == queued.task && $0.cause == .ownRun }
    }
    lines += queued.map { queued in
      let turn =
        queued.isBehindHook
        ? "runs again when the hook ends" : turn(of: queued.task, behind: queued.behind)
      return "\(prefix(queued.task))\(cause(queued.trigger)); \(turn)"
    }
    lines += waiting.tasks.map { "\($0.name): \(state(of: $0))" }
    return lines
  }

  private static func state(of task: TaskRunner.Waiting) -> String {
    switch task.cause {
    case .ownRun: "runs again when this run ends"
    case .job(let holders):
      "waits for a job: \(verb(holders, "runs", "run"))"
    case .dependencies(let names): "waits for \(list(names))"
    case .dependents(let names): "waits until \(verb(names, "ends", "end"))"
    case .predecessor: "waits until its former run has ended"
    case .pause: "runs when you press p"
    }
  }
}
