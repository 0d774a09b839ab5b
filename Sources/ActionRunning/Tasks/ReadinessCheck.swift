import FileObservation
import Support
import Synchronization
import SystemCalls

/// Finds out whether a service has become ready: asks soon, and then at growing intervals, or looks at
/// its lines; and gives up when its time is over. Costs nothing afterwards.
final class ReadinessCheck: Sendable {
  private struct State {
    var isOver = false
    var pause = ReadinessCheck.shortestPause
    var deadline: (any ScheduledWork)?
    var next: (any ScheduledWork)?
  }

  private static let shortestPause = Duration.milliseconds(10)
  private static let longestPause = Duration.milliseconds(250)

  private let state = Mutex(State())
  private let readiness: TaskDefinition.Readiness
  private let scheduler: any Scheduler
  private let probe: any ReadinessProbe
  private let answer: @Sendable (_ isReady: Bool) -> Void

  /// - Parameter answer: Is called once, unless it is cancelled before.
  init(
    _ readiness: TaskDefinition.Readiness, scheduler: any Scheduler, probe: any ReadinessProbe,
    answer: @escaping @Sendable (_ isReady: Bool) -> Void
  ) {
    self.readiness = readiness
    self.scheduler = scheduler
    self.probe = probe
    self.answer = answer
  }

  func begin() {
    let end = scheduler.now.advanced(by: readiness.timeout)
    let deadline = scheduler.schedule(at: end) { [weak self] in self?.finish(false) }
    state.withLock { $0.deadline = deadline }
    if case .line = readiness.condition { return }
    ask()
  }

  /// The service has written this.
  func sees(_ line: [UInt8]) {
    guard case .line(let text) = readiness.condition, line.holds(Array(text.utf8)) else { return }
    finish(true)
  }

  /// Nobody wants to know any more.
  func cancel() {
    _ = end()
  }

  private func ask() {
    if state.withLock({ $0.isOver }) { return }
    probe.ask(readiness.condition) { [self] isReady in
      if isReady { finish(true) } else { askAgain() }
    }
  }

  private func askAgain() {
    let pause = state.withLock { state -> Duration? in
      if state.isOver { return nil }
      defer { state.pause = min(state.pause * 3 / 2, Self.longestPause) }
      return state.pause
    }
    guard let pause else { return }
    let next = scheduler.schedule(at: scheduler.now.advanced(by: pause)) { [weak self] in
      self?.ask()
    }
    let isOver = state.withLock { state in
      state.next = next
      return state.isOver
    }
    if isOver { next.cancel() }
  }

  private func finish(_ isReady: Bool) {
    if end() { answer(isReady) }
  }

  /// False if it was over before.
  private func end() -> Bool {
    let before = state.withLock { state in
      defer {
        state.isOver = true
        (state.deadline, state.next) = (nil, nil)
      }
      return state
    }
    before.deadline?.cancel()
    before.next?.cancel()
    return !before.isOver
  }
}

extension [UInt8] {
  /// True if these bytes stand in it somewhere.
  fileprivate func holds(_ part: [UInt8]) -> Bool {
    guard part.count <= count else { return false }
    return (0...(count - part.count)).contains { self[$0...].starts(with: part) }
  }
}
