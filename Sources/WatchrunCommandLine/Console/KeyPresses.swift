import ActionRunning
import Synchronization
import WatchrunSettings

/// Performs the actions of keys, and remembers the runs that the key `e` explains.
final class KeyPresses: Sendable {
  private struct State {
    var latestRuns: [TaskReport.Run] = []
  }

  private let state = Mutex(State())
  private let reporter: RunReporter
  private let waiting: WaitingReporter
  private let ignored: IgnoredChangeReporter?
  private let pause: PauseControl
  private let dependencies: @Sendable (_ task: String) -> [String]

  /// - Parameters:
  ///   - reporter: Answers the keys.
  ///   - waiting: Lists what waits.
  ///   - ignored: Lists the changes that did not count.
  ///   - pause: Pauses and resumes the session.
  ///   - dependencies: Returns the tasks that a task depends on directly.
  init(
    _ reporter: RunReporter, waiting: WaitingReporter, ignored: IgnoredChangeReporter?,
    pause: PauseControl, dependencies: @escaping @Sendable (_ task: String) -> [String]
  ) {
    self.reporter = reporter
    self.ignored = ignored
    self.pause = pause
    self.waiting = waiting
    self.dependencies = dependencies
  }

  func handle(_ report: TaskReport) {
    switch report {
    case .round(.began):
      state.withLock { $0.latestRuns = [] }
    case .run(let run, .started) where run.job == .command:
      // On the command line, the build and the command are one run.
      let replacesAll = reporter.isAlone
      state.withLock { state in
        state.latestRuns.removeAll { replacesAll || $0.task == run.task }
        state.latestRuns.append(run)
      }
    default:
      break
    }
  }

  /// Handles a key. False if watchrun must end.
  func press(_ key: Key, _ runner: KeyTarget) -> Bool {
    switch key {
    case .run: runner.runNow()
    case .runFailed: runner.runFailed()
    case .output(let number): runner.showOutput(of: number)
    case .openError: runner.showError(movedBy: 0, opens: true)
    case .nextError: runner.showError(movedBy: 1, opens: false)
    case .previousError: runner.showError(movedBy: -1, opens: false)
    case .typed(let name): reporter.console.showTyped("task that gets the terminal: \(name)")
    case .giveTerminal(let name):
      reporter.console.showTyped(nil)
      if let name { runner.giveTerminal(to: name) }
    case .stop:
      waiting.answerStop(toInterrupt: false)
      runner.stopNow()
    case .pause: reporter.reportPause(pause.toggle())
    case .clear: reporter.console.clearScreen()
    case .explain:
      let runs = state.withLock { $0.latestRuns }
      if runs.isEmpty { reporter.console.say(.answer, "nothing has run yet") }
      for run in runs { reporter.explain(run, after: dependencies(run.task)) }
      waiting.list()
      ignored?.list()
      if pause.condition.isPaused { reporter.reportPause(true) }
    case .help: reporter.listKeys()
    case .quit: return false
    }
    return true
  }
}
