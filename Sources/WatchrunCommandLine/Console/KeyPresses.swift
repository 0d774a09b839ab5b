import ActionRunning
import Synchronization

/// What can be asked for by a key.
protocol KeyListener: Sendable {
  func runNow()
  func stopNow()
  func pause()
  func resume()
}

extension ActionQueue: KeyListener {
  func runNow() {
    submit(Trigger(.key))
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

/// Does what keys ask for.
final class KeyPresses: Sendable {
  private struct State {
    var latestRun: RunReport.Run?
    /// The task that it is a run of, where there is more than one.
    var latestTask: String?
    var isPaused = false
  }

  private let state = Mutex(State())
  private let narration: Narration

  init(_ narration: Narration) {
    self.narration = narration
  }

  /// The run that can be asked about from now on.
  func remember(_ run: RunReport.Run, of task: String? = nil) {
    state.withLock { state in
      state.latestRun = run
      state.latestTask = task
    }
  }

  /// Does what the key asks for. False if that is the end.
  func press(_ key: Key, _ runner: some KeyListener) -> Bool {
    switch key {
    case .run: runner.runNow()
    case .stop: runner.stopNow()
    case .pause: togglePause(runner)
    case .clear: narration.console.clearScreen()
    case .explain:
      let latest = state.withLock { $0 }
      narration.explain(latest.latestRun, of: latest.latestTask)
    case .help: narration.tellKeys()
    case .quit: return false
    }
    return true
  }

  private func togglePause(_ runner: some KeyListener) {
    let isPaused = state.withLock { state in
      state.isPaused.toggle()
      return state.isPaused
    }
    narration.tellPause(isPaused)
    if isPaused { runner.pause() } else { runner.resume() }
  }
}
