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

/// Does what keys ask for.
final class KeyPresses: Sendable {
  private struct State {
    /// One of each task; nil for the only one.
    var latestRuns: [(task: String?, run: RunReport.Run)] = []
    var isPaused = false
  }

  private let state = Mutex(State())
  private let narration: Narration

  init(_ narration: Narration) {
    self.narration = narration
  }

  /// The run that can be asked about from now on, with those before it unless it begins something new.
  func remember(_ run: RunReport.Run, of task: String? = nil, beginsAnew: Bool = true) {
    state.withLock { state in
      state.latestRuns.removeAll { beginsAnew || $0.task == task }
      state.latestRuns.append((task, run))
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
      let runs = state.withLock { $0.latestRuns }
      if runs.isEmpty { narration.explain(nil) }
      for (task, run) in runs { narration.explain(run, of: task) }
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
