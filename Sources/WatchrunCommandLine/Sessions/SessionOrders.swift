import ActionRunning
import Diagnostics
import SessionControl
import Support
import Synchronization
import WatchrunSettings

/// Performs what keys and clients ask of a session: on the runner, or on pages where nothing is run.
final class SessionOrders: Sendable {
  private struct State {
    var errors = ErrorCursor()
    var pause = Pause()
    /// Ends the hold of a client.
    var timer: (any ScheduledWork)?
  }

  let runner: TaskRunner
  private let session: RunSession
  private let scheduler = DispatchScheduler(queue: .separate())
  private let state = Mutex(State())
  private var console: Console { session.session.console }

  init(_ session: RunSession, _ runner: TaskRunner) {
    (self.session, self.runner) = (session, runner)
  }

  func runNow() {
    runner.submitKey()
    if session.state.withLock(\.plan.hasOnlyPages) { _ = reload() }
  }

  /// Reloads the pages. Returns false if there is none.
  func reload() -> Bool {
    session.state.withLock(\.pages)?.reload() ?? false
  }

  /// Reads the files whose reading is delayed. Must be called on the runner's queue.
  func readFiles() {
    if !session.session.isEnding { session.readFiles(runner) }
  }
}

// MARK: - Keys

extension SessionOrders {
  /// Handles a key. False if watchrun must end.
  func press(_ key: Key) -> Bool {
    switch key {
    case .run: runNow()
    case .runFailed: runFailed()
    case .output(let number): showOutput(of: number)
    case .openError: showError(movedBy: 0, opens: true)
    case .nextError: showError(movedBy: 1, opens: false)
    case .previousError: showError(movedBy: -1, opens: false)
    case .typed(let name): console.showTyped("task that gets the terminal: \(name)")
    case .giveTerminal(let name):
      console.showTyped(nil)
      if let name { giveTerminal(to: name) }
    case .stop:
      session.waiting.answerStop(toInterrupt: false)
      runner.stop()
    case .pause:
      let isPaused = !isPaused
      setPaused(isPaused)
      session.reporter.reportPause(isPaused)
    case .clear: console.clearScreen()
    case .explain: explain()
    case .help: session.reporter.listKeys()
    case .quit: return false
    }
    return true
  }

  private func explain() {
    let (runs, graph) = session.desk.picture.withLock { ($0.latestRuns, $0.plan.graph) }
    if runs.isEmpty { console.say(.answer, "nothing has run yet") }
    for run in runs {
      session.reporter.explain(run, after: graph[run.task]?.dependencies ?? [])
    }
    session.waiting.list()
    session.session.ignoredChanges?.list()
    if isPaused { session.reporter.reportPause(true) }
  }

  private func runFailed() {
    session.desk.withAnswer { [self] answer in
      let failed = answer.tasks.filter { $0.state == "failed" }.map(\.name)
      if failed.isEmpty { return console.say(.answer, "nothing has failed") }
      runner.submitKey(for: failed)
    }
  }

  /// Gives the terminal to the next run of a task, which is requested.
  private func giveTerminal(to task: String) {
    let plan = session.state.withLock(\.plan)
    // The only task goes without saying.
    let named = task.isEmpty ? plan.tasks.map(\.name) : plan.tasks(namedBy: task)
    let name = named.count == 1 ? named[0] : task
    if let refusal = session.desk.refusal(of: [name]) { return console.say(.answer, refusal) }
    if named.count > 1 {
      let all = named.map(\.printable).joined(separator: ", ")
      return console.say(.answer, "\(name) stands for several tasks; name one: \(all)")
    }
    console.say(.answer, "the next run of \(name) has the terminal")
    runner.submitKey(forTerminalOf: name)
  }

  /// Shows the last output of a task, counted from 1; 0 stands for all.
  private func showOutput(of number: Int) {
    session.desk.withAnswer { [self] answer in
      let tasks = number == 0 ? answer.tasks : Array(answer.tasks.dropFirst(number - 1).prefix(1))
      if tasks.isEmpty {
        console.say(.answer, "there is no task \(number); 0 shows all")
      }
      for task in tasks { session.reporter.show(task) }
    }
  }

  private func showError(movedBy step: Int, opens: Bool) {
    let diagnostics = session.desk.picture.withLock(\.allDiagnostics)
    let found = state.withLock { $0.errors.move(by: step, in: diagnostics) }
    guard let (diagnostic, text) = found else { return console.say(.answer, "no error is known") }
    console.say(.answer, "\(text): \(diagnostic.text(in: session.session.directory))")
    if opens { open(diagnostic) }
  }

  private func open(_ diagnostic: Diagnostic) {
    guard let path = diagnostic.path else { return }
    let line = diagnostic.line ?? 1
    let named = session.session.settings.editor
    let inTerminal = EditorLauncher.settingForTerminal(named).flatMap { setting in
      Editor(setting: setting, path: path, line: line, column: diagnostic.column)
    }
    guard let inTerminal, inTerminal.needsTerminal else {
      _ = EditorLauncher(named, console: console).open(path, line: line, column: diagnostic.column)
      return
    }
    console.status.withLock { $0.editors += 1 }
    runner.launchInTerminal(inTerminal.arguments) { [console] result in
      console.status.withLock { $0.editors -= 1 }
      if case .failure(let error) = result {
        console.problem("cannot open the editor: \(error.description)")
      }
    }
  }
}

// MARK: - Pauses

extension SessionOrders {
  /// Why changes start nothing; `nil` if they do.
  var block: SessionAnswer.State? {
    state.withLock { $0.pause.isPaused ? .paused : $0.pause.hold == nil ? nil : .held }
  }

  private var isPaused: Bool { block == .paused }

  func setPaused(_ isPaused: Bool) {
    change { pause, _ in pause.set(isPaused) }
  }

  func hold(for time: Duration?, by owner: Int) {
    change { pause, now in pause.hold(for: time, by: owner, at: now) }
  }

  /// Ends a hold: that of this owner, or of any.
  func release(of owner: Int? = nil) {
    change { pause, _ in pause.release(of: owner) }
  }

  private func change(_ body: (inout Pause, Instant) -> Pause.Transition?) {
    let now = scheduler.now
    let (before, after, transition) = state.withLock { state in
      let before = state.pause.hold
      let transition = body(&state.pause, now)
      // The runner takes orders asynchronously, and in this order.
      if transition == .pause { runner.pause() }
      let after = state.pause.hold
      if after != before {
        state.timer?.cancel()
        state.timer = after.map(end)
      }
      return (before, after, transition)
    }
    if transition == .resume { resumeSoon() }
    if (before == nil) != (after == nil) { session.reporter.reportHold(after != nil) }
  }

  private func end(_ hold: Pause.Hold) -> any ScheduledWork {
    scheduler.schedule(at: hold.until) { [weak self] in
      self?.change { pause, now in pause.elapsed(at: now) }
    }
  }

  /// Resumes when all changes so far are read, so that they start one run, unless it is paused again by then.
  private func resumeSoon() {
    session.flush { [self] in
      state.withLock { if !$0.pause.stops { resume() } }
    }
  }

  private func resume() {
    runner.resume()
    // The runner has resumed by then.
    runner.queue.async { [session] in
      let (pages, paths) = session.state.withLock {
        ($0.pages, exchange(&$0.heldPaths, with: []))
      }
      pages?.changed(paths)
    }
  }
}
