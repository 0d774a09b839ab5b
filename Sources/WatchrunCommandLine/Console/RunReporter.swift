import ActionRunning
import Diagnostics
import FileObservation
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Writes the reports of an observer and of a runner, and the output of tasks, to the console.
final class RunReporter: Sendable {
  private struct State {
    /// `nil` where nothing is run.
    var plan: SessionPlan?
    /// Those of former tasks are remembered, which report until they have ended.
    var texts: [String: TaskText] = [:]
    var labels: [String: TaskLabel] = [:]
    /// The runs that count as ended, although they could not be stopped.
    var left: Set<TaskReport.Run> = []
    /// The runs whose outputs are printed only if they fail.
    var held = HeldOutputs()
    /// The finite tasks that were stopped, although changes wait for the end of their runs: a build is stopped by
    /// what it may have missed.
    var stopped: Set<String> = []
    var hadRound = false
    /// Whether it was said that changes are waited for, since a run or a round began.
    var hasSaidIdle = false
  }

  let console: Console
  /// Paths are shown relative to this directory.
  let directory: Path
  /// `nil` outside of GitHub Actions.
  private let workflow = WorkflowCommands(environmentVariable)
  private let state = Mutex(State())

  init(_ console: Console, directory: Path) {
    self.console = console
    self.directory = directory
  }

  func setPlan(_ plan: SessionPlan) {
    let labels = plan.namesTasks ? TaskLabel.labels(plan.tasks.map(\.name)) : [:]
    state.withLock { state in
      state.plan = plan
      for task in plan.tasks {
        (state.texts[task.name], state.labels[task.name]) = (task, labels[task.name])
        state.held.setHolds(task.holdsOutput, task.name)
      }
    }
  }

  /// Whether messages name no task.
  var isAlone: Bool { state.withLock { $0.plan?.namesTasks != true } }

  var isCommandLine: Bool { state.withLock { $0.plan?.origin != .project } }
  /// Whether advice names keys of the project file, and not options.
  var hasFile: Bool { state.withLock { $0.plan?.hasFile == true } }

  /// Whether a change restarts the task, as is set for it.
  func isRestarted(_ task: String) -> Bool { definition(of: task)?.policy.busyPolicy == .restart }

  private func definition(of task: String) -> TaskDefinition? {
    state.withLock { $0.plan?.graph[task] }
  }

  /// Whether a run of the command has failed, also of a task that was removed.
  func hasFailed(_ task: String, _ status: ExitStatus, _ ending: TaskReport.Ending) -> Bool {
    definition(of: task)?.hasFailed(status, ending) ?? (ending != .stopped && !status.isSuccess)
  }

  func text(of task: String) -> TaskText {
    state.withLock { $0.texts[task] }
      ?? TaskText(name: task, command: task, shownCommand: task)
  }

  /// The label of a task; `nil` where it goes without saying.
  func label(of task: String) -> TaskLabel? { state.withLock { $0.labels[task] } }

  /// Writes a message about a task, with its name if there is more than one.
  func say(_ level: Console.Level, _ task: String, _ text: String, style: Console.Style = .plain) {
    if let label = label(of: task) {
      console.say(level, of: label, text, style: style)
    } else {
      console.say(level, text, style: style)
    }
  }

  func write(_ output: TaskOutput) {
    let (label, isHeld) = state.withLock { state in
      (state.labels[output.run.task], state.held.holds(output.run))
    }
    if isHeld { return }
    console.write(output.line, output.isFinished, isSplit: output.isSplit, of: label)
  }

  /// Prints or drops the output of a run that is held until its outcome is known.
  private func decideOnOutput(of task: String, hasFailed: Bool, _ picture: SessionPicture?) {
    guard state.withLock({ $0.held.decide(task, hasFailed: hasFailed) }),
      let (first, gap, last) = picture?.output.parts(of: task), !first.isEmpty || gap.bytes > 0
    else { return }
    let label = label(of: task)
    let command = text(of: task).shownCommand
    if let workflow {
      console.write([workflow.group(label == nil ? command : "\(task): \(command)")], of: nil)
    }
    console.write(lines: first, of: label)
    if gap.bytes > 0 { say(.problem, task, gap.text, style: .warning) }
    console.write(lines: last, of: label)
    if workflow != nil { console.write([WorkflowCommands.endGroup], of: nil) }
  }

  /// Shows the diagnostics of a run that has ended beside the code, if the log is one of GitHub Actions.
  private func annotate(_ diagnostics: [Diagnostic]) {
    guard let workflow else { return }
    for line in diagnostics.compactMap(workflow.annotation) { console.writeLine(line) }
  }
}

// MARK: - Reports of a runner

extension RunReporter {
  /// - Parameters:
  ///   - diagnostics: What a run that has ended has printed about errors.
  ///   - picture: The picture before the report, but with the diagnostics of a run that has ended.
  func report(
    _ report: TaskReport, _ diagnostics: DiagnosticSummary? = nil,
    _ picture: SessionPicture? = nil
  ) {
    switch report {
    case .run(let run, .started):
      state.withLock { state in
        state.held.began(run)
        state.hasSaidIdle = false
      }
      reportStart(run)
      // The output of several tasks is forwarded.
      if isAlone { console.commandBegins() }
    case .run(let run, .ended(let status, let duration, let ending)):
      if run.job == .command && !run.isFormer {
        decideOnOutput(of: run.task, hasFailed: hasFailed(run.task, status, ending), picture)
      }
      console.commandEnds()
      reportEnd(of: run, status, after: duration.shortDescription, ending, diagnostics)
      if diagnostics != nil, let picture { annotate(picture.diagnostics[run.task]) }
    case .run(let run, .notStarted(let error, _)):
      console.commandEnds()
      reportFailedStart(run, error)
    case .run(let run, .pathsNotWritten(let error)):
      say(.problem, run.task, error.unwrittenPathsMessage, style: .warning)
    case .task(let task, .conflict(let conflict)):
      // Each attempt finds the same.
      if conflict != picture?.conflicts[task] { say(.problem, task, conflict.message, style: .bad) }
    case .task(let task, .skipped(let cause)):
      // On the command line, the failure of the build says it.
      if !isCommandLine {
        say(.news, task, "skipped: \(cause.words(in: picture))", style: .warning)
      }
    case .task(let task, .kept(let cause)):
      if cause.task == task {
        state.withLock { $0.held.formerGoesOn(of: task) }
        say(.news, task, "the former process keeps running", style: .warning)
      } else if !isCommandLine {
        say(.news, task, "not restarted: \(cause.words(in: picture))", style: .warning)
      }
    case .task(let task, .fresh):
      say(.news, task, "fresh, not run", style: .good)
    case .task(let task, .ready(let time)):
      let level = isCommandLine ? Console.Level.detail : .news
      say(level, task, "ready after \(time.shortDescription)", style: .good)
    case .task(let task, .notReady(let readiness)):
      decideOnOutput(of: task, hasFailed: true, picture)
      say(.problem, task, "not ready: \(readiness.failure)", style: .bad)
    case .run(let run, .timedOut(let time)):
      say(.problem, run.task, "timed out after \(time.shortDescription)", style: .bad)
    case .run(let run, .stopping(let signal, _)):
      say(.detail, run.task, "stopping \(object(of: run)) with \(signal)", style: .faint)
    case .run(let run, .stoppingBy(let command, _)):
      say(
        .detail, run.task, "stopping \(object(of: run)) with \(command.words.shownCommand)",
        style: .faint)
    case .run(let run, .killing(let gracePeriod)):
      reportKill(of: run, after: gracePeriod)
    case .run(let run, .notStopped(let survivor, let isAwaited)):
      if !isAwaited { state.withLock { _ = $0.left.insert(run) } }
      let text = survivor.message(of: object(of: run), isAwaited: isAwaited)
      say(.problem, run.task, text, style: .warning)
    case .task(let task, .signaled(let signal, let trigger)):
      say(.news, task, "sent \(signal)\(reason(of: trigger))", style: .faint)
    case .task(let task, .backingOff(let pause)):
      // A conflict says what to do.
      if picture?.conflicts[task] != nil { return }
      say(.news, task, "restarting in \(pause.shortDescription)", style: .faint)
    case .changes(.foundOutputs(let paths)):
      self.report(outputs: paths)
    case .changes(.explained(let judgments)):
      for judgment in judgments {
        console.say(
          .detail, "\(shown(judgment.path)): \(judgment.words)", style: .faint)
      }
    case .task(let task, .gaveUp(let restarts)):
      say(
        .problem, task,
        "not restarted: it has ended \(restarts + 1) times in a row; the next change starts it",
        style: .warning)
    case .task(let task, .missed(let trigger)):
      say(
        .problem, task,
        "\(paths(of: trigger)) saved in a build, which may take it for up to date from now on: "
          + "save it again when the build has ended", style: .warning)
    case .task(let task, .rejected(let input)):
      say(.problem, task, "internal error, ignored: \(input); please report it", style: .bad)
    case .changes(.foundLoop(let loop)):
      self.report(loop)
    case .changes(.owed(let trigger)):
      let verb = trigger.changes.count == 1 ? "has" : "have"
      console.say(.news, "\(paths(of: trigger)) \(verb) changed since; r runs it", style: .faint)
    case .runner(.idle):
      let isSaid = state.withLock { state in
        state.stopped = []
        return exchange(&state.hasSaidIdle, with: true)
      }
      // At a terminal only, so that logs have one line less for each run.
      if !isSaid { console.sayAtTerminal("waiting for changes") }
    case .round(.ended(let round)):
      self.report(round)
    case .round(.began):
      let isFirst = state.withLock { state in
        state.hasSaidIdle = false
        return !exchange(&state.hadRound, with: true)
      }
      if !isFirst { console.separateRounds() }
    case .run(_, .launched), .run(_, .gone), .task(_, .ignored), .runner:
      break
    }
  }

  private func reportStart(_ run: TaskReport.Run) {
    if run.job == .hook { return say(.detail, run.task, "running the hook", style: .faint) }
    let text = text(of: run.task)
    let verb = text.role == .build ? "building:" : "running"
    let wasStopped = state.withLock { $0.stopped.remove(run.task) != nil }
    let isMissed = wasStopped && run.trigger.reason == .change
    say(
      .news, run.task,
      "\(verb) \(command(of: run, text))" + reason(of: run.trigger, duringBuild: isMissed),
      style: .faint)
  }

  /// The command with the tests of the run.
  private func command(of run: TaskReport.Run, _ text: TaskText) -> String {
    let most = 4
    var tests = run.tests.prefix(most).map(\.bytes)
    if run.tests.count > most { tests.append("…".word) }
    guard definition(of: run.task)?.command.testMap != nil,
      let filled = TestMap.filling(
        text.shownCommand.word,
        with: Array(tests.map(ShellWords.quoted).joined(separator: " ").utf8))
    else { return text.shownCommand }
    return Array(filled.prefix((filled.lastIndex { $0 != UInt8(ascii: " ") } ?? -1) + 1)).decoded
  }

  private func reportFailedStart(_ run: TaskReport.Run, _ error: SystemError) {
    let text = text(of: run.task)
    let isOwn = run.job == .command && text.role != .build
    let name = isOwn ? text.shownCommand : object(of: run)
    let advice = LaunchAdvice(words: isOwn ? text.words : [], directory: directory)
    say(
      .problem, run.task, "cannot run \(name): \(explanation(of: error, advice))", style: .bad)
  }

  private func explanation(of error: SystemError, _ advice: LaunchAdvice) -> String {
    guard error.call == "chdir", let path = error.path else { return advice.explanation(of: error) }
    if !error.isNotFound { return "cannot enter the directory \(shown(path)): \(error.reason)" }
    return path == directory
      ? "the directory \(path) does not exist; the next change after it is back runs it"
      : "there is no directory \(shown(path))"
  }

  private func reportEnd(
    of run: TaskReport.Run, _ status: ExitStatus, after duration: String,
    _ ending: TaskReport.Ending, _ diagnostics: DiagnosticSummary?
  ) {
    if state.withLock({ $0.left.remove(run) }) != nil { return }
    let task = definition(of: run.task)
    let subject = subject(of: run)
    let found = diagnostics.map { ": \($0.text(in: directory))" } ?? ""
    switch (status, ending) {
    case (_, .stopped):
      if let task, task.policy.busyPolicy == .queue, !task.isService {
        state.withLock { _ = $0.stopped.insert(run.task) }
      }
      say(.news, run.task, "\(subject)stopped after \(duration)", style: .faint)
    case (_, .timedOut):
      say(.detail, run.task, "stopped after \(duration)\(found)", style: .faint)
    case (.exited(0), .byItself)
    where run.job == .command && !run.isFormer && task?.isService == true
      && task?.policy.keepsAlive == true:
      say(
        .problem, run.task, "\(subject)ended with status 0 after \(duration)\(found)",
        style: .warning)
    case (.exited(0), .byItself):
      let level = run.job == .hook ? Console.Level.detail : .news
      say(level, run.task, "\(subject)succeeded in \(duration)\(found)", style: .good)
    case (_, .byItself):
      let way =
        if case .signaled(let signal) = status { "killed by \(signal)" } else {
          "failed with status \(status.code)"
        }
      say(.problem, run.task, "\(subject)\(way) after \(duration)\(found)", style: .bad)
    }
  }

  private func reportKill(of run: TaskReport.Run, after gracePeriod: Duration?) {
    if let gracePeriod {
      say(
        .news, run.task,
        "\(subject(of: run))still running after \(gracePeriod.shortDescription): "
          + "killing it (SIGKILL)", style: .warning)
    } else {
      say(.news, run.task, "killing \(object(of: run)) (SIGKILL)", style: .warning)
    }
  }

  /// How messages begin that are about the run: the command goes without saying.
  func subject(of run: TaskReport.Run) -> String {
    let object = object(of: run)
    return object == Self.command ? "" : object + " "
  }

  private func object(of run: TaskReport.Run) -> String {
    if run.job == .hook { return "the hook" }
    if run.isFormer { return "the former process" }
    return text(of: run.task).role == .build ? "the build" : Self.command
  }

  private static let command = "the command"

  /// `build ok 1.2 s · test failed 3.4 s · server kept`. A single task has reported its end already.
  private func report(_ round: TaskRound) {
    if isAlone || round.entries.isEmpty { return }
    let text = round.entries.map { entry in
      // Nothing has checked that such a service is ready.
      if case .ready = entry.outcome, definition(of: entry.name)?.reportsReadiness != true {
        return "\(entry.name) started"
      }
      return "\(entry.name) \(entry.outcome.words)"
    }.joined(separator: " · ")
    let style = round.status.map { $0.isSuccess ? Console.Style.good : .bad }
    console.say(.news, text, style: style ?? .plain)
  }

  /// Reports the first delayed run of a feedback loop.
  private func report(_ loop: FeedbackLoop) {
    let names = loop.names
    let name = name(ofPath: "\(shown(loop.path))\(names.map { "/\($0.text)" } ?? "")")
    // What a person edits must not be ignored, nor a whole directory because of some entries.
    let hasPattern = loop.entries.isEmpty || names?.pattern != nil
    let remedy =
      loop.isEdited || !loop.isProved && !loop.isFrequent || !hasPattern
      ? nil : remedy(for: loop.path, entries: loop.entries, names?.pattern)
    let cause =
      loop.isProved && !loop.isEdited
      ? "each run changes \(name)" : "each run is followed by a change, now of \(name)"
    let delay = "the next one starts in \(loop.delay.shortDescription)"
    let advice = remedy.map { "; \($0)" } ?? ""
    if loop.isFrequent && !loop.isProved {
      return console.warn("\(name) changes again and again: starts for it become rare\(advice)")
    }
    console.warn("\(cause): \(delay) unless something else changes\(advice)")
  }

  private func report(outputs: [Path]) {
    guard let first = outputs.first else { return }
    let name = name(ofPath: shown(first))
    let more = outputs.count - 1
    let remedy = remedy(for: first).map { "; \($0)\(more == 0 ? "" : " …")" }
    console.say(
      .news,
      "\(name)\(more == 0 ? " is an output" : " and \(more) more are outputs"): "
        + "changed by a run, \(more == 0 ? "it starts" : "they start") no other run"
        + (remedy ?? ""))
  }

  private func name(ofPath shown: String) -> String {
    shown.hasPrefix("./") ? String(shown.dropFirst(2)) : shown
  }

  /// How a path that is changed again and again is kept from starting runs.
  private func remedy(
    for path: Path, entries: [Path] = [], _ names: String? = nil
  ) -> String? {
    guard let advice = IgnoreAdvice(path, in: directory, entries: names) else { return nil }
    if isCommandLine { return "if you do not edit it: \(advice.writesOption)" }
    if !hasFile { return "to ignore it: \(advice.option)" }
    guard let task = onlyTask(concernedBy: entries.first ?? path) else {
      return "to ignore it: \(advice.key)"
    }
    return "if you do not edit it: \(advice.writesKey(of: task))"
  }

  /// The task that alone watches the path and has probably written it. Where tasks depend on each other, another one
  /// may have; where several watch it, all but one would still start.
  private func onlyTask(concernedBy path: Path) -> String? {
    let tasks = state.withLock { $0.plan?.graph.tasks ?? [] }
    let watching = tasks.filter { task in
      ChangeBatch.Kind.allCases.contains { kind in
        task.triggers.isWatched(ChangeBatch.Change(path: path, kind: kind, type: .file))
      }
    }
    guard watching.count == 1, let task = watching.first, task.dependencies.isEmpty,
      !tasks.contains(where: { $0.dependencies.contains(task.name) })
    else { return nil }
    return task.name
  }
}
