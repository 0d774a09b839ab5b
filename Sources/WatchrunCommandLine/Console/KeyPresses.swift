import ActionRunning
import Synchronization

/// Does what keys ask for.
final class KeyPresses: Sendable {
  private struct State {
    var latestRun: RunReport.Run?
    var isPaused = false
  }

  private let state = Mutex(State())
  private let narration: Narration

  init(_ narration: Narration) {
    self.narration = narration
  }

  /// The run that can be asked about from now on.
  func remember(_ run: RunReport.Run) {
    state.withLock { $0.latestRun = run }
  }

  /// Does what the key asks for. False if that is the end.
  func press(_ key: Key, _ queue: ActionQueue) -> Bool {
    switch key {
    case .run: queue.submit(Trigger(.key))
    case .stop: queue.stopCommand()
    case .pause: togglePause(queue)
    case .clear: narration.console.clearScreen()
    case .explain: narration.explain(state.withLock { $0.latestRun })
    case .help: narration.tellKeys()
    case .quit: return false
    }
    return true
  }

  private func togglePause(_ queue: ActionQueue) {
    let isPaused = state.withLock { state in
      state.isPaused.toggle()
      return state.isPaused
    }
    narration.tellPause(isPaused)
    if isPaused { queue.pause() } else { queue.resume() }
  }
}
