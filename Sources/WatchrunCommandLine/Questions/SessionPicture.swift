import ActionRunning
import Diagnostics
import FileObservation
import LiveReload
import SessionControl
import Support
import SystemCalls

/// What a session answers: the model of the status page, the output of the latest runs, and what is needed to
/// decide whether the tasks are at rest. A pure state machine: reports in, answers out.
struct SessionPicture {
  /// What the processes of a service have done, and whether a program such as make works in it.
  typealias Work = (done: ProcessActivity, isBuild: Bool)

  /// The process of a service without a readiness check, or one that may start again by itself.
  private struct Unchecked {
    let since: Instant
    /// How long to wait for its end, as runs of the command may end by themselves.
    let patience: Duration
    /// Whether it is a command that a change restarts: a server, or a test that ends.
    let mayEnd: Bool
    /// A hash of its processes at the latest look.
    var processes: UInt64?
    /// Since when they are the same, and since when they do nothing either.
    var sameSince = Instant(offset: .zero)
    var idleSince = Instant(offset: .zero)

    /// How long to wait until it counts as ready: it is no server yet while a program such as make works in it, and
    /// probably none while it works itself, unless it is idle.
    mutating func rest(at now: Instant, _ activity: Work?) -> Duration {
      let rest = now.duration(to: since.advanced(by: patience))
      guard let activity, activity.isBuild || mayEnd else { return rest }
      if processes != activity.done.writes.processes {
        (processes, sameSince, idleSince) = (activity.done.writes.processes, now, now)
      }
      if activity.done.isRunning { idleSince = now }
      let (began, limits) =
        activity.isBuild ? (sameSince, SessionPicture.build) : (since, SessionPicture.work)
      let isLate = since.duration(to: now) >= SessionPicture.longestStart
      if isLate || began.duration(to: now) >= limits.longest { return rest }
      let idle = now.duration(to: idleSince.advanced(by: limits.idle))
      return min(max(rest, idle), SessionPicture.lookPause)
    }
  }

  /// How long a service without a readiness check must run before it counts as ready.
  static let startTime = Duration.seconds(1)
  /// So long after a change, a command that watches by itself has begun to start again, if it does: some look for
  /// changes every second.
  static let restartTime = Duration.milliseconds(1500)
  /// A run, or the reading of a file, that is delayed for so long is said to be, since the runs themselves may have
  /// made the change, and is not waited for. Less than the delay itself, of which a part is over when it is measured.
  static let noticedTime = Suspicion.Rules.noticed / 2
  /// How long a service counts as starting while a program such as make works in it, and starts no process: one that
  /// waits for a server may never end. A compiler may be idle while another machine works for it.
  private static let build = (longest: Duration.seconds(60), idle: Duration.seconds(3))
  /// The same for a command that is not idle itself, and that a change restarts.
  private static let work = (longest: Duration.seconds(10), idle: startTime)
  /// The same for anything: a server of make may start processes for ever.
  private static let longestStart = Duration.seconds(600)
  /// The pause between two looks at it.
  private static let lookPause = Duration.milliseconds(200)
  /// The pause between two looks whether a file that is due is read.
  private static let readPause = Duration.milliseconds(20)
  private static let mostChanges = 20
  private static let mostShownErrors = 50

  let directory: Path
  private(set) var plan: SessionPlan
  /// The errors in the project file, if it has any.
  var problem: String?
  /// Why a file that has changed is not read again yet, if that is so, and when it is.
  var postponed: (reason: String, since: Instant, due: Instant)?
  private(set) var model = StatusModel()
  var output = OutputLog()
  /// What the outputs say about errors.
  private(set) var diagnostics = DiagnosticLog()
  /// The conflicts that were reported, by task, until the task starts.
  private(set) var conflicts: [String: ReadinessConflict] = [:]
  private var starting: [String: Unchecked] = [:]
  /// When the latest run of each task has begun, by the clock of the runner.
  private var began: [String: Instant] = [:]
  /// What waits for a run.
  private var waiting: [TaskRunner.Waiting] = []
  /// The tasks whose latest run has ended.
  private var ended: Set<String> = []
  /// The tasks whose latest run was stopped because it exceeded its time.
  private var timedOut: Set<String> = []
  /// The times after which the latest three runs of a service have ended by themselves, unless another one went on for
  /// so long since that it is probably a server.
  private var ownEnds: [String: [Duration]] = [:]
  /// The latest runs of the present round, or of the last one.
  private(set) var latestRuns: [TaskReport.Run] = []

  init(directory: Path, _ plan: SessionPlan) {
    (self.directory, self.plan) = (directory, plan)
    setPlan(plan)
  }

  mutating func setPlan(_ plan: SessionPlan) {
    self.plan = plan
    diagnostics.keep(plan.tasks.map(\.name))
    model.note(plan.activity, at: 0)
  }

  /// The directory from which the paths in the output of a task start.
  func directory(of task: String) -> Path {
    plan.graph[task]?.command.directory?.absolute(from: directory) ?? directory
  }

  /// The tasks that have failed or were skipped.
  var redTasks: [String] {
    model.tasks.filter { $0.state == .failed || $0.state == .skipped }.map(\.description.name)
  }

  var allDiagnostics: [Diagnostic] { plan.tasks.flatMap { presentDiagnostics(of: $0.name) } }

  /// The diagnostics of a task that are true now. While it runs, and when it was stopped, those of the run before
  /// are, unless it is a service; a task that is skipped has none.
  private func presentDiagnostics(of task: String) -> [Diagnostic] {
    switch model.tasks.first(where: { $0.description.name == task })?.state {
    case .ready, .skipped: []
    case .running, .stopped: plan.graph[task]?.isService == true ? [] : diagnostics[task]
    default: diagnostics[task]
    }
  }

  /// The tasks as all who ask, and the status line, see them; without their output and their diagnostics.
  func tasks(at now: Instant) -> [SessionAnswer.Task] {
    model.tasks.map { task in
      let name = task.description.name
      var entry = SessionAnswer.Task(name)
      (entry.command, entry.isService) = (task.description.command, task.description.isService)
      (entry.state, entry.status) = (task.state.rawValue, task.status)
      let elapsed = task.state == .running ? began[name]?.duration(to: now) : task.duration
      (entry.startedAt, entry.milliseconds) = (task.startedAt, elapsed?.milliseconds)
      entry.isTimedOut = timedOut.contains(name)
      entry.isOutputRead =
        plan.graph[name].map { plan.reading.includes($0, of: plan.graph) } ?? true
      return entry
    }
  }

  /// The number of paths whose changes wait for a run. It takes a while for many paths and tasks.
  var waitingChanges: Int { Set(waiting.flatMap(\.trigger.changes).map(\.path)).count }

  /// Whether the latest run of a task has failed with status 0, as a service does that ends by itself.
  func hasEnded(_ task: String) -> Bool {
    let task = model.task(task)
    return task?.state == .failed && task?.status == 0
  }

  /// The numbers of errors in the tasks that have failed.
  var errorCounts: [String: Int] {
    model.tasks.reduce(into: [:]) { counts, task in
      let name = task.description.name
      if task.state == .failed {
        counts[name] = diagnostics[name].count { $0.severity == .error }
      }
    }
  }

  /// The tasks whose readiness nothing checks.
  var unchecked: Set<String> {
    Set(plan.graph.tasks.filter { !$0.reportsReadiness }.map(\.name))
  }

  /// A run of the command has ended by itself, with these diagnostics in its output.
  mutating func found(
    _ diagnostics: [Diagnostic], in task: String, hasSucceeded: Bool
  ) -> DiagnosticSummary? {
    self.diagnostics.ended(task, hasSucceeded: hasSucceeded, diagnostics)
  }

  /// - Parameter time: Milliseconds since 1970.
  /// - Returns: The activities of pages.
  @discardableResult
  mutating func handle(_ report: TaskReport, at now: Instant, time: Int) -> [Activity] {
    if case .task(let task, .conflict(let conflict)) = report {
      let before = conflicts.updateValue(conflict, forKey: task)
      // Each attempt finds the same.
      if conflict == before && model.task(task)?.state == .failed { return [] }
    }
    let activities = diagnosed(report) + plan.activities(for: report, in: directory)
    for activity in activities { model.note(activity, at: time) }
    diagnostics.handle(report)
    switch report {
    case .round(.began):
      latestRuns = []
    case .run(let run, .started) where run.job == .command:
      // On the command line, the build and the command are one run.
      latestRuns.removeAll { !plan.namesTasks || $0.task == run.task }
      latestRuns.append(run)
      output.began(run)
      began[run.task] = now
      conflicts[run.task] = nil
      starting[run.task] = unchecked(run.task, now)
      ended.remove(run.task)
      timedOut.remove(run.task)
    case .run(let run, .ended(_, let duration, let ending)) where run.job == .command:
      starting[run.task] = nil
      ended.insert(run.task)
      if ending == .timedOut { timedOut.insert(run.task) }
      if ending == .byItself {
        ownEnds[run.task] = (ownEnds[run.task] ?? []).suffix(2) + [duration]
      } else if duration >= patience(with: run.task) {
        ownEnds[run.task] = nil
      }
    case .run(let run, .notStarted) where run.job == .command:
      starting[run.task] = nil
      ended.insert(run.task)
    case .task(let task, .kept(let cause)):
      ended.remove(task)
      if cause.task == task { output.formerGoesOn(of: task) }
    case .runner(.waiting(let waiting)):
      self.waiting = waiting
    default:
      break
    }
    return activities
  }

  /// What pages are told about the errors of a run that has ended by itself.
  private func diagnosed(_ report: TaskReport) -> [Activity] {
    guard case .run(let run, .ended(_, _, let ending)) = report, run.job == .command,
      ending != .stopped
    else { return [] }
    let diagnostics = diagnostics[run.task]
    guard let summary = DiagnosticSummary(diagnostics, before: []) else { return [] }
    let errors = diagnostics.filter { $0.severity == .error }
    let lines = errors.prefix(Self.mostShownErrors).map { $0.quickfixLine(in: directory) }
    return [.diagnosed(task: run.task, counts: summary.counts, lines: lines)]
  }

  /// Files have changed. A command that watches by itself counts as starting.
  mutating func changed(_ changes: [ChangeBatch.Change], at now: Instant) {
    for task in plan.graph.tasks where task.watchesByItself {
      // Otherwise one that writes what it watches would never be ready.
      if let last = starting[task.name], last.since.duration(to: now) < last.patience { continue }
      guard changes.contains(where: task.triggers.isTriggered) else { continue }
      starting[task.name] = Unchecked(since: now, patience: Self.restartTime, mayEnd: true)
    }
  }

  private func unchecked(_ name: String, _ now: Instant) -> Unchecked? {
    guard let task = plan.graph[name], !task.reportsReadiness, task.keepsRunning else {
      return nil
    }
    // A command that a change restarts may be a test that ends, or a server that does not.
    let mayEnd = plan.origin == .commandLine
    let patience = mayEnd ? patience(with: name) : Self.startTime
    return Unchecked(since: now, patience: patience, mayEnd: mayEnd)
  }

  /// How long to wait for the end of a command that may end by itself.
  private func patience(with name: String) -> Duration {
    min(max(Self.startTime, (ownEnds[name]?.max() ?? .zero) * 2), Self.longestStart)
  }
}

// MARK: - Whether it is at rest

extension SessionPicture {
  /// - Parameters:
  ///   - tasks: The tasks, to which those belong that they depend on; all, if there are none.
  ///   - restless: The tasks that are not at rest, as the runner says.
  ///   - behind: The tasks whose results are without changes that were ignored.
  ///   - isUp: Whether the process of a service may exist.
  ///   - activity: What the processes of a service have done.
  mutating func condition(
    of tasks: [String], at now: Instant, restless: [String], behind: Set<String> = [],
    waiting: [TaskRunner.Waiting], isUp: (String) -> Bool,
    activity: (String) -> Work? = { _ in nil }
  ) -> SessionCondition {
    let tasks = members(of: tasks)
    let subjects = plan.graph.withDependencies(tasks.isEmpty ? plan.graph.order : tasks)
    var condition = SessionCondition()
    // Among all are those that were removed, and have not ended yet.
    condition.isBusy =
      tasks.isEmpty ? !restless.isEmpty : restless.contains(where: subjects.contains)
    var rest = Duration.zero
    for name in subjects {
      if behind.contains(name) { condition.behind.append(name) }
      if var process = starting[name] {
        rest = max(rest, process.rest(at: now, activity(name)))
        starting[name] = process
      } else if plan.graph[name]?.isService == true, isUp(name), ended.contains(name) {
        // Its end was reported, and is about to be handled.
        condition.isBusy = true
      }
      // A command that watches by itself has seen what it is owed.
      if plan.graph[name]?.watchesByItself == true, isUp(name) { continue }
      for entry in waiting where entry.name == name && entry.cause == .delay {
        condition.behind.append(name)
        guard let due = entry.due, entry.since.duration(to: due) < Self.noticedTime else {
          continue
        }
        rest = max(rest, now.duration(to: due))
      }
    }
    if let postponed, !isNoticed(postponed) {
      rest = max(rest, now.duration(to: postponed.due), Self.readPause)
    }
    if rest > .zero { condition.settlesAfter = rest }
    return condition
  }

  /// Whether the file is not waited for.
  private func isNoticed(_ postponed: (reason: String, since: Instant, due: Instant)) -> Bool {
    postponed.since.duration(to: postponed.due) >= Self.noticedTime
  }
}

// MARK: - Answers

extension SessionPicture {
  /// The tasks with those in directories in place of a name that stands for them.
  func members(of tasks: [String]) -> [String] {
    tasks.flatMap { task in
      let named = plan.tasks(namedBy: task)
      return named.isEmpty ? [task] : named
    }
  }

  /// Why tasks cannot be asked for; `nil` if they can.
  func refusal(of tasks: [String]) -> String? {
    let known = plan.tasks.map(\.name)
    guard let stranger = members(of: tasks).first(where: { !known.contains($0) }) else {
      return nil
    }
    let what =
      stranger.isEmpty ? "name a task" : "no task '\(stranger.printable)' in this session"
    return "\(what); tasks: " + known.map(\.printable).joined(separator: ", ")
  }

  /// - Parameter text: Describes what a task waits for.
  func answer(
    to request: SessionRequest, _ state: SessionAnswer.State, process: Int,
    at now: Instant, waiting: [TaskRunner.Waiting], missed: [String: Set<Path>] = [:],
    _ text: (TaskRunner.Waiting) -> String
  ) -> SessionAnswer {
    let asked = members(of: request.tasks)
    let isMeant = { (name: String) in asked.isEmpty || asked.contains(name) }
    var answer = SessionAnswer(
      directory: directory, command: commandLine, process: process, state: state)
    let postponed = postponed.flatMap { isNoticed($0) ? $0.reason : nil }
    answer.problem = problem ?? postponed ?? self.missed(by: asked, missed)
    answer.tasks = tasks(at: now).filter { isMeant($0.name) }.map { task in
      var task = task
      task.diagnostics = presentDiagnostics(of: task.name)
      if task.state == "failed" || request.verb == .logs {
        task.output = output.end(of: task.name, lines: request.lines)
      }
      return task
    }
    answer.pending = waiting.filter { isMeant($0.name) }.map { waiting in
      SessionAnswer.Pending(
        task: waiting.name, cause: waiting.cause.word, text: text(waiting),
        changes: waiting.trigger.changes.prefix(Self.mostChanges).map {
          $0.path.shown(in: directory).description
        })
    }
    return answer
  }

  /// What the results of tasks, or of those that they depend on, may be without.
  private func missed(by tasks: [String], _ missed: [String: Set<Path>]) -> String? {
    let subjects = plan.graph.withDependencies(tasks.isEmpty ? plan.graph.order : tasks)
    let paths = subjects.reduce(into: Set<Path>()) { $0.formUnion(missed[$1] ?? []) }.sorted()
    guard let first = paths.first else { return nil }
    let more = paths.count == 1 ? "" : " and \(paths.count - 1) more"
    return
      "\(first.shown(in: directory))\(more) saved in a build, and may be missing in its result: save it again"
  }

  /// Tells sessions of the same directory apart.
  private var commandLine: String {
    plan.origin == .commandLine && !plan.tasks.isEmpty
      ? plan.tasks.map(\.command).joined(separator: " && ")
      : (plan.tasks.map(\.name) + plan.pages.map(\.name)).joined(separator: " ")
  }
}

extension TaskRunner.Waiting.Cause {
  /// The word for programs.
  fileprivate var word: String {
    switch self {
    case .runs: "runs"
    case .hook: "hook"
    case .job: "job"
    case .dependencies: "dependencies"
    case .changes: "changes"
    case .dependents: "dependents"
    case .predecessor: "predecessor"
    case .terminal: "terminal"
    case .pause: "pause"
    case .delay: "delay"
    case .nextRun: "nextRun"
    }
  }
}
