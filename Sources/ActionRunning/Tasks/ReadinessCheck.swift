import FileObservation
import Support
import Synchronization
import SystemCalls

/// Checks whether a service has become ready: polls it at growing intervals, or examines its output.
///
/// A service that is not ready in time is reported as late, and checked further, once a second. Nothing is
/// polled after it is ready.
final class ReadinessCheck: Sendable {
  enum Result: Hashable, Sendable {
    case ready
    /// Not ready in time. `ready` may follow.
    case late
  }

  private struct State {
    var isOver = false
    var interval = ReadinessCheck.shortestInterval
    var longestInterval = ReadinessCheck.longestInterval
    var deadline: (any ScheduledWork)?
    var next: (any ScheduledWork)?
  }

  private static let shortestInterval = Duration.milliseconds(10)
  private static let longestInterval = Duration.milliseconds(250)
  private static let intervalWhenLate = Duration.seconds(1)

  private let state = Mutex(State())
  private let readiness: TaskDefinition.Readiness
  private let scheduler: any Scheduler
  private let probe: any ReadinessProbe
  private let report: @Sendable (Result) -> Void

  /// - Parameter report: Called on the scheduler's queue, or on the queue of the probe.
  init(
    _ readiness: TaskDefinition.Readiness, scheduler: any Scheduler, probe: any ReadinessProbe,
    report: @escaping @Sendable (Result) -> Void
  ) {
    self.readiness = readiness
    self.scheduler = scheduler
    self.probe = probe
    self.report = report
  }

  /// Starts to check. Has no effect after `cancel`.
  func begin() {
    let end = scheduler.now.advanced(by: readiness.timeout)
    let deadline = scheduler.schedule(at: end) { [weak self] in self?.timeOut() }
    let isOver = state.withLock { state in
      state.deadline = deadline
      return state.isOver
    }
    if isOver { return deadline.cancel() }
    if case .line = readiness.condition { return }
    ask()
  }

  /// Examines a line of the service's output.
  func sees(_ line: [UInt8]) {
    guard case .line(let text) = readiness.condition, line.includes(Array(text.utf8)) else {
      return
    }
    succeed()
  }

  /// Ends the check without a report.
  func cancel() {
    _ = end()
  }

  private func ask() {
    if state.withLock({ $0.isOver }) { return }
    probe.ask(readiness.condition) { [weak self] isReady in
      if isReady { self?.succeed() } else { self?.askAgain() }
    }
  }

  private func askAgain() {
    let interval = state.withLock { state -> Duration? in
      if state.isOver { return nil }
      defer { state.interval = min(state.interval * 3 / 2, state.longestInterval) }
      return state.interval
    }
    guard let interval else { return }
    let next = scheduler.schedule(at: scheduler.now.advanced(by: interval)) { [weak self] in
      self?.ask()
    }
    let isOver = state.withLock { state in
      state.next = next
      return state.isOver
    }
    if isOver { next.cancel() }
  }

  private func timeOut() {
    let isOver = state.withLock { state in
      (state.interval, state.longestInterval) = (Self.intervalWhenLate, Self.intervalWhenLate)
      return state.isOver
    }
    if !isOver { report(.late) }
  }

  private func succeed() {
    if end() { report(.ready) }
  }

  /// Returns false if the check was over before.
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
  /// Whether these bytes occur in it.
  fileprivate func includes(_ part: [UInt8]) -> Bool {
    guard part.count <= count else { return false }
    return (0...(count - part.count)).contains { self[$0...].starts(with: part) }
  }
}
