import ActionRunning
import Synchronization

/// Does what keys ask for.
protocol KeyListener: Sendable {
  func runNow()
  func stopNow()
  func pause()
  func resume()
}

extension ActionQueue: KeyListener {
  func runNow() {
    submit(RunTrigger(.key))
  }

  func stopNow() {
    stopCommand()
  }
}

extension TaskRunner: KeyListener {
  func runNow() {
    submitKey()
  }

  func stopNow() {
    stop()
  }
}

/// Handles keys, and remembers the runs that the key `e` explains.
final class KeyPresses: Sendable {
  /// A run that the key `e` explains.
  private struct ExplainedRun {
    /// The task, if there is more than one.
    let task: String?
    let run: RunReport.Run
    /// The tasks that the task depends on directly.
    let dependencies: [String]
  }

  private struct State {
    var latestRuns: [ExplainedRun] = []
    var isPaused = false
  }

  private let state = Mutex(State())
  private let reporter: RunReporter
  private let waiting: WaitingReporter?
  private let ignored: IgnoredChangeReporter?

  /// - Parameters:
  ///   - reporter: Answers the keys.
  ///   - waiting: Lists what waits, if anything runs.
  ///   - ignored: Lists the changes that did not count.
  init(
    _ reporter: RunReporter, waiting: WaitingReporter? = nil, ignored: IgnoredChangeReporter?
  ) {
    self.reporter = reporter
    self.ignored = ignored
    self.waiting = waiting
  }

  /// Remembers a run. One that begins a round replaces all others, and any run the one of the same task.
  func remember(
    _ run: RunReport.Run, of task: String? = nil, after dependencies: [String] = [],
    beginsAnew: Bool = true
  ) {
    state.withLock { state in
      state.latestRuns.removeAll { beginsAnew || $0.task == task }
      state.latestRuns.append(ExplainedRun(task: task, run: run, dependencies: dependencies))
    }
  }

  /// Handles a key. False if watchrun must end.
  func press(_ key: Key, _ runner: some KeyListener) -> Bool {
    switch key {
    case .run: runner.runNow()
    case .stop: runner.stopNow()
    case .pause: togglePause(runner)
    case .clear: reporter.console.clearScreen()
    case .explain:
      let runs = state.withLock { $0.latestRuns }
      if runs.isEmpty { reporter.explain(nil) }
      for run in runs { reporter.explain(run.run, of: run.task, after: run.dependencies) }
      waiting?.list()
      ignored?.list()
      if state.withLock({ $0.isPaused }) { reporter.reportPause(true) }
    case .help: reporter.listKeys()
    case .quit: return false
    }
    return true
  }

  private func togglePause(_ runner: some KeyListener) {
    let isPaused = state.withLock { state in
      state.isPaused.toggle()
      return state.isPaused
    }
    reporter.reportPause(isPaused)
    if isPaused { runner.pause() } else { runner.resume() }
  }
}
